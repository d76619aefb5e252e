"""Accuracies with intervals: everything that Tables 4 to 8, 10 and 13 and Figure 3 average (section 4)."""

import numpy as np
import pandas as pd

from scripts.misgendered.lib.analyses.by_model import ByModel
from scripts.misgendered.lib.analyses.resampling import NAME, TEMPLATE, Places, Resampled, Totals
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
    table : DataFrame or str
        Predictions, of one set of templates, or the file that has them; of a file one model is read at a time.
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
    source = ByModel(table, [*TEMPLATE, *NAME, *POOLED, "correct"])
    parts = []
    for shots in sorted({shots for shots, _ in source.pairs}):
        margins = MARGINS if shots == 0 else FEW_SHOT
        parts.append(_of_shots(source.only(shots), margins, study_models, draws, seed).assign(shots=shots))
    frame = pd.concat(parts, ignore_index=True)
    frame.insert(0, "templates", templates)
    return frame[COLUMNS]


def _of_shots(source, margins, study_models, draws, seed):
    places = Places((table for _, table in source), draws, seed)
    levels, made = [{} for _ in margins], Totals(places)
    pooled = pooled_models(source.models, study_models)
    for model, table in source:
        resampled = Resampled(table, draws, seed, places)
        for place, margin in enumerate(margins):
            columns = ["pronoun_type", *margin] if "group" in margin else list(margin)
            for level, chosen in _levels(resampled.table, columns):
                levels[place].setdefault(level, columns)
                cells = resampled.cells(chosen)
                for name, members in pooled.items():
                    if model in members:
                        made.add((name, place, level), *cells, last=len(members) == 1)
    rows = []
    for name in pooled:
        for place, level in ((place, level) for place, known in enumerate(levels) for level in known):
            value = made.finished((name, place, level))
            if value:
                facts = dict.fromkeys(POOLED, ALL) | dict(zip(levels[place][level], level, strict=True))
                rows.append({"model": name} | facts | value)
    return pd.DataFrame(rows)


def pooled_models(models, study_models):
    """Return what a row's ``model`` can be, and the models behind it: each one, ``all``, and ``study`` if complete."""
    named = {model: [model] for model in models} | {ALL: list(models)}
    complete = bool(study_models) and set(study_models) <= set(models)
    return named | ({STUDY: list(study_models)} if complete else {})


def _levels(table, columns):
    """Yield each combination of levels of ``columns`` with the rows that have it."""
    if not columns:
        yield (), np.ones(len(table), dtype=bool)
        return
    codes = table.groupby(columns, sort=False, observed=True).ngroup().to_numpy()
    levels = table[columns].assign(code=codes).drop_duplicates("code")
    for row in levels.itertuples(index=False):
        yield tuple(row[:-1]), codes == row.code


def by_draw(table):
    """Return accuracies with examples in the prompt, apart for each draw of the examples.

    Parameters
    ----------
    table : DataFrame or str
        Predictions, or their file.

    Returns
    -------
    DataFrame
        ``model``, ``shots``, ``draw``, ``pronoun_type``, ``accuracy``, ``n``; without examples there is one draw.
    """
    keys = ["model", "shots", "draw", "pronoun_type"]
    parts = [
        rows.groupby(keys, sort=False, observed=True).correct.agg(accuracy="mean", n="size").reset_index()
        for _, rows in ByModel(table, [*keys, "correct"])
    ]
    return pd.concat([part.astype({"model": object, "pronoun_type": object}) for part in parts], ignore_index=True)


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
