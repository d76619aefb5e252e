"""Tabulate accuracies by gender (paper Table 2)."""

from scripts.core.job import run
from scripts.counter_gap.lib import tables


def main(*, metrics: str, significance: str, tex: str, csv: str, templates: str):
    """Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``."""
    cells = tables.cells(tables.read(metrics, significance, templates), templates, tables.ACCURACY)
    tables.write(tex, csv, cells, 2)


if __name__ == "__main__":
    run(main)
