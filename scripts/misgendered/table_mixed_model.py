"""Tabulate the mixed model of correctness."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import tables


def main(*, mixed_model: str, tex: str, csv: str, models: dict):
    """Write the cells (LaTeX) and the tidy rows (CSV)."""
    rows = files.read_csv(mixed_model)
    write_table(tex, csv, tables.mixed_model(rows, models), left=1, rows=rows)


if __name__ == "__main__":
    run(main)
