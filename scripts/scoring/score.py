"""Score all options of a shard of a study's instances with one model."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from scripts.core import files
from scripts.core.data import instances as instance_files
from scripts.core.errors import UserError, count_noun
from scripts.core.models import model_jobs
from scripts.core.models.contexts import context_length
from scripts.core.scoring.check import choose_way, make_scorer
from scripts.core.scoring.criteria import COLUMNS, CRITERIA, fill_options, name_metric
from scripts.core.scoring.distinct_options import DistinctOptions
from scripts.core.scoring.network import refuse_nonfinite
from scripts.core.scoring.reader import Reader, Text, check_lengths
from scripts.core.workflow.job import log, run
from scripts.core.workflow.parts import Parts, digest_json

WINDOW = 1024
"""Instances held at once: enough for neighbours to share contexts, few enough for memory to stay flat."""
LONGEST, RANDOM, OPTIONS = 64, 4, 4
"""A way of scoring is checked with four options of the longest instance (the one with the most tokens among the 64 with
the most bytes) and with four random instances."""
OPTION_BYTES = 64
"""Room for the special tokens of a text and for an option that is longer than the slot it fills."""

LIBRARIES = ("torch", "transformers", "tokenizers", "minicons")


def main(
    *,
    instances: str,
    scores: str,
    speed: str,
    model: str,
    entry: dict,
    engine: str,
    device: str,
    tokens_per_batch: int | str,
    criterion: str = "log_likelihood",
    token_values: bool = False,
    save_seconds: float = 30,
    priority: int | None = None,
    shard: int = 1,
    shards: int = 1,
    weights: str | None = None,
    fetched: str | None = None,
    threads: int = 1,
) -> None:
    """Write ``scores`` for shard ``shard`` of ``shards`` of ``instances``.

    The file's metadata name model, weights, engine and libraries. Finished parts are kept in a folder beside ``scores``
    until all is done, and taken up by the next try.

    Args:
        instances: Parquet file of instances, one row each (scripts/core/data/instances.py has the columns).
        scores: Parquet file to write: one row for each instance and option, with its log-probability in nats.
        speed: JSON file to write: how long scoring took, for later plans.
        model: The model's name, for messages and metadata.
        entry: The model's entry in the registry: source, tokenizer, architecture, precision and what else scores depend
            on.
        engine: packed or minicons.
        device: auto, cpu, cuda or cuda:N.
        tokens_per_batch: Tokens in one forward pass at most, or auto.
        criterion: What options are compared by, one of :data:`scripts.core.scoring.criteria.CRITERIA`.
        token_values: Whether each token's log-probability is kept as well.
        save_seconds: Seconds after which finished parts are saved.
        priority: Instances whose ``priority`` is not below this are left out; None scores all.
        shard: Which part of the instances is scored, counted from 1.
        shards: How many parts the instances are divided into.
        weights: Folder that the workflow prepared from the model's source, where it needs preparing.
        fetched: JSON file that says which revision was fetched from the hub.
        threads: Threads of PyTorch.

    Raises:
        UserError: If the model cannot be loaded or cannot be scored without error, or a text is longer than its limit.
    """
    model_jobs.clear_leftovers(scores)
    opened = model_jobs.open_model(
        model, entry, script="scripts/scoring/score.py", libraries=LIBRARIES, device=device, threads=threads,
        weights=weights, fetched=fetched,
    )  # fmt: skip
    architecture, limit = opened.wanted.architecture, context_length(opened.network)
    reader = Reader(opened.tokenizer, architecture, with_kinds=criterion != "log_likelihood")
    samples = sample_texts(instances, reader, criterion, limit, model)
    scorer = make_scorer(engine, opened.network, opened.tokenizer, architecture, tokens_per_batch, limit)
    check = choose_way(scorer, samples) if samples else {}
    metadata: dict[str, Any] = opened.facts | {
        "engine": engine,
        "scoring": check,
        "metric": name_metric(criterion, architecture),
        "instances_sha256": files.sha256(instances),
    }
    settings = {"entry": entry, "tokens_per_batch": tokens_per_batch, "threads": threads}
    label = model if shards == 1 else f"{model} {shard}/{shards}"
    parts = Parts(scores, metadata | settings, save_seconds, label=label)
    # The work of an encoder grows with the square of a text's length.
    chosen = instance_files.shard_rows(instances, shard, shards, 1 + (architecture == "encoder"), priority)
    total, done = int(chosen.sum()), 0
    if not total and shards == 1:
        raise UserError(f"{instances}: no instances; delete the file and run the workflow again")
    metadata |= {"shard": shard, "shards": shards, "instances": total, "text_tokens": 0, "forward_tokens": 0}
    values_type = {"token_log_probabilities": pa.list_(pa.float32())} if token_values else {}
    schema = pa.schema(COLUMNS["log_likelihood"] | COLUMNS[criterion] | values_type)
    distinct = DistinctOptions(model, reader, total)

    def score_window(window: pd.DataFrame) -> pa.RecordBatch:
        """A function, so that nothing of a window is held while the next one is read."""
        nonlocal done
        done += len(window)
        rows = fill_options(window, architecture, criterion)
        texts = reader.read(rows)
        check_lengths(rows, texts, limit)
        distinct.count_unread(rows, texts)
        batches = scorer.plan(texts)
        metadata["text_tokens"] += sum(map(len, texts))
        metadata["forward_tokens"] += sum(batch.tokens for batch in batches)
        # The rest of the instances will share about as much as those so far.
        parts.bar.total = round(metadata["forward_tokens"] * total / done)
        values: list[np.ndarray] = [np.zeros(0)] * len(texts)
        for batch, results in parts.work(digest_json([*rows.instance_id, *rows.text]), batches, scorer.run):
            for number, found in zip(batch.members, results, strict=True):
                check_finite(rows.iloc[number], found, opened.network)
                values[number] = found
        table = CRITERIA[criterion](rows, texts, values)
        distinct.count_ties(table)
        return pa.RecordBatch.from_pandas(table[schema.names], schema=schema, preserve_index=False)

    with parts, instance_files.write_batches(scores, schema, metadata) as write:
        for window in instance_files.read_batches(instances, chosen, WINDOW):
            write(score_window(window))
        metadata |= distinct.counts
    model_jobs.write_speed(speed, opened, parts.seconds, engine=engine, scored_tokens=parts.fresh, instances=total)
    parts.remove()
    log.info(
        "%s, %d tokens of text in %d tokens of forward passes (%d of them now, %.0f a second)",
        count_noun(total, "instance"), metadata["text_tokens"], metadata["forward_tokens"], parts.fresh, parts.rate,
    )  # fmt: skip


def check_finite(row: Any, values: np.ndarray, network: Any) -> None:
    """Refuse log-probabilities of a row's text that are not finite."""
    if not np.isfinite(values).all():
        refuse_nonfinite(f"instance {row.instance_id}, option {row.option!r}: the score is not finite", network)


def sample_texts(path: str | Path, reader: Reader, criterion: str, limit: int | None, model: str) -> list[Text]:
    """Return texts that a way of scoring is checked with, the same for every shard of an instance file.

    Returns:
        Some options of the instance with the longest text and one option of each of some random instances.

    Raises:
        UserError: If texts are longer than ``limit``: how many instances have some, and how long the longest is.
    """
    longest, random, too_long, first = [], [], pd.Series(dtype="int64"), 0
    with pq.ParquetFile(path) as file:
        total = file.metadata.num_rows
        drawn = np.random.default_rng(0).choice(total, min(RANDOM, total), replace=False)
        for batch in file.iter_batches(batch_size=WINDOW, columns=["instance_id", "text", "options"]):
            sizes = pc.binary_length(batch["text"]).to_numpy(zero_copy_only=False)
            # A token takes a byte of text or more.
            if limit and len(critical := batch.filter(pa.array(sizes > limit - OPTION_BYTES))):
                rows = fill_options(critical.to_pandas(), reader.architecture, criterion)
                lengths = pd.Series(list(map(len, reader.read(rows)))).groupby(rows.instance_id, sort=False).max()
                too_long = pd.concat([too_long, lengths[lengths > limit]])
            longest.append(batch.take(pa.array(np.argsort(-sizes, kind="stable")[:LONGEST])))
            random.append(batch.take(pa.array(drawn[(drawn >= first) & (drawn < first + len(batch))] - first)))
            first += len(batch)
            if len(longest) > LONGEST:
                longest = keep_longest(longest)
    too_long = too_long[~too_long.index.duplicated()]
    if len(too_long):
        raise UserError(
            f"{path}: {len(too_long)} of {count_noun(total, 'instance')} have texts of up to {too_long.max()} tokens, "
            f"and model {model} takes {limit}; texts are never truncated: leave this model or these instances out (the "
            f"first is {too_long.index[0]})"
        )
    if not total:
        return []
    rows = fill_options(pa.Table.from_batches(keep_longest(longest)).to_pandas(), reader.architecture, criterion)
    others = fill_options(pa.Table.from_batches(random).to_pandas(), reader.architecture, criterion)
    return options_of_longest(rows, reader.read(rows)) + reader.read(others.drop_duplicates("instance_id"))


def options_of_longest(rows: pd.DataFrame, texts: list[Text]) -> list[Text]:
    """Return some options of the instance with the longest text, of different lengths where they have some."""
    longest = rows.instance_id.iloc[max(range(len(texts)), key=lambda number: len(texts[number]))]
    own = [text for text, name in zip(texts, rows.instance_id, strict=True) if name == longest]
    own.sort(key=lambda text: len(text.ids), reverse=True)
    return [own[place] for place in np.unique(np.linspace(0, len(own) - 1, OPTIONS).round().astype(int))]


def keep_longest(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return the rows of record batches that have the longest texts, as one record batch."""
    table = pa.Table.from_batches(batches)
    order = np.argsort(-pc.binary_length(table["text"]).to_numpy(), kind="stable")
    return table.take(pa.array(order[:LONGEST])).combine_chunks().to_batches()


if __name__ == "__main__":
    run(main)
