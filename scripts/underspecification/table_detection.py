"""Tabulate how well the metric detects underspecified sentences (paper Table 3)."""

from scripts.core.job import run
from scripts.core.paper import published
from scripts.underspecification.lib import tables
from scripts.underspecification.lib.readers import read_rows


def main(*, specification_detection: str, orders: str, printed: str, tex: str, csv: str):
    """Write the cells as printed (LaTeX and CSV); ``printed`` are the published numbers."""
    table, spread = read_rows(specification_detection, "rates"), read_rows(orders, "orders")
    tables.write(tex, csv, tables.rates(table, spread, published.read_published(printed)), 2)


if __name__ == "__main__":
    run(main)
