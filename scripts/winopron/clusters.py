"""Let one rule resolve a set of instances, in the format of a coreference system."""

from scripts.core import coreference, files
from scripts.core.job import run
from scripts.winopron.lib import person_rules


def main(*, instances: str, clusters: str, rule: str):
    """Write the ``clusters`` that ``rule`` (one of ``person_rules.LABELS``) makes of ``instances``."""
    coreference.write(clusters, person_rules.resolve(rule, files.read_parquet(instances)))


if __name__ == "__main__":
    run(main)
