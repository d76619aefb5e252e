"""Tabulate the mean mass of gendered pronouns among the most probable tokens and over the vocabulary."""

from scripts.core.job import run
from scripts.underspecification.lib import tables
from scripts.underspecification.lib.readers import read_rows


def main(*, curves: str, tex: str, csv: str):
    """Write the cells as printed (LaTeX and CSV)."""
    tables.write(tex, csv, tables.masses(read_rows(curves, "masses")), 3)


if __name__ == "__main__":
    run(main)
