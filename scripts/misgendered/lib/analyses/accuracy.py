"""Accuracies with intervals: everything that Tables 4 to 8, 10 and 13 and Figure 3 average (section 4)."""

import numpy as np
import pandas as pd

from scripts.misgendered.lib.analyses.resampling import Resampled
from scripts.misgendered.lib.labels import ALL, STUDY

POOLED = ["declaration_type", "declaration_number", "pronoun_type", "group", "form", "name_class"]
COLUMNS = ["templates", "model", "shots", *POOLED, "accuracy", "ci_low", "ci_high", "n"]

MARGINS = (
    (),
    ("pronoun_type",),
    ("group",),
    ("form",),
    ("form", "pronoun_type"),
    ("form", "group"),
    ("declaration_type", "pronoun_type"),
    ("declaration_number", "pronoun_type"),
    ("declaration_type", "declaration_number", "pronoun_type"),
    ("name_class", "pronoun_type"),
    ("name_class", "group"),
)
"""What is not pooled in a row of accuracies; a pronoun group says its type as well."""
FEW_SHOT = MARGINS[:6]
"""The same with examples in the prompt, whose declaration never varies."""


def accuracy(table, templates, draws, seed, study_models=()):
    """Return accuracies by everything that the study splits them by.

    Parameters
    ----------
    table : DataFrame
        Predictions, of one set of templates.
    templates : str
    draws, seed : int
        Of the bootstrap.
    study_models : collection of str
        The models of the study; if the run has them all, their mean has rows of its own.

    Returns
    -------
    DataFrame
        :data:`COLUMNS`. ``model`` is a model, ``all`` (the mean over the run's models) or ``study`` (over those of the
        study); pooled columns hold ``all``; ``ci_low`` and ``ci_high`` are the 95 % interval over templates and names;
        ``n`` counts instances, over all models and draws of examples.
    """
    parts = []
    for shots, rows in table.groupby("shots", sort=True):
        parts.append(_of_shots(Resampled(rows, draws, seed), MARGINS if shots == 0 else FEW_SHOT, study_models, shots))
    frame = pd.concat(parts, ignore_index=True)
    frame.insert(0, "templates", templates)
    return frame[COLUMNS]


def _of_shots(resampled, margins, study_models, shots):
    table = resampled.table
    rows = []
    for model, members in pooled_models(table.model.unique(), study_models).items():
        of_model = table.model.isin(members).to_numpy()
        for margin in margins:
            columns = ["pronoun_type", *margin] if "group" in margin else list(margin)
            for level, chosen in _levels(table, of_model, columns):
                low, high = resampled.interval(chosen)
                facts = dict.fromkeys(POOLED, ALL) | dict(zip(columns, level, strict=True))
                value = {"accuracy": resampled.share(chosen), "ci_low": low, "ci_high": high, "n": int(chosen.sum())}
                rows.append({"model": model, "shots": shots} | facts | value)
    return pd.DataFrame(rows)


def pooled_models(models, study_models):
    """Return what a row's ``model`` can be, and the models behind it: each one, ``all``, and ``study`` if complete."""
    named = {model: [model] for model in models} | {ALL: list(models)}
    complete = bool(study_models) and set(study_models) <= set(models)
    return named | ({STUDY: list(study_models)} if complete else {})


def _levels(table, of_model, columns):
    """Yield each combination of levels of ``columns`` with the rows that it chooses."""
    if not columns:
        yield (), of_model
        return
    codes = table.groupby(columns, sort=False, observed=True).ngroup().to_numpy()
    levels = table[columns].assign(code=codes).drop_duplicates("code")
    for row in levels.itertuples(index=False):
        chosen = of_model & (codes == row.code)
        if chosen.any():
            yield tuple(row[:-1]), chosen


def by_draw(table):
    """Return accuracies with examples in the prompt, apart for each draw of the examples.

    Parameters
    ----------
    table : DataFrame
        Predictions.

    Returns
    -------
    DataFrame
        ``model``, ``shots``, ``draw``, ``pronoun_type``, ``accuracy``, ``n``; without examples there is one draw.
    """
    keys = ["model", "shots", "draw", "pronoun_type"]
    return table.groupby(keys, sort=False).correct.agg(accuracy="mean", n="size").reset_index()


def over_draws(by_draw):
    """Return mean and standard deviation over the draws of examples.

    Returns
    -------
    DataFrame
        ``model``, ``shots``, ``pronoun_type``, ``draws``, ``accuracy``, ``sd`` (ddof 1; missing with one draw),
        ``lowest``, ``highest``, ``n`` (instances of a draw).
    """
    keys = ["model", "shots", "pronoun_type"]
    return (
        by_draw.groupby(keys, sort=False)
        .agg(
            draws=("draw", "nunique"), mean=("accuracy", "mean"), sd=("accuracy", "std"), lowest=("accuracy", "min"),
            highest=("accuracy", "max"), n=("n", "max"),
        )
        .rename(columns={"mean": "accuracy"})
        .reset_index()
    )  # fmt: skip


def chance(table):
    """Return the accuracy of a random pick: the mean share of an instance's candidates that are right.

    With the eleven groups it is a little above one in eleven, because e and ey share *em* and *emself*, so that two
    forms have ten candidates.
    """
    return float(np.mean(table.drop_duplicates("instance_id").chance))
