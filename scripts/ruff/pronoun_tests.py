"""Test the accuracies on pairs of pronoun sets against each other (paper Figure 6)."""

from scripts.core import files, statistics
from scripts.core.job import run
from scripts.ruff.lib import study
from scripts.ruff.lib.analyses import pronoun_tests as analysis


def main(*, predictions: str, pronoun_tests: str, pronoun_sets: list, alpha: float, models: dict):
    """Write one row for each pair of sets, for each model and over all of them.

    Demonstration models are left out of the rows over ``all`` models if there are others. Samples too small for a test
    to be significant at ``alpha`` are not tested (:func:`statistics.smallest_sample`).
    """
    least = statistics.smallest_sample(alpha, len(pronoun_sets) * (len(pronoun_sets) - 1) // 2)
    tests = analysis.pronoun_tests(
        files.read_parquet(predictions, analysis.COLUMNS), pronoun_sets, alpha, least, study.pooled(models)
    )
    files.write_csv(pronoun_tests, tests)


if __name__ == "__main__":
    run(main)
