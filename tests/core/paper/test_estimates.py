"""What intervals say of a comparison."""

import numpy as np
import pytest

from scripts.core.paper import claims, estimates
from scripts.core.paper.estimates import Estimate

LOW, MIDDLE, HIGH = Estimate(0.2, 0.1, 0.3, 40), Estimate(0.35, 0.25, 0.45, 20), Estimate(0.6, 0.5, 0.7, 30)
UNKNOWN = Estimate(0.9, np.nan, np.nan, 10)


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [(HIGH, LOW, True), (LOW, HIGH, False), (MIDDLE, LOW, None), (LOW, MIDDLE, None), (UNKNOWN, LOW, None)],
)
def test_a_value_is_above_another_if_their_intervals_do_not_overlap(first, second, outcome):
    assert estimates.higher(first, second) is outcome


def test_a_value_is_inside_limits_that_its_interval_leaves_out():
    assert [estimates.inside(MIDDLE, *ends) for ends in ((0, 1), (0.3, 1), (0, 0.4), (0.5, 1), (0, 0.2))] == [
        True, None, None, False, False,
    ]  # fmt: skip


def test_an_open_comparison_says_its_numbers_and_their_size():
    check = claims.check(estimates.ahead, LOW, MIDDLE, "a 0.2, b 0.35")
    assert (check.outcome, check.missing) == (None, ("intervals that do not overlap (n = 20)",))
    found = claims.decide([claims.Check(True, "c"), check])
    assert (found.verdict, found.missing) == ("undecided", check.missing)
    assert found.evidence == "the only check that could be made holds; 1 undecided: a 0.2, b 0.35"
    # What the run does not have leaves no numbers.
    assert claims.decide([claims.Check(None, missing=("m",))]).evidence == ""


def test_sums_and_means_have_the_widest_interval():
    difference = HIGH - LOW
    assert (difference.value, difference.low, difference.high) == pytest.approx((0.4, 0.2, 0.6))
    middle = estimates.mean([LOW, HIGH])
    assert (middle.value, middle.low, middle.high, middle.n) == pytest.approx((0.4, 0.3, 0.5, 30))
    assert (-HIGH * 2).low == pytest.approx(-1.4)
    assert estimates.absolute(Estimate(-0.1, -0.4, 0.2, 5)) == Estimate(0.1, 0.0, 0.4, 5)
    assert estimates.absolute(-HIGH) == HIGH
    assert estimates.median([LOW, MIDDLE, HIGH]) == Estimate(0.35, 0.25, 0.45, 20)


def test_how_many_are_true_depends_on_those_that_are_open():
    assert estimates.at_least(2, [True, True, False]) is True
    assert estimates.at_least(2, [True, None, False]) is None
    assert estimates.at_least(2, [True, False, False]) is False
    assert estimates.every([True, None]) is None and estimates.every([None, False]) is False
