"""Collect every number that the RUFF section's prose uses, with where it comes from."""

import inspect

from scripts.core import files, statistics
from scripts.core.job import run
from scripts.ruff import numbers


def main(
    *,
    accuracy: str,
    accuracy_over_models: str,
    context_free: str,
    context_free_summary: str,
    pronoun_tests: str,
    error_types: str,
    error_range: str,
    instance_counts: str,
    paper_numbers: str,
    settings: dict,
):
    """Write ``paper_numbers`` (JSON): id to value, printed text, source table and cell.

    ``settings`` are ``seeds`` (how many), ``sample_size``, ``alpha``, ``bootstrap_draws`` and ``chance``; the coverage
    of the bootstrap intervals is that of the function which makes them.
    """
    settings = settings | {"confidence": inspect.signature(statistics.cluster_bootstrap).parameters["level"].default}
    accuracies, counts = files.read_csv(accuracy), files.read_csv(context_free)
    collected = {
        **numbers.from_settings(files.read_csv(instance_counts), settings),
        **numbers.from_context_free(counts, files.read_csv(context_free_summary)),
        **numbers.from_accuracy(accuracies, files.read_csv(accuracy_over_models)),
        **numbers.from_models(accuracies, counts, settings["chance"]),
        **numbers.from_tests(files.read_csv(pronoun_tests)),
        **numbers.from_errors(files.read_csv(error_types), files.read_csv(error_range)),
    }
    files.write_json(paper_numbers, collected)


if __name__ == "__main__":
    run(main)
