"""Fetch a model's weights and tokenizer from the hub, before the jobs that need them start."""

from scripts.core import files
from scripts.core.engines import models
from scripts.core.job import log, run


def main(*, fetched: str, model: str, entry: dict):
    """Fetch what ``entry`` takes from the hub and write to ``fetched`` (JSON) which commit it was."""
    commits = models.fetch(model, entry)
    files.write_json(fetched, commits)
    for commit in commits.values():
        log.info("%s: %s at %s", model, commit["hub"], commit["revision"])


if __name__ == "__main__":
    run(main)
