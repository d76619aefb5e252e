"""Count the instances of every full RUFF set without making it (paper Table 1)."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib import instances


def main(*, templates: list, pronouns: str, pronoun_sets: list, distractors: list, full_set_sizes: str):
    """Write one row for each of ``distractors``, with the lines of the template files that its set is made from.

    The other arguments are those of :func:`scripts.ruff.instances.main`.
    """
    narratives = instances.load(templates, pronouns, pronoun_sets)
    files.write_parquet(full_set_sizes, narratives.full_set_sizes(distractors), narratives.metadata())


if __name__ == "__main__":
    run(main)
