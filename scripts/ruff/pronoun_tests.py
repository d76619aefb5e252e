"""Test the accuracies on pairs of pronoun sets against each other (paper Figure 6)."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib.analyses import pronoun_tests as analysis


def main(*, predictions: str, pronoun_tests: str, pronoun_sets: list, alpha: float):
    """Write one row for each pair of sets, for each model and over all of them."""
    files.write_csv(pronoun_tests, analysis.pronoun_tests(files.read_parquet(predictions), pronoun_sets, alpha))


if __name__ == "__main__":
    run(main)
