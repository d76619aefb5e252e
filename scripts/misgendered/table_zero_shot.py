"""Tabulate the accuracy by type of pronouns (Table 4)."""

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import figures, tables
from scripts.misgendered.lib.labels import ALL


def main(*, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Write the cells (LaTeX) and the accuracies behind them (CSV)."""
    frame = figures.pooled(figures.read(accuracy, ["accuracy"]), templates, {"pronoun_type"})
    cells = tables.zero_shot(frame[frame.model.isin([*models, ALL])], models)
    write_table(tex, csv, cells, left=1, rows=frame)


if __name__ == "__main__":
    run(main)
