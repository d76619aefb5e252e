"""Collect every number that the Counter-GAP section's prose uses, with where it comes from."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.numbers import of_settings
from scripts.counter_gap.lib import numbers
from scripts.counter_gap.lib.analyses.metrics import read_set


def main(
    *,
    significance: str,
    metrics: str,
    subset_sizes: str,
    simulation: str,
    examples: list,
    paper_numbers: str,
    templates: str,
    settings: dict,
):
    """Write ``paper_numbers`` (JSON) for the set of quadruples ``templates``.

    ``examples`` is empty for a set without texts; ``settings`` are of the config.
    """
    collected = {
        **of_settings(settings, numbers.KEYS),
        **numbers.from_sizes(files.read_csv(subset_sizes), templates),
        **numbers.from_tests(read_set(significance, templates), read_set(metrics, templates)),
        **numbers.from_simulation(files.read_csv(simulation)),
    }
    for path in examples:
        collected |= numbers.from_examples(files.read_csv(path))
    files.write_json(paper_numbers, collected)


if __name__ == "__main__":
    run(main)
