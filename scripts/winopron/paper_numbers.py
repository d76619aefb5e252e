"""Collect every number that the WinoPron section's prose uses, with where it comes from."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.numbers import of_settings
from scripts.winopron.lib import numbers, tidy


def main(
    *,
    instances: list,
    metrics: str,
    bias: str,
    overlap: str,
    variance: str,
    women_share: str,
    paper_numbers: str,
    templates: str,
    entities: list,
    settings: dict,
):
    """Write ``paper_numbers`` (JSON) for the template set ``templates``.

    ``instances`` has a file for each of ``entities``; ``women_share`` has the agreement of each system's bias with the
    share of women (CSV); ``settings`` are of the config.
    """
    read = {name: files.read_parquet(path) for name, path in zip(entities, instances, strict=True)}
    tables = [tidy.metrics(metrics), tidy.bias(bias), files.read_csv(overlap), tidy.variance(variance)]
    tables.append(tidy.women_share(women_share))
    measured, biases, overlaps, spread, agreements = (table[table.templates == templates] for table in tables)
    files.write_json(
        paper_numbers,
        of_settings(settings, numbers.KEYS)
        | numbers.from_instances(read)
        | numbers.from_metrics(measured)
        | numbers.from_bias(biases)
        | numbers.from_overlap(overlaps)
        | numbers.from_variance(spread)
        | numbers.from_women_share(agreements),
    )


if __name__ == "__main__":
    run(main)
