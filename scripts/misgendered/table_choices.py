"""Tabulate what changes where the paper and the authors' code part."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import tables


def main(*, choices: str, tex: str, csv: str, models: dict):
    """Write the cells (LaTeX) and the tidy rows (CSV)."""
    rows = files.read_csv(choices)
    write_table(tex, csv, tables.choices(rows, models), left=2, rows=rows)


if __name__ == "__main__":
    run(main)
