"""Make the full sets of MISGENDERED instances, one file for each way of declaring pronouns.

A full set has every template with every name and pronoun group: 275,000 rows for each declaration with the paper's. No
sample needs them (:mod:`scripts.misgendered.lib.samples`).
"""

from scripts.core import instances as instance_files
from scripts.core.job import run
from scripts.misgendered.lib import instances as assembly


def main(
    *, template_files: list, kinds: list, pronouns: str, combinations: str, pronoun_sets: list, types: list,
    numbers: list, wording: str, instances: list,
):  # fmt: skip
    """Write the full sets.

    Parameters
    ----------
    template_files : list of str
        Files of one template set.
    kinds : list of str
        What each of them is: templates, names (or the classes of names), and declarations by their names.
    pronouns : str
        templates/pronouns.tsv.
    combinations : str
        templates/misgendered/declarations.tsv.
    pronoun_sets : list of str
        Configured pronoun groups, in order.
    types, numbers : list
        Configured declarations, in order; together as many as there are files to write.
    wording : str
        corrected or faithful.
    instances : list of str
        The Parquet files to write, one for each type and number; types vary slowest.
    """
    files = dict(zip(kinds, template_files, strict=True))
    loaded = assembly.load(files, pronouns, pronoun_sets, combinations, types, numbers, wording)
    for position, path in enumerate(instances):
        metadata = loaded.metadata(declaration=loaded.declarations[position].name)
        instance_files.write_stream(path, loaded.schema(), loaded.full(position), metadata)


if __name__ == "__main__":
    run(main)
