"""Tabulate what accuracy differences and inconsistencies are made of: leanings, splits and what cancels."""

from scripts.core import files
from scripts.core.job import run
from scripts.counter_gap.lib import tables


def main(*, metrics: str, decomposition: str, tex: str, csv: str, templates: str):
    """Write the cells as printed (LaTeX and CSV); all pairs of outcomes are in ``decomposition``."""
    table = files.read_csv(metrics)
    tables.write(tex, csv, tables.cancellation(table, files.read_csv(decomposition), templates), 3)


if __name__ == "__main__":
    run(main)
