"""List the models of the run by family (paper Table 2)."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.ruff.lib import tables


def main(*, tex: str, csv: str, models: dict):
    """Write families and sizes (LaTeX) and one row for each model (CSV)."""
    table = pd.DataFrame.from_dict(models, orient="index").rename_axis("model").reset_index()
    files.write_csv(csv, table)
    files.write_text(tex, latex.latex_table(tables.models_cells(models), align="lXl"))


if __name__ == "__main__":
    run(main)
