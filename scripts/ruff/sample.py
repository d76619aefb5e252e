"""Draw the sample of RUFF instances that belongs to one seed and one number of distractor sentences.

Equal to pandas' ``groupby(...).sample(...)`` over the full set, which is not needed (see
:meth:`scripts.ruff.lib.narratives.Narratives.sample`): 2,160 rows with four pronoun sets (section 3.2 of the paper).
"""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib import narratives


def main(
    *,
    pronouns: str,
    pronoun_sets: list,
    n_distractors: int,
    seed: int,
    sample: str,
    task: str | None = None,
    context: str | None = None,
    occupations: str | None = None,
    archive: str | None = None,
):
    """Write one sample to ``sample``; the other arguments are those of :func:`scripts.ruff.instances.main`."""
    templates, sets = narratives.load(
        pronouns, pronoun_sets, task=task, context=context, occupations=occupations, archive=archive
    )
    table = narratives.Narratives(templates, sets).sample(n_distractors, seed)
    metadata = {
        "study": narratives.STUDY,
        "templates": templates.name,
        "pronoun_sets": list(sets),
        "n_distractors": n_distractors,
        "seed": seed,
        "origins": templates.origins(),
    }
    files.write_parquet(sample, table, metadata)


if __name__ == "__main__":
    run(main)
