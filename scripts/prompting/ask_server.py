"""Ask a model behind a server all prompts of a study that have one step, and keep what it answers."""

import importlib.metadata
from pathlib import Path
from typing import Any

import pyarrow as pa
from tqdm import tqdm

from scripts.core import files
from scripts.core.data import instances, prompting
from scripts.core.engines import completions
from scripts.core.errors import count_noun
from scripts.core.provenance import closure
from scripts.core.workflow.job import log, run
from scripts.prompting.prompt import SCHEMA, shard_rows


def main(
    *,
    prompts: str,
    answers: str,
    model: str,
    entry: dict,
    methods: list,
    new_tokens: int,
    cache: str,
    timeout_seconds: float = 60,
    attempts: int = 6,
    parallel: int = 1,
) -> None:
    """Write ``answers`` (Parquet, as :mod:`scripts.prompting.prompt`) to the rows of ``prompts`` with ``methods``.

    Every answer lies in ``cache`` before it is used and is never asked for again.

    Raises:
        UserError: As :meth:`scripts.core.engines.completions.Client.complete`.
    """
    api, rows = entry["api"], shard_rows(prompts, methods, 1, 1)
    asked = {"max_tokens": new_tokens, "temperature": 0}
    client = completions.Client(model, api, cache, asked, timeout=timeout_seconds, attempts=attempts)
    found = list(tqdm(client.complete_all(rows["text"].to_pylist(), parallel), model, len(rows), unit="prompt"))
    answered = [
        {"text_id": name} | answer_row(completion)
        for name, completion in zip(rows["text_id"].to_pylist(), found, strict=True)
    ]
    thoughts = [row["answer_thought_closed"] for row in answered if row["answer_thought"] is not None]
    metadata = {
        "model": model,
        "source": {key: api[key] for key in ("base_url", "model", "interface")},
        "revision": None,
        "architecture": entry["architecture"],
        "precision": "as served",
        "search": "greedy",
        "prompt_wrapping": f"server: {api['interface']}",
        # What the server puts around a prompt is not known.
        "wrapped": prompting.PROMPT_SLOT,
        "methods": methods,
        "new_tokens_at_most": {"answer": new_tokens},
        "libraries": {"openai": importlib.metadata.version("openai")},
        "code": closure.digests("scripts/prompting/ask_server.py", str(Path(closure.__file__).parents[3])),
        "prompts_sha256": files.sha256(prompts),
        "demonstration": entry["demonstration"],
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


def answer_row(completion: completions.Completion) -> dict[str, Any]:
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
