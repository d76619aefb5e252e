"""Ask one model all prompts of a shard of a study's prompts, and keep what it writes."""

import dataclasses
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.core import files
from scripts.core.data import instances, prompting
from scripts.core.engines import chunks, generation
from scripts.core.engines.batches import progress_bar
from scripts.core.errors import UserError, count_noun
from scripts.core.models import model_jobs
from scripts.core.workflow.job import log, run

if TYPE_CHECKING:
    from tqdm import tqdm

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
        *(
            (f"{step}_thought{fact}", kind)
            for step in ("chain", "answer")
            for fact, kind in (("", pa.string()), ("_closed", pa.bool_()))
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
    ``speed`` and unfinished jobs are as for scores (scripts/scoring/score.py).

    Args:
        prompts: Parquet file of prompts, one row each (scripts/core/data/prompting.py has the columns).
        answers: Parquet file to write: one row for each prompt.
        speed: JSON file to write: how long prompting took, for later plans.
        model: The model's name, for messages and metadata.
        entry: The model's entry in the registry: source, architecture, precision, prompt_wrapping and the like.
        methods: Methods whose prompts are asked, such as ["vanilla"].
        new_tokens: Tokens to generate at most: answer after a prompt without a second step, otherwise chain in the
            first step and final in the second, such as {"answer": 20}. The entry's thinking.tokens are added.
        date: The day that chat templates are told it is.
        device: auto, cpu, cuda or cuda:N.
        tokens_per_batch: Tokens in one forward pass at most, or auto.
        save_seconds: Seconds after which finished parts are saved.
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
    wrap = prompting.wrapper(entry, opened.tokenizer, date)
    metadata = opened.facts | {
        "search": "greedy",
        "prompt_wrapping": entry.get("prompt_wrapping", "none"),
        "wrapped": wrap(prompting.PROMPT_SLOT),
        "date": date,
        **({"thinking": entry["thinking"]} if "thinking" in entry else {}),
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
        job = Job(opened, wrap, new_tokens, tokens_per_batch, parts, bar, metadata)
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

    ``thought`` is None where there was none; ``closed`` says whether it ended.
    """

    text: str
    tokens: tuple
    finished: bool
    thought: str | None = None
    closed: bool | None = None


class Job:
    """Streams prompts through a model, in one or two steps.

    Args:
        wrap: Makes of a prompt what the model reads.
        metadata: Gets the counts of tokens and thoughts; says in ``thinking`` how the model thinks.
    """

    def __init__(
        self,
        opened: model_jobs.OpenedModel,
        wrap: Callable[[str], str],
        new_tokens: dict,
        tokens_per_batch: int | str,
        parts: chunks.Chunks,
        bar: "tqdm",
        metadata: dict,
    ):
        extra = metadata.get("thinking", {}).get("tokens", 0)
        self.generators = {
            step: generation.Generator(
                opened.network, opened.tokenizer, max_new_tokens=most + extra, tokens_per_batch=tokens_per_batch,
            )
            for step, most in new_tokens.items()
        }  # fmt: skip
        self.new_tokens, self.wrap = new_tokens, wrap
        self.tokenizer: Any = opened.tokenizer
        self.tags = prompting.thought_tags(metadata)
        added = self.tokenizer.added_tokens_decoder.values()
        self.special = {*self.tokenizer.all_special_tokens, *(str(token) for token in added if token.special)}
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
                self.generators[name].check([self.wrap(text) for text in asked])
        for start in range(0, len(rows), WINDOW):
            window = rows.slice(start, WINDOW).to_pylist()
            answers = self.window(window, (start + len(window)) / len(rows))
            yield pa.RecordBatch.from_pylist(answers, schema=SCHEMA)

    def window(self, window: list[dict[str, Any]], done: float) -> list[dict[str, Any]]:
        """Return the rows of answers of a window; ``done`` is the share of all prompts up to its end."""
        single = [i for i, row in enumerate(window) if row["follow_up"] is None]
        double = [i for i, row in enumerate(window) if row["follow_up"] is not None]
        answers = [{"text_id": row["text_id"]} for row in window]
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
                answers[i] |= {
                    name: result.text,
                    f"{name}_tokens": len(result.tokens),
                    f"{name}_finished": result.finished,
                    f"{name}_thought": result.thought,
                    f"{name}_thought_closed": result.closed,
                }
        return [{field: row.get(field) for field in SCHEMA.names} for row in answers]

    def step(self, name: str, texts: list[str], done: float) -> list[Answer]:
        """Return the answer to each text in one step, without the thought before it."""
        texts = [self.wrap(text) for text in texts]
        results = self.run(name, texts, done)
        return [self.answer(name, result, text) for result, text in zip(results, texts, strict=True)]

    def answer(self, name: str, result: generation.Generation, prompt: str) -> Answer:
        """Return a generation as an answer; a model that did not think has no more tokens for it than any other."""
        generator = self.generators[name]
        # Tags may be special tokens, which the text of a generation leaves out.
        thought, text = prompting.split_thought(self.tokenizer.decode(result.tokens), self.tags, prompt)
        if thought is None:
            result = generator.read(generator.raw(result)[: self.new_tokens[name]])
            return Answer(result.text, result.tokens, result.finished)
        closed = self.tags[1] in self.tokenizer.decode(result.tokens)
        self.metadata["thoughts"] += 1
        self.metadata["thoughts_cut_off"] += not closed
        for special in self.special:
            thought, text = thought.replace(special, ""), text.replace(special, "")
        return Answer(text, result.tokens, result.finished, thought, closed)

    def run(self, name: str, texts: list[str], done: float) -> list[generation.Generation]:
        """Return the generation after each text; none without texts.

        A study without a second step has no tokens for it.
        """
        if not texts:
            return []
        generator = self.generators[name]
        digest = hashlib.sha256("\0".join([name, *texts]).encode()).hexdigest()
        plan = generator.plan(texts)
        self.bar.total = round((self.bar.n + sum(batch.tokens for batch in plan)) / done)
        results: list[Any] = [None] * len(texts)

        def compute(batch: generation.Batch):
            some = generator.run([texts[row] for row in batch.rows])
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
