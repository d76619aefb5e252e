"""Collect every number that the Underspecification section's prose uses on one source, with where it comes from."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import published
from scripts.core.paper.numbers import of_settings
from scripts.underspecification.lib import numbers, study
from scripts.underspecification.lib.analyses import agreement


def main(
    *,
    slopes: str,
    curves: str,
    specification_detection: str,
    metric: str,
    orders: str,
    independence: str,
    cell_agreement: str,
    toy_model: str,
    printed: str,
    paper_numbers: str,
    source: str,
    settings: dict,
):
    """Write ``paper_numbers`` (JSON) for a ``source``, a release or the run; ``settings`` are of the config."""
    rates = files.read_csv(specification_detection)
    collected = {
        **of_settings(settings, numbers.KEYS),
        **numbers.from_toy(files.read_csv(toy_model)),
        **numbers.from_slopes(files.read_csv(slopes), files.read_csv(curves)),
        **numbers.from_detection(rates, files.read_csv(metric)),
        **numbers.from_independence(files.read_csv(independence)),
    }
    if source != study.RUN:
        table = agreement.beside_printed(rates, files.read_csv(orders), published.read_published(printed))
        collected |= numbers.from_orders(table)
        collected |= numbers.from_equally_likely(agreement.equally_likely(table))
        collected |= numbers.from_names(rates)
        collected |= numbers.from_agreement(files.read_csv(cell_agreement), source)
    files.write_json(paper_numbers, collected)


if __name__ == "__main__":
    run(main)
