"""Tabulate accuracies on short and long forms."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import tables


def main(*, fertility_correlations: str, tex: str, csv: str, models: dict):
    """Write the cells (LaTeX) and the tidy rows (CSV)."""
    rows = files.read_csv(fertility_correlations)
    write_table(tex, csv, tables.fertility_cells(rows, models), left=2, rows=rows)


if __name__ == "__main__":
    run(main)
