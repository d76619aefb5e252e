"""Models compared on the same instances, and how small a difference a sample can show. Not in the study."""

import pandas as pd

from scripts.core import paired
from scripts.misgendered.lib.analyses.by_model import ByModel
from scripts.misgendered.lib.analyses.normalisation import template
from scripts.misgendered.lib.labels import ALL

KEYS = ["instance_id", "declaration", "pronoun_type", "form", "template_index"]


def _levels(table):
    yield ALL, table
    yield from table.groupby("pronoun_type", sort=False)


def _wide(predictions):
    """Return a row for each instance and a column for each model, and the models."""
    wide, models = None, []
    for model, rows in ByModel(predictions, [*KEYS, "correct"], shots=0):
        models.append(model)
        rows = rows[[*KEYS, "correct"]].astype({"correct": float}).rename(columns={"correct": model})
        if wide is None:
            wide = rows
        elif wide[KEYS].equals(rows[KEYS]):
            wide[model] = rows[model].to_numpy()
        else:
            wide = wide.merge(rows, on=KEYS, how="outer")
    return wide, models


def model_pairs(predictions, draws, seed):
    """Return the difference of accuracies of each pair of models on the same instances, without examples.

    Parameters
    ----------
    predictions : DataFrame, str or Path
        Of all models, or their file.
    draws, seed : int
        Of bootstrap and permutations, over templates.

    Returns
    -------
    DataFrame
        ``pronoun_type`` (``all`` as well) and what :func:`scripts.core.paired.every_pair` gives. No rows with one
        model.
    """
    wide, models = _wide(predictions)
    parts = []
    for kind, part in _levels(wide):
        made = paired.every_pair(part[models], template(part), draws, seed)
        made.insert(0, "pronoun_type", kind)
        parts.append(made)
    return pd.concat(parts, ignore_index=True)


def power(predictions):
    """Return how small a difference a sample like each model's can show, and how many instances a given one needs.

    Parameters
    ----------
    predictions : DataFrame, str or Path
        Of all models, or their file.

    Returns
    -------
    DataFrame
        ``model``, ``pronoun_type`` (``all`` as well) and what :func:`scripts.core.paired.planned` gives, clusters being
        templates.
    """
    rows = [
        {"model": model, "pronoun_type": kind} | paired.planned(part.correct, template(part))
        for model, of_model in ByModel(predictions, [*KEYS, "correct"], shots=0)
        for kind, part in _levels(of_model)
    ]
    return pd.DataFrame(rows)
