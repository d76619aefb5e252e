"""Tabulate the names with the highest and the lowest accuracy on neo-pronouns (Table 9)."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import tables
from scripts.misgendered.lib.analyses.name_ranks import ends


def main(*, name_ranks: str, tex: str, csv: str):
    """Write both ends of the ranking (LaTeX) and all names (CSV)."""
    ranked = files.read_csv(name_ranks)
    cells = tables.names(*ends(ranked, tables.NAMES_SHOWN))
    write_table(tex, csv, cells, rows=ranked, align="llrrllrr")


if __name__ == "__main__":
    run(main)
