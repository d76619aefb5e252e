"""Tabulate calibration errors."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import tables


def main(*, calibration: str, tex: str, csv: str, models: dict, pronoun_sets: list):
    """Write the cells (LaTeX) and the tidy rows (CSV)."""
    rows = files.read_csv(calibration)
    write_table(tex, csv, tables.calibration_cells(rows, models, pronoun_sets), left=2, rows=rows)


if __name__ == "__main__":
    run(main)
