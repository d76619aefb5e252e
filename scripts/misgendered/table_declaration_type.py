"""Tabulate the accuracy by type of declaration (Table 5)."""

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import figures, tables
from scripts.misgendered.lib.labels import DECLARATION_TYPES, present


def main(*, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Write the cells (LaTeX) and the accuracies behind them (CSV)."""
    frame = figures.pooled(figures.read(accuracy, ["accuracy"]), templates, {"pronoun_type", "declaration_type"})
    cells = tables.by_type(
        frame, "declaration_type", present(DECLARATION_TYPES, frame.declaration_type), models, "Declaration"
    )
    write_table(tex, csv, cells, left=cells.columns.get_loc("Declaration") + 1, rows=frame)


if __name__ == "__main__":
    run(main)
