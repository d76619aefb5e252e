"""From scores to predictions. Sections and figures are those of Gautam et al. (2024)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from scripts.core.data.options import option_counts, predict, predicted_form
from scripts.core.errors import UserError

OF_INSTANCE = [
    "instance_id", "seed", "n_distractors", "task_index", "occupation", "participant", "case", "polarity", "pronoun",
    "distractor_pronoun",
]  # fmt: skip
"""Columns of an instance that its predictions keep."""


def predictions(instances: pd.DataFrame, scores: pd.DataFrame, model: str, pronoun_sets: Sequence[str]) -> pd.DataFrame:
    """Return what one model picks for every selected instance.

    Args:
        instances: The selected instances: context-free ones (``n_distractors`` missing) and samples. A prediction is
            right if the form is that of ``gold``.
        scores: The model's scores, see :data:`scripts.core.scoring.losses.COLUMNS`.
        pronoun_sets: The sets in the order of each instance's options.

    Returns:
        Columns ``model``, ``setting`` (``context_free`` or ``fidelity``), ``instance_id``, ``seed``, ``n_distractors``,
        ``task_index``, ``occupation``, ``participant``, ``case``, ``polarity``, ``pronoun``, ``distractor_pronoun``,
        ``prediction``, ``context_free_prediction`` (sets), ``correct``, ``margin`` (nats) and ``tie``.

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
    picks = predict(scores, offers)
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
    table["setting"] = np.where(free, "context_free", "fidelity")
    table["correct"] = (table.picked == instances.gold).astype("boolean").mask(free)
    table.insert(0, "model", model)
    order = ["model", "setting", *OF_INSTANCE, "prediction", "context_free_prediction", "correct", "margin", "tie"]
    return table[order].astype({"seed": "Int64", "n_distractors": "Int64"}).reset_index(drop=True)


def fidelity_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a predictions frame that have a context and so a right answer."""
    return table[table.setting == "fidelity"].assign(correct=lambda t: t.correct.astype(float))
