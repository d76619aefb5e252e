"""Fetch a coreference system's weights from the hub, before the jobs that need them start."""

from scripts.core import files
from scripts.core.coreference_systems import sources
from scripts.core.workflow.job import log, run


def main(*, fetched: str, system: str, entry: dict):
    """Fetch what a system takes from the hub.

    Args:
        fetched: JSON file to write: which commit it was.
        system: The system's name in the registry.
        entry: The system's entry in the registry.
    """
    commits = sources.fetch(system, entry)
    files.write_json(fetched, commits)
    for commit in commits.values():
        log.info("%s: %s at %s", system, commit["hub"], commit["revision"])


if __name__ == "__main__":
    run(main)
