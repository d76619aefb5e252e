"""Draw a balanced sample of MISGENDERED instances over all ways of declaring pronouns.

:mod:`scripts.misgendered.lib.samples` says what is balanced; its rows are rows of the full sets, which are not needed.
"""

from scripts.core import instances as instance_files
from scripts.core.job import run
from scripts.misgendered.lib import instances, samples


def main(
    *, template_files: list, kinds: list, pronouns: str, combinations: str, pronoun_sets: list, types: list,
    numbers: list, wording: str, size: int, seed: int, selected: str,
):  # fmt: skip
    """Write ``size`` instances to ``selected``; the other arguments are those of the full sets' script."""
    given = dict(zip(kinds, template_files, strict=True))
    loaded = instances.load(given, pronouns, pronoun_sets, combinations, types, numbers, wording)
    batches = loaded.batches(samples.draw(loaded, size, seed))
    instance_files.write_stream(selected, loaded.schema(), batches, loaded.metadata(sample=size, seed=seed))


if __name__ == "__main__":
    run(main)
