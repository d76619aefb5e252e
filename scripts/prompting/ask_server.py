"""Ask a model behind a server all prompts of a study that have one step, and keep what it answers."""

from typing import Any

import pyarrow as pa

from scripts.core import files
from scripts.core.data import instances, prompting
from scripts.core.errors import count_noun
from scripts.core.generation import servers
from scripts.core.workflow.job import log, run
from scripts.prompting.prompt import SCHEMA, select_shard


def main(
    *, prompts: str, answers: str, model: str, entry: dict, methods: list, new_tokens: int, cache: str,
    timeout_seconds: float = 60, attempts: int = 6, parallel: int = 1,
) -> None:  # fmt: skip
    """Write ``answers`` (Parquet, as :mod:`scripts.prompting.prompt`) to the rows of ``prompts`` with ``methods``.

    Raises:
        UserError: As :meth:`scripts.core.generation.servers.Client.complete`.
    """
    rows = select_shard(prompts, methods, 1, 1)
    client = servers.Client(model, entry["api"], cache, new_tokens, timeout=timeout_seconds, attempts=attempts)
    found = list(client.complete_all(rows["text"].to_pylist(), parallel))
    answered = [
        {"text_id": name} | answer_row(completion)
        for name, completion in zip(rows["text_id"].to_pylist(), found, strict=True)
    ]
    thoughts = [row["answer_thought_closed"] for row in answered if row["answer_thought"] is not None]
    metadata = client.facts(model, entry, "scripts/prompting/ask_server.py") | {
        "precision": "as served",
        "search": "greedy",
        "prompt_wrapping": f"server: {entry['api']['interface']}",
        # What the server puts around a prompt is not known.
        "wrapped": prompting.PROMPT_SLOT,
        "methods": methods,
        "new_tokens_at_most": {"answer": new_tokens},
        "prompts_sha256": files.sha256(prompts),
        "shard": 1,
        "shards": 1,
        "prompts": len(rows),
        "prompt_tokens": sum(completion.prompt_tokens for completion in found),
        "new_tokens": sum(completion.tokens for completion in found),
        "thoughts": len(thoughts),
        "thoughts_cut_off": thoughts.count(False),
    }
    table = pa.Table.from_pylist(answered, schema=SCHEMA)
    instances.write_stream(answers, SCHEMA, table.to_batches(), metadata)
    log.info("%s answered", count_noun(len(rows), "prompt"))


def answer_row(completion: servers.Completion) -> dict[str, Any]:
    """Return what a file of answers holds of one, without the thought before it."""
    thought, text = prompting.split_thought(completion.text)
    closed = prompting.TAGS[1] in completion.text
    if thought is None and completion.thought:
        thought, closed = completion.thought, bool(text) or completion.finished
    return {
        "answer": text,
        "answer_tokens": completion.tokens,
        "answer_finished": completion.finished,
        "answer_thought": thought,
        "answer_thought_closed": closed if thought is not None else None,
    }


if __name__ == "__main__":
    run(main)
