"""Tabulate how alike the biased occupations of two systems are (paper Table 5), beside chance."""

from scripts.core import files
from scripts.core.job import run
from scripts.winopron.lib import tables


def main(*, overlap: str, tex: str, csv: str, templates: str):
    """Write the cells as printed (LaTeX and CSV); full precision is in ``overlap``."""
    rows = files.read_csv(overlap)
    cells = tables.overlaps(rows[rows.templates == templates], "systems")
    tables.write(tex, csv, cells, 4, ["System", "Case", "Pronoun set"], "No system has biased occupations.")


if __name__ == "__main__":
    run(main)
