"""Tabulate accuracies by model and number of distractors."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import tables


def main(*, accuracy: str, tex: str, csv: str, models: dict):
    """Write means with SD over samples (LaTeX) and the same with intervals (CSV)."""
    frame = files.read_csv(accuracy)
    write_table(tex, csv, tables.accuracy_cells(frame, models), rows=frame[frame.factor == "all"])


if __name__ == "__main__":
    run(main)
