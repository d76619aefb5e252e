"""Estimates as means over units, so that the same units in two runs make a paired difference of any of them.

A unit is what an estimate is a mean over: an instance, a quadruple, a sentence. An area under a curve is no mean; its
pseudo-values (the first-order influence of each cluster, Efron and Tibshirani 1993, Chapter 21) have it as their mean.
"""

import hashlib
from typing import Any

import numpy as np
import pandas as pd
import scipy

from scripts.core.statistics import paired, procedures
from scripts.core.workflow.studies import PairedOutcomes

DRAWS, SEED = 5000, 20261125
"""Of the bootstrap and of the permutation test of every difference."""


def units(rows: pd.DataFrame, declared: PairedOutcomes) -> pd.DataFrame:
    """Return the units of an estimate.

    Args:
        rows: ``unit``, ``cluster``, ``value``, ``digest`` of each outcome; ``by`` and ``sign`` where the
            statistic needs them.
        declared: How the estimate follows from them.

    Returns:
        ``cluster``, ``value`` and ``digest``, indexed by unit; the mean of ``value`` is the estimate.
    """
    return {"mean": _means, "disagreement": _disagreement, "slope": _slopes, "area": _area}[declared.statistic](rows)


def _grouped(rows: pd.DataFrame, values: pd.Series, keys: str = "unit"):
    """Return units with their ``values``; the digest of a unit is that of all its rows."""
    grouped = rows.sort_values("digest", kind="stable").groupby(keys, sort=True)
    frame = pd.DataFrame({"cluster": grouped.cluster.first(), "value": values})
    joined = grouped.digest.agg("".join)
    return frame.assign(digest=[hashlib.sha256(text.encode()).hexdigest()[:16] for text in joined])


def _means(rows: pd.DataFrame):
    return _grouped(rows, rows.groupby("unit").value.mean())


def _disagreement(rows: pd.DataFrame):
    """Two instances of a unit disagree: the share of pairs of two groups minus that of pairs of one group."""
    counts = rows.groupby(["unit", "by"]).value.agg(["sum", "size"]).unstack("by")
    right, size = counts["sum"].to_numpy(), counts["size"].to_numpy()
    wrong = size - right
    within = (2 * right * wrong / (size * (size - 1))).mean(axis=1)
    across = (right[:, 0] * wrong[:, 1] + wrong[:, 0] * right[:, 1]) / size.prod(axis=1)
    return _grouped(rows, pd.Series(across - within, index=counts.index))


def _slopes(rows: pd.DataFrame):
    """The slope of a unit's signed values over their positions, in percentage points a position."""
    y = (rows.value * rows.sign).groupby([rows.unit, rows.by]).sum().unstack("by").sort_index(axis=1)
    x = np.arange(y.shape[1]) - (y.shape[1] - 1) / 2
    return _grouped(rows, pd.Series(100 * y.to_numpy() @ x / (x @ x), index=y.index))


def _area(rows: Any):
    """How often the change of a unit with the sign 1, from the first to the last position, is above another's."""
    table = rows.pivot_table(index=["cluster", "unit", "sign"], columns="by", values="value").sort_index(axis=1)
    # As the analysis rounds: a subtraction's error decides no tie.
    change = np.round(100 * np.abs(table.iloc[:, -1] - table.iloc[:, 0]), 9).reset_index(name="change")
    codes, names = pd.factorize(change.cluster, sort=True)
    positive = (change.sign == 1).to_numpy()
    scores = change["change"].to_numpy()
    above, below = scores[positive][:, None], scores[~positive]
    wins = (above > below) + 0.5 * (above == below)
    count = len(names)
    first = np.bincount(codes[positive], minlength=count), np.bincount(codes[~positive], minlength=count)
    won = np.bincount(codes[positive], weights=wins.sum(axis=1), minlength=count)
    lost = np.bincount(codes[~positive], weights=wins.sum(axis=0), minlength=count)
    area = wins.mean()
    influence = (won + lost) / wins.size - area * (first[0] / positive.sum() + first[1] / (~positive).sum())
    return _grouped(rows, pd.Series(area + count * influence, index=names), "cluster")


def difference(first: pd.DataFrame, second: pd.DataFrame) -> dict:
    """Return the difference of two estimates, second minus first, paired if both have the same units.

    Args:
        first: From :func:`units`.
        second: The same of the other run.

    Returns:
        What :func:`scripts.core.statistics.paired.comparison` returns, and ``paired``, ``n_a``, ``n_b``, ``shared``:
        whether ids and digests of all units are the same, how many there are, and how many are the same.
    """
    both = first.index.intersection(second.index)
    shared = int((first.digest[both] == second.digest[both]).sum())
    counts = {"n_a": len(first), "n_b": len(second), "shared": shared}
    if shared == len(first) == len(second):
        second = second.loc[first.index]
        made = paired.comparison(second.value, first.value, first.cluster, DRAWS, SEED)
        return made | counts | {"paired": True}
    return _unpaired(first, second) | counts | {"paired": False}


def _unpaired(first: pd.DataFrame, second: pd.DataFrame):
    """Compare two samples that are independent of each other (Welch's t-test, over clusters)."""
    parts = [paired.cluster_sums(part.value, np.zeros(len(part)), part.cluster) for part in (second, first)]
    errors = np.array([paired.standard_error(*part) ** 2 for part in parts])
    clusters = np.array([len(sums) for sums, _ in parts])
    value = float(second.value.mean() - first.value.mean())
    made = {"n": len(first) + len(second), "n_clusters": int(clusters.sum()), "difference": value, "discordant": np.nan}
    error = float(np.sqrt(errors.sum()))
    if not error > 0:
        return made | {"ci_low": np.nan, "ci_high": np.nan, "p": np.nan, "detectable": np.nan}
    freedom = errors.sum() ** 2 / (errors**2 / (clusters - 1)).sum()
    reach = scipy.stats.t(freedom).ppf(0.975) * error
    return made | {
        "ci_low": value - reach,
        "ci_high": value + reach,
        "p": float(2 * scipy.stats.t(freedom).sf(abs(value) / error)),
        "detectable": paired.detectable_difference(error, freedom + 1),
    }


def holm(estimates: list[dict]) -> None:
    """Add ``p_holm``, p after Holm's correction over all of them; None where there is no p."""
    adjusted = procedures.holm([np.nan if entry["p"] is None else entry["p"] for entry in estimates])
    for entry, p in zip(estimates, adjusted, strict=True):
        entry["p_holm"] = None if np.isnan(p) else float(p)
