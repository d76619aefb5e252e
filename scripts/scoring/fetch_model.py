"""Fetch a model's weights and tokenizer from the hub, before the jobs that need them start."""

from scripts.core import files
from scripts.core.engines import contexts, models
from scripts.core.job import log, run


def main(*, fetched: str, model: str, entry: dict, context: int | None = None):
    """Fetch what ``entry`` takes from the hub and write to ``fetched`` (JSON) which commit it was.

    A ``context`` (tokens) that is not what the fetched configuration says is refused.
    """
    commits = models.fetch(model, entry)
    if context is not None:
        folder = models.locate(model, {"source": commits["source"], "gated": entry.get("gated", False)}).folder
        contexts.check(model, entry | {"context": context}, folder)
    files.write_json(fetched, commits)
    for commit in commits.values():
        log.info("%s: %s at %s", model, commit["hub"], commit["revision"])


if __name__ == "__main__":
    run(main)
