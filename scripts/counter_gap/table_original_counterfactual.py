"""Tabulate original against counterfactual genders (paper Table 4)."""

from scripts.core.job import run
from scripts.counter_gap.lib import tables


def main(*, metrics: str, significance: str, tex: str, csv: str, templates: str):
    """Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``."""
    cells = tables.cells(tables.read(metrics, significance, templates), templates, tables.ORIGINAL_COUNTERFACTUAL)
    tables.write(tex, csv, cells, 2)


if __name__ == "__main__":
    run(main)
