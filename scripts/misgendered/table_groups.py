"""Tabulate the accuracy on each pronoun group (Table 7)."""

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import figures, tables


def main(*, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Write the cells (LaTeX) and the accuracies behind them (CSV)."""
    frame = figures.pooled(figures.read(accuracy, ["accuracy"]), templates, {"pronoun_type", "group"})
    cells = tables.groups(frame, models)
    write_table(tex, csv, cells, left=2, rows=frame)


if __name__ == "__main__":
    run(main)
