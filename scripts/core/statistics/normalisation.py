"""Ways to bring the scores of options to one scale, and what each of them decides.

Options are compared by the score of the whole text with the option in its slot. Options of several tokens are at a
disadvantage in a sum of log-probabilities, and options that are frequent anywhere have an advantage in all that leaves
out how probable they are without the context. Studies differ in what they take.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import scipy

from scripts.core.data.options import predict
from scripts.core.errors import UserError

COLUMNS = {
    "sum": ("log_probability",),
    "tokens": ("log_probability", "scored_tokens"),
    "bytes": ("log_probability", "text_bytes"),
    "context_free": ("log_probability", "context_free_log_probability"),
}
"""Normalisations to the columns that they need (:func:`normalise_scores`)."""
LABELS = {
    "sum": "sum",
    "tokens": "mean over tokens",
    "bytes": "mean over bytes",
    "context_free": "difference to the score without context",
}
"""Normalisations as tables and figures call them."""


def byte_lengths(texts: Iterable[str]) -> np.ndarray:
    """Return the length of each text in bytes of UTF-8.

    Returns:
        Shape (texts,), of int.
    """
    return np.array([len(text.encode("utf-8")) for text in texts], dtype=int)


def normalise_scores(scores: pd.DataFrame, normalisation: str) -> pd.Series:
    r"""Return the score of each option under a normalisation.

    With :math:`s` the sum of the log-probabilities of a text's tokens, :math:`n` their number, :math:`b` the bytes of
    the text and :math:`s_0` the sum of the same text without its context:

    - ``sum``: :math:`s` (nats), as Gautam et al. (2024) take it
    - ``tokens``: :math:`s / n` (nats a token), as Hossain et al. (2023, section 3.2.1) do
    - ``bytes``: :math:`s / b` (nats a byte), which does not depend on the tokenizer (Gao et al. 2020, section 3.1)
    - ``context_free``: :math:`s - s_0` (nats). As the context is the same for all options, this orders them as
      :math:`\log P(\text{option} \mid \text{context}) - \log P(\text{option})`, the pointwise mutual information of
      option and context (Holtzman et al. 2021).

    Args:
        scores: A row for each option of each instance, with the :data:`COLUMNS` that the normalisation needs.
        normalisation: Of :data:`COLUMNS`.

    Returns:
        With the index of ``scores``. Of float.

    Raises:
        ValueError: For an unknown normalisation.
        UserError: If a column is missing or has gaps, or if a text has no token or byte that was scored.
    """
    if normalisation not in COLUMNS:
        raise ValueError(f"{normalisation!r} is no normalisation; there are {', '.join(COLUMNS)}")
    for column in COLUMNS[normalisation]:
        if column not in scores or scores[column].isna().any():
            raise UserError(
                f"the scores lack {column} for some option, so there is no {LABELS[normalisation]}; "
                "delete the score file and run the workflow again"
            )
    total = scores.log_probability.astype(float)
    if normalisation == "sum":
        return total
    if normalisation == "context_free":
        return total - scores.context_free_log_probability
    lengths = scores[COLUMNS[normalisation][1]]
    if (lengths <= 0).any():
        raise UserError(f"a text without a single one of its {normalisation} scored has no {LABELS[normalisation]}")
    return total / lengths


def favoured_options(scores: pd.DataFrame, normalisation: str, offers: pd.Series | None = None) -> pd.DataFrame:
    """Return the option that each instance's scores favour under a normalisation.

    Equal scores go to the option that comes first, under every normalisation.

    Args:
        scores: As for :func:`normalise_scores`, with ``instance_id`` and ``option_index``.
        offers: How many options each instance has (:func:`scripts.core.data.options.option_counts`).

    Returns:
        Indexed by ``instance_id``: ``option_index``, ``margin`` (in units of the normalisation) and ``tie``.

    Raises:
        UserError: As :func:`normalise_scores` and :func:`scripts.core.data.options.predict`.
    """
    return predict(scores.assign(log_probability=normalise_scores(scores, normalisation)), offers)


def ranks(values: pd.Series) -> pd.Series:
    """Return the rank of each value, 1 for the highest; equal values share the best of their ranks.

    Args:
        values: Of float.

    Returns:
        Missing for missing values. Of Int64.
    """
    return pd.Series(values).rank(method="min", ascending=False).astype("Int64")


def rank_agreement(first: np.ndarray, second: np.ndarray) -> float:
    r"""Return Kendall's tau-b of two orders of the same models (Kendall 1945).

    :math:`\tau_b = (C - D) / \sqrt{(C + D + T_1)(C + D + T_2)}` with the numbers of pairs of models in the same order,
    in opposite order, and tied in one of the two alone.

    Args:
        first, second: The accuracies under two normalisations. Shape (models,), of float.

    Returns:
        1 for the same order, -1 for the opposite one; NaN with fewer than two models or where all are equal.
    """
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return np.nan
    return float(scipy.stats.kendalltau(first, second, variant="b").statistic)
