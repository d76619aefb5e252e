"""List the models of the run by family (paper Table 2)."""

import pandas as pd

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import tables


def main(*, tex: str, csv: str, models: dict):
    """Write families and sizes (LaTeX) and one row for each model (CSV)."""
    table = pd.DataFrame.from_dict(models, orient="index").rename_axis("model").reset_index()
    write_table(tex, csv, tables.models_cells(models), align="lXl", rows=table)


if __name__ == "__main__":
    run(main)
