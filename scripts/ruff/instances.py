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
from scripts.ruff.narratives import SCHEMA, load
from scripts.ruff.prompts import instance_prompts, read_chains, read_prompts, select_chains, with_origins
from scripts.ruff.selection import balanced_rows, priorities
from scripts.ruff.templates import ORIGINS


def instances(*, templates: list, pronouns: str, pronoun_sets: list, n_distractors: int, instances: str) -> None:
    """Make a full set: every narrative with a number of distractor sentences, in the order of the authors' generator.

    Nothing else needs full sets: samples are drawn and Table 1 is counted without them. ``templates`` are the replica's
    files (tasks, contexts, occupations), or the authors' data.zip alone.
    """
    narratives = load(templates, pronouns, pronoun_sets)
    metadata = narratives.metadata(n_distractors=n_distractors)
    instance_files.write_stream(instances, SCHEMA, narratives.full(n_distractors), metadata)


def context_free(*, templates: list, pronouns: str, pronoun_sets: list, context_free: str) -> None:
    """Make the context-free instances: each task sentence alone, without a right answer (section 5 of the paper)."""
    narratives = load(templates, pronouns, pronoun_sets)
    files.write_parquet(context_free, narratives.context_free(), narratives.metadata())


def sample(*, templates: list, pronouns: str, pronoun_sets: list, n_distractors: int, seed: int, sample: str) -> None:
    """Draw the sample of one seed and number of distractors: 2,160 rows with four pronoun sets (section 3.2)."""
    narratives = load(templates, pronouns, pronoun_sets)
    metadata = narratives.metadata(n_distractors=n_distractors, seed=seed)
    files.write_parquet(sample, narratives.sample(n_distractors, seed), metadata)


def select_instances(*, context_free: str, samples: list, sizes: list, selected: str) -> None:
    """Select the instances that are scored: the context-free ones and a balanced part of every sample.

    The file is sorted by text: instances that begin alike are neighbours and share computations
    (:mod:`scripts.core.scoring.tree`). A model scores the rows of each sample whose ``priority``
    (:mod:`scripts.ruff.selection`) is below its size of ``sizes``, so that all models share the first rows.
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
    chains: dict, prompted: str, prompts: str,
) -> None:  # fmt: skip
    """Select the instances that models are prompted with, and write all prompts of each distinct one.

    Of each sample the first ``sample_size`` rows by priority are taken, so that prompted instances are among the scored
    ones as long as no more are prompted than scored. ``prompted`` has them once for each sample that they are in.

    Args:
        kinds: Which prompts to use, of ``open`` and ``options``.
        chains: ``methods``, ``distractors`` and ``sample_size``: chains of thought are elicited by these methods, on so
            many of the rows of samples with so many distractors (the column ``chains``).
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
            row.instance_id, row.text, list(row.options), asked, methods, blank, with_chains[row.instance_id]
        )
    ]
    frame = with_origins(pd.DataFrame(made), rows, ORIGINS, prompt_templates, chain_templates)
    settings = {"blank": blank, "kinds": kinds, "chains": chains}
    settings["origins"] = known | {"prompt_row": Path(prompt_templates).name, "chain_row": Path(chain_templates).name}
    files.write_parquet(prompts, frame, settings | {"sample_size": sample_size})
    log.info("%d rows of samples, %d distinct instances, %d prompts", len(rows), len(with_chains), len(made))


def human_sheet(*, samples: list, sheet: str, instances: int, seed: int) -> None:
    """Draw the instances in which annotators fill the blank (section 3.3) and write the blank sheet.

    With 100 ``instances``, the seed 131719 and the samples of the study's first seed it takes those that the authors'
    annotators were given (sample_for_humans.py).
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
