"""Tabulate how far accuracy spreads over templates and over ways of asking (not in the paper)."""

from scripts.core.job import run
from scripts.winopron.lib import tables, tidy


def main(*, variance: str, tex: str, csv: str, templates: str):
    """Write the cells as printed (LaTeX and CSV); full precision is in ``variance``."""
    rows = tidy.variance(variance)
    cells = tables.variance(rows[rows.templates == templates])
    tables.write(tex, csv, cells, 2, ["System", "Sentences"], "No system is asked in several ways.")


if __name__ == "__main__":
    run(main)
