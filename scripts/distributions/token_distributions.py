"""Keep the most probable tokens of a model at the mask of texts, or at each step of its continuations of prompts."""

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core import files
from scripts.core.data import instances, prompting
from scripts.core.engines import chunks, distributions, generation, output_layer
from scripts.core.errors import UserError, count_noun
from scripts.core.models import model_jobs
from scripts.core.scoring.parts import progress_bar
from scripts.core.workflow.job import log, run

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import transformers
    from tqdm import tqdm

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
    date: str,
    device: str,
    tokens_per_batch: int | str,
    save_seconds: float = 30,
    weights: str | None = None,
    fetched: str | None = None,
    threads: int = 1,
) -> None:
    """Write ``distributions`` and ``masses`` (Parquet) for the rows of ``texts`` (Parquet) that are for ``methods``.

    Formats: :mod:`scripts.core.engines.distributions`. ``top_k`` is a number or ``all``; ``groups`` are the word groups
    whose mass is wanted (group to words; may be empty). Chat templates are told that it is the day ``date``.
    ``weights``, ``fetched``, ``speed`` and ``save_seconds`` are as in :mod:`scripts.scoring.score`: finished parts are
    kept beside the output and taken up by the next try.

    Raises:
        UserError: If the model cannot be loaded, a text is too long for it, or it thinks before it answers.
    """
    model_jobs.clear_leftovers(distributions, masses)
    total = count_texts(texts, methods)
    opened = model_jobs.open_model(
        model, entry, script="scripts/distributions/token_distributions.py", libraries=LIBRARIES, device=device,
        threads=threads, weights=weights, fetched=fetched,
    )  # fmt: skip
    metadata = opened.facts | {
        "methods": methods,
        "prefixes": entry.get("prefixes", {}),
        "prompt_wrapping": entry.get("prompt_wrapping", "none"),
        "date": date,
        **({"thinking": entry["thinking"]} if "thinking" in entry else {}),
        "top_k": top_k,
        "max_new_tokens": max_new_tokens,
        "groups": groups,
        "texts_sha256": files.sha256(texts),
    }
    settings = {"tokens_per_batch": tokens_per_batch, "threads": threads}
    parts = chunks.Chunks.for_output(distributions, metadata | settings, save_seconds)
    job = Job(opened.network, opened.tokenizer, metadata, parts)
    job.prepare(tokens_per_batch)
    metadata["engine_description"] = job.filler.description if job.filler else {}
    started = time.monotonic()
    job.write(texts, distributions, masses, total)
    seconds = time.monotonic() - started
    model_jobs.write_speed(speed, opened, seconds, tokens=job.tokens, texts=total)
    parts.remove()
    log.info(
        "%s, %d tokens now (%.0f a second)", count_noun(total, "text"), job.tokens, job.tokens / max(seconds, 1e-9)
    )


def count_texts(texts: str | Path, methods: Sequence[str]) -> int:
    """Return how many texts are for ``methods``; in ``main`` a parameter hides the module."""
    return distributions.count(texts, methods)


class Job:
    """Streams texts through a model.

    Args:
        network, tokenizer: As of :func:`scripts.core.models.loading.load`.
        metadata: Of the output; ``top_k``, ``groups``, ``methods``, ``prefixes`` and ``max_new_tokens`` are read from
            it.
    """

    def __init__(
        self,
        network: "transformers.PreTrainedModel",
        tokenizer: "transformers.PreTrainedTokenizerBase",
        metadata: dict,
        parts: chunks.Chunks,
    ):
        self.network = network
        self.tokenizer = tokenizer
        self.metadata = metadata
        self.parts = parts
        self.tokens = 0
        size = output_layer.vocabulary_size(network)
        self.vocabulary = distributions.token_texts(tokenizer, size)
        self.groups = metadata["groups"]
        self.top_k = size if metadata["top_k"] == "all" else min(metadata["top_k"], size)
        # There is one of each method.
        self.filler: Any = None
        self.generator: Any = None

    def prepare(self, tokens_per_batch: int | str) -> None:
        """Set up what the methods need."""
        groups = distributions.group_tokens(self.vocabulary, self.groups) if self.groups else None
        options = {"tokens_per_batch": tokens_per_batch, "top_k": self.top_k, "groups": groups}
        if "mask" in self.metadata["methods"]:
            prefix = self.metadata["prefixes"].get("mask", "")
            self.filler = distributions.MaskFiller(self.network, self.tokenizer, prefix=prefix, **options)
        if "generate" in self.metadata["methods"]:
            new = self.metadata["max_new_tokens"]
            self.generator = generation.Generator(self.network, self.tokenizer, max_new_tokens=new, **options)
            self.wrap = prompting.wrapper(self.metadata, self.tokenizer, self.metadata["date"])

    def write(self, path: str | Path, tokens: str | Path, masses: str | Path, total: int) -> None:
        """Write the distributions of the texts in ``path``; adds counts to the metadata."""
        token_schema, mass_schema = distributions.schemas()
        self.metadata.update(texts=total, forward_tokens=0)
        steps = self.metadata["max_new_tokens"] if self.generator else 1
        size = max(1, min(WINDOW, ELEMENTS // (self.top_k * steps)))
        # Texts that are too long for the model are refused before the first one runs.
        for window in distributions.windows(path, self.metadata["methods"], WINDOW):
            self.plan(window)
        done = 0
        with (
            progress_bar(self.metadata["model"], None) as bar,
            instances.write_batches(tokens, token_schema, self.metadata) as write_tokens,
            instances.write_batches(masses, mass_schema, self.metadata) as write_masses,
        ):
            for window in distributions.windows(path, self.metadata["methods"], size):
                done += len(window)
                results = self.window(window, bar, done / total)
                write_tokens(distributions.token_batch(window.text_id, results, self.vocabulary))
                write_masses(distributions.mass_batch(window.text_id, results, list(self.groups)))

    def window(self, rows: "pd.DataFrame", bar: "tqdm", share: float) -> list[Any]:
        """Return ids, probabilities and masses of each row."""
        digest = hashlib.sha256("\0".join([*rows.text_id, *rows.method, *rows.text]).encode()).hexdigest()
        plan = self.plan(rows)
        self.metadata["forward_tokens"] += sum(tokens for _, tokens, _ in plan)
        # The rest of the texts will need about as many as those so far.
        bar.total = round(self.metadata["forward_tokens"] / share)
        values: list[Any] = [None] * len(rows)

        def compute(batch: tuple):
            return [distributions.pack(*result) for result in batch[2]()]

        for (members, tokens, _), results, fresh in self.parts.work(digest, plan, compute):
            self.tokens += tokens if fresh else 0
            for row, packed in zip(members, results, strict=True):
                values[row] = distributions.unpack(packed)
                distributions.check_finite(rows.text_id[row], values[row], self.network)
            bar.update(tokens)
        return values

    def plan(self, rows: "pd.DataFrame") -> list[tuple]:
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

    def prompt(self, text: str) -> str:
        """Return a prompt as the model wants it."""
        prefix = self.metadata["prefixes"].get("generate", "")
        return self.wrap(f"{prefix} {text}" if prefix else text)

    def _filling(self, ids: "np.ndarray"):
        return lambda: [
            (numbers[None], values[None], masses[None])
            for numbers, values, masses in zip(*self.filler.run(ids), strict=True)
        ]

    def _continuing(self, prompts: list[str]):
        return lambda: [
            distributions.of_generation(self.without_thought(result, prompt))
            for result, prompt in zip(self.generator.run(prompts), prompts, strict=True)
        ]

    def without_thought(self, result: generation.Generation, prompt: str) -> generation.Generation:
        """Return a continuation that is no thought: what stands in one says nothing of the answer's first word."""
        written = str(self.tokenizer.decode(list(result.tokens)))
        if prompting.split_thought(written, prompting.thought_tags(self.metadata), prompt)[0] is None:
            return result
        raise UserError(
            f"model {self.metadata['model']} thinks before it answers, and its distributions would describe a thought; "
            "switch that off in thinking of its registry entry, or leave the model out"
        )


if __name__ == "__main__":
    run(main)
