"""Tabulate which averages the study's printed numbers are."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import tables


def main(*, printed_averages: str, tex: str, csv: str):
    """Write the cells (LaTeX) and the tidy rows (CSV)."""
    rows = files.read_csv(printed_averages)
    write_table(tex, csv, tables.printed_averages(rows), left=3, rows=rows)


if __name__ == "__main__":
    run(main)
