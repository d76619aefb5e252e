"""Tabulate the mean mass of gendered pronouns among the most probable tokens and over the vocabulary."""

from scripts.core.job import run
from scripts.core.paper.tables import read_rows
from scripts.underspecification.lib import tables


def main(*, curves: str, tex: str, csv: str):
    """Write the cells as printed (LaTeX and CSV)."""
    tables.write(tex, csv, tables.masses(read_rows(curves)), 3)


if __name__ == "__main__":
    run(main)
