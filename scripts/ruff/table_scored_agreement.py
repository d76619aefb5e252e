"""Tabulate how far what models write agrees with what they find most probable."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import tables


def main(*, scored_agreement: str, tex: str, csv: str, models: dict, pronoun_sets: list):
    """Write the cells (LaTeX) and the tidy rows (CSV)."""
    rows = files.read_csv(scored_agreement, dtype={"level": str})
    write_table(tex, csv, tables.scored_agreement_cells(rows, models, pronoun_sets), left=3, rows=rows)


if __name__ == "__main__":
    run(main)
