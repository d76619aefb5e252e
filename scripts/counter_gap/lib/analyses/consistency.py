"""Are a system's predictions on a quadruple the same within and across genders? Needs no labels.

Equations 2 and 3 of the study compare whether two instances are both *right*. Without labels this compares whether a
system predicts the *same*: which of the two places of candidates are in the pronoun's cluster. The labels of a
quadruple's instances are equal, so that two equal predictions are both right or both wrong: each inconsistency of
predictions is at least that of right answers. Their difference has no such bound. It answers the same question (does
gender change more than names do?), but it is another quantity than the study's Delta I.
"""

import numpy as np

from scripts.core.statistics import percentile_interval, resampling_weights

ACROSS = ((0, 2), (1, 3), (0, 3), (1, 2))
"""Pairs of instances (places in ROLES) of Equation 2."""
WITHIN = ((0, 1), (2, 3))
"""Those of Equation 3."""


def shares(flags):
    """Return the shares of pairs of each quadruple that differ.

    Parameters
    ----------
    flags : array of bool, shape (4 * quadruples, 2)
        Whether each candidate is in the pronoun's cluster, in the order of the instances.

    Returns
    -------
    across, within : array of float, shape (quadruples,)
    """
    codes = (np.asarray(flags, dtype=int) @ (1, 2)).reshape(-1, 4)
    return tuple(
        np.mean([codes[:, first] != codes[:, second] for first, second in pairs], axis=0) for pairs in (ACROSS, WITHIN)
    )


def rows(flags, draws, seed):
    """Return the metrics of one system, with 95 percent bootstrap intervals over quadruples.

    Parameters
    ----------
    flags : array of bool, shape (4 * quadruples, 2)
    draws, seed : int

    Returns
    -------
    list of dict
        ``metric`` (``resolved``: share of instances with a prediction; ``p_across`` and ``p_within``: shares of pairs
        with different predictions; ``delta_p``: their difference), ``value``, ``ci_low``, ``ci_high``.
    """
    across, within = shares(flags)
    resolved = np.asarray(flags).any(axis=1).reshape(-1, 4).mean(axis=1)
    weights = resampling_weights(["all"] * len(across), draws, seed)
    found = []
    for metric, values in (
        ("resolved", resolved), ("p_across", across), ("p_within", within), ("delta_p", across - within),
    ):  # fmt: skip
        low, high = percentile_interval(weights @ values / len(values))
        found.append({"metric": metric, "value": values.mean(), "ci_low": low, "ci_high": high})
    return found
