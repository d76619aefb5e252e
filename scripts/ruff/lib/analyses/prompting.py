"""From answers in words to accuracies (Gautam et al. 2024, Appendix H), and what the study does not ask.

An *output* is what one model writes at the end for one prompt of one instance of a sample. ``answer`` says where it is
read: ``final``, the last thing that the model writes, or ``chain``, its chain of thought.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from scripts.core.errors import UserError
from scripts.ruff.lib.analyses.answers import OUTCOMES, judge
from scripts.ruff.lib.prompts import VANILLA

KEYS = ["model", "method", "answer", "n_distractors"]
KIND_GROUPS = ("all", "open", "options")


def output_rows(
    prompted: pd.DataFrame, prompts: pd.DataFrame, answers: pd.DataFrame, model: str, pronouns: Mapping[str, dict]
) -> pd.DataFrame:
    """Return the outputs of one model.

    Args:
        prompted: The prompted rows of all samples (the rule ``ruff_prompts``).
        prompts: All prompts of all instances.
        answers: The model's answers (``scripts/prompting/prompt.py``).
        pronouns: The sets of the run, with their forms.

    Returns:
        ``model``, ``method``, ``answer`` (where it was read), ``prompt``, ``kind``, ``order``, ``instance_id``,
        ``seed``, ``n_distractors``, ``occupation``, ``case``, ``pronoun`` (right set), ``outcome``, ``named`` (set, or
        missing; of sets that share a form see :func:`scripts.ruff.lib.analyses.answers.judge`).

    Raises:
        UserError: If a prompt has two answers or none although the model was asked by its method.
    """
    methods = prompts.set_index("text_id").method.reindex(answers.text_id).unique()
    asked = prompts[prompts.method.isin(methods)]
    if len(answers) != len(asked) or set(answers.text_id) != set(asked.text_id):
        raise UserError(
            f"answers of {model}: they belong to other prompts than those of the run; delete the file and run the "
            "workflow again"
        )
    table = asked[["text_id", "instance_id", "method", "prompt", "kind", "order"]].merge(answers, on="text_id")
    facts = prompted.drop_duplicates("instance_id").set_index("instance_id")[["case", "pronoun"]]
    table = table.join(facts, on="instance_id")
    parts = []
    for answer, column in (("final", "answer"), ("chain", "chain")):
        part = table[table[column].notna()]
        judged = [
            judge(*row, pronouns)
            for row in zip(part[column], part["case"], part.pronoun, strict=True)
        ]  # fmt: skip
        named: list[Any] = [name for _, name in judged]
        parts.append(part.assign(answer=answer, outcome=[outcome for outcome, _ in judged], named=named))
    outputs = pd.concat(parts, ignore_index=True)
    outputs = outputs.drop(columns=["text_id", "chain", "case", "pronoun", *_of_generation(outputs)])
    rows = prompted[["instance_id", "seed", "n_distractors", "occupation", "case", "pronoun", "chains"]]
    rows = rows.merge(outputs, on="instance_id")
    # An instance of two samples may be asked for chains in one of them only.
    rows = rows[(rows.method == VANILLA) | rows.chains]
    rows.insert(0, "model", model)
    order = [
        "model", "method", "answer", "prompt", "kind", "order", "instance_id", "seed", "n_distractors", "occupation",
        "case", "pronoun", "outcome", "named",
    ]  # fmt: skip
    return rows[order].astype({"n_distractors": "int64"}).reset_index(drop=True)


def _of_generation(table: Iterable[Any]):
    """Return the columns that say how long answers are and whether they came to an end."""
    return [column for column in table if column.endswith(("_tokens", "_finished"))]


def published_order(outputs: pd.DataFrame) -> pd.DataFrame:
    """Return the outputs to prompts that list the options as the study does, or none."""
    return outputs[outputs.order == "published"]


def by_prompt(outputs: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies with each prompt (Figures 11 to 13 show their spread).

    Returns:
        ``model``, ``method``, ``answer``, ``n_distractors``, ``prompt``, ``kind``, ``n`` (outputs, all samples),
        ``accuracy``, and the shares ``wrong``, ``wrong_case``, ``several`` and ``none``.
    """
    rows = published_order(outputs)
    keys = [*KEYS, "prompt", "kind"]
    dummies = pd.DataFrame({kind: rows.outcome == kind for kind in OUTCOMES}, index=rows.index)
    grouped = pd.concat([rows[keys], dummies], axis=1).groupby(keys, sort=False)
    table = grouped.mean().join(grouped.size().rename("n")).reset_index()
    columns = [*keys, "n", "accuracy", *OUTCOMES[1:]]
    return table.rename(columns={"right": "accuracy"})[columns]


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies over prompts, all and of each kind.

    Args:
        table: As :func:`by_prompt` returns it.

    Returns:
        ``model``, ``method``, ``answer``, ``n_distractors``, ``kind`` (``all``, ``open``, ``options``), ``n_prompts``,
        ``n`` (outputs), ``accuracy`` (mean over prompts), ``sd`` (over prompts, ddof 1), ``lowest``, ``highest``, and
        the shares of the other outcomes.
    """
    parts = []
    for kind in KIND_GROUPS:
        rows = table if kind == "all" else table[table.kind == kind]
        grouped = rows.groupby(KEYS, sort=False)
        part = grouped.agg(
            n_prompts=("prompt", "nunique"), n=("n", "sum"), sd=("accuracy", "std"), lowest=("accuracy", "min"),
            highest=("accuracy", "max"), **{name: (name, "mean") for name in ("accuracy", *OUTCOMES[1:])},
        )  # fmt: skip
        parts.append(part.reset_index().assign(kind=kind))
    columns = [*KEYS, "kind", "n_prompts", "n", "accuracy", "sd", "lowest", "highest", *OUTCOMES[1:]]
    return pd.concat(parts, ignore_index=True)[columns]


def against_scored(outputs: pd.DataFrame, predictions: pd.DataFrame, pairs: list[dict]) -> pd.DataFrame:
    """Return accuracies of prompted models beside those of models that were scored, on the same instances.

    Args:
        outputs: Of all prompted models; vanilla prompts are compared.
        predictions: As :func:`scripts.ruff.lib.analyses.predictions.predictions` returns them.
        pairs: ``prompted`` and ``scored``: the same model, or a chat model and its base model.

    Returns:
        ``prompted``, ``scored``, ``n_distractors``, ``n`` (instances of samples that both have), ``n_prompts``,
        ``prompted_accuracy`` (mean over prompts), ``lowest``, ``highest`` (over prompts), ``scored_accuracy``,
        ``difference`` (prompted minus scored).
    """
    draw = ["instance_id", "seed", "n_distractors"]
    vanilla = published_order(outputs)
    vanilla = vanilla[(vanilla.method == VANILLA) & (vanilla.answer == "final")]
    scored = predictions[predictions.setting == "fidelity"].astype({"n_distractors": "int64"})
    rows = []
    for pair in pairs:
        likelihoods = scored[scored.model == pair["scored"]][[*draw, "correct"]]
        both = vanilla[vanilla.model == pair["prompted"]].merge(likelihoods, on=draw)
        for n, part in both.groupby("n_distractors"):
            prompts = (part.outcome == "right").groupby(part.prompt).mean()
            once = part.drop_duplicates(draw)
            ours, theirs = prompts.mean(), once.correct.astype(float).mean()
            rows.append(
                (pair["prompted"], pair["scored"], n, len(once), len(prompts), ours, prompts.min(), prompts.max(),
                 theirs, ours - theirs)
            )  # fmt: skip
    columns = [
        "prompted", "scored", "n_distractors", "n", "n_prompts", "prompted_accuracy", "lowest", "highest",
        "scored_accuracy", "difference",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)
