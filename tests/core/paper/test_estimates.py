"""What intervals say of a comparison."""

import numpy as np
import pytest
from scipy.stats import norm, t, ttest_1samp

from scripts.core.paper import estimates, finding_verdicts
from scripts.core.paper.estimates import Estimate
from scripts.core.paper.finding_verdicts import Comparison
from scripts.core.statistics import procedures

LOW, MIDDLE, HIGH = Estimate(0.2, 0.1, 0.3, 40), Estimate(0.35, 0.25, 0.45, 20), Estimate(0.6, 0.5, 0.7, 30)
UNKNOWN = Estimate(0.9, np.nan, np.nan, 10)


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [(HIGH, LOW, True), (LOW, HIGH, False), (MIDDLE, LOW, None), (LOW, MIDDLE, None), (UNKNOWN, LOW, None)],
)
def test_a_value_is_above_another_if_their_intervals_do_not_overlap(first, second, outcome):
    assert estimates.compare_values(first, second).outcome is outcome


def test_a_value_is_inside_limits_that_its_interval_leaves_out():
    limits = ((0, 1), (0.3, 1), (0, 0.4), (0.5, 1), (0, 0.2))
    outcomes = [estimates.compare_with_limits(MIDDLE, *ends).outcome for ends in limits]
    assert outcomes == [True, None, None, False, False]


def test_a_correlation_is_compared_with_a_bound_as_by_fishers_test():
    """With the interval of 12 pairs; on the scale of correlations the arms differ and p would be too small."""
    r, low, high = (np.tanh(np.arctanh(0.85) + step * norm.ppf(0.975) / 3) for step in (0, -1, 1))
    found = estimates.compare_with_bound(estimates.fisher_transform(Estimate(r, low, high, 12)), np.arctanh(0.2))
    assert found.right == pytest.approx(2 * norm.sf(3 * (np.arctanh(0.85) - np.arctanh(0.2))), rel=1e-6)


def test_an_open_comparison_says_its_numbers_and_their_size():
    check = finding_verdicts.evaluate_check(estimates.is_greater, LOW, MIDDLE, "a 0.2, b 0.35")
    assert (check.outcome, check.missing) == (None, ("intervals that do not overlap (n = 20)",))
    found = finding_verdicts.decide([finding_verdicts.Check(True, "c"), check])
    assert (found.verdict, found.missing) == ("undecided", check.missing)
    assert found.evidence == "the only check that could be made holds; 1 undecided: a 0.2, b 0.35"
    # What the run does not have leaves no numbers.
    assert finding_verdicts.decide([finding_verdicts.Check(None, missing=("m",))]).evidence == ""


def test_sums_and_means_have_the_widest_interval():
    difference = HIGH - LOW
    assert (difference.value, difference.low, difference.high) == pytest.approx((0.4, 0.2, 0.6))
    middle = estimates.mean_estimate([LOW, HIGH])
    assert (middle.value, middle.low, middle.high, middle.n) == pytest.approx((0.4, 0.3, 0.5, 30))
    assert (-HIGH * 2).low == pytest.approx(-1.4)
    assert estimates.absolute_estimate(Estimate(-0.1, -0.4, 0.2, 5)) == Estimate(0.1, 0.0, 0.4, 5)
    assert estimates.absolute_estimate(-HIGH) == HIGH
    assert estimates.median_estimate([LOW, MIDDLE, HIGH]) == Estimate(0.35, 0.25, 0.45, 20)


SURE, FALSE, OPEN = Comparison(right=0.001), Comparison(wrong=0.001), Comparison()


def test_how_many_are_true_depends_on_those_that_are_open():
    assert estimates.at_least(2, [SURE, SURE, FALSE]).outcome is True
    assert estimates.at_least(2, [SURE, OPEN, FALSE]).outcome is None
    assert estimates.at_least(2, [SURE, FALSE, FALSE]).outcome is False
    assert estimates.compare_all([SURE, OPEN]).outcome is None and estimates.compare_all([OPEN, FALSE]).outcome is False


def test_what_several_comparisons_say_together_is_corrected_for_their_number():
    """One of ten that is true at p = .03 by chance is no sign that any is; that all are needs no correction."""
    near = Comparison(right=0.03)
    assert estimates.at_least(1, [near, *[OPEN] * 9]) == Comparison(right=0.3)
    assert estimates.compare_all([near] * 10) == Comparison(right=0.03)
    assert estimates.compare_all([Comparison(wrong=0.03), *[SURE] * 9]) == Comparison(wrong=0.3)


def test_the_p_value_is_that_of_the_level_at_which_the_interval_touches_the_bound():
    touching = estimates.compare_with_bound(Estimate(0.2, 0.1, 0.4, 9), 0.1)
    assert touching.right == pytest.approx(0.05) and touching.wrong == 1
    assert estimates.compare_with_bound(Estimate(0.2, 0.1, 0.4, 9), 0.6).wrong == pytest.approx(
        2 * norm.sf(2 * 1.959964)
    )
    assert estimates.compare_with_bound(UNKNOWN, 0.0) == OPEN
    # Few clusters tell less.
    assert estimates.compare_with_bound(Estimate(0.2, 0.1, 0.3, 9, 10), 0.1).right == pytest.approx(
        2 * t.sf(1.959964 * np.sqrt(0.9), 9)
    )


@pytest.mark.parametrize("clusters", [4, 9])
def test_the_interval_of_few_clusters_is_stretched_once(clusters):
    """It is Student's, and so is the comparison with a bound: that of the t test of equal clusters."""
    values = np.linspace(0.1, 0.5, clusters)
    weights = procedures.cluster_weights(clusters, 100_000, 3)
    found = estimates.from_samples(values.mean(), weights @ values / clusters, clusters, least=0.0)
    assert estimates.compare_with_bound(found, found.low).right == pytest.approx(0.05)
    assert estimates.compare_with_bound(found, 0.1).right == pytest.approx(ttest_1samp(values, 0.1).pvalue, rel=0.05)


def test_shares_of_samples_over_few_clusters_tell_nothing():
    samples = np.full(500, 0.9)
    assert estimates.of_samples(samples, 12).outcome is True and estimates.of_samples(samples, 9) == OPEN


def test_a_sample_without_end_does_not_make_the_others_agree():
    samples = np.array([0.1, 0.2, 0.3, np.inf])
    assert estimates.from_samples(0.2, samples, 12).clusters == 12
