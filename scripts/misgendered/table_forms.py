"""Tabulate the accuracy by pronoun form (Table 8)."""

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import figures, tables
from scripts.misgendered.lib.labels import FORMS, present


def main(*, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Write the cells (LaTeX) and the accuracies behind them (CSV)."""
    frame = figures.pooled(figures.read(accuracy, ["accuracy"]), templates, {"pronoun_type", "form"})
    cells = tables.by_type(frame, "form", present(FORMS, frame.form), models, "Form")
    write_table(tex, csv, cells, left=cells.columns.get_loc("Form") + 1, rows=frame)


if __name__ == "__main__":
    run(main)
