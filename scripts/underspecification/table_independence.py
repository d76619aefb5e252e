"""Tabulate how the change of the female probability over dates goes with its level, over occupations."""

from scripts.core.job import run
from scripts.underspecification.lib import tables
from scripts.underspecification.lib.readers import read_rows


def main(*, independence: str, tex: str, csv: str):
    """Write the cells as printed (LaTeX and CSV)."""
    tables.write(tex, csv, tables.independence(read_rows(independence, "correlations")), 2)


if __name__ == "__main__":
    run(main)
