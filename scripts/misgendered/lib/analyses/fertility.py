"""Tokens that a form costs under each tokenizer against accuracy. Not in the study."""

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

from scripts.core import statistics
from scripts.misgendered.lib.analyses.by_model import ByModel

SUBSETS = {"all groups": "accuracy ~ tokens", "neo-pronouns": "accuracy ~ tokens + C(form)"}
"""Which forms a regression looks at, and its formula: among neo-pronouns forms have means of their own."""


def by_form(table):
    """Return tokens and accuracy of each form of each pronoun group, without examples in the prompt.

    Parameters
    ----------
    table : DataFrame or str
        Predictions, or their file, of which one model is read at a time.

    Returns
    -------
    DataFrame
        ``model``, ``pronoun_type``, ``group``, ``form``, ``gold``, ``tokens`` (of the right form as it stands in the
        text, mean over instances), ``accuracy``, ``n``.
    """
    keys = ["model", "pronoun_type", "group", "form", "gold"]
    parts = []
    for _, rows in ByModel(table, [*keys, "gold_tokens", "correct"], shots=0):
        cells = rows.groupby(keys, sort=False, observed=True).agg(
            tokens=("gold_tokens", "mean"), accuracy=("correct", "mean"), n=("correct", "size")
        )
        parts.append(cells.reset_index().astype(dict.fromkeys(keys, object)))
    return pd.concat(parts, ignore_index=True)


def regressions(cells):
    """Regress accuracy on tokens for each model; a form of a group is one observation.

    Parameters
    ----------
    cells : DataFrame
        From :func:`by_form`.

    Returns
    -------
    DataFrame
        ``model``, ``subset`` (of :data:`SUBSETS`), ``slope`` (accuracy for each further token) with ``ci_low`` and
        ``ci_high`` (95 %, HC3 standard errors: MacKinnon and White 1985), ``p_value``, ``spearman`` (of tokens and
        accuracy), ``forms`` (observations). The slope is missing where tokens or accuracies do not vary, or where an
        observation alone decides a coefficient, because HC3 is undefined then.
    """
    rows = []
    for model, of_model in cells.groupby("model", sort=False):
        for subset, formula in SUBSETS.items():
            part = of_model if subset == "all groups" else of_model[of_model.pronoun_type == "neo"]
            rows.append({"model": model, "subset": subset} | _fit(part, formula))
    return pd.DataFrame(rows)


def _fit(part, formula):
    nothing = dict.fromkeys(("slope", "ci_low", "ci_high", "p_value"), np.nan)
    rank = statistics.spearman(part.tokens.to_numpy(), part.accuracy.to_numpy())
    facts = {"spearman": rank, "forms": len(part)}
    if len(part) < 4 or not all(statistics.varies(part[c].to_numpy(), 1) for c in ("tokens", "accuracy")):
        return nothing | facts
    fitted = smf.ols(formula, part).fit()
    singular = np.linalg.matrix_rank(fitted.model.exog) < fitted.model.exog.shape[1]
    if singular or fitted.df_resid < 1 or (fitted.get_influence().hat_matrix_diag > 1 - 1e-9).any():
        return nothing | facts
    robust = fitted.get_robustcov_results("HC3")
    place = fitted.model.exog_names.index("tokens")
    low, high = robust.conf_int()[place]
    return {
        "slope": float(robust.params[place]), "ci_low": float(low), "ci_high": float(high),
        "p_value": float(robust.pvalues[place]),
    } | facts  # fmt: skip
