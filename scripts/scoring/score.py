"""Score all options of a shard of a study's instances with one model."""

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import instances, losses, options
from scripts.core.engines import chunks, continuation, label_loss, scoring, structure
from scripts.core.engines.batches import METRICS, Batch, TextReader, check_lengths, context_length, progress_bar
from scripts.core.engines.reading import Reading
from scripts.core.errors import UserError, count_noun
from scripts.core.models import model_jobs
from scripts.core.workflow.job import log, run

if TYPE_CHECKING:
    import pyarrow as pa

# Instances held at once: enough for neighbours to share contexts, few enough for memory to stay flat.
WINDOW = 1024

# Room for the special tokens of a text and for an option that is longer than the slot it fills.
OPTION_BYTES = 64
# Record batches held while the longest texts are looked for.
MERGED = 64

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
    score: str = "log_likelihood",
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
        score: What options are compared by: log_likelihood, continuation (scripts/core/engines/continuation.py) or
            label_loss (scripts/core/engines/label_loss.py).
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
    limit = context_length(opened.network)
    way = SCORE_TYPES[score](entry["architecture"])
    longest = longest_instances(instances, TextReader(opened.tokenizer, entry["architecture"]), limit, way, model)
    scorer = scoring.make_engine(
        engine, opened.network, opened.tokenizer, entry["architecture"], opened.device, tokens_per_batch, longest
    )
    metadata: dict[str, Any] = opened.facts | {
        "engine": engine,
        "engine_description": scorer.description,
        "metric": way.metric,
        "instances_sha256": files.sha256(instances),
    }
    settings = {"tokens_per_batch": tokens_per_batch, "threads": threads}
    parts = chunks.Chunks.for_output(scores, metadata | settings, save_seconds)
    job = Job(scorer, parts, limit, way, priority)
    job.label = model if shards == 1 else f"{model} {shard}/{shards}"
    metadata["shard"], metadata["shards"] = shard, shards
    started = time.monotonic()
    job.write(instances, scores, shard, shards, token_values, metadata)
    seconds = time.monotonic() - started
    model_jobs.write_speed(
        speed, opened, seconds, engine=engine, scored_tokens=job.scored_tokens, instances=metadata["instances"]
    )
    parts.remove()
    log.info(
        "%s, %d tokens of text in %d tokens of forward passes (%d of them now, %.0f a second)",
        count_noun(metadata["instances"], "instance"), metadata["text_tokens"], metadata["forward_tokens"],
        job.scored_tokens, job.scored_tokens / max(seconds, 1e-9),
    )  # fmt: skip


class LogLikelihood:
    """Options are compared by the (pseudo-)log-likelihood of the text: one sum for each option.

    Args:
        architecture: One of "encoder", "decoder", "encoder-decoder".

    Attributes:
        metric (str): What a score is, for the file's metadata.
        columns (dict of str to str): Columns that its tables have besides those of every score file, and their types.
    """

    def __init__(self, architecture: str):
        self.metric = METRICS[architecture]
        self.columns = {}

    def rows(self, part: pd.DataFrame) -> pd.DataFrame:
        """Return the texts that are scored for instances, as of :func:`scripts.core.data.options.option_texts`."""
        return options.option_texts(part)

    def table(self, rows: pd.DataFrame, values: list[np.ndarray], _texts: TextReader) -> pd.DataFrame:
        """Return scores as a table, one row for each instance and option; ``values`` belong to ``rows``."""
        return scoring.result_table(rows, values)


class LabelLoss(LogLikelihood):
    """Options are compared by the loss on labels, a mean over tokens: :mod:`scripts.core.engines.label_loss`."""

    def __init__(self, architecture: str):
        self.architecture = architecture
        self.metric = label_loss.METRIC
        self.columns = losses.COLUMNS

    def rows(self, part: pd.DataFrame) -> pd.DataFrame:
        """Return the texts that are scored: :func:`scripts.core.engines.label_loss.label_rows`."""
        return label_loss.label_rows(part, self.architecture)

    def table(self, rows: pd.DataFrame, values: list[np.ndarray], texts: TextReader) -> pd.DataFrame:
        """Return losses as a table: :func:`scripts.core.engines.label_loss.label_table`."""
        return label_loss.label_table(rows, values, texts)


class Continuation(LogLikelihood):
    """What follows the slot is scored by itself besides: :mod:`scripts.core.engines.continuation`."""

    def __init__(self, architecture: str):
        super().__init__(architecture)
        self.columns = continuation.COLUMNS

    def table(self, rows: pd.DataFrame, values: list[np.ndarray], texts: TextReader) -> pd.DataFrame:
        """Return scores as a table: :func:`scripts.core.engines.continuation.continuation_table`."""
        return continuation.continuation_table(rows, values, texts)


SCORE_TYPES = {"log_likelihood": LogLikelihood, "continuation": Continuation, "label_loss": LabelLoss}
"""What options can be compared by."""


def longest_instances(
    path: str | Path, texts: TextReader, limit: int | None, way: LogLikelihood, model: str
) -> pd.DataFrame:
    """Return the instances of a file, of all shards, that have the longest texts: every shard is run in the same way.

    Args:
        limit: The model's context length in tokens.
        model: Its name, for messages.

    Returns:
        Columns ``instance_id``, ``text``, ``options``; at most :data:`scripts.core.engines.structure.CANDIDATES` rows.

    Raises:
        UserError: If texts are longer than ``limit``: how many instances have some, and how long the longest is.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    longest, long = [], pd.Series(dtype="int64")
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=WINDOW, columns=["instance_id", "text", "options"]):
            sizes = pc.binary_length(batch["text"]).to_numpy(zero_copy_only=False)
            longest.append(batch.take(pa.array(np.argsort(-sizes, kind="stable")[: structure.CANDIDATES])))
            if limit:
                # A token takes a byte of text or more.
                critical = batch.filter(pa.array(sizes > limit - OPTION_BYTES)).to_pandas()
                rows = way.rows(critical)
                if len(rows):
                    lengths = pd.Series(texts.lengths(rows)).groupby(rows.instance_id.to_numpy(), sort=False).max()
                    long = pd.concat([long, lengths[lengths > limit]])
            if len(longest) > MERGED:
                longest = [longest_of(longest)]
        total = file.metadata.num_rows
    long = long[~long.index.duplicated()]
    if len(long):
        raise UserError(
            f"{path}: {len(long)} of {count_noun(total, 'instance')} have texts of up to {long.max()} tokens, and "
            f"model {model} takes {limit}; texts are never truncated: leave this model or these instances out (the "
            f"first is {long.index[0]})"
        )
    return longest_of(longest).to_pandas() if longest else pd.DataFrame(columns=["instance_id", "text", "options"])


def longest_of(batches: "Sequence[pa.RecordBatch]") -> "pa.RecordBatch":
    """Return the rows of record batches that have the longest texts, as one record batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.Table.from_batches(batches).combine_chunks()
    sizes = pc.binary_length(table["text"]).to_numpy()
    chosen = table.take(pa.array(np.argsort(-sizes, kind="stable")[: structure.CANDIDATES])).combine_chunks()
    return chosen.to_batches()[0] if len(chosen) else pa.RecordBatch.from_pylist([], schema=table.schema)


class Job:
    """Streams instances through an engine.

    Args:
        engine: As returned by :func:`scripts.core.engines.scoring.make_engine`.
        limit: The model's context length in tokens.
        priority: As for :func:`scripts.core.data.instances.shard_rows`.
    """

    def __init__(
        self,
        engine: Any,
        parts: chunks.Chunks,
        limit: int | None,
        way: LogLikelihood,
        priority: int | None = None,
    ):
        self.engine = engine
        self.parts = parts
        self.limit = limit
        self.way = way
        self.priority = priority
        self.label = ""
        self.bar = None
        self.reading: Any = None
        # Of the job's instances, how many have come so far.
        self.share = 1.0
        self.scored_tokens = 0

    def write(
        self,
        path: str | Path,
        scores: str | Path,
        shard: int,
        shards: int,
        token_values: bool,
        metadata: dict[str, Any],
    ) -> None:
        """Score a shard of the instances in ``path`` and write ``scores``; adds counts to ``metadata``."""
        import pyarrow as pa

        power = 2 if self.engine.architecture == "encoder" else 1
        chosen = instances.shard_rows(path, shard, shards, power, self.priority)
        total = int(chosen.sum())
        if not total and shards == 1:
            raise UserError(f"{path}: no instances; delete the file and run the workflow again")
        fields = [
            ("instance_id", pa.string()),
            ("option", pa.string()),
            ("option_index", pa.int8()),
            ("log_probability", pa.float64()),
            ("mean_log_probability", pa.float64()),
            ("scored_tokens", pa.int32()),
            *((name, getattr(pa, kind)()) for name, kind in self.way.columns.items()),
        ]
        if token_values:
            fields.append(("token_log_probabilities", pa.list_(pa.float32())))
        schema = pa.schema(fields)

        def batches():
            done = 0
            self.reading = Reading(metadata["model"], self.engine, total)
            with progress_bar(self.label, None) as self.bar:
                for window in instances.read_batches(path, chosen, WINDOW):
                    rows = self.way.rows(window)
                    done += len(window)
                    self.share = done / total
                    table = self.window(rows, metadata)
                    yield pa.RecordBatch.from_pandas(table[schema.names], schema=schema, preserve_index=False)
            metadata.update(self.reading.facts())

        metadata.update(instances=total, text_tokens=0, forward_tokens=0)
        instances.write_stream(scores, schema, batches(), metadata)

    def window(self, rows: pd.DataFrame, metadata: dict[str, Any]) -> pd.DataFrame:
        """Return the table of a window's rows."""
        check_lengths(self.engine, rows, self.limit)
        self.reading.read(rows)
        metadata["text_tokens"] += int(self.engine.lengths(rows).sum())
        table = self.way.table(rows, self.values(rows, metadata), self.engine)
        self.reading.decide(table)
        return table

    def values(self, rows: pd.DataFrame, metadata: dict) -> list[np.ndarray]:
        """Return the token log-probabilities of rows.

        Args:
            metadata: Its ``forward_tokens`` grow.

        Returns:
            Of float64.
        """
        if not len(rows):
            return []
        digest = hashlib.sha256("\0".join([*rows.instance_id, *rows.text]).encode()).hexdigest()
        plan = self.engine.plan(rows)
        metadata["forward_tokens"] += sum(batch.tokens for batch in plan)
        if self.bar is not None:
            # The rest of the instances will share about as much as those so far.
            self.bar.total = round(metadata["forward_tokens"] / self.share)
        values: list[Any] = [None] * len(rows)
        for batch, results, fresh in self.parts.work(digest, plan, lambda batch: self.score(rows, batch)):
            self.scored_tokens += batch.tokens if fresh else 0
            for row, scored in zip(batch.rows, results, strict=True):
                values[row] = scored
            if self.bar is not None:
                self.bar.update(batch.tokens)
        return values

    def score(self, rows: pd.DataFrame, batch: Batch) -> list[np.ndarray]:
        """Return the checked token log-probabilities of a batch."""
        results = self.engine.score(batch)
        for row, scored in zip(batch.rows, results, strict=True):
            scoring.check_finite(rows, row, scored, self.engine.network)
        return results


if __name__ == "__main__":
    run(main)
