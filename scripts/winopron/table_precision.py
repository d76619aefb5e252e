"""Tabulate precision by case and by pronoun set (paper Table 9)."""

from scripts.core.job import run
from scripts.winopron.lib import tables, tidy


def main(*, metrics: str, tex: str, csv: str, templates: str):
    """Write the cells of all systems (CSV) and of all but rules (LaTeX); full precision is in ``metrics``."""
    cells = tables.split(tables.of_set(tidy.metrics(metrics), templates), "precision")
    tables.write(tex, csv, cells, 2, ["Sentences", "Split"], "No system was run.", tables.printed_split(cells))


if __name__ == "__main__":
    run(main)
