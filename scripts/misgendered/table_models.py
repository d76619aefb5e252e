"""Tabulate the run's models (Table 3)."""

import pandas as pd

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import tables


def main(*, tex: str, csv: str, models: dict):
    """Write the cells (LaTeX) and the facts behind them (CSV)."""
    rows = [
        {"model": name} | {key: facts[key] for key in ("family", "label", "architecture", "parameters")}
        for name, facts in models.items()
    ]
    write_table(tex, csv, tables.models(models), left=3, rows=pd.DataFrame(rows))


if __name__ == "__main__":
    run(main)
