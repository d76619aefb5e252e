"""Tabulate the regressions of accuracy on tokens."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import tables


def main(*, regressions: str, tex: str, csv: str, models: dict):
    """Write the cells (LaTeX) and the tidy rows (CSV)."""
    rows = files.read_csv(regressions)
    write_table(tex, csv, tables.fertility(rows, models), left=2, rows=rows)


if __name__ == "__main__":
    run(main)
