"""Tabulate the accuracy by class of names (Table 10)."""

import pandas as pd

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import figures, tables


def main(*, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Write the cells (LaTeX) and the accuracies behind them (CSV)."""
    table = figures.read(accuracy, ["name_class"])
    parts = [figures.pooled(table, templates, {"pronoun_type", "name_class", *more}) for more in (("group",), ())]
    frame = pd.concat(parts, ignore_index=True)
    cells = tables.name_class(frame, models)
    write_table(tex, csv, cells, left=cells.columns.get_loc("Pronouns") + 1, rows=frame)


if __name__ == "__main__":
    run(main)
