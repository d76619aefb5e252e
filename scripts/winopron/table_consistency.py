"""Tabulate both consistencies beside chance (paper Table 3)."""

from scripts.core.job import run
from scripts.winopron.lib import tables, tidy


def main(*, metrics: str, tex: str, csv: str, templates: str):
    """Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``."""
    cells = tables.consistency(tables.of_set(tidy.metrics(metrics), templates))
    tables.write(tex, csv, cells, 3, ["System"], "No system was run.", cells[cells.Reading == "corrected"])


if __name__ == "__main__":
    run(main)
