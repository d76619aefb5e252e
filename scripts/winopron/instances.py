"""The sentences of WinoPron and the prompts about them, each file by the function of its rule."""

from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data import templates as template_files
from scripts.core.workflow.job import log, run_named
from scripts.winopron.lib import instances as assembly
from scripts.winopron.lib import prompts as asking
from scripts.winopron.lib import templates


def instances(
    *,
    pronouns: str,
    instances: str,
    entities: str,
    pronoun_sets: list,
    sentences: str | None = None,
    occupations: str | None = None,
    archive: str | None = None,
    winogender: str | None = None,
) -> None:
    """Fill one set of templates with the run's pronoun sets: sentences about two people, or about one.

    Write ``instances`` (Parquet; :mod:`scripts.winopron.lib.instances` has the columns). They come from ``sentences``
    and ``occupations`` (this project's), from the authors' ``archive`` or from the templates of ``winogender``, filled
    with ``pronoun_sets`` of ``pronouns``. ``entities`` is double or single.
    """
    known = template_files.read_pronouns(pronouns)
    chosen = template_files.select_pronoun_sets(known, pronoun_sets, shared=True)
    if winogender:
        # Its authors made no promise that WinoPron's checks would hold (section 3.1 of WinoPron's paper).
        read = templates.read_winogender(winogender)
    else:
        if archive:
            read = templates.read_official(archive)
        else:
            assert sentences and occupations, "the replica has both"
            read = templates.read_replica(sentences, occupations)
        templates.check(read, known, own=not archive)
    rows = template_files.read_tsv(pronouns, template_files.PRONOUN_COLUMNS)
    frame = assembly.build(read, entities, chosen, {cells["set"]: row for row, cells in rows})
    log.info("%d instances of %d templates", len(frame), len(read.rows))
    files.write_parquet(instances, frame, {"origins": read.origins() | {"pronoun_row": Path(pronouns).name}})


def templates_to_score(*, instances: str, selected: str, pairs: int | str, seed: int) -> None:
    """Select the templates that models resolve by likelihood: those about a sample of pairs of people.

    Write ``selected`` (Parquet; :func:`scripts.winopron.lib.instances.to_score` has the columns). ``instances`` are the
    sentences about two people; ``pairs`` is how many pairs of people are drawn with ``seed``, or all.
    """
    sentences = files.read_parquet(instances)
    table = assembly.to_score(sentences, asking.sample(sentences.pair, pairs, seed))
    origins = files.parquet_metadata(instances).get("origins", {})
    files.write_parquet(selected, table, {"origins": {k: v for k, v in origins.items() if k in table}})
    log.info("%d templates", len(table))


def prompts(
    *,
    instances: list,
    prompt_templates: str,
    prompts: str,
    pairs: int | str,
    seed: int,
    wording: str,
    chosen: str | list,
    variants: list,
) -> None:
    """Write the prompts of a set of templates: sentences about a sample of people, with every prompt and variant.

    :func:`scripts.winopron.lib.prompts.of_instances` has the columns.

    Args:
        instances: One file for each kind of sentences that is asked about.
        pairs: How many pairs of people are drawn with ``seed``, or all.
        wording: That of the paper or of the authors' code.
        chosen: Ids of prompt templates, or all.
        variants: Which people a prompt lists as options, in which order: :data:`scripts.winopron.lib.prompts.VARIANTS`.
    """
    read = [files.read_parquet(path) for path in instances]
    kept = asking.sample(read[0].pair, pairs, seed)
    known = asking.read(prompt_templates, wording, chosen)
    rows = [row for frame in read for row in asking.of_instances(frame[frame.pair.isin(kept)], known, variants)]
    origins = files.parquet_metadata(instances[0]).get("origins", {}) | {"prompt_row": Path(prompt_templates).name}
    frame = pd.DataFrame(rows)
    for column in ("template_row", "occupation_row", "pronoun_row", "prompt_row"):
        frame[column] = frame[column].astype("Int64")
    files.write_parquet(prompts, frame, {"origins": origins, "pairs": kept})
    log.info("%d prompts about %d pairs of people", len(frame), len(kept))


if __name__ == "__main__":
    run_named()
