"""Tabulate the types of unambiguous errors."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import tables


def main(*, error_types: str, tex: str, csv: str, models: dict):
    """Write shares of distraction and bias by number of distractors (LaTeX) and all counts (CSV)."""
    types = files.read_csv(error_types)
    write_table(tex, csv, tables.error_types_cells(types, models), rows=types)


if __name__ == "__main__":
    run(main)
