"""Score all options of a shard of a study's instances with one model."""

import contextlib
import hashlib
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import instances, losses, options
from scripts.core.engines import chunks, continuation, label_loss, model_jobs, models, registry, scoring, structure
from scripts.core.engines.batches import METRICS, Batch, TextReader, check_lengths, context_length, progress_bar
from scripts.core.engines.mixed_precision import Bound, HalfWeights, calibration_rows, exceeding_share
from scripts.core.engines.reading import Reading
from scripts.core.errors import UserError, count_noun
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
    models.score_after(opened.tokenizer, entry.get("scored_after"))
    limit = context_length(opened.network)
    way = SCORE_TYPES[score](entry["architecture"])
    longest = longest_instances(instances, TextReader(opened.tokenizer, entry["architecture"]), limit, way, model)
    mixed = None
    if entry["precision"] == "mixed" and way.compared:
        half = "bfloat16" if opened.device == "cpu" else registry.half_precision(entry)
        mixed = Mixed(HalfWeights(opened.network, half), Bound(way.compared))
    with mixed.weights.used() if mixed else contextlib.nullcontext():
        scorer = scoring.make_engine(
            engine, opened.network, opened.tokenizer, entry["architecture"], opened.device, tokens_per_batch, longest
        )
    facts = opened.facts | ({"precision": "mixed", "half_precision": mixed.weights.precision} if mixed else {})
    metadata: dict[str, Any] = facts | {
        "engine": engine,
        "engine_description": scorer.description,
        "metric": way.metric,
        **({"scored_after": entry["scored_after"]} if "scored_after" in entry else {}),
        "instances_sha256": files.sha256(instances),
    }
    settings = {"tokens_per_batch": tokens_per_batch, "threads": threads}
    parts = chunks.Chunks.for_output(scores, metadata | settings, save_seconds)
    job = Job(scorer, parts, limit, way, priority, mixed)
    job.label = model if shards == 1 else f"{model} {shard}/{shards}"
    metadata["shard"], metadata["shards"] = shard, shards
    started = time.monotonic()
    job.write(instances, scores, shard, shards, token_values, metadata)
    seconds = time.monotonic() - started
    amounts = {"engine": engine, "scored_tokens": job.scored_tokens, "instances": metadata["instances"]}
    if mixed:
        amounts |= {"precision": "mixed", "rescored_instances": metadata["rescored_instances"]}
        log.info(
            "%d of %s scored in float32, %d of them to calibrate, all others in %s; bound in nats: %s",
            metadata["rescored_instances"], count_noun(metadata["instances"], "instance"),
            metadata["calibration_instances"], mixed.weights.precision, metadata["decision_bounds"],
        )  # fmt: skip
        if metadata["calibration_instances"]:
            log.info(
                "at most %.1f %% of the instances move by more than half of that bound, with 95 %% confidence",
                100 * exceeding_share(metadata["calibration_instances"]),
            )
    model_jobs.write_speed(speed, opened, seconds, **amounts)
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
        compared (tuple of str): The columns by which studies compare options; none if they compare more than sums,
            which mixed precision does not serve: such a job is run in float32.
    """

    def __init__(self, architecture: str):
        self.metric = METRICS[architecture]
        self.columns = {}
        self.compared = ("log_probability",)

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
        self.compared = ()

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
        self.compared = ("log_probability", "continuation_log_probability")

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


class BoundTooSmallError(Exception):
    """An instance moved by more than the bound of a job in mixed precision."""


class Mixed:
    """What a job in mixed precision knows: see :mod:`scripts.core.engines.mixed_precision`.

    Attributes:
        weights (HalfWeights)
        bound (Bound)
        known (dict of (str, int) to ndarray): Token log-probabilities in float32 of the instances that calibrated, by
            instance and option.
        calibration_tokens (int): Tokens of forward passes that calibration took.
        rescored (int): Instances of which the file has float32 scores.
    """

    def __init__(self, weights: HalfWeights, bound: Bound):
        self.weights = weights
        self.bound = bound
        self.known = {}
        self.calibration_tokens = 0
        self.rescored = 0

    @property
    def identifiers(self) -> set[str]:
        """The instances that calibrated."""
        return {identifier for identifier, _ in self.known}

    def facts(self) -> dict[str, Any]:
        """Return what the metadata of a score file say; a bound of None: everything was scored in float32."""
        bounds = {column: nats if np.isfinite(nats) else None for column, nats in self.bound.nats.items()}
        return {
            "decision_bounds": [bounds],
            "calibration_instances": len(self.identifiers),
            "rescored_instances": self.rescored,
        }


def _put(values: list[Any], where: np.ndarray, found: Sequence[np.ndarray]):
    """Put what was found for the places of a list that are marked into them, in order."""
    for place, scored in zip(np.flatnonzero(where), found, strict=True):
        values[place] = scored


class Job:
    """Streams instances through an engine.

    Args:
        engine: As returned by :func:`scripts.core.engines.scoring.make_engine`.
        limit: The model's context length in tokens.
        priority: As for :func:`scripts.core.data.instances.shard_rows`.
        mixed: For a job in mixed precision.
    """

    def __init__(
        self,
        engine: Any,
        parts: chunks.Chunks,
        limit: int | None,
        way: LogLikelihood,
        priority: int | None = None,
        mixed: Mixed | None = None,
    ):
        self.engine = engine
        self.parts = parts
        self.limit = limit
        self.way = way
        self.priority = priority
        # A job in one precision calls none of what needs it.
        self.mixed: Any = mixed
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
        if self.mixed:
            fields.append(("precision", pa.string()))
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
            if self.mixed:
                metadata.update(self.mixed.facts())

        metadata.update(instances=total, text_tokens=0, forward_tokens=0)
        if self.mixed:
            self.calibrate(path, chosen, metadata)
        while True:
            try:
                instances.write_stream(scores, schema, batches(), metadata)
                return
            except BoundTooSmallError:
                self.mixed.bound.set()
                self.mixed.rescored = 0
                log.info(
                    "an instance moved by more than the bound; starting again with one of %s nats", self.mixed.facts()
                )
                metadata.update(text_tokens=0, forward_tokens=self.mixed.calibration_tokens)

    def calibrate(self, path: str | Path, chosen: np.ndarray, metadata: dict[str, Any]) -> None:
        """Score some of the chosen instances in both precisions and set the bound.

        Where that would be all of them, there is no bound, and all are scored in float32 alone.
        """
        mixed, sample = self.mixed, calibration_rows(chosen)
        if sample.sum() == chosen.sum():
            return
        for window in instances.read_batches(path, sample, WINDOW):
            rows = self.way.rows(window)
            check_lengths(self.engine, rows, self.limit)
            wide = self.values(rows, metadata)
            mixed.bound.observe(self.half_table(rows, metadata)[1], self.way.table(rows, wide, self.engine))
            mixed.known.update(zip(zip(rows.instance_id, rows.option_index, strict=True), wide, strict=True))
        mixed.bound.set()
        mixed.calibration_tokens = metadata["forward_tokens"]

    def window(self, rows: pd.DataFrame, metadata: dict[str, Any]) -> pd.DataFrame:
        """Return the table of a window's rows."""
        check_lengths(self.engine, rows, self.limit)
        self.reading.read(rows)
        metadata["text_tokens"] += int(self.engine.lengths(rows).sum())
        if self.mixed:
            table = self.mixed_window(rows, metadata)
        else:
            table = self.way.table(rows, self.values(rows, metadata), self.engine)
        self.reading.decide(table)
        return table

    def mixed_window(self, rows: pd.DataFrame, metadata: dict[str, Any]) -> pd.DataFrame:
        """Return the table of a window's rows in mixed precision, with the column ``precision``."""
        mixed = self.mixed
        values = [mixed.known.get(key) for key in zip(rows.instance_id, rows.option_index, strict=True)]
        left = np.array([scored is None for scored in values])
        half = None
        if np.isfinite(list(mixed.bound.nats.values())).all():
            found, half = self.half_table(rows[left].reset_index(drop=True), metadata)
            _put(values, left, found)
            left &= rows.instance_id.isin(mixed.bound.close(half)).to_numpy()
        part = rows[left].reset_index(drop=True)
        wide = self.values(part, metadata)
        if half is not None and len(part):
            again = half[half.instance_id.isin(part.instance_id)].reset_index(drop=True)
            mixed.bound.observe(again, self.way.table(part, wide, self.engine))
            if mixed.bound.too_small:
                raise BoundTooSmallError
        _put(values, left, wide)
        widened = {*part.instance_id, *mixed.identifiers}
        table = self.way.table(rows, values, self.engine)
        in_float32 = table.instance_id.isin(widened)
        mixed.rescored += table.instance_id[in_float32].nunique()
        return table.assign(precision=np.where(in_float32, "float32", mixed.weights.precision))

    def half_table(self, rows: pd.DataFrame, metadata: dict[str, Any]) -> tuple[list[np.ndarray], pd.DataFrame]:
        """Return the token log-probabilities of rows in half precision, and the table of them."""
        with self.mixed.weights.used():
            values = self.values(rows, metadata, self.mixed.weights.precision)
        return values, self.way.table(rows, values, self.engine)

    def values(self, rows: pd.DataFrame, metadata: dict, precision: str = "") -> list[np.ndarray]:
        """Return the token log-probabilities of rows.

        Args:
            metadata: Its ``forward_tokens`` grow.
            precision: The half precision that the model computes in now, if it is one of two: its numbers need not be
                finite.

        Returns:
            Of float64.
        """
        if not len(rows):
            return []
        digest = hashlib.sha256("\0".join([precision, *rows.instance_id, *rows.text]).encode()).hexdigest()
        plan = self.engine.plan(rows)
        metadata["forward_tokens"] += sum(batch.tokens for batch in plan)
        if self.bar is not None:
            # The rest of the instances will share about as much as those so far.
            self.bar.total = round(metadata["forward_tokens"] / self.share)
        values: list[Any] = [None] * len(rows)
        compute = self.engine.score if precision else partial(self.score, rows)
        for batch, results, fresh in self.parts.work(digest, plan, compute):
            self.scored_tokens += batch.tokens if fresh else 0
            for row, scored in zip(batch.rows, results, strict=True):
                # Engines score every token of a decoder's text but the first.
                values[row] = scored[max(self.engine.unscored - 1, 0) :]
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
