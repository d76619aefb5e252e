"""Make a full set of RUFF instances: every narrative with a given number of distractor sentences.

The rows are in the order of the authors' generator (see :mod:`scripts.ruff.lib.instances`). Nothing else needs full
sets: samples are drawn without them, and Table 1 of the paper counts them by rule (``full_set_sizes.py``).
"""

from scripts.core import instances as instance_files
from scripts.core.job import run
from scripts.ruff.lib import instances as assembly


def main(*, templates: list, pronouns: str, pronoun_sets: list, n_distractors: int, instances: str):
    """Write the full set.

    Parameters
    ----------
    templates : list of str
        The replica's files (tasks, contexts, occupations), or the authors' data.zip alone.
    pronouns : str
        templates/pronouns.tsv.
    pronoun_sets : list of str
        Configured sets, in order.
    n_distractors : int
        0 to 5.
    instances : str
        The Parquet file to write.
    """
    narratives = assembly.load(templates, pronouns, pronoun_sets)
    metadata = narratives.metadata(n_distractors=n_distractors)
    instance_files.write_stream(instances, assembly.schema(), narratives.full(n_distractors), metadata)


if __name__ == "__main__":
    run(main)
