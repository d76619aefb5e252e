"""Tabulate the tests between pronoun sets."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.ruff.lib import tables


def main(*, pronoun_tests: str, tex: str, csv: str, models: dict):
    """Write the tests over all models and, for few models, of each of them (LaTeX); all tests (CSV)."""
    tests = files.read_csv(pronoun_tests)
    files.write_csv(csv, tests)
    files.write_text(tex, latex.latex_table(tables.pronoun_tests_cells(tests, models), align="ll" + 10 * "r"))


if __name__ == "__main__":
    run(main)
