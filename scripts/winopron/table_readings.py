"""Tabulate what the corrected reading of a system's outputs changes (not in the paper)."""

from scripts.core.job import run
from scripts.winopron.lib import tables, tidy


def main(*, metrics: str, tex: str, csv: str, templates: str):
    """Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``."""
    cells = tables.readings(tables.of_set(tidy.metrics(metrics), templates))
    tables.write(tex, csv, cells, 2, ["System", "Sentences"], "No system of this run is read in two ways.")


if __name__ == "__main__":
    run(main)
