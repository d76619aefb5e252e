"""Make the context-free RUFF instances: each task sentence alone, without a right answer (section 5 of the paper)."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib import instances


def main(*, templates: list, pronouns: str, pronoun_sets: list, context_free: str):
    """Write the instances to ``context_free``; the other arguments are those of :func:`scripts.ruff.instances.main`."""
    narratives = instances.load(templates, pronouns, pronoun_sets)
    files.write_parquet(context_free, narratives.context_free(), narratives.metadata())


if __name__ == "__main__":
    run(main)
