"""Tabulate the types of unambiguous errors."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.ruff.lib import tables


def main(*, error_types: str, tex: str, csv: str, models: dict):
    """Write shares of distraction and bias by number of distractors (LaTeX) and all counts (CSV)."""
    types = files.read_csv(error_types)
    files.write_csv(csv, types)
    cells = tables.error_types_cells(types, models)
    files.write_text(tex, latex.latex_table(cells, align="l" + "r" * (cells.shape[1] - 1)))


if __name__ == "__main__":
    run(main)
