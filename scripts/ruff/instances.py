"""Make a full set of RUFF instances: every narrative with a given number of distractor sentences.

The rows are in the order of the authors' generator (see :mod:`scripts.ruff.lib.narratives`); Table 1 of the paper
counts them. The replica needs ``task``, ``context`` and ``occupations``, the official set only ``archive``.
"""

from scripts.core import instances as instance_files
from scripts.core.job import run
from scripts.ruff.lib import narratives


def main(
    *,
    pronouns: str,
    pronoun_sets: list,
    n_distractors: int,
    instances: str,
    task: str | None = None,
    context: str | None = None,
    occupations: str | None = None,
    archive: str | None = None,
):
    """Write the full set.

    Parameters
    ----------
    pronouns : str
        templates/pronouns.tsv.
    pronoun_sets : list of str
        Configured sets, in order.
    n_distractors : int
        0 to 5.
    instances : str
        The Parquet file to write.
    task, context, occupations : str, optional
        The replica's template files.
    archive : str, optional
        The authors' data.zip.
    """
    templates, sets = narratives.load(
        pronouns, pronoun_sets, task=task, context=context, occupations=occupations, archive=archive
    )
    all_narratives = narratives.Narratives(templates, sets)
    metadata = {
        "study": narratives.STUDY,
        "templates": templates.name,
        "pronoun_sets": list(sets),
        "n_distractors": n_distractors,
        "origins": templates.origins(),
    }
    instance_files.write_stream(instances, narratives.schema(), all_narratives.full(n_distractors), metadata)


if __name__ == "__main__":
    run(main)
