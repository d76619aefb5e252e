"""Draw the sample of RUFF instances that belongs to one seed and one number of distractor sentences.

Equal to pandas' ``groupby(...).sample(...)`` over the full set, which is not needed (see
:meth:`scripts.ruff.lib.instances.Narratives.sample`): 2,160 rows with four pronoun sets (section 3.2 of the paper).
"""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib import instances


def main(*, templates: list, pronouns: str, pronoun_sets: list, n_distractors: int, seed: int, sample: str):
    """Write one sample to ``sample``; the other arguments are those of :func:`scripts.ruff.instances.main`."""
    narratives = instances.load(templates, pronouns, pronoun_sets)
    metadata = narratives.metadata(n_distractors=n_distractors, seed=seed)
    files.write_parquet(sample, narratives.sample(n_distractors, seed), metadata)


if __name__ == "__main__":
    run(main)
