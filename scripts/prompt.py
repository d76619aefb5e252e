"""Ask one model all prompts of a shard of a study's prompts, and keep what it writes."""

import hashlib
import importlib.metadata
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch

from scripts.core import chunks, closure, files, generation, instances, models, prompting, scoring
from scripts.core.errors import UserError
from scripts.core.job import log, run

# Prompts held at once: enough for batches of similar length, few enough for memory to stay flat.
WINDOW = 2048

LIBRARIES = ("torch", "transformers", "tokenizers")

SCHEMA = pa.schema(
    [
        ("text_id", pa.string()),
        ("chain", pa.string()),
        ("chain_tokens", pa.int32()),
        ("chain_finished", pa.bool_()),
        ("answer", pa.string()),
        ("answer_tokens", pa.int32()),
        ("answer_finished", pa.bool_()),
    ]
)


def main(
    *,
    prompts: str,
    answers: str,
    model: str,
    entry: dict,
    methods: list,
    new_tokens: dict,
    device: str,
    tokens_per_batch: int | str,
    save_seconds: float = 30,
    shard: int = 1,
    shards: int = 1,
    weights: str | None = None,
    fetched: str | None = None,
    threads: int = 1,
):
    """Write ``answers`` (Parquet) for shard ``shard`` of ``shards`` of the rows of ``prompts`` with one of ``methods``.

    ``prompts`` has the columns that :mod:`scripts.core.prompting` lists. ``new_tokens`` bounds what is generated:
    ``answer`` after a prompt without a second step, otherwise ``chain`` in the first and ``final`` in the second step.
    Each row of ``answers`` has the prompt's ``text_id``, ``answer`` and, where there were two steps, ``chain``, both as
    the model wrote them, how many tokens each has, and whether the model ended it by itself. Metadata and unfinished
    jobs are as for scores (``scripts/score.py``).
    """
    torch.set_num_threads(threads)
    for leftover in Path(answers).parent.glob(f".{Path(answers).name}.*"):
        leftover.unlink()
    location = models.locate(model, entry, weights, fetched)
    device = "auto" if device == "auto" and entry["gpus"] > 1 else scoring.pick_device(device)
    log.info(
        "model %s from %s (revision %s), %s on %s",
        model, location.folder, location.revision, entry["precision"], device,
    )  # fmt: skip
    network, tokenizer = models.load(model, entry, location, device)
    loaded = time.monotonic()
    wrapping = entry.get("prompt_wrapping", "none")
    metadata = {
        "model": model,
        "source": entry["source"],
        "revision": location.revision,
        "weights_sha256": models.weights_digest(location),
        "architecture": entry["architecture"],
        "precision": entry["precision"],
        "device": "cpu" if device == "cpu" else torch.cuda.get_device_name(),
        "search": "greedy",
        "prompt_wrapping": wrapping,
        "wrapped": prompting.wrap(prompting.PLACE, wrapping, tokenizer),
        "methods": methods,
        "new_tokens_at_most": new_tokens,
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "code": closure.digests("scripts/prompt.py", str(Path(closure.__file__).parents[2])),
        "prompts_sha256": files.sha256(prompts),
        "demonstration": entry["demonstration"],
    }
    key = chunks.key_of({**metadata, "tokens_per_batch": tokens_per_batch, "threads": threads})
    rows = shard_rows(prompts, methods, shard, shards)
    metadata |= {"shard": shard, "shards": shards, "prompts": len(rows), "prompt_tokens": 0, "new_tokens": 0}
    parts = chunks.Chunks(Path(answers).with_suffix(".chunks"), key)
    with scoring.progress_bar(model if shards == 1 else f"{model} {shard}/{shards}", None) as bar:
        job = Job(network, tokenizer, wrapping, new_tokens, tokens_per_batch, parts, bar, save_seconds, metadata)
        instances.write_stream(answers, SCHEMA, job.batches(rows), metadata)
    parts.remove()
    seconds = time.monotonic() - loaded
    log.info(
        "%d prompts, %d tokens read and %d written, %d of them now (%.1f a second)",
        len(rows), metadata["prompt_tokens"], metadata["new_tokens"], job.written, job.written / max(seconds, 1e-9),
    )  # fmt: skip


def shard_rows(path, methods, shard, shards):
    """Return the rows (Arrow table) of a file of prompts that belong to a shard: contiguous, and about as many in each.

    Raises
    ------
    UserError
        If there is no prompt with one of ``methods``, or two have the same id.
    """
    table = files.read_arrow(path, ["text_id", "method", "text", "follow_up"])
    table = table.filter(pc.is_in(table["method"], pa.array(methods, pa.string())))
    if not len(table):
        raise UserError(f"{path}: has no prompt of {', '.join(methods)}; delete the file and run the workflow again")
    if pc.count_distinct(table["text_id"]).as_py() != len(table):
        raise UserError(f"{path}: two prompts have the same text_id; delete the file and run the workflow again")
    start, end = ((len(table) * n) // shards for n in (shard - 1, shard))
    return table.slice(start, end - start)


class Job:
    """Streams prompts through a model, in one or two steps.

    Parameters
    ----------
    network, tokenizer
        As :func:`scripts.core.models.load` returns them.
    wrapping : str
        Of :data:`scripts.core.prompting.WRAPPINGS`.
    new_tokens : dict of int
    tokens_per_batch : int or "auto"
    parts : Chunks
    bar : tqdm.tqdm
    save_seconds : float
    metadata : dict
        Gets the counts of tokens.
    """

    def __init__(self, network, tokenizer, wrapping, new_tokens, tokens_per_batch, parts, bar, save_seconds, metadata):
        self.generators = {
            step: generation.Generator(network, tokenizer, max_new_tokens=most, tokens_per_batch=tokens_per_batch)
            for step, most in new_tokens.items()
        }
        self.wrap = lambda text: prompting.wrap(text, wrapping, tokenizer)
        self.parts = parts
        self.bar = bar
        self.save_seconds = save_seconds
        self.metadata = metadata
        self.written = 0

    def batches(self, rows):
        """Yield a record batch of answers for each window of ``rows`` (Arrow table)."""
        for start in range(0, len(rows), WINDOW):
            window = rows.slice(start, WINDOW).to_pylist()
            found = self.window(window, (start + len(window)) / len(rows))
            yield pa.RecordBatch.from_pylist(found, schema=SCHEMA)

    def window(self, window, done):
        """Return the rows of answers of a window; ``done`` is the share of all prompts up to its end."""
        single = [i for i, row in enumerate(window) if row["follow_up"] is None]
        double = [i for i, row in enumerate(window) if row["follow_up"] is not None]
        found = [{"text_id": row["text_id"]} for row in window]
        plain = self.step("answer", [window[i]["text"] for i in single], done)
        chains = self.step("chain", [window[i]["text"] for i in double], done)
        second = [
            prompting.second_prompt(window[i]["follow_up"], window[i]["text"], chain.text)
            for i, chain in zip(double, chains, strict=True)
        ]
        finals = self.step("final", second, done)
        for name, indices, results in (
            ("answer", single, plain), ("chain", double, chains), ("answer", double, finals),
        ):  # fmt: skip
            for i, result in zip(indices, results, strict=True):
                found[i] |= {
                    name: result.text,
                    f"{name}_tokens": len(result.tokens),
                    f"{name}_finished": result.finished,
                }
        return [{field: row.get(field) for field in SCHEMA.names} for row in found]

    def step(self, name, texts, done):
        """Return the generation after each text in one step, saving finished batches now and then."""
        generator = self.generators[name]
        texts = [self.wrap(text) for text in texts]
        digest = hashlib.sha256("\0".join([name, *texts]).encode()).hexdigest()
        finished = self.parts.finished(digest)
        plan = generator.plan(texts)
        self.bar.total = round((self.bar.n + sum(batch.tokens for batch in plan)) / done)
        results, waiting, saved = [None] * len(texts), {}, time.monotonic()
        for number, batch in enumerate(plan):
            raw = finished.get(number)
            if raw is None:
                raw = [np.array(generator.raw(g)) for g in generator.run([texts[row] for row in batch.rows])]
                self.written += sum(map(len, raw))
                waiting[number] = raw
                if time.monotonic() - saved >= self.save_seconds:
                    self.parts.save(digest, waiting)
                    waiting, saved = {}, time.monotonic()
            for row, tokens in zip(batch.rows, raw, strict=True):
                results[row] = generator.read([int(token) for token in tokens])
            self.bar.update(batch.tokens)
        # A step that took long is worth keeping to its end.
        if waiting and time.monotonic() - saved >= self.save_seconds / 10:
            self.parts.save(digest, waiting)
        self.metadata["prompt_tokens"] += sum(map(len, generator.tokenize(texts))) if texts else 0
        self.metadata["new_tokens"] += sum(len(result.tokens) for result in results)
        return results


if __name__ == "__main__":
    run(main)
