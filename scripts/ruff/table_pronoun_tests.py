"""Tabulate the tests between pronoun sets."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import tables


def main(*, pronoun_tests: str, tex: str, csv: str, models: dict):
    """Write the tests over all models and, for few models, of each of them (LaTeX); all tests (CSV)."""
    tests = files.read_csv(pronoun_tests)
    write_table(tex, csv, tables.pronoun_tests_cells(tests, models), 2, rows=tests)


if __name__ == "__main__":
    run(main)
