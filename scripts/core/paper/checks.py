"""Checks of findings over quantities with bootstrap samples. A quantity is looked up when its check is made."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from scripts.core.paper import estimates
from scripts.core.paper.estimates import Estimate
from scripts.core.paper.finding_verdicts import Check, Comparison, Finding, MissingEvidence, evaluate_check
from scripts.core.paper.formats import format_interval, format_number
from scripts.core.statistics import procedures

UNDEFINED = "instances that the quantity is defined for"
"""What a comparison of quantities lacks of which one has no denominator."""


@dataclass(frozen=True)
class Sampled:
    """A value with its bootstrap samples; of one cluster it is between ``least`` and ``most``.

    ``clusters``: how many it is of; samples may be over others, too, that say nothing of it.
    """

    value: float
    samples: np.ndarray
    clusters: int
    least: float = 0.0
    most: float = 1.0

    def __sub__(self, other: "Sampled") -> "Sampled":
        clusters = min(self.clusters, other.clusters)
        return Sampled(self.value - other.value, self.samples - other.samples, clusters, -1.0)

    def mean_with(self, other: "Sampled") -> "Sampled":
        """Return the mean of two differences."""
        clusters = min(self.clusters, other.clusters)
        return Sampled((self.value + other.value) / 2, (self.samples + other.samples) / 2, clusters, -1.0)

    def estimate(self, text: str) -> Estimate:
        """Return the value with its interval; :class:`MissingEvidence` with the text if it is not defined."""
        found = estimates.from_samples(self.value, self.samples, self.clusters, self.least, self.most)
        if np.isnan(found.low):
            raise MissingEvidence(UNDEFINED, text=text)
        return found


def sample_ratio(above: np.ndarray, below: np.ndarray, draws: int, seed: int) -> Sampled:
    """Return one sum over another with samples of the clusters, which above and below are of.

    Quantities over as many clusters with the same draws and seed share their samples, so that their difference is a
    paired one. The value and samples are NaN where the lower sum is zero.
    """
    value = float(above.sum() / below.sum()) if below.sum() else np.nan
    return Sampled(value, procedures.ratio_samples(above, below, draws, seed), int(np.count_nonzero(below)))


Quantity = Callable[[], Sampled]
"""Raises :class:`MissingEvidence` where the run lacks it."""


@dataclass(frozen=True)
class Scale:
    """How values are printed: as shares in percent, or as indices."""

    factor: float
    decimals: int

    def value(self, value: float) -> str:
        """Return a value."""
        return format_number(self.factor * value, self.decimals)

    def ends(self, low: float, high: float) -> str:
        """Return both ends of an interval in parentheses."""
        return f"({format_interval(self.factor * low, self.factor * high, self.decimals)})"


POINTS, INDEX = Scale(100, 1), Scale(1, 2)


@dataclass(frozen=True)
class Checks:
    """The checks of a study.

    ``more``: what a comparison lacks whose difference has zero in its interval, such as more pairs of people.
    """

    more: str

    def greater(self, first: Quantity, second: Quantity, text: str, scale: Scale = POINTS) -> Check:
        """Check that one quantity is above another."""

        def test() -> tuple[Comparison, str]:
            a, b = first(), second()
            return self._positive(a - b, f"{text}: {scale.value(a.value)} against {scale.value(b.value)}", scale)

        return evaluate_check(test)

    def positive(self, difference: Quantity, text: Callable[[Sampled], str], scale: Scale = POINTS) -> Check:
        """Check that a difference is above zero."""
        return evaluate_check(lambda: self._positive(found := difference(), text(found), scale))

    def _positive(self, difference: Sampled, text: str, scale: Scale) -> tuple[Comparison, str]:
        found = difference.estimate(text)
        return self._settle(estimates.compare_with_bound(found, 0), f"{text} {scale.ends(found.low, found.high)}")

    def beyond(self, share: Quantity, bound: float, text: str, scale: Scale = POINTS, *, below: bool = False) -> Check:
        """Check that a share is above a bound, or below.

        Near 0 and 1 samples of shares are skewed, and their deviation depends on the share. Its arcsine root does not.
        """

        def test() -> tuple[Comparison, str]:
            found = share().estimate(text)
            middle, low, high = (
                float(np.arcsin(np.sqrt(np.clip(end, 0, 1)))) for end in (found.value, found.low, found.high)
            )
            root = Estimate(middle, low, high, 0, found.clusters)
            compared = estimates.compare_with_bound(root, float(np.arcsin(np.sqrt(bound))))
            ends = (bound - found.high, bound - found.low) if below else (found.low - bound, found.high - bound)
            return self._settle(
                ~compared if below else compared, f"{text} {scale.value(found.value)} {scale.ends(*ends)}"
            )

        return evaluate_check(test)

    def near(self, quantities: Sequence[Quantity], centre: float, bound: float, text: str) -> Check:
        """Check that shares, or their differences, are all within ``bound`` of a value; the text says the farthest."""

        def test() -> tuple[Comparison, str]:
            found = [quantity() for quantity in quantities]
            limits = centre - 1, centre + 1
            shown = [estimates.from_samples(q.value, q.samples, q.clusters, *limits) for q in found]
            together = estimates.compare_all(
                estimates.compare_with_limits(one, centre - bound, centre + bound) for one in shown
            )
            far = max(shown, key=lambda one: abs(one.value - centre))
            ends = POINTS.ends(far.low - centre, far.high - centre)
            return self._settle(together, f"{text} {POINTS.value(abs(far.value - centre))} {ends}")

        return evaluate_check(test)

    def _settle(self, found: Comparison, text: str) -> tuple[Comparison, str]:
        if found.outcome is None:
            raise MissingEvidence(self.more, text=text, p=found.wrong)
        return found, text


def register(findings: list[Finding], number: int, source: str, finding: str) -> Callable:
    """Return a decorator that puts a function, which returns the checks of a finding, among a study's findings.

    Args:
        number, source, finding: Its number, where the study states it, and what it says.
    """

    def decorate(function: Callable) -> Callable:
        findings.append(Finding(number, source, finding, function))
        return function

    return decorate


def each(*levels: Iterable) -> Callable:
    """Return a decorator that makes a test of a run and some levels the checks of all their combinations."""

    def decorate(test: Callable) -> Callable:
        return lambda run: [evaluate_check(test, run, *combination) for combination in itertools.product(*levels)]

    return decorate
