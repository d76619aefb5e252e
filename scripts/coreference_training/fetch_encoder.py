"""Fetch the encoder of a system that is trained here from the hub, before the jobs that need it start."""

from scripts.core import files
from scripts.core.coreference_systems import sources
from scripts.core.workflow.job import log, run


def main(*, fetched: str, system: str, entry: dict) -> None:
    """Write which commit was fetched.

    Args:
        fetched: JSON file to write.
        system: The system's name in config/coreference_training.yaml.
        entry: Its ``source`` on the hub, and whether that is ``gated``.
    """
    commits = sources.fetch(system, entry)
    files.write_json(fetched, commits)
    log.info("encoder of %s: %s at %s", system, commits["source"]["hub"], commits["source"]["revision"])


if __name__ == "__main__":
    run(main)
