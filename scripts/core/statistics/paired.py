"""Two models, or two ways to read one, on the same items: their difference and its test.

Items of one cluster, such as a template, are alike; clusters are independent of each other.
"""

import functools
import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from scripts.core.statistics import procedures

Labels = Sequence | np.ndarray | pd.Series

EXACT_PAIRS = 14
"""Up to this many clusters with a difference all sign flips are counted out, which are at most 16,384."""


def cluster_names(table: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Return the name of each row's cluster: the values of the columns, with blanks between."""
    return functools.reduce(lambda left, right: left + " " + right, (table[name].astype(str) for name in columns))


def cluster_sums(first: ArrayLike, second: ArrayLike, clusters: Labels) -> tuple[np.ndarray, ...]:
    """Return the sum of the differences ``first - second`` and the number of items of each cluster, in its order."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not len(first) == len(second) == len(clusters):
        raise ValueError(f"there are {len(first)} and {len(second)} outcomes and {len(clusters)} clusters of items")
    codes, names = pd.factorize(np.asarray(clusters), sort=True)
    count = len(names)
    return np.bincount(codes, weights=first - second, minlength=count), np.bincount(codes, minlength=count) * 1.0


def sign_flip_p(sums: ArrayLike, draws: int, seed: int) -> float:
    r"""Return the two-sided p value of a sign-flip permutation test over clusters (Fisher 1935; Winkler et al. 2014).

    If the two outcomes could be exchanged within any cluster, each cluster's sum of differences :math:`S_c` is as
    probable as :math:`-S_c`. p is the share of sign patterns with
    :math:`|\sum_c \pm S_c| \ge |\sum_c S_c|`: of all patterns with up to :data:`EXACT_PAIRS` clusters that differ,
    otherwise of ``draws`` random ones and the observed one (Phipson and Smyth 2010).

    Args:
        sums: Shape (clusters,), of float.

    Returns:
        1 where no cluster differs; NaN without clusters.
    """
    sums = np.asarray(sums, dtype=float)
    if not len(sums):
        return np.nan
    moved = sums[sums != 0]
    if not len(moved):
        return 1.0
    # Sums of flipped signs that equal the observed one but for rounding count as equal.
    observed = abs(moved.sum()) - procedures.ROUNDING * np.abs(moved).sum()
    if len(moved) <= EXACT_PAIRS:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=len(moved))))
        return float((np.abs(signs @ moved) >= observed).mean())
    signs = np.random.default_rng(seed).choice((1.0, -1.0), size=(draws, len(moved)))
    return float((1 + (np.abs(signs @ moved) >= observed).sum()) / (1 + draws))
