"""Score all options of a shard of a study's instances with one model."""

import hashlib
import importlib.metadata
import json
import time
from pathlib import Path

import torch

from scripts.core import chunks, closure, files, instances, models, options, scoring
from scripts.core.errors import UserError
from scripts.core.job import log, run

# Instances held at once: enough for neighbours to share contexts, few enough for memory to stay flat.
WINDOW = 1024

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
    token_values: bool = False,
    save_seconds: float = 30,
    shard: int = 1,
    shards: int = 1,
    weights: str | None = None,
    fetched: str | None = None,
    threads: int = 1,
):
    """Write ``scores`` (Parquet) for shard ``shard`` of ``shards`` of ``instances`` (Parquet).

    The file's metadata name model, weights, engine and libraries. ``weights`` is a folder that the workflow prepared
    from the model's source, where it needs preparing; ``fetched`` says which revision was fetched from the hub.
    ``speed`` (JSON) tells how long scoring took, for later plans. Finished parts are kept in a folder beside ``scores``
    every ``save_seconds`` until all is done, and taken up by the next try.
    """
    torch.set_num_threads(threads)
    for leftover in Path(scores).parent.glob(f".{Path(scores).name}.*"):
        leftover.unlink()
    location = models.locate(model, entry, weights, fetched)
    device = "auto" if device == "auto" and entry["gpus"] > 1 else scoring.pick_device(device)
    log.info(
        "model %s from %s (revision %s), %s on %s",
        model, location.folder, location.revision, entry["precision"], device,
    )  # fmt: skip
    started = time.monotonic()
    network, tokenizer = models.load(model, entry, location, device)
    scorer = scoring.make_engine(engine, network, tokenizer, entry["architecture"], device, tokens_per_batch)
    loaded = time.monotonic()
    metadata = {
        "model": model,
        "source": entry["source"],
        "revision": location.revision,
        "weights_sha256": models.weights_digest(location),
        "architecture": entry["architecture"],
        "precision": entry["precision"],
        "device": "cpu" if device == "cpu" else torch.cuda.get_device_name(),
        "engine": engine,
        "engine_description": scorer.description,
        "metric": scoring.METRICS[entry["architecture"]],
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "code": closure.digests("scripts/score.py", str(Path(closure.__file__).parents[2])),
        "instances_sha256": files.sha256(instances),
        "demonstration": entry["demonstration"],
    }
    key = chunks.key_of({**metadata, "tokens_per_batch": tokens_per_batch, "threads": threads})
    job = Job(scorer, chunks.Chunks(Path(scores).with_suffix(".chunks"), key), scoring.context_length(network))
    job.save_seconds, job.label = save_seconds, model if shards == 1 else f"{model} {shard}/{shards}"
    metadata["shard"], metadata["shards"] = shard, shards
    job.write(instances, scores, shard, shards, token_values, metadata)
    seconds = time.monotonic() - loaded
    facts = {
        "model": model,
        "engine": engine,
        "device": metadata["device"],
        "threads": threads if device == "cpu" else None,
        "gpus": entry["gpus"],
        "precision": entry["precision"],
        "loading_seconds": round(loaded - started, 3),
        "scoring_seconds": round(seconds, 3),
        "scored_tokens": job.scored_tokens,
        "instances": metadata["instances"],
    }
    files.write_text(speed, json.dumps(facts, indent=1) + "\n")
    job.parts.remove()
    log.info(
        "%d instances, %d tokens of text in %d tokens of forward passes (%d of them now, %.0f a second)",
        metadata["instances"], metadata["text_tokens"], metadata["forward_tokens"], job.scored_tokens,
        job.scored_tokens / max(seconds, 1e-9),
    )  # fmt: skip


class Job:
    """Streams instances through an engine.

    Parameters
    ----------
    engine : object
        As returned by :func:`scripts.core.scoring.make_engine`.
    parts : Chunks
    limit : int or None
        The model's context length in tokens.
    """

    def __init__(self, engine, parts, limit):
        self.engine = engine
        self.parts = parts
        self.limit = limit
        self.label = ""
        self.save_seconds = 30
        self.scored_tokens = 0

    def write(self, path, scores, shard, shards, token_values, metadata):
        """Score a shard of the instances in ``path`` and write ``scores``; adds counts to ``metadata``."""
        import pyarrow as pa

        chosen = instances.shard_rows(path, shard, shards, 2 if self.engine.architecture == "encoder" else 1)
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
        ]
        if token_values:
            fields.append(("token_log_probabilities", pa.list_(pa.float32())))
        schema = pa.schema(fields)
        metadata.update(instances=total, text_tokens=0, forward_tokens=0)

        def batches():
            done = 0
            with scoring.progress_bar(self.label, None) as bar:
                for window in instances.windows(path, chosen, WINDOW):
                    rows = options.option_texts(window)
                    done += len(window)
                    values = self.window(rows, bar, done / total, metadata)
                    table = scoring.result_table(rows, values)
                    yield pa.RecordBatch.from_pandas(table[schema.names], schema=schema, preserve_index=False)

        instances.write_stream(scores, schema, batches(), metadata)

    def window(self, rows, bar, share, metadata):
        """Return the token log-probabilities of a window's rows, saving finished batches now and then."""
        scoring.check_lengths(self.engine, rows, self.limit)
        digest = hashlib.sha256("\0".join([*rows.instance_id, *rows.text]).encode()).hexdigest()
        finished = self.parts.finished(digest)
        plan = self.engine.plan(rows)
        metadata["forward_tokens"] += sum(batch.tokens for batch in plan)
        # The rest of the instances will share about as much as those so far.
        bar.total = round(metadata["forward_tokens"] / share)
        values, waiting, saved = [None] * len(rows), {}, time.monotonic()
        for number, batch in enumerate(plan):
            results = finished.get(number)
            if results is None:
                results = self.engine.score(batch)
                for row, scored in zip(batch.rows, results, strict=True):
                    scoring.check_finite(rows.iloc[row], scored)
                self.scored_tokens += batch.tokens
                waiting[number] = results
                if time.monotonic() - saved >= self.save_seconds:
                    self.parts.save(digest, waiting)
                    waiting, saved = {}, time.monotonic()
            for row, scored in zip(batch.rows, results, strict=True):
                values[row] = scored
            bar.update(batch.tokens)
        # A window that took long is worth keeping to its end.
        if waiting and time.monotonic() - saved >= self.save_seconds / 10:
            self.parts.save(digest, waiting)
        metadata["text_tokens"] += int(self.engine.lengths(rows).sum())
        return values


if __name__ == "__main__":
    run(main)
