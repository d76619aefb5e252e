"""Tabulate the names with the highest and the lowest accuracy on neo-pronouns (Table 9)."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import tables
from scripts.misgendered.lib.analyses.name_ranks import ends

NONE = f"% No name has {tables.FEWEST} instances.\n"


def main(*, name_ranks: str, tex: str, csv: str):
    """Write both ends of the ranking (LaTeX) and all names (CSV); those of few instances are in the CSV alone."""
    ranked = files.read_csv(name_ranks)
    known = ranked[ranked.n >= tables.FEWEST]
    if known.empty:
        files.write_csv(csv, ranked)
        files.write_text(tex, NONE)
        return
    write_table(tex, csv, tables.names(*ends(known, tables.NAMES_SHOWN)), rows=ranked, align="llrrllrr")


if __name__ == "__main__":
    run(main)
