"""Instances of MISGENDERED, each by the function of its rule."""

from scripts.core import files
from scripts.core.data import instances as instance_files
from scripts.core.workflow.job import run_named
from scripts.misgendered.lib import declarations, samples
from scripts.misgendered.lib import few_shot as examples
from scripts.misgendered.lib import instances as assembly


def instances(
    *, template_files: list, kinds: list, pronouns: str, combinations: str, pronoun_sets: list, types: list,
    numbers: list, wording: str, instances: list,
) -> None:  # fmt: skip
    """Make the full sets of instances, one file for each way of declaring pronouns.

    A full set has every template with every name and pronoun group: 275,000 rows for each declaration with the paper's.
    No sample needs them (:mod:`scripts.misgendered.lib.samples`).

    Args:
        template_files: Files of one template set.
        kinds: What each of them is: templates, names (or the classes of names), and declarations by their names.
        pronouns: templates/pronouns.tsv.
        combinations: templates/misgendered/declarations.tsv.
        pronoun_sets: Configured pronoun groups, in order.
        types, numbers: Configured declarations, in order; together as many as there are files to write.
        wording: corrected or faithful.
        instances: The Parquet files to write, one for each type and number; types vary slowest.
    """
    given = dict(zip(kinds, template_files, strict=True))
    loaded = assembly.load(given, pronouns, pronoun_sets, combinations, types, numbers, wording)
    for position, path in enumerate(instances):
        metadata = loaded.metadata(declaration=loaded.declarations[position].name)
        instance_files.write_stream(path, loaded.schema(), loaded.full(position), metadata)


def sample(
    *, template_files: list, kinds: list, pronouns: str, combinations: str, pronoun_sets: list, types: list,
    numbers: list, wording: str, size: int, reworded: int, seed: int, selected: str,
) -> None:  # fmt: skip
    """Draw a balanced sample of instances over all ways of declaring pronouns.

    :mod:`scripts.misgendered.lib.samples` says what is balanced; its rows are rows of the full sets, which are not
    needed. Write ``size`` instances to ``selected``; the other arguments are those of ``instances``.

    Behind them stand the first ``reworded`` ones of a sample of that size, with declarations in the other wording.
    """
    given = dict(zip(kinds, template_files, strict=True))
    loaded = assembly.load(given, pronouns, pronoun_sets, combinations, types, numbers, wording)
    metadata = loaded.metadata(sample=size, reworded=reworded, seed=seed)
    instance_files.write_stream(
        selected, loaded.schema(), samples.sample_with_rewordings(loaded, size, reworded, seed), metadata
    )


def few_shot(
    *, template_files: list, kinds: list, pronouns: str, combinations: str, pronoun_sets: list, wording: str,
    shots: int, draws: int, size: int, seed: int, selected: str,
) -> None:  # fmt: skip
    """Put examples before instances, for learning in context (Table 13 of the paper).

    Args:
        template_files, kinds, pronouns, combinations, pronoun_sets, wording: As for ``instances``.
        shots: Examples before each instance.
        draws: How often they are drawn anew.
        size: Instances, before each of which examples are put.
        selected: The Parquet file to write.
    """
    number = examples.declaration(declarations.read(combinations), combinations)
    given = dict(zip(kinds, template_files, strict=True))
    loaded = assembly.load(given, pronouns, pronoun_sets, combinations, [examples.KIND], [number], wording)
    table = examples.table(loaded, shots, draws, size, seed, faithful=wording == "faithful")
    files.write_parquet(selected, table, examples.metadata(loaded, shots, draws, size, seed))


if __name__ == "__main__":
    run_named()
