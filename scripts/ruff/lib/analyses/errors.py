"""Error analysis: distraction, bias and others. Sections and figures are those of Gautam et al. (2024)."""

from typing import Any

import numpy as np
import pandas as pd

from scripts.ruff.lib.analyses.predictions import fidelity_rows

ERROR_TYPES = ("distraction", "bias", "other")
COLUMNS = [
    "model", "setting", "seed", "n_distractors", "pronoun", "distractor_pronoun", "prediction",
    "context_free_prediction", "correct",
]  # fmt: skip
"""Columns of predictions that errors are told apart by."""


def classify_errors(table: pd.DataFrame) -> pd.DataFrame:
    """Return the errors with distractors, each with its type (section 8).

    With y the prediction, d the distractor pronoun and b the same model's context-free prediction on the same task
    sentence, an error is ``ambiguous`` if d equals b, otherwise ``distraction`` if y equals d, ``bias`` if y equals b
    and ``other`` if neither. Errors where b equals the right pronoun cannot be bias errors; they stay among
    the unambiguous ones, which the paper leaves open.

    Returns:
        The rows of the errors with the columns ``error_type`` and ``bias_equals_gold``.
    """
    rows = fidelity_rows(table)
    errors = rows[(rows.n_distractors > 0) & (rows.correct == 0)].copy()
    errors["error_type"] = np.select(
        [
            errors.distractor_pronoun == errors.context_free_prediction,
            errors.prediction == errors.distractor_pronoun,
            errors.prediction == errors.context_free_prediction,
        ],
        ["ambiguous", "distraction", "bias"],
        "other",
    )
    errors["bias_equals_gold"] = errors.context_free_prediction == errors.pronoun
    return errors


def error_types(table: pd.DataFrame) -> pd.DataFrame:
    """Return the shares of distraction and bias among unambiguous errors (section 8, Figure 9).

    Shares are computed on each sample and then averaged; a sample without unambiguous errors does not count.

    Returns:
        ``model``, ``n_distractors``, ``error_type``, ``n_seeds`` (samples with unambiguous errors), ``n_instances``,
        ``n_errors``, ``n_ambiguous``, ``n_unambiguous``, ``n_bias_equals_gold`` (of the unambiguous), ``count``,
        ``share`` (mean over samples; missing if there are none), ``sd`` (over samples, ddof 1).
    """
    rows = fidelity_rows(table)
    rows = rows[rows.n_distractors > 0]
    errors = dict(list(classify_errors(table).groupby(["model", "n_distractors"])))
    nothing = classify_errors(table.head(0))
    results = []
    for (model, n), part in rows.groupby(["model", "n_distractors"], sort=False):
        wrong = errors.get((model, n), nothing)
        clear = wrong[wrong.error_type != "ambiguous"]
        shares = pd.crosstab(clear.seed, clear.error_type, normalize="index")
        for kind in ERROR_TYPES:
            values = shares[kind] if kind in shares else pd.Series(0.0, index=shares.index)
            cell = (model, n, kind, len(values), len(part), len(wrong), len(wrong) - len(clear), len(clear))
            counts = (int(clear.bias_equals_gold.sum()), int((clear.error_type == kind).sum()))
            results.append((*cell, *counts, values.mean(), values.std()))
    columns = [
        "model", "n_distractors", "error_type", "n_seeds", "n_instances", "n_errors", "n_ambiguous", "n_unambiguous",
        "n_bias_equals_gold", "count", "share", "sd",
    ]  # fmt: skip
    return pd.DataFrame(results, columns=columns)


def error_range(types: pd.DataFrame) -> pd.DataFrame:
    """Return the lowest and the highest share of errors that distraction and bias explain together (section 8).

    Args:
        types: As returned by :func:`error_types`.

    Returns:
        ``bound`` (``lowest``, ``highest``), ``model``, ``n_distractors``, ``share``; empty without unambiguous errors.
    """
    explained = (
        types[types.error_type != "other"].groupby(["model", "n_distractors"], sort=False).share.sum(min_count=2)
    )
    explained: Any = explained.dropna()
    columns = ["bound", "model", "n_distractors", "share"]
    if explained.empty:
        return pd.DataFrame(columns=columns)
    rows = [("lowest", *explained.idxmin(), explained.min()), ("highest", *explained.idxmax(), explained.max())]
    return pd.DataFrame(rows, columns=columns)
