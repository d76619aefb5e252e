"""Import answers to a study's prompts that another tool logged."""

import pyarrow as pa

from scripts.core import files
from scripts.core.data import sample_logs
from scripts.core.data.prompting import PROMPT_SLOT
from scripts.core.engines import imports
from scripts.core.errors import UserError, count_noun
from scripts.core.workflow.job import log, run

SCHEMA = pa.schema(
    [
        ("text_id", pa.string()),
        ("chain", pa.string()),
        ("answer", pa.string()),
        ("answer_tokens", pa.int32()),
        ("answer_finished", pa.bool_()),
        ("answer_thought", pa.string()),
    ]
)
"""Of the columns of answers those that logs can fill, and the chain of thought, which they cannot."""


def main(*, prompts: str, logged: list, answers: str, model: str, entry: dict, methods: list) -> None:
    """Write ``answers`` to the prompts of ``methods``, as prompting a local model does (scripts/prompting/prompt.py).

    Args:
        prompts: Parquet file of prompts, one row each (scripts/core/data/prompting.py has the columns).
        logged: The tool's files of samples (scripts/core/data/sample_logs.py describes them).
        answers: Parquet file to write: one row for each prompt.
        model: The model's name, for messages and metadata.
        entry: Of its entry in the registry: ``label``, ``outputs``, ``architecture``, ``demonstration``,
            ``prompt_wrapping``.
        methods: Methods whose prompts were asked, such as ["vanilla"].

    Raises:
        UserError: As :func:`scripts.core.data.sample_logs.collect_answers`, and for methods of two steps.
    """
    table = files.read_arrow(prompts, ["text_id", "method", "text", "follow_up"]).to_pandas()
    asked = table[table.method.isin(methods)]
    if asked.follow_up.notna().any():
        raise UserError(
            f"model {model}: answers in two steps cannot be imported; remove it from chain_of_thought.models"
        )
    found = sample_logs.collect_answers(logged, dict(zip(asked.text_id, asked.text, strict=True)))
    rows = [
        {
            "text_id": name,
            "answer": given.answer,
            "answer_tokens": given.tokens,
            "answer_finished": given.finished,
            "answer_thought": given.thought,
        }
        for name, given in found.items()
    ]
    metadata = imports.describe_import(model, entry, logged, "scripts/prompting/import_answers.py") | {
        "search": imports.NOT_LOGGED,
        "prompt_wrapping": entry["prompt_wrapping"],
        "wrapped": PROMPT_SLOT,
        "methods": methods,
        "new_tokens_at_most": {"answer": None},
        "prompts_sha256": files.sha256(prompts),
        "prompts": len(rows),
        "thoughts": sum(given.thought is not None for given in found.values()),
        "thoughts_cut_off": 0,
        "shard": 1,
        "shards": 1,
    }
    files.write_parquet(answers, pa.Table.from_pylist(rows, schema=SCHEMA), metadata)
    log.info("%s from %s", count_noun(len(rows), "answer"), count_noun(len(logged), "file"))


if __name__ == "__main__":
    run(main)
