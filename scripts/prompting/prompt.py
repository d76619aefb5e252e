"""Ask one model all prompts of a shard of a study's prompts, and keep what it writes."""

import dataclasses
import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.core import files
from scripts.core.data import instances, prompting
from scripts.core.engines import chunks, generation, model_jobs
from scripts.core.engines.batches import progress_bar
from scripts.core.errors import UserError, count_noun
from scripts.core.workflow.job import log, run

if TYPE_CHECKING:
    import transformers
    from tqdm import tqdm

# Prompts held at once: enough for batches of similar length, few enough for memory to stay flat.
WINDOW = 2048

AFTER_THOUGHT = "\n\n"
"""What follows a thought that is closed, as models write it."""

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
        *(
            (f"{step}_thought{fact}", kind)
            for step in ("chain", "answer")
            for fact, kind in (("", pa.string()), ("_tokens", pa.int32()), ("_closed", pa.bool_()))
        ),
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
    device: str,
    tokens_per_batch: int | str,
    save_seconds: float = 30,
    temperature: float = 0,
    seed: int = 0,
    shard: int = 1,
    shards: int = 1,
    weights: str | None = None,
    fetched: str | None = None,
    threads: int = 1,
) -> None:
    """Write ``answers`` for shard ``shard`` of ``shards`` of the rows of ``prompts`` with one of ``methods``.

    Each row of ``answers`` has the prompt's ``text_id``, ``answer`` and, where there were two steps, ``chain``, both as
    the model wrote them, how many tokens each has, and whether the model ended it by itself. What it thought before is
    in ``answer_thought`` and ``chain_thought``, with its tokens and whether the model closed it within its budget;
    missing where it did not think. Metadata, ``speed`` and
    unfinished jobs are as for scores (scripts/scoring/score.py).

    Args:
        prompts: Parquet file of prompts, one row each (scripts/core/data/prompting.py has the columns).
        answers: Parquet file to write: one row for each prompt.
        speed: JSON file to write: how long prompting took, for later plans.
        model: The model's name, for messages and metadata.
        entry: The model's entry in the registry: source, architecture, precision, prompt_wrapping and the like.
        methods: Methods whose prompts are asked, such as ["vanilla"].
        new_tokens: Tokens to generate at most: answer after a prompt without a second step, otherwise chain in the
            first step and final in the second, such as {"answer": 20}.
        device: auto, cpu, cuda or cuda:N.
        tokens_per_batch: Tokens in one forward pass at most, or auto.
        save_seconds: Seconds after which finished parts are saved.
        temperature: 0: every answer is the most probable, token by token. Above 0: its tokens are drawn, from the
            softmax of the logits divided by the temperature.
        seed: Of the draws, which follow from it and each prompt's text_id and not from what else is asked.
        shard: Which part of the prompts is asked, counted from 1.
        shards: How many parts the prompts are divided into.
        weights: Folder that the workflow prepared from the model's source, where it needs preparing.
        fetched: JSON file that says which revision was fetched from the hub.
        threads: Threads of PyTorch.

    Raises:
        UserError: If the model cannot be loaded, or a prompt leaves no room for its answer.
    """
    model_jobs.clear_leftovers(answers)
    opened = model_jobs.open_model(
        model, entry, script="scripts/prompting/prompt.py", libraries=LIBRARIES, device=device, threads=threads,
        weights=weights, fetched=fetched,
    )  # fmt: skip
    wrapping, thinking = entry.get("prompt_wrapping", "none"), prompting.Thinking.of(entry)
    metadata = opened.facts | {
        **({"search": "sampling", "temperature": temperature, "seed": seed} if temperature else {"search": "greedy"}),
        "prompt_wrapping": wrapping,
        "wrapped": prompting.wrap(prompting.PROMPT_SLOT, wrapping, opened.tokenizer, thinking),
        **({"thinking": entry["thinking"]} if thinking else {}),
        "methods": methods,
        "new_tokens_at_most": new_tokens,
        "prompts_sha256": files.sha256(prompts),
    }
    tokens_per_batch = generation.batch_tokens(opened.network, tokens_per_batch)
    settings = {"tokens_per_batch": tokens_per_batch, "threads": threads}
    parts = chunks.Chunks.for_output(answers, metadata | settings, save_seconds)
    rows = shard_rows(prompts, methods, shard, shards)
    metadata |= {"shard": shard, "shards": shards, "prompts": len(rows), "prompt_tokens": 0, "new_tokens": 0}
    metadata |= {"thoughts": 0, "thoughts_cut_off": 0}
    started = time.monotonic()
    with progress_bar(model if shards == 1 else f"{model} {shard}/{shards}", None) as bar:
        drawing = {"temperature": temperature, "seed": seed}
        job = Job(opened, wrapping, thinking, new_tokens, tokens_per_batch, drawing, parts, bar, metadata)
        instances.write_stream(answers, SCHEMA, job.batches(rows), metadata)
    seconds = time.monotonic() - started
    model_jobs.write_speed(speed, opened, seconds, new_tokens=job.written, prompts=len(rows))
    parts.remove()
    log.info(
        "%s, %d tokens read and %d written, %d of them now (%.1f a second)",
        count_noun(len(rows), "prompt"), metadata["prompt_tokens"], metadata["new_tokens"], job.written,
        job.written / max(seconds, 1e-9),
    )  # fmt: skip


def shard_rows(path: str | Path, methods: Sequence[str], shard: int, shards: int) -> pa.Table:
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


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a model answered in one step: text, tokens (without the end), whether it ended by itself; and its thought.

    ``thought`` is None where there was none; ``closed`` says whether the model closed it itself.
    """

    text: str
    tokens: tuple
    finished: bool
    thought: str | None = None
    thought_tokens: int | None = None
    closed: bool | None = None


def refuse_special_tags(tokenizer: "transformers.PreTrainedTokenizerBase", tags: Iterable[str]) -> None:
    """Refuse tags of thoughts that a tokenizer leaves out of text, so that none would be seen.

    Raises:
        UserError
    """
    read = {tag: tokenizer(tag, add_special_tokens=False)["input_ids"] for tag in tags}
    hidden = [tag for tag, ids in read.items() if tag not in tokenizer.decode(ids, skip_special_tokens=True)]
    if hidden:
        raise UserError(
            f"thinking.tags: '{hidden[0]}' is a special token of the model, which is no part of its text; remove "
            "thinking, or unmark the token in tokenizer.json"
        )


class Job:
    """Streams prompts through a model, in one or two steps.

    Args:
        wrapping: Of :data:`scripts.core.data.prompting.WRAPPINGS`.
        drawing: ``temperature`` and ``seed``.
        metadata: Gets the counts of tokens.
    """

    def __init__(
        self,
        opened: model_jobs.OpenedModel,
        wrapping: str,
        thinking: prompting.Thinking | None,
        new_tokens: dict,
        tokens_per_batch: int | str,
        drawing: dict,
        parts: chunks.Chunks,
        bar: "tqdm",
        metadata: dict,
    ):
        def generator(most: int, **options: Any):
            return generation.Generator(
                opened.network, opened.tokenizer, max_new_tokens=most, tokens_per_batch=tokens_per_batch, **drawing,
                **options,
            )  # fmt: skip

        self.generators = {step: generator(most) for step, most in new_tokens.items()}
        # A model that was not said to think may do so all the same.
        self.thinking = thinking or prompting.Thinking(0)
        self.thoughts = {}
        if self.thinking.tokens:
            refuse_special_tags(opened.tokenizer, self.thinking.tags)
            self.thoughts = {
                step: generator(max(self.thinking.tokens, most), stop=[self.thinking.tags[1]])
                for step, most in new_tokens.items()
            }
        closing = len(opened.tokenizer(self.thinking.tags[1] + AFTER_THOUGHT)["input_ids"])
        self.checked = {step: generator(most + self.thinking.tokens + closing) for step, most in new_tokens.items()}
        if not self.thinking.tokens:
            self.checked = self.generators
        self.wrap = lambda text: prompting.wrap(text, wrapping, opened.tokenizer, thinking)
        self.parts = parts
        self.bar = bar
        self.metadata = metadata
        self.written = 0

    def batches(self, rows: pa.Table) -> Iterator[pa.RecordBatch]:
        """Yield a record batch of answers for each window of ``rows``.

        Prompts that are too long for the model are refused before the first one runs.
        """
        for start in range(0, len(rows), WINDOW):
            for name in self.generators.keys() & {"answer", "chain"}:
                window = rows.slice(start, WINDOW).to_pylist()
                asked = [row["text"] for row in window if (row["follow_up"] is None) == (name == "answer")]
                self.checked[name].check([self.wrap(text) for text in asked])
        for start in range(0, len(rows), WINDOW):
            window = rows.slice(start, WINDOW).to_pylist()
            answers = self.window(window, (start + len(window)) / len(rows))
            yield pa.RecordBatch.from_pylist(answers, schema=SCHEMA)

    def window(self, window: list[dict[str, Any]], done: float) -> list[dict[str, Any]]:
        """Return the rows of answers of a window; ``done`` is the share of all prompts up to its end."""
        single = [i for i, row in enumerate(window) if row["follow_up"] is None]
        double = [i for i, row in enumerate(window) if row["follow_up"] is not None]
        answers = [{"text_id": row["text_id"]} for row in window]
        once, twice = ([window[i]["text_id"] for i in indices] for indices in (single, double))
        plain = self.step("answer", once, [window[i]["text"] for i in single], done)
        chains = self.step("chain", twice, [window[i]["text"] for i in double], done)
        second = [
            prompting.second_prompt(window[i]["follow_up"], window[i]["text"], chain.text)
            for i, chain in zip(double, chains, strict=True)
        ]
        finals = self.step("final", twice, second, done)
        for name, indices, results in (
            ("answer", single, plain), ("chain", double, chains), ("answer", double, finals),
        ):  # fmt: skip
            for i, result in zip(indices, results, strict=True):
                answers[i] |= {
                    name: result.text,
                    f"{name}_tokens": len(result.tokens),
                    f"{name}_finished": result.finished,
                    f"{name}_thought": result.thought,
                    f"{name}_thought_tokens": result.thought_tokens,
                    f"{name}_thought_closed": result.closed,
                }
        return [{field: row.get(field) for field in SCHEMA.names} for row in answers]

    def step(self, name: str, ids: list[str], texts: list[str], done: float) -> list[Answer]:
        """Return the answer to each text in one step, after a thought where the model is to think.

        A thought that the model does not close within its tokens is closed for it, and the answer asked for then.
        """
        texts = [self.wrap(text) for text in texts]
        if not self.thinking.tokens:
            return [
                self.parted(result, text) for result, text in zip(self.run(name, ids, texts, done), texts, strict=True)
            ]
        most, (start, end) = self.generators[name].max_new_tokens if texts else 0, self.thinking.tags
        answers, rest = [], {}
        for row, (text, result) in enumerate(zip(texts, self.run(name, ids, texts, done, thought=True), strict=True)):
            if not self.thinking.begun(text) and not result.text.lstrip().startswith(start):
                # It answers at once, and gets as many tokens as any other model.
                tokens = self.thoughts[name].raw(result)[:most]
                answers.append(self.parted(self.generators[name].read(tokens), text))
                continue
            result = self.thoughts[name].read(self.thoughts[name].raw(result)[: self.thinking.tokens])
            closed = end in self.thoughts[name].tokenizer.decode(result.tokens)
            thought = result.text.lstrip().removeprefix(start).strip()
            answers.append(Answer("", (), False, thought, len(result.tokens), closed))
            rest[row] = text + result.text.rstrip() + end + AFTER_THOUGHT
            self.metadata["thoughts"] += 1
            self.metadata["thoughts_cut_off"] += not closed
        found = self.run(name, [ids[row] for row in rest], list(rest.values()), done)
        for row, result in zip(rest, found, strict=True):
            answers[row] = dataclasses.replace(
                answers[row], text=result.text, tokens=result.tokens, finished=result.finished
            )
        return answers

    def parted(self, result: generation.Generation, prompt: str) -> Answer:
        """Return a generation as an answer, without a thought that the model wrote all the same."""
        thought, answer = self.thinking.parted(result.text, self.thinking.begun(prompt))
        if thought is None:
            return Answer(answer, result.tokens, result.finished)
        closed = self.thinking.tags[1] in result.text
        self.metadata["thoughts"] += 1
        self.metadata["thoughts_cut_off"] += not closed
        return Answer(answer, result.tokens, result.finished, thought, len(result.tokens), closed)

    def run(
        self, name: str, ids: list[str], texts: list[str], done: float, thought: bool = False
    ) -> list[generation.Generation]:
        """Return the generation after each text, of a thought or of an answer; none without texts.

        A study without a second step has no tokens for it.
        """
        if not texts:
            return []
        generator = (self.thoughts if thought else self.generators)[name]
        keys = [f"{name}{' thought' if thought else ''} {text_id}" for text_id in ids]
        digest = hashlib.sha256("\0".join([name, *keys, *texts]).encode()).hexdigest()
        plan = generator.plan(texts)
        self.bar.total = round((self.bar.n + sum(batch.tokens for batch in plan)) / done)
        results: list[Any] = [None] * len(texts)

        def compute(batch: generation.Batch):
            some = generator.run(*([part[row] for row in batch.rows] for part in (texts, keys)))
            return [np.array(generator.raw(result)) for result in some]

        for batch, raw, fresh in self.parts.work(digest, plan, compute):
            self.written += sum(map(len, raw)) if fresh else 0
            for row, tokens in zip(batch.rows, raw, strict=True):
                results[row] = generator.read([int(token) for token in tokens])
            self.bar.update(batch.tokens)
        self.metadata["prompt_tokens"] += sum(map(len, generator.tokenize(texts)))
        self.metadata["new_tokens"] += sum(len(result.tokens) for result in results)
        return results


if __name__ == "__main__":
    run(main)
