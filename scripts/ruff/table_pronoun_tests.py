"""Tabulate the tests between pronoun sets."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import tables


def main(*, pronoun_tests: str, tex: str, csv: str, models: dict):
    """Write the tests over all models and, for few models, of each of them (LaTeX); all tests (CSV)."""
    tests = files.read_csv(pronoun_tests)
    cells = tables.pronoun_tests_cells(tests, models)
    if cells.shape[1] < 2:
        files.write_csv(csv, tests)
        files.write_text(tex, "% No pair of sets can be tested.\n")
    else:
        write_table(tex, csv, cells, rows=tests)


if __name__ == "__main__":
    run(main)
