"""The instances of RUFF, samples of them, prompts and the sheet for annotators, each by the function of its rule."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.core import files
from scripts.core.data import annotation
from scripts.core.data import instances as instance_files
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run_named
from scripts.ruff.human import HUMAN_QUESTION
from scripts.ruff.narratives import load, schema
from scripts.ruff.prompts import instance_prompts, read_chains, read_prompts, select_chains, with_origins
from scripts.ruff.selection import balanced_rows, priorities
from scripts.ruff.templates import ORIGINS


def instances(*, templates: list, pronouns: str, pronoun_sets: list, n_distractors: int, instances: str) -> None:
    """Make a full set of RUFF instances: every narrative with a given number of distractor sentences.

    The rows are in the order of the authors' generator (see :mod:`scripts.ruff.narratives`). Nothing else needs full
    sets: samples are drawn without them, and Table 1 of the paper counts them by rule (:func:`full_set_sizes`).

    Args:
        templates: The replica's files (tasks, contexts, occupations), or the authors' data.zip alone.
        pronouns: templates/pronouns.tsv.
        pronoun_sets: Configured sets, in order.
        n_distractors: 0 to 5.
        instances: The Parquet file to write.
    """
    narratives = load(templates, pronouns, pronoun_sets)
    metadata = narratives.metadata(n_distractors=n_distractors)
    instance_files.write_stream(instances, schema(), narratives.full(n_distractors), metadata)


def full_set_sizes(
    *, templates: list, pronouns: str, pronoun_sets: list, distractors: list, full_set_sizes: str
) -> None:
    """Count the instances of every full RUFF set without making it (paper Table 1).

    Write one row for each of ``distractors``, with the lines of the template files that its set is made from. The
    other arguments are those of :func:`instances`.
    """
    narratives = load(templates, pronouns, pronoun_sets)
    files.write_parquet(full_set_sizes, narratives.full_set_sizes(distractors), narratives.metadata())


def context_free(*, templates: list, pronouns: str, pronoun_sets: list, context_free: str) -> None:
    """Make the context-free RUFF instances: each task sentence alone, without a right answer (section 5 of the paper).

    The arguments are those of :func:`instances`.
    """
    narratives = load(templates, pronouns, pronoun_sets)
    files.write_parquet(context_free, narratives.context_free(), narratives.metadata())


def sample(*, templates: list, pronouns: str, pronoun_sets: list, n_distractors: int, seed: int, sample: str) -> None:
    """Draw the sample of RUFF instances that belongs to one seed and one number of distractor sentences.

    Equal to pandas' ``groupby(...).sample(...)`` over the full set, which is not needed (see
    :meth:`scripts.ruff.narratives.Narratives.sample`): 2,160 rows with four pronoun sets (section 3.2 of the paper).

    Write one sample to ``sample``; the other arguments are those of :func:`instances`.
    """
    narratives = load(templates, pronouns, pronoun_sets)
    metadata = narratives.metadata(n_distractors=n_distractors, seed=seed)
    files.write_parquet(sample, narratives.sample(n_distractors, seed), metadata)


def select_instances(*, context_free: str, samples: list, sizes: list, selected: str) -> None:
    """Select the RUFF instances that are scored: the context-free ones and a balanced part of every sample.

    :mod:`scripts.ruff.selection` says which rows of a sample these are. The file is sorted by text, so that
    instances that begin alike are neighbours and share computations (:mod:`scripts.core.scoring.tree`), across
    samples and numbers of distractors. The column ``priority`` says which rows of each sample come first: a model with
    a smaller sample than others scores those whose priority is below its size, so that all models share them.

    Args:
        context_free: The context-free instances.
        samples: One file for each seed and number of distractor sentences.
        sizes: Rows that models score of each sample; the largest is taken, or the whole sample if it has no more.
        selected: The Parquet file to write.
    """
    if min(sizes) < 1:
        raise UserError(f"ruff.sample_size is {min(sizes)}; use at least 1")
    free = files.read_arrow(context_free)
    tables = [free.append_column("priority", pa.nulls(len(free), pa.int32()))]
    for path in samples:
        table = files.read_arrow(path)
        places = priorities(table.drop_columns(["text", "options", "distractor_indices"]).to_pandas(), sizes)
        table = table.append_column("priority", pa.array(places, pa.int32()))
        tables.append(table.filter(pa.array(places < max(sizes))))
    metadata = {**files.parquet_metadata(context_free), "sample_size": max(sizes), "samples": len(samples)}
    table = pa.concat_tables([t.replace_schema_metadata(None) for t in tables])
    # Stable: equal texts of several samples keep the samples' order.
    files.write_parquet(selected, table.take(pc.sort_indices(table["text"])), metadata)


def prompts(
    *, samples: list, prompt_templates: str, chain_templates: str, sample_size: int, kinds: list, blank: str,
    option_orders: list, chains: dict, prompted: str, prompts: str,
) -> None:  # fmt: skip
    """Select the RUFF instances that models are prompted with, and write all their prompts.

    Of each sample those rows are taken that :func:`scripts.ruff.selection.balanced_rows` takes first, so prompted
    instances are among the scored ones as long as no more are prompted than scored. Neighbouring prompts belong to one
    instance.

    Args:
        samples: One file for each seed and number of distractor sentences, of each of which ``sample_size`` rows count.
        kinds: Which prompts to use, of ``open`` and ``options``.
        chains: ``methods``, ``distractors`` and ``sample_size``: chains of thought are elicited by these methods, on so
            many of the rows of samples with so many distractors.
        prompted: The selected rows, once for each sample that they are in, with the column ``chains``: whether they are
            asked for chains (Parquet).
        prompts: What :func:`scripts.ruff.prompts.instance_prompts` makes of each distinct instance (Parquet).
    """
    asked = {name: prompt for name, prompt in read_prompts(prompt_templates).items() if prompt["kind"] in kinds}
    methods = select_chains(read_chains(chain_templates), chains["methods"], chain_templates)
    parts = []
    for path in samples:
        table = files.read_parquet(path)
        chosen = balanced_rows(table, sample_size)
        part = table.iloc[chosen]
        chained = np.isin(chosen, balanced_rows(table, chains["sample_size"]))
        parts.append(part.assign(chains=chained & part.n_distractors.isin(chains["distractors"])))
    rows = pd.concat(parts, ignore_index=True)
    known = files.parquet_metadata(samples[0]).get("origins", {})
    files.write_parquet(prompted, rows, {"origins": known})
    with_chains = rows.groupby("instance_id").chains.any()
    made = [
        prompt
        for row in rows.drop_duplicates("instance_id").sort_values("text").itertuples(index=False)
        for prompt in instance_prompts(
            row.instance_id, row.text, list(row.options), asked, methods, option_orders, blank,
            with_chains[row.instance_id],
        )
    ]  # fmt: skip
    frame = with_origins(pd.DataFrame(made), rows, ORIGINS, prompt_templates, chain_templates)
    settings = {"blank": blank, "option_orders": option_orders, "kinds": kinds, "chains": chains}
    settings["origins"] = known | {"prompt_row": Path(prompt_templates).name, "chain_row": Path(chain_templates).name}
    files.write_parquet(prompts, frame, settings | {"sample_size": sample_size})
    log.info("%d rows of samples, %d distinct instances, %d prompts", len(rows), len(with_chains), len(made))


def human_sheet(*, samples: list, sheet: str, instances: int, seed: int) -> None:
    """Draw the instances in which annotators fill the blank (section 3.3) and write the blank sheet.

    The draw is that of the authors' sample_for_humans.py: with 100 ``instances``, the seed 131719 and their templates
    it takes the instances that their annotators were given.

    Args:
        samples: One file for each number of distractors, all of the study's first seed.
    """
    table = pd.concat([files.read_parquet(path, ["instance_id", "text", "n_distractors"]) for path in samples])
    fewest = int(table.n_distractors.value_counts().min())
    if fewest < instances:
        raise UserError(f"ruff.annotation.instances is {instances}, but a sample has {fewest}; use at most {fewest}")
    drawn = table.groupby("n_distractors").sample(instances, random_state=seed)
    items = drawn[["instance_id", "text"]].set_axis(["Row", "Sentence"], axis=1)
    annotation.write_sheet(sheet, items, HUMAN_QUESTION, seed)


if __name__ == "__main__":
    run_named()
