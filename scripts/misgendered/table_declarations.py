"""Tabulate which forms are declared (Table 2)."""

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import declarations, tables


def main(*, combinations: str, tex: str, csv: str, numbers: list):
    """Write the table (LaTeX and CSV) of the configured combinations."""
    known = declarations.read(combinations)
    write_table(tex, csv, tables.declarations({number: known[number][0] for number in numbers}), left=2)


if __name__ == "__main__":
    run(main)
