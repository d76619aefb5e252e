"""Models compared on the same instances, and how small a difference a sample can show. Not in the study."""

import pandas as pd

from scripts.core import paired

KEYS = ["instance_id", "seed", "n_distractors", "occupation"]


def _levels(table):
    """Yield what stands in the column ``n_distractors`` with the rows of that number; ``all`` pools everything."""
    yield "all", table
    yield from ((str(n), part) for n, part in table.groupby("n_distractors", sort=True))


def model_pairs(predictions: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return the difference of accuracies of each pair of models on the instances that both score.

    Args:
        predictions: Of all models.
        draws, seed: Of bootstrap and permutations, over occupations.

    Returns:
        ``n_distractors`` (``all`` as well) and what :func:`scripts.core.paired.every_pair` gives. No rows with one
        model.
    """
    asked = predictions[predictions.setting == "fidelity"]
    models = list(dict.fromkeys(asked.model))
    wide = asked.set_index([*KEYS, "model"]).correct.astype(float).unstack("model").reset_index()
    parts = []
    for n, part in _levels(wide):
        made = paired.every_pair(part[models], part.occupation, draws, seed)
        made.insert(0, "n_distractors", n)
        parts.append(made)
    return pd.concat(parts, ignore_index=True)


def power(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return how small a difference a sample like each model's can show, and how many instances a given one needs.

    Args:
        predictions: Of all models.

    Returns:
        ``model``, ``n_distractors`` (``all`` as well) and what :func:`scripts.core.paired.planned` gives, clusters
        being occupations.
    """
    asked = predictions[predictions.setting == "fidelity"]
    rows = [
        {"model": model, "n_distractors": n} | paired.planned(part.correct, part.occupation)
        for model, of_model in asked.groupby("model", sort=False)
        for n, part in _levels(of_model)
    ]
    return pd.DataFrame(rows)
