"""Tabulate F1 beside that on Winogender Schemas (paper Table 2)."""

from scripts.core.job import run
from scripts.winopron.lib import tables, tidy


def main(*, metrics: str, tex: str, csv: str, templates: str):
    """Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``."""
    cells = tables.performance(tidy.metrics(metrics), templates)
    tables.write(tex, csv, cells, 2, ["System"], "No system was run.")


if __name__ == "__main__":
    run(main)
