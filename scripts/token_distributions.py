"""Keep the most probable tokens of a model at the mask of texts, or at each step of its continuations of prompts."""

import hashlib
import importlib.metadata
import json
import time
from pathlib import Path

import torch

from scripts.core import chunks, closure, distributions, files, generation, instances, models, prompting, scoring
from scripts.core.job import log, run

# Texts held at once: enough for batches of equal length to be full, few enough for memory to stay flat, which also
# bounds the probabilities that are held.
WINDOW, ELEMENTS = 4096, 1 << 24

LIBRARIES = ("torch", "transformers", "tokenizers")


def main(
    *,
    texts: str,
    distributions: str,
    masses: str,
    speed: str,
    model: str,
    entry: dict,
    methods: list,
    top_k: int | str,
    max_new_tokens: int,
    groups: dict,
    device: str,
    tokens_per_batch: int | str,
    save_seconds: float = 30,
    weights: str | None = None,
    fetched: str | None = None,
    threads: int = 1,
):
    """Write ``distributions`` and ``masses`` (Parquet) for the rows of ``texts`` (Parquet) that are for ``methods``.

    Formats: :mod:`scripts.core.distributions`. ``top_k`` is a number or ``all``; ``groups`` are the word groups whose
    mass is wanted (group to words; may be empty). ``weights``, ``fetched``, ``speed`` and ``save_seconds`` are as in
    :mod:`scripts.score`: finished parts are kept beside the output and taken up by the next try.
    """
    torch.set_num_threads(threads)
    for output in map(Path, (distributions, masses)):
        for leftover in output.parent.glob(f".{output.name}.*"):
            leftover.unlink()
    total = count_texts(texts, methods)
    location = models.locate(model, entry, weights, fetched)
    device = "auto" if device == "auto" and entry["gpus"] > 1 else scoring.pick_device(device)
    log.info(
        "model %s from %s (revision %s), %s on %s",
        model, location.folder, location.revision, entry["precision"], device,
    )  # fmt: skip
    started = time.monotonic()
    network, tokenizer = models.load(model, entry, location, device)
    metadata = {
        "model": model,
        "source": entry["source"],
        "revision": location.revision,
        "weights_sha256": models.weights_digest(location),
        "architecture": entry["architecture"],
        "precision": entry["precision"],
        "device": "cpu" if device == "cpu" else torch.cuda.get_device_name(),
        "methods": methods,
        "prefixes": entry.get("prefixes", {}),
        "prompt_wrapping": entry.get("prompt_wrapping", "none"),
        "top_k": top_k,
        "max_new_tokens": max_new_tokens,
        "groups": groups,
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "code": closure.digests("scripts/token_distributions.py", str(Path(closure.__file__).parents[2])),
        "texts_sha256": files.sha256(texts),
        "demonstration": entry["demonstration"],
    }
    key = chunks.key_of({**metadata, "tokens_per_batch": tokens_per_batch, "threads": threads})
    job = Job(network, tokenizer, metadata, chunks.Chunks(Path(distributions).with_suffix(".chunks"), key))
    job.prepare(tokens_per_batch)
    job.save_seconds = save_seconds
    metadata["engine_description"] = job.filler.description if job.filler else {}
    loaded = time.monotonic()
    job.write(texts, distributions, masses, total)
    seconds = time.monotonic() - loaded
    facts = {
        "model": model,
        "device": metadata["device"],
        "threads": threads if device == "cpu" else None,
        "gpus": entry["gpus"],
        "precision": entry["precision"],
        "loading_seconds": round(loaded - started, 3),
        "seconds": round(seconds, 3),
        "tokens": job.tokens,
        "texts": total,
    }
    files.write_text(speed, json.dumps(facts, indent=1) + "\n")
    job.parts.remove()
    log.info("%d texts, %d tokens now (%.0f a second)", total, job.tokens, job.tokens / max(seconds, 1e-9))


def count_texts(texts, methods):
    """Return how many texts are for ``methods``; in ``main`` a parameter hides the module."""
    return distributions.count(texts, methods)


class Job:
    """Streams texts through a model.

    Parameters
    ----------
    network, tokenizer
        As of :func:`scripts.core.models.load`.
    metadata : dict
        Of the output; ``top_k``, ``groups``, ``methods``, ``prefixes`` and ``max_new_tokens`` are read from it.
    parts : Chunks
    """

    def __init__(self, network, tokenizer, metadata, parts):
        self.network = network
        self.tokenizer = tokenizer
        self.metadata = metadata
        self.parts = parts
        self.save_seconds = 30
        self.tokens = 0
        size = network.get_output_embeddings().weight.shape[0]
        self.vocabulary = distributions.token_texts(tokenizer, size)
        self.groups = metadata["groups"]
        self.top_k = size if metadata["top_k"] == "all" else min(metadata["top_k"], size)
        self.filler = self.generator = None

    def prepare(self, tokens_per_batch):
        """Set up what the methods need."""
        groups = distributions.group_tokens(self.vocabulary, self.groups) if self.groups else None
        options = {"tokens_per_batch": tokens_per_batch, "top_k": self.top_k, "groups": groups}
        if "mask" in self.metadata["methods"]:
            prefix = self.metadata["prefixes"].get("mask", "")
            self.filler = distributions.MaskFiller(self.network, self.tokenizer, prefix=prefix, **options)
        if "generate" in self.metadata["methods"]:
            new = self.metadata["max_new_tokens"]
            self.generator = generation.Generator(self.network, self.tokenizer, max_new_tokens=new, **options)

    def write(self, path, tokens, masses, total):
        """Write the distributions of the texts in ``path``; adds counts to the metadata."""
        token_schema, mass_schema = distributions.schemas()
        self.metadata.update(texts=total, forward_tokens=0)
        steps = self.metadata["max_new_tokens"] if self.generator else 1
        size = max(1, min(WINDOW, ELEMENTS // (self.top_k * steps)))
        done = 0
        with (
            scoring.progress_bar(self.metadata["model"], None) as bar,
            instances.stream(tokens, token_schema, self.metadata) as write_tokens,
            instances.stream(masses, mass_schema, self.metadata) as write_masses,
        ):
            for window in distributions.windows(path, self.metadata["methods"], size):
                done += len(window)
                results = self.window(window, bar, done / total)
                write_tokens(distributions.token_batch(window.text_id, results, self.vocabulary))
                write_masses(distributions.mass_batch(window.text_id, results, list(self.groups)))

    def window(self, rows, bar, share):
        """Return ids, probabilities and masses of each row, saving finished batches now and then."""
        digest = hashlib.sha256("\0".join([*rows.text_id, *rows.method, *rows.text]).encode()).hexdigest()
        finished = self.parts.finished(digest)
        plan = self.plan(rows)
        self.metadata["forward_tokens"] += sum(tokens for _, tokens, _ in plan)
        # The rest of the texts will need about as many as those so far.
        bar.total = round(self.metadata["forward_tokens"] / share)
        values, waiting, saved = [None] * len(rows), {}, time.monotonic()
        for number, (members, tokens, compute) in enumerate(plan):
            found = finished.get(number)
            if found is None:
                found = [distributions.pack(*result) for result in compute()]
                self.tokens += tokens
                waiting[number] = found
                if time.monotonic() - saved >= self.save_seconds:
                    self.parts.save(digest, waiting)
                    waiting, saved = {}, time.monotonic()
            for row, packed in zip(members, found, strict=True):
                values[row] = distributions.unpack(packed)
                distributions.check_finite(rows.text_id[row], values[row])
            bar.update(tokens)
        # A window that took long is worth keeping to its end.
        if waiting and time.monotonic() - saved >= self.save_seconds / 10:
            self.parts.save(digest, waiting)
        return values

    def plan(self, rows):
        """Return (rows, tokens, function that computes their results) for each batch of a window."""
        batches = []
        for method, chosen in rows.groupby("method", sort=True):
            texts, members = chosen.text.tolist(), chosen.index.to_numpy()
            if method == "mask":
                for batch in self.filler.plan(texts, chosen.text_id.tolist()):
                    batches.append((members[batch.rows], batch.tokens, self._filling(batch.payload)))
            else:
                prompts = [self.prompt(text) for text in texts]
                for batch in self.generator.plan(prompts):
                    some = [prompts[row] for row in batch.rows]
                    batches.append((members[batch.rows], batch.tokens, self._continuing(some)))
        return batches

    def prompt(self, text):
        """Return a prompt as the model wants it."""
        prefix = self.metadata["prefixes"].get("generate", "")
        text = f"{prefix} {text}" if prefix else text
        return prompting.wrap(text, self.metadata["prompt_wrapping"], self.tokenizer)

    def _filling(self, ids):
        return lambda: [
            (numbers[None], values[None], masses[None])
            for numbers, values, masses in zip(*self.filler.run(ids), strict=True)
        ]

    def _continuing(self, prompts):
        return lambda: [distributions.of_generation(result) for result in self.generator.run(prompts)]


if __name__ == "__main__":
    run(main)
