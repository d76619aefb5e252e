"""Ask one model all prompts of a shard of a study's prompts, and keep what it writes."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.core import files
from scripts.core.data import instances, prompting
from scripts.core.errors import UserError, count_noun
from scripts.core.generation import check
from scripts.core.generation.generate import Answer, Generator
from scripts.core.models import model_jobs
from scripts.core.models.entries import PromptedModel
from scripts.core.workflow.job import log, run
from scripts.core.workflow.parts import Batch, Parts, digest_json

WINDOW = 2048
"""Prompts held at once: enough for batches of similar length, few enough for memory to stay flat."""

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
        ("chain_thought", pa.string()),
        ("chain_thought_closed", pa.bool_()),
        ("answer_thought", pa.string()),
        ("answer_thought_closed", pa.bool_()),
    ]
)


def main(
    *,
    prompts: str,
    answers: str,
    speed: str,
    model: str,
    entry: dict,
    methods: list,
    new_tokens: dict,
    date: str,
    device: str,
    tokens_per_batch: int | str,
    save_seconds: float = 30,
    shard: int = 1,
    shards: int = 1,
    weights: str | None = None,
    fetched: str | None = None,
    threads: int = 1,
) -> None:
    """Write ``answers`` for shard ``shard`` of ``shards`` of the rows of ``prompts`` with one of ``methods``.

    Each row of ``answers`` has the prompt's ``text_id``, ``answer`` and, where there were two steps, ``chain``, both as
    the model wrote them, how many tokens each has, and whether the model ended it by itself. What it thought before is
    in ``answer_thought`` and ``chain_thought``, with whether it ended; missing where the model did not think. Metadata,
    unfinished jobs and all that is not named here are as for scores (scripts/scoring/score.py).

    Args:
        prompts: Parquet file of prompts, one row each (scripts/core/data/prompting.py has the columns).
        answers: Parquet file to write: one row for each prompt.
        entry: The model's entry in the registry: what scores depend on, prompt_wrapping and thinking.
        methods: Methods whose prompts are asked, such as ["vanilla"].
        new_tokens: Tokens to generate at most: answer after a prompt without a second step, otherwise chain in the
            first step and final in the second, such as {"answer": 20}. The entry's thinking.tokens are added.
        date: The day that chat templates are told it is.

    Raises:
        UserError: If the model cannot be loaded, or a prompt leaves no room for its answer.
    """
    model_jobs.clear_leftovers(answers)
    opened = model_jobs.open_model(
        model, entry, script="scripts/prompting/prompt.py", libraries=LIBRARIES, device=device, threads=threads,
        weights=weights, fetched=fetched,
    )  # fmt: skip
    rows = select_shard(prompts, methods, shard, shards)
    asker = Asker(opened.network, opened.tokenizer, opened.wanted, date, new_tokens, tokens_per_batch)
    way = asker.choose_way(rows)
    metadata = opened.facts | {
        "search": "greedy",
        "prompt_wrapping": opened.wanted.wrapping,
        "wrapped": asker.wrap(prompting.PROMPT_SLOT),
        "date": date,
        **({"thinking": opened.wanted.thinking} if opened.wanted.thinking is not None else {}),
        "methods": methods,
        "new_tokens_at_most": new_tokens,
        "prompts_sha256": files.sha256(prompts),
    }
    settings = {"entry": entry, "tokens_per_batch": tokens_per_batch, "threads": threads, **way}
    label = model if shards == 1 else f"{model} {shard}/{shards}"
    parts = Parts(
        answers, metadata | settings, save_seconds, label=label, measure=lambda _, written: sum(map(len, written))
    )
    metadata |= {"shard": shard, "shards": shards, "prompts": len(rows)}
    metadata["unchecked_prompts"] = 0 if way["checked"] else len(rows)
    with parts, instances.write_batches(answers, SCHEMA, metadata) as write:
        for window, done in windows(rows):
            write(pa.RecordBatch.from_pylist(asker.ask_window(window, parts, done), schema=SCHEMA))
        metadata |= asker.counts
    model_jobs.write_speed(speed, opened, parts.seconds, new_tokens=parts.fresh, prompts=len(rows))
    parts.remove()
    log.info(
        "%s, %d tokens read and %d written, %d of them now (%.1f a second)",
        count_noun(len(rows), "prompt"), metadata["prompt_tokens"], metadata["new_tokens"], parts.fresh, parts.rate,
    )  # fmt: skip


def select_shard(path: str | Path, methods: Sequence[str], shard: int, shards: int) -> pa.Table:
    """Return the rows of a file of prompts that belong to a shard: contiguous, and about as many in each.

    Raises:
        UserError: If there is no prompt with one of ``methods``, or two have the same id.
    """
    table = files.read_arrow(path, ["text_id", "method", "text", "follow_up"])
    table = table.filter(pc.is_in(table["method"], pa.array(methods, pa.string())))
    if not len(table):
        raise UserError(f"{path}: has no prompt of {', '.join(methods)}; delete the file and run the workflow again")
    if pc.count_distinct(table["text_id"]).as_py() != len(table):
        raise UserError(f"{path}: two prompts have the same text_id; delete the file and run the workflow again")
    start, end = ((len(table) * n) // shards for n in (shard - 1, shard))
    return table.slice(start, end - start)


def windows(rows: pa.Table) -> Iterator[tuple[list[dict[str, Any]], float]]:
    """Yield the rows, a window at a time, and the share of all rows up to its end."""
    for start in range(0, len(rows), WINDOW):
        window = rows.slice(start, WINDOW).to_pylist()
        yield window, (start + len(window)) / len(rows)


class Asker:
    """Asks a model prompts in one or two steps, and takes answers apart from thoughts.

    Attributes:
        counts: Tokens read and written, thoughts, and how many of them were cut off.
    """

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        wanted: PromptedModel,
        date: str,
        new_tokens: dict[str, int],
        tokens_per_batch: int | str,
    ):
        thought = wanted.thought_tokens
        self.new_tokens, self.tokenizer = new_tokens, tokenizer
        self.longest = Generator(
            network, tokenizer, max(new_tokens.values()) + thought, tokens_per_batch=tokens_per_batch
        )
        self.generators = {step: self.longest.limited(most + thought) for step, most in new_tokens.items()}
        self.wrap: Callable[[str], str] = prompting.make_wrapper(wanted.wrapping, wanted.thinking, tokenizer, date)
        self.tags = prompting.thought_tags(wanted.thinking)
        added = tokenizer.added_tokens_decoder.values()
        self.special = {*tokenizer.all_special_tokens, *(str(token) for token in added if token.special)}
        self.counts = Counter(prompt_tokens=0, new_tokens=0, thoughts=0, thoughts_cut_off=0)

    def choose_way(self, rows: pa.Table) -> dict[str, Any]:
        """Choose how prompts are continued, for all steps: see :func:`scripts.core.generation.check.choose_way`.

        Prompts that are too long for the model are refused here, before the first one runs.
        """
        probes: list[list[int]] = []
        for window, _ in windows(rows):
            for step in self.generators.keys() & {"answer", "chain"}:
                texts = [self.wrap(row["text"]) for row in window if (row["follow_up"] is None) == (step == "answer")]
                probes += check.choose_probes(self.generators[step], self.generators[step].tokenize(texts))
        way = check.choose_way(self.longest, probes)
        for generator in self.generators.values():
            generator.way = way["way"]
        return way

    def ask_window(self, window: list[dict[str, Any]], parts: Parts, done: float) -> list[dict[str, Any]]:
        """Return the rows of answers of a window; ``done`` is the share of all prompts up to its end."""
        answers: list[dict[str, Any]] = [dict.fromkeys(SCHEMA.names) | {"text_id": row["text_id"]} for row in window]
        single = [n for n, row in enumerate(window) if row["follow_up"] is None]
        double = [n for n, row in enumerate(window) if row["follow_up"] is not None]

        def ask(step: str, column: str, members: list[int], texts: list[str]) -> None:
            for n, result in zip(members, self.ask(step, texts, parts, done), strict=True):
                answers[n] |= {f"{column}{fact}": value for fact, value in result.items()}

        ask("answer", "answer", single, [window[n]["text"] for n in single])
        ask("chain", "chain", double, [window[n]["text"] for n in double])
        second = [
            prompting.second_prompt(window[n]["follow_up"], window[n]["text"], answers[n]["chain"]) for n in double
        ]
        ask("final", "answer", double, second)
        return answers

    def ask(self, step: str, texts: list[str], parts: Parts, done: float) -> list[dict[str, Any]]:
        """Return what the model writes after each text in one step: :meth:`split_answer`.

        A study without a second step has no tokens for it and no texts.
        """
        if not texts:
            return []
        generator, prompts = self.generators[step], [self.wrap(text) for text in texts]
        ids = generator.tokenize(prompts)
        plan = generator.plan(ids)
        parts.bar.total = round((parts.bar.n + sum(batch.tokens for batch in plan)) / done)
        answers: dict[int, Answer] = {}

        def run_batch(batch: Batch) -> list[np.ndarray]:
            return [np.array(generator.raw(answer), dtype=np.float64) for answer in generator.run(batch)]

        for batch, results in parts.work(digest_json([step, prompts]), plan, run_batch):
            for number, tokens in zip(batch.members, results, strict=True):
                answers[number] = generator.read([int(token) for token in tokens])
        self.counts["prompt_tokens"] += sum(map(len, ids))
        self.counts["new_tokens"] += sum(len(answer.tokens) for answer in answers.values())
        return [self.split_answer(step, answers[number], prompt) for number, prompt in enumerate(prompts)]

    def split_answer(self, step: str, answer: Answer, prompt: str) -> dict[str, Any]:
        """Return an answer without the thought before it: values by the ends of their columns' names.

        A model that did not think has no more tokens for its answer than any other.
        """
        generator = self.generators[step]
        # Tags may be special tokens, which the text of an answer leaves out.
        written = self.tokenizer.decode(answer.tokens)
        thought, text = prompting.split_thought(written, self.tags, prompt)
        if thought is None:
            answer = generator.read(generator.raw(answer)[: self.new_tokens[step]])
            return {"": answer.text, "_tokens": len(answer.tokens), "_finished": answer.finished}
        closed = self.tags[1] in written
        self.counts.update(thoughts=1, thoughts_cut_off=int(not closed))
        for special in self.special:
            thought, text = thought.replace(special, ""), text.replace(special, "")
        return {
            "": text,
            "_tokens": len(answer.tokens),
            "_finished": answer.finished,
            "_thought": thought,
            "_thought_closed": closed,
        }


if __name__ == "__main__":
    run(main)
