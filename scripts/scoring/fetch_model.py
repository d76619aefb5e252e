"""Fetch a model's weights and tokenizer from the hub, before the jobs that need them start."""

from scripts.core import files
from scripts.core.models import contexts, hub, loading
from scripts.core.models.entries import read_job_entry
from scripts.core.workflow.job import log, run


def main(*, fetched: str, model: str, entry: dict, stated: dict | None = None) -> None:
    """Fetch what ``entry`` takes from the hub and write to ``fetched`` (JSON) what was fetched.

    Args:
        fetched: The file to write.
        model: Its name in the registry.
        entry: What of its entry loads it.
        stated: The ``context`` and ``parameters`` of its entry, if any; what the fetched configuration contradicts is
            refused.
    """
    wanted = read_job_entry(entry)
    commits = loading.fetch(model, wanted)
    if stated and "source" in commits:
        contexts.check(model, wanted, hub.find(f"model {model}", commits["source"]), **stated)
    files.write_json(fetched, commits)
    for commit in commits.values():
        log.info("%s: %s at %s", model, commit["hub"], commit["revision"])


if __name__ == "__main__":
    run(main)
