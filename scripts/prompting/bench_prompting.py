"""Measure how fast prompts are answered: this project's batches, and transformers' ``generate``.

Both answer the same prompts on the same machine in turns; the fastest of the rounds counts.
"""

import time
from collections.abc import Sequence
from typing import Any

import pandas as pd
import torch

from scripts.core import files
from scripts.core.data import prompting
from scripts.core.generation.check import choose_way
from scripts.core.generation.generate import Generator
from scripts.core.models import loading
from scripts.core.models.entries import read_job_entry
from scripts.core.workflow.job import log, run


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
    wanted = read_job_entry(entry)
    network, tokenizer = loading.load_model(model, wanted, loading.locate_model(model, wanted, weights), "cpu")
    rows = files.read_parquet(prompts)
    rows = rows[rows.follow_up.isna()]
    rows = rows[rows.instance_id.isin(rows.instance_id.drop_duplicates().iloc[:instances])]
    texts = list(map(prompting.make_wrapper(wanted.wrapping, wanted.thinking, tokenizer, date), rows.text))
    generator = Generator(network, tokenizer, new_tokens)
    ids = generator.tokenize(texts)
    choose_way(generator, ids)
    found = []
    for size in sizes * rounds:
        generator.batch_tokens = size * (max(map(len, ids)) + new_tokens)
        ways = {
            "this project": lambda: [answer.tokens for answer in generator.answer(texts)],
            "transformers generate": lambda size=size: plain_answers(generator, ids, size),
        }
        for name, way in ways.items():
            started = time.perf_counter()
            tokens = sum(map(len, way()))
            found.append((name, size, tokens, time.perf_counter() - started))
            log.info("%s, %d prompts a batch: %.2f tokens a second", name, size, tokens / found[-1][-1])
    frame = pd.DataFrame(found, columns=["engine", "batch", "new_tokens", "seconds"])
    frame = frame.loc[frame.groupby(["engine", "batch"]).seconds.idxmin()]
    frame = frame.assign(prompts=len(texts), threads=threads, tokens_per_second=frame.new_tokens / frame.seconds)
    files.write_csv(table, frame)


@torch.inference_mode()
def plain_answers(generator: Generator, ids: Sequence[Sequence[int]], size: int) -> list[Any]:
    """Return the tokens of every answer, from transformers' ``generate`` on batches of prompts of similar length."""
    padding, ends = generator.padding, generator.ends
    order = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
    answers: list[Any] = [None] * len(ids)
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        width = len(ids[rows[0]])
        tokens = torch.tensor([[padding] * (width - len(ids[row])) + list(ids[row]) for row in rows])
        mask = torch.tensor([[0] * (width - len(ids[row])) + [1] * len(ids[row]) for row in rows])
        made = generator.network.generate(
            tokens, attention_mask=mask, max_new_tokens=generator.max_new_tokens, do_sample=False, pad_token_id=padding
        )
        for row, written in zip(rows, made[:, width:].tolist(), strict=True):
            answers[row] = tuple(written[: next((i for i, token in enumerate(written) if token in ends), None)])
    return answers


if __name__ == "__main__":
    run(main)
