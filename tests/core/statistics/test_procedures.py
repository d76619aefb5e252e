"""The statistical procedures agree with textbook values and with other libraries."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from scripts.core.statistics import procedures


def test_welch_agrees_with_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 1, 40), rng.normal(0.5, 3, 25)
    expected = stats.ttest_ind(a, b, equal_var=False)
    t, df, p = procedures.welch(a, b)
    assert (t, df, p) == pytest.approx((expected.statistic, expected.df, expected.pvalue))


@pytest.mark.parametrize(("a", "b"), [([1.0], [0.0, 1.0]), ([1.0, 1.0], [0.0, 0.0])])
def test_welch_is_undefined_without_variation(a, b):
    assert np.isnan(procedures.welch(a, b)).all()


def test_welch_is_defined_when_one_sample_varies():
    assert procedures.welch([1.0, 1.0, 1.0], [0.0, 1.0, 0.0])[2] < 0.2


# Means of the same three accuracies, added up in several orders: they differ in the last bit.
MEANS = [sum(values) / 3 for values in ((0.1, 0.2, 0.3), (0.3, 0.2, 0.1), (0.2, 0.3, 0.1), (0.3, 0.1, 0.2))]


@pytest.mark.parametrize("scale", [1, 1e-9, 1e9])
def test_rounding_noise_is_no_variation(scale):
    a = scale * np.array(MEANS * 15)
    b = np.full(60, a.min())
    assert 0 < np.ptp(a) < 1e-15 * scale
    for test in (procedures.welch, procedures.paired_t_test):
        assert np.isnan(test(a, b)).all()
        assert np.isnan(test(b, a)).all()
    assert np.isnan(procedures.spearman(a, np.arange(60)))
    assert np.isnan(procedures.spearman(np.arange(60), a))


@pytest.mark.parametrize("size", [1e-9, 1, 1e9])
def test_small_numbers_that_vary_are_tested(size):
    a, b = size * np.array([0.25, 0.5, 0.75, 1]), size * np.array([0.25, 0.25, 0.5, 0.5])
    expected = stats.ttest_ind([0.25, 0.5, 0.75, 1], [0.25, 0.25, 0.5, 0.5], equal_var=False)
    assert procedures.welch(a, b)[2] == pytest.approx(expected.pvalue)
    assert procedures.paired_t_test(a, b)[2] == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert procedures.spearman(a, b) == pytest.approx(stats.spearmanr([1, 2, 3, 4], [1, 1, 2, 2]).statistic)


def test_paired_by_hand():
    # Differences 1, 2, 3, 2: mean 2, standard deviation sqrt(2/3), so t is 2 / sqrt(1/6).
    t, df, p = procedures.paired_t_test([3.0, 5.0, 9.0, 2.0], [2.0, 3.0, 6.0, 0.0])
    assert (t, df) == pytest.approx((2 * np.sqrt(6), 3))
    assert p == pytest.approx(2 * stats.t.sf(2 * np.sqrt(6), 3))


@pytest.mark.parametrize(("a", "b"), [([1.0], [0.0]), ([], []), ([0.3, 0.7, 0.9], [0.1, 0.5, 0.7])])
def test_paired_is_undefined_without_varying_differences(a, b):
    assert np.isnan(procedures.paired_t_test(a, b)).all()


def test_what_does_not_vary_has_an_exact_test():
    assert procedures.compare_constants([1.0] * 5, [0.25] * 4) == pytest.approx(1 / math.comb(9, 4))
    assert procedures.compare_constants([0.1 + 0.2] * 5, [0.3] * 4) == 1
    for one, other in ((6, 0), (7, 2), (3, 3), (0, 1)):
        expected = stats.binomtest(one, one + other).pvalue
        assert procedures.sign_test(one, other) == procedures.sign_test(other, one) == pytest.approx(expected)
    assert procedures.sign_test(0, 0) == 1


def test_paired_wants_pairs():
    with pytest.raises(ValueError, match="3 values and 2"):
        procedures.paired_t_test([1.0, 2.0, 3.0], [1.0, 2.0])


def rejections(effect, repetitions=2000):
    """Return how often Welch's and the paired test reject at 0.05 where pairs share what varies most.

    60 pairs; what they share has a standard deviation of 0.2, each value's noise one of 0.05.
    """
    rng = np.random.default_rng(20240915)
    found = []
    for _ in range(repetitions):
        shared = rng.normal(0.5, 0.2, 60)
        a, b = (shared + rng.normal(0, 0.05, 60) for _ in range(2))
        found.append([test(a + effect, b)[2] < 0.05 for test in (procedures.welch, procedures.paired_t_test)])
    return np.mean(found, axis=0)


def test_the_paired_test_has_its_size_and_power_where_welchs_test_misses_the_effect():
    # Without an effect, four standard errors of a share of 0.05 around it; Welch's test hardly ever rejects.
    welch, paired = rejections(0)
    assert paired == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 2000))
    assert welch < 0.005
    # Differences have a standard deviation of 0.05 times the square root of two.
    effect = 0.03
    power = TTestPower().power(effect / (0.05 * np.sqrt(2)), 60, 0.05)
    assert 0.85 < power < 0.95
    welch, paired = rejections(effect)
    assert paired == pytest.approx(power, abs=4 * np.sqrt(power * (1 - power) / 2000))
    assert welch < 0.05


def test_holm_by_hand():
    # Ordered 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1, never decreasing; the undefined test is left out.
    adjusted = procedures.holm([0.04, np.nan, 0.01, 0.03, 0.02])
    assert adjusted[[0, 2, 3, 4]] == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert np.isnan(adjusted[1])


def test_holm_equals_statsmodels():
    rng = np.random.default_rng(5)
    assert procedures.holm([]).tolist() == procedures.holm([np.nan])[:0].tolist() == []
    for size in (1, 2, 7, 200):
        p = np.round(rng.uniform(0, 1, size) ** 4, 2)  # with ties, zeros and ones
        assert procedures.holm(p).tolist() == multipletests(p, method="holm")[1].tolist()


def test_bootstrap_interval_covers_and_is_reproducible():
    rng = np.random.default_rng(2)
    covered = 0
    for repetition in range(200):
        shares = rng.beta(6, 4, 60)
        trials = np.full(60, 12)
        low, high = procedures.cluster_bootstrap(rng.binomial(trials, shares), trials, 500, seed=repetition)
        covered += low <= 0.6 <= high
    assert 180 <= covered <= 199
    few = [3, 1, 2, 2], [4, 4, 4, 4]
    once = procedures.cluster_bootstrap(*few, 500, seed=7)
    assert once == procedures.cluster_bootstrap(*few, 500, seed=7)
    assert once != procedures.cluster_bootstrap(*few, 500, seed=8)


def test_bootstrap_resamples_clusters_not_trials():
    # Two clusters that are all right and all wrong: a bootstrap over trials would be narrow.
    low, high = procedures.cluster_bootstrap([100, 0], [100, 100], 1000, seed=1)
    assert (low, high) == (0, 1)
    assert np.isnan(procedures.cluster_bootstrap([1], [2], 100, seed=1)).all()


@pytest.mark.parametrize(("clusters", "share"), [(1, 0.975), (5, 0.5218), (20, 0.1684)])
def test_the_interval_of_clusters_that_agree_has_both_ends(clusters, share):
    """Shares by the exact test: 0.025 is the chance that so many clusters all agree."""
    low, high = procedures.agreeing_interval(0.2, clusters, least=0.0, most=1.0)
    assert (0.2 - low, high - 0.2) == pytest.approx((0.2 * share, 0.8 * share), abs=1e-4)


def test_a_small_difference_of_large_values_is_one():
    assert procedures.has_variation([0.5, 0.5 + 1e-9], 0.5)
    assert not procedures.has_variation([0.5, 0.5 + 1e-15], 0.5)


def test_spearman():
    assert procedures.spearman([1, 2, 3], [1, 4, 9]) == pytest.approx(1)
    assert np.isnan(procedures.spearman([1, 2], [3, 3]))


def test_clusters_are_drawn_within_their_strata():
    weights = procedures.resampling_weights(["a", "a", "b", "a", "c", "c"], 200, 5)
    assert weights.shape == (200, 6)
    assert (weights[:, [0, 1, 3]].sum(axis=1) == 3).all()
    assert (weights[:, 2] == 1).all()  # alone in its stratum
    assert (weights[:, 4:].sum(axis=1) == 2).all()
    assert (weights == procedures.resampling_weights(["a", "a", "b", "a", "c", "c"], 200, 5)).all()


def test_crossed_shares_are_those_of_items_that_count_as_often_as_their_clusters():
    generator = np.random.default_rng(3)
    items = [
        (int(generator.integers(4)), int(generator.integers(3)), float(generator.random() < 0.4)) for _ in range(40)
    ]
    right, trials = np.zeros((4, 3)), np.zeros((4, 3))
    for row, column, value in items:
        right[row, column] += value
        trials[row, column] += 1
    rows, columns = (procedures.resampling_weights(["x"] * n, 30, n) for n in (4, 3))
    shares = procedures.crossed_shares(right, trials, rows, columns)
    for draw, share in enumerate(shares):
        counted = [(rows[draw, r] * columns[draw, c], v) for r, c, v in items]
        total = sum(weight for weight, _ in counted)
        assert share == pytest.approx(sum(weight * v for weight, v in counted) / total)
    assert np.isnan(procedures.crossed_shares(right * 0, trials * 0, rows, columns)).all()


def test_the_interval_of_ten_clusters_is_of_percentiles_and_has_a_width_or_there_is_none():
    def interval(samples, clusters=10, **bounds):
        return procedures.bootstrap_interval(0.5, samples, clusters, **bounds)

    assert interval(np.arange(101.0) / 100) == pytest.approx((0.025, 0.975))
    assert interval([np.nan, 0.1, 0.2])[0] == pytest.approx(0.1025)
    # None of ten clusters differs: a share of at most .31 of all does (Clopper and Pearson 1934).
    assert interval([0.5] * 9, least=0.0) == pytest.approx(
        stats.binomtest(0, 10).proportion_ci().high * np.array([-0.5, 0.5]) + 0.5
    )
    unbounded = interval([0.5] * 9, least=-np.inf, most=np.inf)
    for nothing in (
        unbounded,
        interval([np.nan]),
        interval([0.1, 0.2], 1),
        procedures.bootstrap_interval(np.nan, [1.0], 9),
    ):
        assert np.isnan(nothing).all()


@pytest.mark.parametrize(
    "values", [[0.2, 0.5, 0.4, 0.7], [0.12, 0.3, 0.22, 0.24], [0.5, 0.6, 0.1, 0.3, 0.2, 0.4, 0.35, 0.3, 0.6]]
)
def test_the_interval_of_fewer_than_ten_clusters_is_that_of_students_t(values):
    """Of a share, a difference and a crossed share of equal clusters."""
    n, draws = len(values), 200_000
    expected = stats.t(n - 1, np.mean(values), stats.sem(values)).interval(0.95)
    sizes = np.full(n, 50.0)
    sums = sizes * values
    of_share = procedures.cluster_bootstrap(sums, sizes, draws, seed=1)
    of_difference = procedures.cluster_bootstrap(-sums, sizes, draws, seed=1, least=-1.0)
    rows = procedures.resampling_weights(["x"] * n, draws, 1)
    samples = procedures.crossed_shares(sums[:, None], sizes[:, None], rows, np.ones((draws, 1)))
    crossed = procedures.bootstrap_interval(np.mean(values), samples, n, least=0.0)
    for ends in (of_share, crossed, (-of_difference[1], -of_difference[0])):
        assert ends == pytest.approx(np.clip(expected, 0, 1), abs=2e-3)


def test_clusters_without_trials_count_for_nothing():
    few = procedures.cluster_bootstrap([1, 2, 3], [4, 4, 4], 500, seed=1)
    assert procedures.cluster_bootstrap([1, 0, 2, 3, *[0] * 20], [4, 0, 4, 4, *[0] * 20], 500, seed=1) == few
    assert np.isnan(procedures.cluster_bootstrap([1, 0], [4, 0], 500, seed=1)).all()


def test_clusters_that_agree_leave_something_unknown():
    assert procedures.cluster_bootstrap([4] * 6, [4] * 6, 100, seed=1) == procedures.wilson(6, 6)
    half = procedures.cluster_bootstrap([2] * 6, [4] * 6, 100, seed=1)
    assert half == procedures.agreeing_interval(0.5, 6, least=0.0) and half[0] > 0
    equal = procedures.cluster_bootstrap([0] * 6, [4] * 6, 100, seed=1, least=-1.0)
    assert equal == procedures.agreeing_interval(0.0, 6) and equal[0] == -equal[1] < 0


@pytest.mark.parametrize(("alpha", "tests", "size"), [(0.05, 1, 6), (0.05, 6, 8), (0.05, 10, 9), (0.01, 1, 8)])
def test_the_smallest_sample_is_the_first_that_could_be_significant_if_all_units_agreed(alpha, tests, size):
    assert procedures.smallest_sample(alpha, tests) == size
    # The exact sign test of units that all point one way, by Holm's first step.
    assert tests * 2 * 0.5**size <= alpha < tests * 2 * 0.5 ** (size - 1)


def test_wilsons_interval_by_hand():
    """Wilson (1927): (p + z²/2n ± z sqrt(pq/n + z²/4n²)) / (1 + z²/n)."""
    z2 = 1.959963984540054**2
    for successes, trials in ((0, 5), (599, 600), (600, 600), (3, 7)):
        p = successes / trials
        middle, half = p + z2 / (2 * trials), np.sqrt(z2 * (p * (1 - p) / trials + z2 / (4 * trials**2)))
        expected = (middle - half) / (1 + z2 / trials), (middle + half) / (1 + z2 / trials)
        assert procedures.wilson(successes, trials) == pytest.approx(expected, abs=1e-9)
    # It has a width where everybody is right, and is wider at a higher level.
    for trials in range(1, 200):
        assert procedures.wilson(0, trials)[0] == 0 and procedures.wilson(trials, trials)[1] == 1
    assert procedures.wilson(600, 600)[0] == pytest.approx(0.9936, abs=5e-5)
    assert procedures.wilson(3, 7, level=0.99)[0] < procedures.wilson(3, 7)[0]
