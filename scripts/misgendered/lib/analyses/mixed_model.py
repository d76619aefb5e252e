"""A mixed model of correctness. Not in the study, which compares averages.

A logistic model, because accuracies on neo-pronouns are near zero, where a linear one leaves the range of shares. How
it is fitted, and what its intervals are, says :mod:`scripts.core.mixed_effects`.
"""

import numpy as np
import pandas as pd

from scripts.core import mixed_effects
from scripts.misgendered.lib.analyses.by_model import ByModel

LEAST_MODELS = 5
"""Models from which on their effect is random; fewer say little about a variance, and have coefficients instead."""
FIXED = {
    "pronoun_type": ("neo", "neutral", "binary"),
    "form": ("nom", "acc", "ref", "pos_dep", "pos_ind"),
    "declaration_type": ("explicit", "parenthetical"),
    "declaration_number": ("2", "3", "4", "5"),
}
"""Fixed effects with their levels, the reference first."""


def mixed_model(table, seed):
    """Fit correctness on pronoun type, form and declaration, with random effects of template, name and model.

    Parameters
    ----------
    table : DataFrame or str
        Predictions, or their file. Of more than ``mixed_effects.MOST`` instances that many are drawn, as many of each
        model.
    seed : int
        Of the starting values, and of that draw.

    Returns
    -------
    DataFrame
        As :func:`scripts.core.mixed_effects.table` returns it: coefficients in log odds against the factor's first
        level, and standard deviations of the random effects. One row without estimates, with ``converged`` false and
        the ``reason``, if the fit does not converge or correctness does not vary.
    """
    rows = _drawn(table, seed)
    rows = rows.assign(
        declaration_number=rows.declaration_number.astype(str),
        template=rows.form.astype(str) + " " + rows.template_index.astype(str),
    )
    random, fixed = ["template", "name"], dict(FIXED)
    if rows.model.nunique() >= LEAST_MODELS:
        random.append("model")
    else:
        fixed["model"] = list(dict.fromkeys(rows.model))
    return mixed_effects.table(rows, fixed, random, seed, right="correct")


def _drawn(table, seed):
    """Return the predictions without examples that the model is fitted to."""
    columns = [*FIXED, "template_index", "name", "correct"]
    source = ByModel(table, columns, shots=0)
    sizes = {model: len(rows) for model, rows in source}
    share = min(1.0, mixed_effects.MOST / max(1, sum(sizes.values())))
    generator = np.random.default_rng(seed)
    parts = []
    for model, rows in source:
        if share < 1:
            rows = rows.iloc[np.sort(generator.choice(len(rows), int(sizes[model] * share), replace=False))]
        parts.append(rows.astype(dict.fromkeys(rows.select_dtypes("category"), object)))
    return pd.concat(parts, ignore_index=True)
