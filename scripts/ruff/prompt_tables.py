"""The tables of prompts (paper Table 3) and of prompted models, each by the function of its rule."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.paper.formats import MISSING_MARK, count_parameters, format_number
from scripts.core.paper.tables import write_table
from scripts.core.workflow.job import run_named
from scripts.ruff.prompts import read_prompts

SOURCES = ("hub", "package", "base_url")
"""What a table names a model's source by."""
STEPS = ("answer", "chain", "final")
"""Steps of generation: without a chain of thought, the chain, and the answer after it."""


def table_prompt_templates(*, prompt_templates: str, tex: str, csv: str, kinds: list) -> None:
    """List the templates of prompts of these kinds."""
    prompts = read_prompts(prompt_templates)
    rows = [(name, prompt["kind"], prompt["text"]) for name, prompt in prompts.items() if prompt["kind"] in kinds]
    cells = pd.DataFrame(rows, columns=["Prompt", "Kind", "Text"])
    write_table(tex, csv, cells, align="llX", midrules=range(1, len(cells)))


def table_prompted_models(*, answers: list, tex: str, csv: str, models: dict) -> None:
    """List the prompted models, how they were prompted and which weights they have.

    Write the table from the metadata of ``answers``, one file for each of ``models``.
    """
    rows = prompted_models(models, answers)
    cells = prompted_model_cells(rows, models)
    write_table(tex, csv, cells, rows=rows, align="lrll" + "X" * ("Thinking" in cells) + "rrrrl")


def prompted_models(models: dict[str, dict], paths: Sequence[str | Path]) -> pd.DataFrame:
    """Return what was prompted, from the metadata of the answers.

    Returns:
        ``model``, ``architecture``, ``parameters``, ``precision``, ``prompt_wrapping``, ``methods``, ``source``,
        ``revision``, ``prompts``, ``thinking`` (in words, empty for a model without), and the most tokens in each step:
        ``new_tokens_answer``, ``new_tokens_chain`` and ``new_tokens_final`` (missing without chains of thought).
    """
    rows = []
    for (name, facts), path in zip(models.items(), paths, strict=True):
        answers = files.parquet_metadata(path)
        steps = STEPS if len(answers["methods"]) > 1 else STEPS[:1]
        most = {f"new_tokens_{step}": answers["new_tokens_at_most"][step] if step in steps else None for step in STEPS}
        rows.append(
            {
                "model": name,
                "architecture": facts["architecture"],
                "parameters": facts["parameters"],
                "precision": answers["precision"],
                "prompt_wrapping": answers["prompt_wrapping"],
                "methods": ";".join(answers["methods"]),
                "source": next((answers["source"][key] for key in SOURCES if key in answers["source"]), "local folder"),
                "revision": answers["revision"],
                "prompts": answers["prompts"],
                "thinking": describe_thinking(answers),
                **most,
            }
        )
    return pd.DataFrame(rows).astype({f"new_tokens_{step}": "Int64" for step in STEPS})


def describe_thinking(answers: Mapping[str, Any]) -> str:
    """Return in words what a model thought before its answers, by the metadata of these; empty for nothing.

    Examples:
        >>> describe_thinking({"thinking": {"tokens": 64}, "thoughts": 1000, "thoughts_cut_off": 20})
        '1,000 thoughts, 20 cut off'
        >>> describe_thinking({"thinking": {"enable_thinking": False}, "thoughts": 0}), describe_thinking({})
        ('none', '')
    """
    if thoughts := answers.get("thoughts", 0):
        return f"{thoughts:,} thoughts, {answers['thoughts_cut_off']:,} cut off"
    return "none" if "thinking" in answers else ""


def prompted_model_cells(table: Any, models: dict[str, dict]) -> pd.DataFrame:
    """Return the cells of :func:`prompted_models`; a column for thinking if any model thinks or could."""
    revisions = [
        row.revision[:12] if row.revision and "/" in row.source else row.revision or MISSING_MARK
        for row in table.itertuples(index=False)
    ]
    return pd.DataFrame(
        {
            "Model": [models[name]["label"] for name in table.model],
            "Size": [count_parameters(count) for count in table.parameters],
            "Precision": table.precision,
            "Wrapping": table.prompt_wrapping.str.replace("_", " "),
            **({"Thinking": table.thinking.replace("", MISSING_MARK)} if table.thinking.any() else {}),
            **{
                f"new tokens: {step}": [format_number(count, 0) for count in table[f"new_tokens_{step}"]]
                for step in STEPS
            },
            "Prompts": [f"{count:,}" for count in table.prompts],
            "Revision": revisions,
        }
    )


if __name__ == "__main__":
    run_named()
