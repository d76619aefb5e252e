"""Statistical procedures that more than one wing uses."""

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttest_ind


def welch(a, b):
    """Welch's two-sided t-test for two independent samples with unequal variances (Welch 1947).

    Parameters
    ----------
    a, b : array of float
        The two samples.

    Returns
    -------
    tuple of float
        t statistic, degrees of freedom (Welch-Satterthwaite) and p value. All are NaN when a
        sample has fewer than two values or neither varies, because the test is undefined then.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(a) < 2 or len(b) < 2 or (np.ptp(a) == 0 and np.ptp(b) == 0):
        return np.nan, np.nan, np.nan
    t, p, df = ttest_ind(a, b, usevar="unequal")
    return float(t), float(df), float(p)


def holm(p):
    """Return p values adjusted for multiple comparisons by Holm (1979); NaN stays NaN and is not counted."""
    p = np.asarray(p, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    defined = ~np.isnan(p)
    if defined.any():
        adjusted[defined] = multipletests(p[defined], method="holm")[1]
    return adjusted


def cluster_bootstrap(successes, trials, draws, seed, level=0.95):
    """Percentile bootstrap interval of a share, resampling clusters with replacement (Efron and Tibshirani 1993).

    Parameters
    ----------
    successes, trials : array of float, shape (clusters,)
        Number of successes and of trials in each cluster.
    draws : int
        Number of bootstrap samples.
    seed : int
        Seed of the resampling; the interval is a function of the arguments alone.
    level : float
        Coverage.

    Returns
    -------
    tuple of float
        Lower and upper end of the interval of ``sum(successes) / sum(trials)``; NaN for fewer than two clusters.
    """
    successes, trials = np.asarray(successes, dtype=float), np.asarray(trials, dtype=float)
    clusters = len(trials)
    if clusters < 2:
        return np.nan, np.nan
    weights = np.random.default_rng(seed).multinomial(clusters, np.full(clusters, 1 / clusters), size=draws)
    shares = (weights @ successes) / (weights @ trials)
    tail = (1 - level) / 2
    low, high = np.quantile(shares, [tail, 1 - tail])
    return float(low), float(high)


def p_text(p, smallest=1e-10):
    """Return a p value as it is printed after the letter: ``= 0.0075``, ``= 2.1e-06``, or ``< 1e-10``.

    Below ``smallest`` a p value says no more than that it is small.
    """
    if p < smallest:
        return f"< {smallest:.0e}"
    return f"= {p:.4f}" if p >= 1e-3 else f"= {p:.1e}"


def spearman(x, y):
    """Return Spearman's rank correlation of two samples; NaN when one of them is constant or has under two values."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan
    return float(stats.spearmanr(x, y).statistic)
