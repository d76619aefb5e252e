"""Measure how fast prompts are answered: this project's batches, and transformers' ``generate``.

Both answer the same prompts on the same machine in turns; the fastest of the rounds counts.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from scripts.core import files
from scripts.core.data import prompting
from scripts.core.engines import generation
from scripts.core.models import loading
from scripts.core.workflow.job import log, run

if TYPE_CHECKING:
    import transformers


def main(
    *,
    prompts: str,
    table: str,
    model: str,
    entry: dict,
    instances: int,
    new_tokens: int,
    date: str,
    sizes: list,
    rounds: int,
    weights: str | None = None,
    threads: int = 1,
) -> None:
    """Write ``table`` (CSV): a row for each engine and size of batches, with new tokens a second.

    Args:
        prompts: Parquet file of prompts; those of the first ``instances`` without a second step are asked.
        table: CSV file to write.
        model: The model's name.
        entry: Its entry in the registry.
        instances: How many instances are asked about.
        new_tokens: Tokens of an answer at most.
        date: The day that chat templates are told it is.
        sizes: Prompts in a batch; for this project's batches the tokens of as many of the longest prompts.
        rounds: How often everything is measured.
        weights: Folder that the workflow prepared from the model's source, where it needs preparing.
        threads: Threads of PyTorch.
    """
    torch.set_num_threads(threads)
    network, tokenizer = loading.load(model, entry, loading.locate(model, entry, weights), "cpu")
    rows = files.read_parquet(prompts)
    rows = rows[rows.follow_up.isna()]
    rows = rows[rows.instance_id.isin(rows.instance_id.drop_duplicates().iloc[:instances])]
    texts = list(map(prompting.wrapper(entry, tokenizer, date), rows.text))
    ids = generation.Generator(network, tokenizer, max_new_tokens=new_tokens, tokens_per_batch=1).check(texts)
    longest = max(map(len, ids)) + new_tokens
    found = []
    for turn in range(rounds):
        for size in sizes:
            ways = {
                "this project": lambda size=size: batched_tokens(network, tokenizer, texts, new_tokens, size * longest),
                "transformers generate": lambda size=size: reference_tokens(network, tokenizer, ids, new_tokens, size),
            }
            for name, way in ways.items():
                started = time.perf_counter()
                tokens = sum(map(len, way()))
                seconds = time.perf_counter() - started
                found.append((name, size, turn, tokens, seconds))
                log.info("%s, %d prompts a batch: %.2f tokens a second", name, size, tokens / seconds)
    frame = pd.DataFrame(found, columns=["engine", "batch", "round", "new_tokens", "seconds"])
    frame = frame.loc[frame.groupby(["engine", "batch"]).seconds.idxmin()].drop(columns="round")
    frame = frame.assign(prompts=len(texts), threads=threads, tokens_per_second=frame.new_tokens / frame.seconds)
    files.write_csv(table, frame)


def batched_tokens(
    network: "transformers.PreTrainedModel",
    tokenizer: "transformers.PreTrainedTokenizerBase",
    texts: Sequence[str],
    new_tokens: int,
    tokens_per_batch: int,
) -> list[tuple]:
    """Return the tokens of every answer, from this project's batches."""
    made = generation.generate(
        network, tokenizer, texts, max_new_tokens=new_tokens, tokens_per_batch=tokens_per_batch
    )  # fmt: skip
    return [result.tokens for result in made]


@torch.inference_mode()
def reference_tokens(
    network: Any,
    tokenizer: "transformers.PreTrainedTokenizerBase",
    ids: Sequence[Sequence[int]],
    new_tokens: int,
    size: int,
) -> list[Any]:
    """Return the tokens of every answer, from transformers' ``generate`` on batches of prompts of similar length."""
    ends = generation.end_tokens(network, tokenizer)
    padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else ends[0]
    order = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
    answers = [None] * len(ids)
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        width = max(len(ids[row]) for row in rows)
        tokens = torch.tensor([[padding] * (width - len(ids[row])) + list(ids[row]) for row in rows])
        mask = torch.tensor([[0] * (width - len(ids[row])) + [1] * len(ids[row]) for row in rows])
        made = network.generate(
            tokens, attention_mask=mask, max_new_tokens=new_tokens, do_sample=False, pad_token_id=padding
        )
        for row, written in zip(rows, made[:, width:].tolist(), strict=True):
            answers[row] = written[: next((i for i, token in enumerate(written) if token in ends), len(written))]
    return answers


if __name__ == "__main__":
    run(main)
