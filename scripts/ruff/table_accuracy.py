"""Tabulate accuracies by model and number of distractors."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.ruff.lib import tables


def main(*, accuracy: str, tex: str, csv: str, models: dict):
    """Write means with SD over samples (LaTeX) and the same with intervals (CSV)."""
    frame = files.read_csv(accuracy)
    files.write_csv(csv, frame[frame.factor == "all"])
    cells = tables.accuracy_cells(frame, models)
    files.write_text(tex, latex.latex_table(cells, align="l" + "r" * (cells.shape[1] - 1)))


if __name__ == "__main__":
    run(main)
