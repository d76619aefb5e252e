"""Tabulate the run's models (Table 3)."""

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import tables


def main(*, tex: str, csv: str, models: dict):
    """Write the table (LaTeX and CSV)."""
    write_table(tex, csv, tables.models(models), left=3)


if __name__ == "__main__":
    run(main)
