"""The study's metrics, and what explains them, from counts of quadruple types.

Whether each of a quadruple's four instances is right, and its original gender, make 32 types. Every metric is a
function of how often each type occurs (:func:`evaluate`), so one function serves the data and all bootstrap draws at
once. With *m* and *f*, the numbers of right masculine and feminine instances (0 to 2) of a quadruple,

- a quadruple leans by (m - f) / 2, and Acc_Diff is the mean of this: leanings in opposite directions cancel;
- I_across - I_within of a quadruple is 1 if m and f are 2 and 0, -1/2 if both are 1, and 0 otherwise. So Delta I is
  the share of quadruples that gender splits cleanly, minus half the share in which one instance of each gender is
  right. If the four outcomes are independent given the passage, with chances p and q, its expectation is (p - q)²:
  Delta I estimates a mean squared gap, which has no sign that could cancel.
"""

from collections.abc import Mapping

import numpy as np

from scripts.counter_gap.passages import ROLES
from scripts.counter_gap.study import COUNTERFACTUAL, ORIGINAL

TESTED_METRICS = (
    "acc_diff",
    "delta_i",
    "original_minus_counterfactual",
    "i_within_diff",
    "i_across_diff",
    "spearman_rho",
)
"""Metrics with a p value. The alternative is Delta I > 0; for the others the sign that was observed."""
N_TYPES = 32
# Right or wrong for original, control, swap-1, swap-2 and the original gender (1: masculine) of each type.
RIGHT = (np.arange(N_TYPES)[:, None] >> np.arange(4)) & 1
MASCULINE = np.arange(N_TYPES) >> 4

Key = tuple[str, str, str, str]
"""A metric and the levels of :data:`scripts.counter_gap.study.FACTORS`."""
Ratios = Mapping[Key, tuple[np.ndarray, np.ndarray]]
"""Metrics that are means, over quadruples or instances: their value for each type, and 1 for types that they are a mean
over, else 0."""


def key(metric: str, role: str = "", gender: str = "", original_gender: str = "") -> Key:
    """Return the key of a metric."""
    return metric, role, gender, original_gender


def accuracy_ratios(right: np.ndarray, masculine: np.ndarray, role: str = "") -> Ratios:
    """Return the accuracies of single instances, from which types are right and masculine."""
    return {
        key("accuracy", role): (right, np.ones(len(right))),
        key("accuracy", role, "M"): (right * masculine, masculine),
        key("accuracy", role, "F"): (right * (1 - masculine), 1 - masculine),
    }


def quadruple_ratios() -> Ratios:
    """Return those of quadruples; ``lean_masculine`` and ``lean_feminine`` are mean leanings in one direction."""
    one = np.ones(N_TYPES)
    original, counterfactual = RIGHT[:, :2].sum(1), RIGHT[:, 2:].sum(1)
    # How many masculine and feminine instances of a type are right.
    m = np.where(MASCULINE, original, counterfactual)
    f = np.where(MASCULINE, counterfactual, original)
    across = (m * (2 - f) + (2 - m) * f) / 4
    within_m, within_f = (m == 1) * 1.0, (f == 1) * 1.0
    lean = (m - f) / 2
    return {
        key("accuracy"): ((m + f) / 4, one),
        key("accuracy", gender="M"): (m / 2, one),
        key("accuracy", gender="F"): (f / 2, one),
        key("accuracy", ORIGINAL): (original / 2, one),
        key("accuracy", COUNTERFACTUAL): (counterfactual / 2, one),
        key("acc_diff"): (lean, one),
        key("original_minus_counterfactual"): ((original - counterfactual) / 2, one),
        key("i_within", gender="M"): (within_m, one),
        key("i_within", gender="F"): (within_f, one),
        key("i_within"): ((within_m + within_f) / 2, one),
        key("i_within_diff"): (within_m - within_f, one),
        key("i_across", original_gender="M"): (across * MASCULINE, MASCULINE),
        key("i_across", original_gender="F"): (across * (1 - MASCULINE), 1 - MASCULINE),
        key("i_across"): (across, one),
        key("delta_i"): (across - (within_m + within_f) / 2, one),
        key("lean_masculine"): (np.maximum(lean, 0), one),
        key("lean_feminine"): (np.maximum(-lean, 0), one),
        key("lean"): (np.abs(lean), one),
        key("split_masculine"): ((lean == 1) * 1.0, one),
        key("split_feminine"): ((lean == -1) * 1.0, one),
        key("one_each"): (within_m * within_f, one),
        # The study's our-GAP (Section 4.3).
        **accuracy_ratios(RIGHT[:, 0], MASCULINE, ROLES[0]),
    }


RATIOS = quadruple_ratios()
SINGLE = accuracy_ratios(np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]))
"""Those of instances without quadruples, such as GAP's: wrong and right feminine, wrong and right masculine."""
DIFFERENCES = {
    key("acc_diff"): (key("accuracy", gender="M"), key("accuracy", gender="F")),
    key("acc_diff", ROLES[0]): (key("accuracy", ROLES[0], "M"), key("accuracy", ROLES[0], "F")),
    key("i_across_diff"): (key("i_across", original_gender="M"), key("i_across", original_gender="F")),
}
"""Differences of ratios. That of accuracies is a ratio itself where every quadruple has both genders."""
# The inconsistency across genders of each type, in quarters: 0, 2 or 4.
ACROSS = np.rint(4 * RATIOS[key("i_across")][0]).astype(int)


def quadruple_types(right: np.ndarray, masculine: np.ndarray) -> np.ndarray:
    """Return each quadruple's type.

    Args:
        right: Bool, shape (quadruples, 4), in the order of ``passages.ROLES``.
        masculine: Bool, shape (quadruples,). Is the original instance masculine?

    Returns:
        Int, shape (quadruples,).
    """
    return np.asarray(right, dtype=int) @ (1, 2, 4, 8) + 16 * np.asarray(masculine, dtype=int)


def sum_ratios(counts: np.ndarray, ratios: Ratios) -> tuple[np.ndarray, np.ndarray]:
    """Return what is above and below in each ratio, of shape (..., ratios), from how often each type occurs."""
    above, below = (np.array(part, dtype=float).T for part in zip(*ratios.values(), strict=True))
    return counts @ above, counts @ below


def evaluate(counts: np.ndarray, ratios: Ratios = RATIOS) -> dict[Key, np.ndarray]:
    """Return every metric.

    Args:
        counts: How often each type occurs, shape (..., types).

    Returns:
        Arrays of shape (...); NaN where a metric is undefined. ``cancelled`` is the part of the mean leaning in either
        direction that is lost in Acc_Diff.
    """
    counts = np.asarray(counts, dtype=float)
    above, below = sum_ratios(counts, ratios)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = dict(zip(ratios, np.moveaxis(above / below, -1, 0), strict=True))
        for difference, (one, other) in DIFFERENCES.items():
            if difference not in values and one in values:
                values[difference] = values[one] - values[other]
        if key("lean") in values:
            values[key("cancelled")] = 1 - np.abs(values[key("acc_diff")]) / values[key("lean")]
            values[key("spearman_rho")] = spearman(counts)
    return values


def spearman(counts: np.ndarray) -> np.ndarray:
    """Return Spearman's correlation of the original gender (masculine above) and the inconsistency across genders.

    With two and three values, ranks follow from counts: the mean rank of a value is the number of smaller ones plus
    the middle of its own.
    """
    levels = np.unique(ACROSS)
    by_level = np.stack([counts[..., level == ACROSS].sum(-1) for level in levels], -1)
    masculine = np.stack([counts[..., (level == ACROSS) & (MASCULINE == 1)].sum(-1) for level in levels], -1)
    n = by_level.sum(-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        ranks = np.cumsum(by_level, -1) - by_level / 2
        deviation = ranks - n / 2
        share = masculine.sum(-1) / n[..., 0]
        covariance = (masculine * deviation).sum(-1) / n[..., 0]
        variance = (by_level * deviation**2).sum(-1) / n[..., 0]
        return covariance / np.sqrt(variance * share * (1 - share))
