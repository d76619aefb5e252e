"""Values with intervals, and what they say of a comparison: true, false, or None where they do not tell."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from scripts.core.paper.finding_verdicts import Comparison, MissingEvidence
from scripts.core.paper.formats import format_interval, format_number
from scripts.core.statistics import procedures

LEVEL = 0.95
Z = float(scipy.special.ndtri((1 + LEVEL) / 2))
SMALLEST_ARM = 1e-9
"""Below this an interval has no width."""
SEPARATE_INTERVALS = "intervals that do not overlap"
"""What a comparison lacks whose values' intervals overlap."""
BOUND = "intervals that leave out the limit"
"""What the comparison of a value with a limit lacks if the limit is in its interval."""


@dataclass(frozen=True)
class Estimate:
    """A value, both ends of its 95 % interval (NaN if it has none), and of how many units it is.

    ``clusters``: over how many the interval is, where these can be so few that it is not that of a normal distribution
    (:func:`scripts.core.statistics.procedures.bootstrap_interval`).
    """

    value: float
    low: float
    high: float
    n: int
    clusters: int | None = None

    def __add__(self, other: "Estimate") -> "Estimate":
        """Return the sum with the widest interval that both can have: they need not be independent."""
        ends = self.low + other.low, self.high + other.high
        return Estimate(self.value + other.value, *ends, min(self.n, other.n), fewest_clusters([self, other]))

    def __neg__(self) -> "Estimate":
        return Estimate(-self.value, -self.high, -self.low, self.n, self.clusters)

    def __sub__(self, other: "Estimate") -> "Estimate":
        return self + -other

    def __mul__(self, factor: float) -> "Estimate":
        low, high = sorted([factor * self.low, factor * self.high])
        return Estimate(factor * self.value, low, high, self.n, self.clusters)

    def text(self, decimals: int = 3, signed: bool = False) -> str:
        """Return the value with its interval in parentheses."""
        shown = format_number(self.value, decimals, signed=signed)
        if np.isnan([self.low, self.high]).any():
            return f"{shown} (no interval)"
        return f"{shown} ({format_interval(self.low, self.high, decimals, signed=signed)})"


def from_samples(
    value: float, samples: np.ndarray, clusters: int, least: float = -1.0, most: float = 1.0, level: float = LEVEL
) -> Estimate:
    """Return the estimate of a quantity that is between ``least`` and ``most`` in each cluster.

    The interval of samples that all agree is exact: it is not widened for few clusters.
    """
    ends = procedures.bootstrap_interval(value, samples, clusters, level, least, most)
    return Estimate(value, *ends, 0, None if procedures.samples_agree(samples) else clusters)


def fewest_clusters(estimates: Sequence[Any]) -> int | None:
    """Return the smallest number of clusters of some estimates; None if none of them has any."""
    return min((e.clusters for e in estimates if e.clusters is not None), default=None)


def mean_estimate(estimates: Sequence[Any]) -> Estimate:
    """Return the mean of estimates with the mean of their ends, as wide as it can be: they need not be independent."""
    values, lows, highs, sizes = zip(*((e.value, e.low, e.high, e.n) for e in estimates), strict=True)
    ends = float(np.mean(lows)), float(np.mean(highs))
    return Estimate(float(np.mean(values)), *ends, min(sizes), fewest_clusters(estimates))


def median_estimate(estimates: Iterable[Any]) -> Estimate:
    """Return the median of estimates with the medians of their ends, as wide as it can be."""
    values, lows, highs, sizes = zip(*((e.value, e.low, e.high, e.n) for e in estimates), strict=True)
    return Estimate(float(np.median(values)), float(np.median(lows)), float(np.median(highs)), min(sizes))


def absolute_estimate(estimate: Estimate) -> Estimate:
    """Return the absolute value; its interval begins at zero where that of the value holds zero."""
    low, high = sorted([abs(estimate.low), abs(estimate.high)])
    if estimate.low < 0 < estimate.high:
        low = 0.0
    return Estimate(abs(estimate.value), low, high, estimate.n, estimate.clusters)


def fisher_transform(r: Estimate) -> Estimate:
    """Return a correlation on Fisher's scale, on which the two arms of its interval are of one length.

    Examples:
        >>> round(fisher_transform(Estimate(0.0, -0.5, 0.5, 10)).high, 2)
        0.55
    """
    with np.errstate(divide="ignore"):
        value, low, high = (float(np.arctanh(part)) for part in (r.value, r.low, r.high))
    return Estimate(value, low, high, r.n, r.clusters)


def estimate_share(value: float, trials: float) -> Estimate:
    """Return the estimate of a share of independent trials, with the exact interval (Clopper and Pearson 1934).

    Examples:
        >>> estimate_share(1.0, 10).text(2)
        '1.00 (0.69 to 1.00)'
    """
    trials = int(trials)
    if not trials or np.isnan(value):
        return Estimate(value, np.nan, np.nan, trials)
    successes, tail = round(value * trials), (1 - LEVEL) / 2
    low = scipy.special.betaincinv(successes, trials - successes + 1, tail) if successes else 0.0
    high = scipy.special.betaincinv(successes + 1, trials - successes, 1 - tail) if successes < trials else 1.0
    return Estimate(float(value), float(low), float(high), trials)


def compare_with_bound(estimate: Estimate, bound: float) -> Comparison:
    """Compare a value with a bound: how surely it is above, and how surely below.

    The p value is that of the level at which the interval would touch the bound, if its arm is stretched like that of a
    normal distribution; where an estimate has clusters, like Student's t of so many. The percentiles of a bootstrap are
    too narrow for that by the deviation of a sample (Hesterberg 2015); the interval of few clusters is Student's
    already. A value without an interval tells nothing.
    """
    distance = estimate.value - bound
    arm = estimate.value - estimate.low if distance > 0 else estimate.high - estimate.value
    if np.isnan(distance + arm) or not distance or estimate.clusters == 1:
        return Comparison()
    arms = -abs(distance) / max(arm, SMALLEST_ARM)
    clusters = estimate.clusters
    if clusters is None:
        p = float(2 * scipy.special.ndtr(Z * arms))
    elif clusters < procedures.FEW_CLUSTERS:
        p = float(2 * scipy.special.stdtr(clusters - 1, scipy.special.stdtrit(clusters - 1, (1 + LEVEL) / 2) * arms))
    else:
        p = float(2 * scipy.special.stdtr(clusters - 1, Z * arms * math.sqrt(1 - 1 / clusters)))
    return Comparison(right=p) if distance > 0 else Comparison(wrong=p)


def compare_values(first: Estimate, second: Estimate) -> Comparison:
    """Compare two values: what their intervals say of each that do not overlap."""
    return compare_with_bound(first - second, 0)


def compare_shares(first: Estimate, second: Estimate) -> Comparison:
    """Compare two shares, or both with the sign changed; where both are of nothing, or of all, no unit differs."""
    if first.value == second.value and abs(first.value) in (0, 1):
        return none_differs(min(share.clusters or share.n for share in (first, second)))
    return compare_values(first, second)


def none_differs(units: int) -> Comparison:
    """Compare a quantity with zero that is zero in each of some units: it is not above.

    The p value is that of a sign test: how likely no unit would differ from zero if half of all did.
    """
    return Comparison(wrong=min(1.0, 2 * 0.5**units))


def compare_with_limits(estimate: Estimate, low: float, high: float) -> Comparison:
    """Compare a value with two limits, of which it can be beyond one alone: is it between them?"""
    ends = compare_with_bound(estimate, low), compare_with_bound(-estimate, -high)
    return Comparison(max(end.right for end in ends), min(end.wrong for end in ends))


def compare_by_test(p: float, right: bool | np.bool_) -> Comparison:
    """Return what a two-sided test says of a comparison that is ``right`` by its values; nothing without a p value."""
    return Comparison() if np.isnan(p) else Comparison(right=float(p)) if right else Comparison(wrong=float(p))


def of_samples(samples: np.ndarray, clusters: int | None = None) -> Comparison:
    """Compare a quantity of few values, such as a rank correlation, with zero: shares of its samples, unless clusters
    are few.
    """
    defined = samples[~np.isnan(samples)]
    if not len(defined) or (clusters is not None and clusters < procedures.FEW_CLUSTERS):
        return Comparison()
    below, beyond = (min(1.0, 2 * (1 + side.sum()) / (1 + len(defined))) for side in (defined <= 0, defined >= 0))
    return Comparison(right=below, wrong=beyond)


def require_decided(
    outcome: Comparison, text: str, n: int, lacking: str = SEPARATE_INTERVALS
) -> tuple[Comparison, str]:
    """Return a comparison with its text; raise :class:`MissingEvidence` with what is lacking if it tells nothing."""
    if outcome.outcome is None:
        raise MissingEvidence(f"{lacking} (n = {n:,})", text=text, p=outcome.wrong)
    return outcome, text


def is_greater(first: Estimate, second: Estimate, text: str) -> tuple[Comparison, str]:
    """Return whether ``first`` is above ``second``, with the text; refused as :func:`require_decided`."""
    return require_decided(compare_values(first, second), text, min(first.n, second.n))


def is_within(estimate: Estimate, low: float, high: float, text: str) -> tuple[Comparison, str]:
    """Return whether a value is between two limits, with the text; refused as :func:`require_decided`."""
    return require_decided(compare_with_limits(estimate, low, high), text, estimate.n, BOUND)


def at_least(least: int, comparisons: Iterable[Comparison]) -> Comparison:
    """Compare how many of some comparisons are right with ``least``.

    So many of n are right if the last of them is at p times n - least + 1, as if those before it were known to be
    right (a partial conjunction with Bonferroni's correction, Benjamini and Heller 2008), and too few if n - least + 1
    are wrong.
    """
    comparisons = list(comparisons)
    spare = len(comparisons) - least + 1
    right, wrong = (sorted(getattr(c, side) for c in comparisons) for side in ("right", "wrong"))
    return Comparison(min(1.0, spare * right[least - 1]), min(1.0, least * wrong[spare - 1]))


def compare_all(comparisons: Iterable[Comparison]) -> Comparison:
    """Compare whether all of some comparisons are right."""
    comparisons = list(comparisons)
    return at_least(len(comparisons), comparisons)
