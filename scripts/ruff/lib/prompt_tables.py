"""Tables of prompts (paper Tables 3 to 5) and of what prompted models answer, as text cells ready to be typeset."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data.prompting import PROMPT_SLOT, second_prompt
from scripts.core.errors import UserError
from scripts.core.paper.formats import MISSING_MARK, number, with_sd
from scripts.core.paper.tables import blank_repeats
from scripts.ruff.lib.analyses.answers import OUTCOME_LABELS, OUTCOMES
from scripts.ruff.lib.prompts import BLANKS, VANILLA, fill
from scripts.ruff.lib.tables import parameters

EXAMPLE, CHAIN_EXAMPLE = "8", "3"
"""The prompts that the study's examples use (Tables 4 and 5)."""

SOURCES = ("hub", "package", "base_url")
"""What a table names a model's source by."""
STEPS = ("answer", "chain", "final")
"""Steps of generation: without a chain of thought, the chain, and the answer after it."""


def templates_cells(prompts: dict[str, dict]) -> pd.DataFrame:
    """Return the prompt templates (Table 3), as :func:`scripts.ruff.lib.prompts.read_prompts` returns them."""
    rows = [(name, prompt["kind"], prompt["text"]) for name, prompt in prompts.items()]
    return pd.DataFrame(rows, columns=["Prompt", "Kind", "Text"])


def example_instance(sample: pd.DataFrame) -> tuple[str, list[str]]:
    """Return text and options of the example: the sample's first instance with a possessive, as in the study."""
    row = sample[sample["case"] == "possessive"].iloc[0]
    return row.text, list(row.options)


def fill_example(prompts: dict[str, dict], name: str, sample: pd.DataFrame, blank: str) -> str:
    """Return the prompt ``name``, filled with the example.

    Raises:
        UserError: If there is no prompt of that id.
    """
    if name not in prompts:
        raise UserError(f"templates/ruff/prompts.tsv: has no prompt '{name}', which the paper's example needs; keep it")
    return fill(prompts[name]["text"], *example_instance(sample), BLANKS[blank])


def examples_cells(prompts: dict, sample: pd.DataFrame, blank: str, models: dict, wrapped: dict) -> pd.DataFrame:
    """Return what models read for a vanilla prompt (Table 4), a row for each way of wrapping.

    Args:
        blank: Of :data:`scripts.ruff.lib.prompts.BLANKS`.
        models: Model to its facts.
        wrapped: Model to what is put around its prompts, :data:`scripts.core.data.prompting.PROMPT_SLOT` standing for
            the prompt.
    """
    text = fill_example(prompts, EXAMPLE, sample, blank)
    rows = {}
    for model, pattern in wrapped.items():
        rows.setdefault(pattern, []).append(models[model]["label"])
    cells = [(", ".join(labels), pattern.replace(PROMPT_SLOT, text).strip("\n")) for pattern, labels in rows.items()]
    return pd.DataFrame(cells, columns=["Model", "What the model reads"])


def chain_cells(prompts: dict[str, dict], chains: dict[str, dict], sample: pd.DataFrame, blank: str) -> pd.DataFrame:
    """Return both steps of every way to elicit a chain of thought (Table 5)."""
    text = fill_example(prompts, CHAIN_EXAMPLE, sample, blank)
    rows = []
    for method, parts in chains.items():
        first = parts["chain"].replace("{prompt}", text)
        rows.append((method.capitalize(), "chain of thought", first))
        rows.append((method.capitalize(), "final answer", second_prompt(parts["final"], first, "[chain of thought]")))
    return pd.DataFrame(rows, columns=["Method", "Elicits", "Prompt"])


def prompting_cells(summary: pd.DataFrame, models: dict[str, dict]) -> pd.DataFrame:
    """Return accuracies over all prompts with their SD, and the shares of outputs that are no answer."""
    rows = summary[summary.kind == "all"]
    counts = sorted(rows.n_distractors.unique())
    heads = {name: f"no answer: {OUTCOME_LABELS[name].removesuffix(' pronouns')}" for name in OUTCOMES[2:]}
    cells = []
    model: Any
    method: Any
    for (model, method, answer), same in rows.groupby(["model", "method", "answer"], sort=False):
        by_count = same.set_index("n_distractors").reindex(counts)
        accuracies = map(with_sd, by_count.accuracy, by_count.sd)
        shares = [number((same[name] * same.n).sum() / same.n.sum(), 2) for name in heads]
        # Without a chain there is one place to read the answer in.
        way = (method, "") if method == VANILLA else (method.capitalize(), answer)
        cells.append((models[model]["label"], *way, *accuracies, *shares))
    columns = ["Model", "Method", "Answer in", *(f"accuracy by distractors: {n}" for n in counts), *heads.values()]
    frame = pd.DataFrame(cells, columns=columns)
    return frame.assign(Model=blank_repeats(frame.Model))


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


def prompted_models_cells(table: Any, models: dict[str, dict]) -> pd.DataFrame:
    """Return the cells of :func:`prompted_models`; a column for thinking if any model thinks or could."""
    revisions = [
        row.revision[:12] if row.revision and "/" in row.source else row.revision or MISSING_MARK
        for row in table.itertuples(index=False)
    ]
    return pd.DataFrame(
        {
            "Model": [models[name]["label"] for name in table.model],
            "Size": [parameters(count) for count in table.parameters],
            "Precision": table.precision,
            "Wrapping": table.prompt_wrapping.str.replace("_", " "),
            **({"Thinking": table.thinking.replace("", MISSING_MARK)} if table.thinking.any() else {}),
            **{f"new tokens: {step}": [number(count, 0) for count in table[f"new_tokens_{step}"]] for step in STEPS},
            "Prompts": [f"{count:,}" for count in table.prompts],
            "Revision": revisions,
        }
    )
