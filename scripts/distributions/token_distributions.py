"""Keep the most probable tokens of a model at the mask of texts, or at each step of its continuations of prompts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import instances, prompting
from scripts.core.errors import UserError, count_noun
from scripts.core.generation import check
from scripts.core.generation.distributions import (
    MASSES,
    TOKENS,
    Selection,
    choose_probes,
    read_masks,
    read_texts,
)
from scripts.core.generation.generate import Generator
from scripts.core.models import model_jobs
from scripts.core.models.contexts import context_length
from scripts.core.models.model_jobs import OpenedModel
from scripts.core.scoring.check import choose_way, make_scorer
from scripts.core.scoring.network import refuse_nonfinite
from scripts.core.workflow.job import log, run
from scripts.core.workflow.parts import Batch, Parts, digest_json

# Texts held at once: enough for batches of equal length to be full, few enough for memory to stay flat, which also
# bounds the probabilities that are held.
WINDOW, ELEMENTS = 4096, 1 << 22

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

    Formats: :mod:`scripts.core.generation.distributions`. ``top_k`` is a number or ``all``; ``groups`` are the word
    groups whose mass is wanted (group to words; may be empty). Chat templates are told that it is the day ``date``.
    ``weights``, ``fetched``, ``speed`` and ``save_seconds`` are as in :mod:`scripts.scoring.score`: finished parts are
    kept beside the output and taken up by the next try.

    Raises:
        UserError: If the model cannot be loaded, a text is too long for it, or it thinks before it answers.
    """
    model_jobs.clear_leftovers(distributions, masses)
    rows = read_texts(texts, methods)
    opened = model_jobs.open_model(
        model, entry, script="scripts/distributions/token_distributions.py", libraries=LIBRARIES, device=device,
        threads=threads, weights=weights, fetched=fetched,
    )  # fmt: skip
    metadata = opened.facts | {
        "methods": methods,
        "prefixes": opened.wanted.prefixes or {},
        "prompt_wrapping": opened.wanted.wrapping,
        "date": date,
        **({"thinking": opened.wanted.thinking} if opened.wanted.thinking is not None else {}),
        "top_k": top_k,
        "max_new_tokens": max_new_tokens,
        "groups": groups,
        "texts_sha256": files.sha256(texts),
    }
    selection = Selection.for_model(opened.network, opened.tokenizer, top_k, groups)
    # Texts that are too long for the model are refused before the first one runs.
    readers = {
        method: READERS[str(method)](opened, metadata, selection, chosen, tokens_per_batch)
        for method, chosen in rows.groupby("method", sort=True)
    }
    metadata["check"] = {method: reader.check for method, reader in readers.items()}
    settings = {"entry": entry, "tokens_per_batch": tokens_per_batch, "threads": threads}
    parts = Parts(distributions, metadata | settings, save_seconds, label=model)
    metadata |= {"texts": len(rows), "forward_tokens": 0}

    def run_batch(batch: Batch) -> list[np.ndarray]:
        reader, planned = batch.work
        return [found.ravel() for found in reader.run(planned)]

    steps = max_new_tokens if "generate" in methods else 1
    size = max(1, min(WINDOW, ELEMENTS // (selection.top_k * steps)))
    with (
        parts,
        instances.write_batches(distributions, TOKENS, metadata) as write_tokens,
        instances.write_batches(masses, MASSES, metadata) as write_masses,
    ):
        for start in range(0, len(rows), size):
            window = rows[start : start + size]
            plan = [batch for reader in readers.values() for batch in reader.batches(window.index.tolist())]
            metadata["forward_tokens"] += sum(batch.tokens for batch in plan)
            # The rest of the texts will need about as many as those so far.
            parts.bar.total = round(metadata["forward_tokens"] * len(rows) / (start + len(window)))
            found: dict[int, np.ndarray] = {}
            key = digest_json(window.to_numpy().tolist())
            for batch, results in parts.work(key, plan, run_batch):
                for number, values in zip(batch.members, results, strict=True):
                    found[number] = values.reshape(-1, 2 * selection.top_k + len(selection.groups))
                    if not np.isfinite(found[number]).all():
                        what = f"text {rows.text_id[number]}: a probability is not finite"
                        refuse_nonfinite(what, opened.network)
            read = [found[number] for number in window.index]
            tokens, group_masses = selection.tabulate(window.text_id.tolist(), read)
            write_tokens(tokens)
            write_masses(group_masses)
    model_jobs.write_speed(speed, opened, parts.seconds, tokens=parts.fresh, texts=len(rows))
    parts.remove()
    log.info("%s, %d tokens now (%.0f a second)", count_noun(len(rows), "text"), parts.fresh, parts.rate)


@dataclass(frozen=True)
class Reading:
    """How the rows of one method are read.

    Attributes:
        items: What the model reads of each row, by the row's number.
        check: What the record says of how they are run.
        plan: Divides items into batches.
        run: Returns the distributions of each member of a batch.
    """

    items: dict[Any, Any]
    check: dict[str, Any]
    plan: Callable[[list[Any]], list[Batch]]
    run: Callable[[Batch], list[np.ndarray]]

    def batches(self, numbers: Sequence[int]) -> list[Batch]:
        """Return batches for those of the rows with these numbers that are read so: members are numbers, the work is
        this and the batch that it runs."""
        known = [number for number in numbers if number in self.items]
        planned = self.plan([self.items[number] for number in known])
        named = [replace(batch, members=[known[member] for member in batch.members]) for batch in planned]
        return [replace(batch, work=(self, batch)) for batch in named]


def fill_masks(
    opened: OpenedModel, metadata: dict, selection: Selection, rows: pd.DataFrame, tokens_per_batch: int | str
) -> Reading:
    """Return how texts with a mask are read."""
    network, tokenizer, architecture = opened.network, opened.tokenizer, metadata["architecture"]
    prefix = metadata["prefixes"].get("mask", "")
    texts = read_masks(tokenizer, architecture, rows, context_length(network), prefix)
    scorer: Any = make_scorer("packed", network, tokenizer, architecture, tokens_per_batch, None)
    chosen = choose_way(scorer, choose_probes(texts))
    items = dict(zip(rows.index, texts, strict=True))
    return Reading(items, chosen, scorer.plan, lambda batch: selection.of_masks(scorer, batch))


def continue_prompts(
    opened: OpenedModel, metadata: dict, selection: Selection, rows: pd.DataFrame, tokens_per_batch: int | str
) -> Reading:
    """Return how prompts are read."""
    wanted, longest = opened.wanted, metadata["max_new_tokens"]
    generator = Generator(
        opened.network, opened.tokenizer, longest, selection.top_k, selection.members, tokens_per_batch
    )
    wrap = prompting.make_wrapper(wanted.wrapping, wanted.thinking, opened.tokenizer, metadata["date"])
    tags = prompting.thought_tags(wanted.thinking)
    prefix = metadata["prefixes"].get("generate", "")
    prompts = {number: wrap(f"{prefix} {text}" if prefix else text) for number, text in rows.text.items()}
    ids = generator.tokenize(list(prompts.values()))

    def answer(batch: Batch) -> list[np.ndarray]:
        answers = generator.run(batch)
        for number, one in zip(batch.members, answers, strict=True):
            written = opened.tokenizer.decode(list(one.tokens))
            # What stands in a thought says nothing of the answer's first word.
            if prompting.split_thought(written, tags, prompts[number])[0] is not None:
                raise UserError(
                    f"model {metadata['model']} thinks before it answers, and its distributions would describe a "
                    "thought; switch that off in thinking of its registry entry, or leave the model out"
                )
        return [selection.of_answer(one) for one in answers]

    return Reading(dict(zip(rows.index, ids, strict=True)), check.choose_way(generator, ids), generator.plan, answer)


READERS = {"mask": fill_masks, "generate": continue_prompts}


if __name__ == "__main__":
    run(main)
