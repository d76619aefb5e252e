"""Tabulate systems on GAP, on the originals alone and on the quadruples (paper Table 5)."""

from scripts.core.job import run
from scripts.counter_gap.lib import tables


def main(*, metrics: str, significance: str, tex: str, csv: str, templates: str):
    """Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``."""
    cells = tables.datasets(tables.read(metrics, significance, templates), templates)
    tables.write(tex, csv, cells, 3, tables.printed_datasets(cells))


if __name__ == "__main__":
    run(main)
