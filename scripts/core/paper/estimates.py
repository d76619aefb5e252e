"""Values with intervals, and what they say of a comparison: true, false, or None where they do not tell."""

from dataclasses import dataclass

import numpy as np
import scipy

from scripts.core.paper.claims import Lacking
from scripts.core.paper.formats import interval, number

LEVEL = 0.95
OVERLAP = "intervals that do not overlap"
"""What a comparison lacks whose values' intervals overlap."""
BOUND = "intervals that leave out the limit"
"""What the comparison of a value with a limit lacks if the limit is in its interval."""


@dataclass(frozen=True)
class Estimate:
    """A value, both ends of its 95 % interval (NaN if it has none), and of how many units it is."""

    value: float
    low: float
    high: float
    n: int

    def __add__(self, other):
        """Return the sum with the widest interval that both can have: they need not be independent."""
        return Estimate(self.value + other.value, self.low + other.low, self.high + other.high, min(self.n, other.n))

    def __neg__(self):
        return Estimate(-self.value, -self.high, -self.low, self.n)

    def __sub__(self, other):
        return self + -other

    def __mul__(self, factor):
        low, high = sorted([factor * self.low, factor * self.high])
        return Estimate(factor * self.value, low, high, self.n)

    def text(self, decimals=3, signed=False):
        """Return the value with its interval in parentheses."""
        shown = number(self.value, decimals, signed=signed)
        if np.isnan([self.low, self.high]).any():
            return f"{shown} (no interval)"
        return f"{shown} ({interval(self.low, self.high, decimals, signed=signed)})"


def mean(estimates):
    """Return the mean of estimates with the mean of their ends, as wide as it can be: they need not be independent."""
    values, lows, highs, sizes = zip(*((e.value, e.low, e.high, e.n) for e in estimates), strict=True)
    return Estimate(float(np.mean(values)), float(np.mean(lows)), float(np.mean(highs)), min(sizes))


def median(estimates):
    """Return the median of estimates with the medians of their ends, as wide as it can be."""
    values, lows, highs, sizes = zip(*((e.value, e.low, e.high, e.n) for e in estimates), strict=True)
    return Estimate(float(np.median(values)), float(np.median(lows)), float(np.median(highs)), min(sizes))


def absolute(estimate):
    """Return the absolute value; its interval begins at zero where that of the value holds zero."""
    ends = sorted([abs(estimate.low), abs(estimate.high)])
    if estimate.low < 0 < estimate.high:
        ends[0] = 0.0
    return Estimate(abs(estimate.value), *ends, estimate.n)


def share(value, trials):
    """Return the estimate of a share of independent trials, with the exact interval (Clopper and Pearson 1934).

    Examples
    --------
    >>> share(1.0, 10).text(2)
    '1.00 (0.69 to 1.00)'
    """
    trials = int(trials)
    if not trials or np.isnan(value):
        return Estimate(value, np.nan, np.nan, trials)
    low, high = scipy.stats.binomtest(round(value * trials), trials).proportion_ci(LEVEL, "exact")
    return Estimate(float(value), float(low), float(high), trials)


def higher(first, second):
    """Tell whether ``first`` is above ``second``; None if their intervals overlap or one has none."""
    if first.low > second.high:
        return True
    return False if first.high < second.low else None


def inside(estimate, low, high):
    """Tell whether a value is between two limits; None if its interval holds one of them."""
    if low < estimate.low and estimate.high < high:
        return True
    return False if estimate.high < low or estimate.low > high else None


def settled(outcome, text, n, lacking=OVERLAP):
    """Return the outcome of a comparison with its text, as :func:`scripts.core.paper.claims.check` takes it.

    Raises
    ------
    Lacking
        If the outcome is None: what is ``lacking``, and of how many units the values are.
    """
    if outcome is None:
        raise Lacking(f"{lacking} (n = {n:,})", text=text)
    return outcome, text


def ahead(first, second, text):
    """Return whether ``first`` is above ``second``, with the text.

    Raises
    ------
    Lacking
        If the intervals do not tell.
    """
    return settled(higher(first, second), text, min(first.n, second.n))


def between(estimate, low, high, text):
    """Return whether a value is between two limits, with the text.

    Raises
    ------
    Lacking
        If its interval does not tell.
    """
    return settled(inside(estimate, low, high), text, estimate.n, BOUND)


def at_least(least, outcomes):
    """Tell whether at least so many outcomes are true; None if that depends on those that are None."""
    outcomes = list(outcomes)
    if outcomes.count(True) >= least:
        return True
    return False if outcomes.count(True) + outcomes.count(None) < least else None


def every(outcomes):
    """Tell whether all outcomes are true; None if none is false but some are None."""
    outcomes = list(outcomes)
    return False if False in outcomes else None if None in outcomes else True
