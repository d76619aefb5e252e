"""Tabulate the accuracy by the number of declared forms (Table 6)."""

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import figures, tables


def main(*, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Write the cells (LaTeX) and the accuracies behind them (CSV)."""
    frame = figures.pooled(figures.read(accuracy, ["accuracy"]), templates, {"pronoun_type", "declaration_number"})
    cells = tables.by_type(
        frame, "declaration_number", {n: n for n in sorted(set(frame.declaration_number))}, models, "Forms"
    )
    write_table(tex, csv, cells, left=cells.columns.get_loc("Forms") + 1, rows=frame)


if __name__ == "__main__":
    run(main)
