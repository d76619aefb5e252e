"""Tabulate how small a difference the samples can show, and how many instances a given one needs."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import paired_cells
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import tables


def main(*, power: str, tex: str, csv: str, models: dict):
    """Write the cells (LaTeX) and the tidy rows (CSV)."""
    rows = files.read_csv(power)
    cells = paired_cells.power(rows, models, "pronoun_type", "Pronouns", tables.PRONOUNS)
    write_table(tex, csv, cells, left=2, rows=rows)


if __name__ == "__main__":
    run(main)
