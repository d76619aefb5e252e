"""Let one rule resolve a data set, in the format of a coreference system."""

from scripts.core import coreference, files
from scripts.core.job import run
from scripts.counter_gap.lib import name_rules


def main(*, instances: str, clusters: str, baseline: str):
    """Write the ``clusters`` of ``baseline`` (one of ``baselines.LABELS``)."""
    coreference.write(clusters, name_rules.resolve(baseline, files.read_parquet(instances)))


if __name__ == "__main__":
    run(main)
