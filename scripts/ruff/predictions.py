"""From scores to predictions, and from answers in words to outcomes: what became of every instance of a sample."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import model_outputs, templates
from scripts.core.data.options import option_counts, pick_best, predicted_form
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run_named
from scripts.ruff import study
from scripts.ruff.answers import judge_answer

OF_INSTANCE = [
    "instance_id", "seed", "n_distractors", "task_index", "occupation", "participant", "case", "polarity", "pronoun",
    "distractor_pronoun",
]  # fmt: skip
"""Columns of an instance that its predictions keep."""


def predictions(
    *, instances: str, scores: list, predictions: str, models: list, pronoun_sets: list, sizes: dict
) -> None:
    """Turn the scores of all models into predictions; each scores so many instances of each sample (``sizes``)."""
    with files.append_parquet(predictions) as append:
        for model, scored, table in read_scores(instances, scores, models, sizes):
            part = make_predictions(scored, table, model, pronoun_sets)
            log.info("%s: %d instances, %d ties", model, len(part), int(part.tie.sum()))
            append(part)


def outputs(
    *, prompted: str, prompts: str, answers: list, pronouns: str, outputs: str, models: list, pronoun_sets: list
) -> None:
    """Read a pronoun out of everything that prompted models wrote: a row for each instance, prompt, model and place."""
    sets = templates.select_pronoun_sets(templates.read_pronouns(pronouns), pronoun_sets)
    rows, asked = files.read_parquet(prompted), files.read_parquet(prompts)
    parts = []
    for model, path in zip(models, answers, strict=True):
        parts.append(make_outputs(rows, asked, model_outputs.read_answers(path, model, asked), model, sets))
        log.info("%s: %d outputs: %s", model, len(parts[-1]), parts[-1].outcome.value_counts().to_dict())
    files.write_parquet(outputs, pd.concat(parts, ignore_index=True))


def read_scores(
    instances: str, scores: Sequence[str], models: Sequence[str], sizes: Mapping[str, int]
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Yield each model, the selected instances that it scores, and their scores."""
    table = files.read_parquet(instances)
    for model, path in zip(models, scores, strict=True):
        scored = table[table.priority.isna() | (table.priority < sizes[model])]
        yield model, scored, model_outputs.read_scores(path, model, scored)


def make_predictions(
    instances: pd.DataFrame, scores: pd.DataFrame, model: str, pronoun_sets: Sequence[str]
) -> pd.DataFrame:
    """Return what one model picks for every selected instance.

    Args:
        instances: The selected instances: context-free ones (``n_distractors`` missing) and samples.
        scores: The model's scores, see :data:`scripts.core.scoring.criteria.COLUMNS`.
        pronoun_sets: The sets in the order of each instance's options.

    Returns:
        ``model``, ``setting``, :data:`OF_INSTANCE`, ``prediction`` and ``context_free_prediction`` (sets), ``correct``
        (the form is that of ``gold``), ``margin`` (nats) and ``tie``.

    Raises:
        UserError: If an instance has no score, or not one option for each pronoun set, or a task sentence no
            context-free prediction.
    """
    offers = option_counts(instances)
    other = offers[offers != len(pronoun_sets)]
    if len(other):
        raise UserError(
            f"instances: {other.index[0]} has {other.iloc[0]} options and the run {len(pronoun_sets)} pronoun sets; "
            "delete the file and run the workflow again"
        )
    picks = pick_best(scores, offers)
    missing = set(instances.instance_id) - set(picks.index)
    if missing:
        raise UserError(
            f"scores of {model}: instance {sorted(missing)[0]} and {len(missing) - 1} more are not scored; "
            "delete the score file and run the workflow again"
        )
    table = instances[OF_INSTANCE].copy()
    table["picked"] = predicted_form(instances, picks)
    table = table.join(picks, on="instance_id")
    table["prediction"] = np.asarray(pronoun_sets, dtype=object)[table.pop("option_index").to_numpy(dtype=int)]
    free = table.n_distractors.isna()
    by_task = table[free].set_index("task_index").prediction
    table["context_free_prediction"] = table.task_index.map(by_task)
    if table.context_free_prediction.isna().any():
        raise UserError(f"scores of {model}: a task sentence has no context-free instance; make the instances again")
    table["setting"] = np.where(free, study.CONTEXT_FREE, study.FIDELITY)
    table["correct"] = (table.picked == instances.gold).astype("boolean").mask(free)
    table.insert(0, "model", model)
    order = ["model", "setting", *OF_INSTANCE, "prediction", "context_free_prediction", "correct", "margin", "tie"]
    return table[order].astype({"seed": "Int64", "n_distractors": "Int64"}).reset_index(drop=True)


def make_outputs(
    prompted: pd.DataFrame, prompts: pd.DataFrame, answers: pd.DataFrame, model: str, pronouns: Mapping[str, dict]
) -> pd.DataFrame:
    """Return the outputs of one model: what it wrote for each prompt of each prompted row of the samples.

    ``answer`` says where it was read: ``final``, the last thing that the model writes, or ``chain``, its chain of
    thought. ``outcome`` and ``named`` are what :func:`scripts.ruff.answers.judge_answer` makes of it.

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
    table = asked[["text_id", "instance_id", "method", "prompt", "kind"]].merge(answers, on="text_id")
    facts = prompted.drop_duplicates("instance_id").set_index("instance_id")[["case", "pronoun"]]
    table = table.join(facts, on="instance_id")
    parts = []
    for answer, column in (("final", "answer"), ("chain", "chain")):
        part = table[table[column].notna()]
        judged = [judge_answer(*row, pronouns) for row in zip(part[column], part["case"], part.pronoun, strict=True)]
        named: list[Any] = [name for _, name in judged]
        parts.append(part.assign(answer=answer, outcome=[outcome for outcome, _ in judged], named=named))
    of_output = ["instance_id", "method", "prompt", "kind", "answer", "outcome", "named"]
    rows = prompted[["instance_id", "seed", "n_distractors", "occupation", "case", "pronoun", "chains"]]
    rows = rows.merge(pd.concat(parts, ignore_index=True)[of_output], on="instance_id")
    # An instance of two samples may be asked for chains in one of them only.
    rows = rows[(rows.method == study.VANILLA) | rows.chains].assign(model=model)
    order = [
        "model", "method", "answer", "prompt", "kind", "instance_id", "seed", "n_distractors", "occupation", "case",
        "pronoun", "outcome", "named",
    ]  # fmt: skip
    return rows[order].astype({"n_distractors": "int64"}).reset_index(drop=True)


if __name__ == "__main__":
    run_named()
