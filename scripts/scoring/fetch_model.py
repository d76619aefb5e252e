"""Fetch what a model or coreference system takes from the hub, before the jobs that need it start."""

from scripts.core import files
from scripts.core.models import contexts, hub, loading
from scripts.core.models.entries import read_job_entry, read_job_system
from scripts.core.workflow.job import log, run


def main(*, fetched: str, name: str, entry: dict, stated: dict | None = None) -> None:
    """Fetch what ``entry`` takes from the hub and write to ``fetched`` (JSON) what was fetched.

    Args:
        fetched: The file to write.
        name: In the registry.
        entry: What of its entry loads it.
        stated: ``context`` and ``parameters`` of a model's entry, if any; what the fetched configuration contradicts is
            refused.
    """
    if "environment" in entry:
        commits = loading.fetch_places(f"system {name}", read_job_system(entry))
    else:
        wanted = read_job_entry(entry)
        commits = loading.fetch_places(f"model {name}", wanted)
        if stated and "source" in commits:
            contexts.check_stated_facts(name, wanted, hub.find_snapshot(f"model {name}", commits["source"]), **stated)
    files.write_json(fetched, commits)
    for commit in commits.values():
        log.info("%s: %s at %s", name, commit["hub"], commit["revision"])


if __name__ == "__main__":
    run(main)
