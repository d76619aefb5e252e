"""Collect every number that the RUFF section's prose uses, with where it comes from."""

import inspect

from scripts.core import files, statistics
from scripts.core.job import run
from scripts.ruff.lib import numbers


def main(
    *,
    accuracy: str,
    accuracy_over_models: str,
    context_free: str,
    context_free_summary: str,
    pronoun_tests: str,
    error_types: str,
    error_range: str,
    normalisation: str,
    calibration: str,
    fertility_correlations: str,
    power: str,
    mixed_model: str,
    instance_counts: str,
    paper_numbers: str,
    settings: dict,
    sizes: dict,
    prompted_summary: str | None = None,
    prompted_positions: str | None = None,
    prompted_agreement: str | None = None,
    prompted_against_scored: str | None = None,
    scored_agreement: str | None = None,
    prompting_settings: dict | None = None,
):
    """Write ``paper_numbers`` (JSON): id to value, printed text, source table and cell.

    ``settings`` are ``seeds`` (how many), ``alpha``, ``bootstrap_draws`` and ``chance``; the coverage of the bootstrap
    intervals is that of the function which makes them. ``sizes`` says how many instances of each sample every model
    scores. The tables of prompted models and
    ``prompting_settings`` are given if any model was prompted.
    """
    settings = settings | {"confidence": inspect.signature(statistics.cluster_bootstrap).parameters["level"].default}
    accuracies, counts = files.read_csv(accuracy), files.read_csv(context_free)
    collected = {
        **numbers.from_settings(files.read_csv(instance_counts), settings, sizes),
        **numbers.from_context_free(counts, files.read_csv(context_free_summary)),
        **numbers.from_accuracy(accuracies, files.read_csv(accuracy_over_models)),
        **numbers.from_models(accuracies, counts, settings["chance"]),
        **numbers.from_tests(files.read_csv(pronoun_tests)),
        **numbers.from_errors(files.read_csv(error_types), files.read_csv(error_range)),
        **numbers.from_other_scores(*map(files.read_csv, (normalisation, calibration, fertility_correlations))),
        **numbers.from_comparisons(
            files.read_csv(power),
            files.read_csv(mixed_model, dtype={"level": str}),
            files.read_csv(scored_agreement) if scored_agreement else None,
        ),
    }
    if prompted_summary:
        compared = files.read_csv(prompted_against_scored) if prompted_against_scored else None
        collected |= numbers.from_prompting(
            files.read_csv(prompted_summary),
            files.read_csv(prompted_positions),
            files.read_csv(prompted_agreement),
            compared,
            prompting_settings,
        )
    files.write_json(paper_numbers, collected)


if __name__ == "__main__":
    run(main)
