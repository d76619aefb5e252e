"""Tabulate the forms of the pronoun groups (Table 1)."""

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import tables


def main(*, pronouns: str, tex: str, csv: str, pronoun_sets: list):
    """Write the table (LaTeX and CSV) of the configured groups."""
    cells = tables.pronouns(tables.known_pronouns(pronouns, pronoun_sets))
    write_table(tex, csv, cells, left=len(cells.columns))


if __name__ == "__main__":
    run(main)
