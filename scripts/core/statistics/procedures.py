"""Statistical procedures that more than one study uses.

Nearly every job imports this module. ``scipy`` loads its parts when they are first used; statsmodels does not, and is
imported in the functions that call it, so that a table without a test does not wait for it.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

ROUNDING = 1e-12
"""Values that differ by less than this share of the largest of them differ by rounding alone: a mean of some thousand
numbers is exact to about 1e-13, and accuracies on a million instances differ by 1e-6 if they differ."""
FEW_CLUSTERS = 10
"""Of fewer clusters a percentile bootstrap is too narrow: the interval is that of Student's t."""


def has_variation(values: ArrayLike, size: float) -> bool:
    """Tell whether values differ by more than rounding, relative to ``size``, the largest that they were made from."""
    return bool(np.ptp(values) > ROUNDING * size)


def welch_test(a: ArrayLike, b: ArrayLike) -> tuple[float, ...]:
    """Return t, degrees of freedom and p of Welch's two-sided t-test of two independent samples (Welch 1947).

    All are NaN where a sample has fewer than two values or neither varies by more than rounding.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(a) < 2 or len(b) < 2:
        return np.nan, np.nan, np.nan
    size = np.abs([*a, *b]).max()
    if not has_variation(a, size) and not has_variation(b, size):
        return np.nan, np.nan, np.nan
    from statsmodels.stats.weightstats import ttest_ind

    t, p, df = ttest_ind(a, b, usevar="unequal")
    return float(t), float(df), float(p)


def paired_t_test(a: np.ndarray, b: np.ndarray) -> tuple[float, ...]:
    """Return t, degrees of freedom and p of the paired two-sided t-test of the differences ``a - b`` (Student 1908).

    What the two values of a pair share cancels, so it sees differences that :func:`welch_test` misses. All are NaN with
    fewer than two pairs and where the differences do not vary by more than rounding.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(a) < 2 or not has_variation(a - b, np.abs([a, b]).max()):
        return np.nan, np.nan, np.nan
    result = scipy.stats.ttest_rel(a, b)
    return float(result.statistic), float(result.df), float(result.pvalue)


def sign_test(one: float, other: float) -> float:
    """Return the two-sided p value of the exact sign test of so many differences either way; 1 without any.

    Parts of a difference may be given where several count as one.
    """
    least, every = min(one, other), one + other
    return min(1.0, 2 * float(scipy.special.betainc(every - least, least + 1, 0.5))) if every else 1.0


def compare_constants(a: ArrayLike, b: ArrayLike) -> float:
    """Return p of two independent samples of which neither varies, by Fisher's exact test of who has which value.

    It is 1 where both have the same value. :func:`welch_test` is undefined then.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if not has_variation([a[0], b[0]], np.abs([a[0], b[0]]).max()):
        return 1.0
    return float(scipy.stats.fisher_exact([[len(a), 0], [0, len(b)]]).pvalue)


def smallest_sample(alpha: float, tests: int = 1) -> int:
    """Return how many units a test needs at least, so that its outcome could be significant at all.

    The rule is that of the exact sign test: if every unit points the same way, the two-sided p value of ``n`` units is
    ``2 / 2^n``, and Holm's first step over so many ``tests`` asks for ``alpha / tests`` or less. With fewer units a
    t-test may still give a small p value, but one that rests on its assumption of normal values alone.
    """
    return int(np.ceil(np.log2(2 * tests / alpha)))


def holm(p: ArrayLike) -> np.ndarray:
    """Return p values adjusted for multiple comparisons by Holm (1979); NaN stays NaN and is not counted.

    The k-th smallest of m values is multiplied by m - k + 1, at most 1, and is no smaller than the one before it.
    Equal to ``multipletests`` of statsmodels, which has Python collect its garbage each time: with families of tests by
    the hundred that takes longer than all else.
    """
    p = np.asarray(p, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]  # NaN sorts last
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def cluster_bootstrap(
    successes: ArrayLike,
    trials: ArrayLike,
    draws: int,
    seed: int,
    level: float = 0.95,
    least: float = 0.0,
    most: float = 1.0,
) -> tuple[float, float]:
    """Return both ends of the interval of a share, resampling clusters with replacement (:func:`bootstrap_interval`).

    Where all trials succeed, or none, it is Wilson's, of as many independent trials as there are clusters, each of
    which is right or wrong as a whole: what clusters at their worst leave to be known.

    Args:
        successes, trials: Number of successes and of trials in each cluster. Shape (clusters,).
        least, most: What the ratio can be at least and at most: -1 and 1 for a difference of shares. Wilson's interval
            is of shares alone.

    Returns:
        Of ``sum(successes) / sum(trials)``; NaN for fewer than two clusters with trials.
    """
    successes, trials = np.asarray(successes, dtype=float), np.asarray(trials, dtype=float)
    clusters = int((trials > 0).sum())
    if clusters < FEW_CLUSTERS:
        # A sample of a few clusters would often have no trial, were those without any among them.
        successes, trials = successes[trials > 0], trials[trials > 0]
    if clusters < 2:
        return np.nan, np.nan
    value = float(successes.sum() / trials.sum())
    if (least, most) == (0, 1) and value in (0, 1):
        return wilson_interval(int(value) * clusters, clusters, level)
    return bootstrap_interval(value, ratio_samples(successes, trials, draws, seed), clusters, level, least, most)


def ratio_samples(above: np.ndarray, below: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """Return one sum over another in each bootstrap sample of the clusters; it is not finite without a lower one."""
    weights = cluster_weights(len(below), draws, seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (weights @ above) / (weights @ below)


@functools.lru_cache(maxsize=4)
def cluster_weights(clusters: int, draws: int, seed: int) -> np.ndarray:
    """Return how often each cluster is drawn in each bootstrap sample: the same for all that is over as many clusters.

    Shape (draws, clusters), of float; not to be written to.
    """
    weights = np.random.default_rng(seed).multinomial(clusters, np.full(clusters, 1 / clusters), size=draws)
    weights = weights.astype(float)
    weights.setflags(write=False)
    return weights


def agreeing_interval(
    value: float, clusters: int, level: float = 0.95, least: float = -1.0, most: float = 1.0
) -> tuple[float, float]:
    """Return both ends of an interval of a mean over clusters that all have the same value.

    A bootstrap of them has no width. Where none of so many clusters drawn at random differs, at most a share q of all
    does, with q = 1 - ((1 - level) / 2)^(1 / clusters) (Clopper and Pearson 1934), and those lie between the least and
    the most that a cluster can have.
    """
    share = 1 - ((1 - level) / 2) ** (1 / clusters)
    return value - share * (value - least), value + share * (most - value)


def wilson_interval(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return both ends of Wilson's score interval of a share (Wilson 1927); it has a width at 0 and 1 too."""
    from statsmodels.stats.proportion import proportion_confint

    ends: tuple[Any, Any] = proportion_confint(successes, trials, alpha=1 - level, method="wilson")
    low, high = map(float, ends)
    # Rounding leaves 7e-18 where no trial succeeds, above the share itself.
    return low if successes else 0.0, high if successes < trials else 1.0


def resampling_weights(strata: ArrayLike, draws: int, seed: int) -> np.ndarray:
    """Return how often each cluster is drawn in each bootstrap sample, as :func:`cluster_weights`, within its stratum.

    As many are drawn as the stratum has clusters; one that is alone is in every sample. Shape (draws, clusters).
    """
    named = np.asarray(strata)
    generator = np.random.default_rng(seed)
    weights = np.empty((draws, len(named)))
    for stratum in dict.fromkeys(named.tolist()):
        members = np.flatnonzero(named == stratum)
        weights[:, members] = generator.multinomial(len(members), np.full(len(members), 1 / len(members)), size=draws)
    return weights


def crossed_shares(
    successes: np.ndarray, trials: np.ndarray, row_weights: np.ndarray, column_weights: np.ndarray
) -> np.ndarray:
    """Return the share of successes in each bootstrap sample of two crossed kinds of clusters (Owen 2007).

    Rows and columns are resampled apart, and a cell counts as often as its row was drawn times its column (the
    pigeonhole bootstrap): right where every item belongs to one cluster of either kind, such as a template and a name.

    Args:
        successes, trials: Sums over the items of each cell; both are zero where there is none. Shape (rows, columns).
        row_weights, column_weights: From :func:`resampling_weights`. The same weights for two quantities make their
            difference a paired one. Shapes (draws, rows) and (draws, columns).

    Returns:
        NaN in samples that drew no trial. Shape (draws,).
    """
    drawn = ((row_weights @ trials) * column_weights).sum(axis=1)
    right = ((row_weights @ successes) * column_weights).sum(axis=1)
    return np.divide(right, drawn, out=np.full(len(drawn), np.nan), where=drawn > 0)


def samples_agree(samples: np.ndarray) -> bool:
    """Tell whether samples of a quantity of the order of 1 do not differ by more than rounding; true without any."""
    defined = samples[np.isfinite(samples)]
    return not len(defined) or not has_variation(defined, max(1.0, np.abs(defined).max()))


def bootstrap_interval(
    value: float, samples: ArrayLike, clusters: int, level: float = 0.95, least: float = -1.0, most: float = 1.0
) -> tuple[float, float]:
    """Return both ends of the interval of a quantity with bootstrap samples over clusters.

    It is the percentile interval (Efron and Tibshirani 1993). Of fewer than :data:`FEW_CLUSTERS` clusters that is too
    narrow, and the interval is Student's, with the standard deviation of the samples corrected as that of a sample of
    so many (Hesterberg 2015). Where all samples agree, an interval of no width would say that the value is known
    exactly, and it is that of :func:`agreeing_interval`.

    Args:
        samples: Those that are NaN are left out.
        clusters: How many are resampled; of two crossed kinds, the fewer.
        least, most: What the quantity can be at least and at most; infinite if it has no bound.

    Returns:
        NaN for a value or samples that are not defined, for a single cluster whose samples vary with something else,
        and where samples of a quantity without bounds agree.
    """
    defined = np.asarray(samples, dtype=float)
    defined = defined[np.isfinite(defined)]
    if np.isnan(value) or not len(defined) or not clusters:
        return np.nan, np.nan
    if samples_agree(defined):
        return agreeing_interval(value, clusters, level, least, most) if np.isfinite(most - least) else (np.nan, np.nan)
    if clusters == 1:
        return np.nan, np.nan
    tail = (1 - level) / 2
    if clusters >= FEW_CLUSTERS:
        low, high = np.quantile(defined, [tail, 1 - tail])
        return float(low), float(high)
    quantile = scipy.special.stdtrit(clusters - 1, 1 - tail)
    reach = float(quantile * defined.std() * np.sqrt(clusters / (clusters - 1)))
    return max(value - reach, least), min(value + reach, most)


def spearman(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> float:
    """Return Spearman's rank correlation; NaN of fewer than two values or where one does not vary."""
    if len(x) < 2 or not all(has_variation(values, np.abs(values).max()) for values in (x, y)):
        return np.nan
    return float(scipy.stats.spearmanr(x, y).statistic)
