"""The statistical procedures agree with values by hand, plain loops and other libraries."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from scripts.core.statistics import procedures

# Means of the same three accuracies, added up in several orders: they differ in the last bit.
MEANS = [sum(values) / 3 for values in ((0.1, 0.2, 0.3), (0.3, 0.2, 0.1), (0.2, 0.3, 0.1), (0.3, 0.1, 0.2))]


def test_welch_agrees_with_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 1, 40), rng.normal(0.5, 3, 25)
    expected = stats.ttest_ind(a, b, equal_var=False)
    assert procedures.welch_test(a, b) == pytest.approx((expected.statistic, expected.df, expected.pvalue))
    assert procedures.welch_test([1.0, 1.0, 1.0], [0.0, 1.0, 0.0])[2] < 0.2


def test_paired_by_hand():
    # Differences 1, 2, 3, 2: mean 2, standard deviation sqrt(2/3), so t is 2 / sqrt(1/6).
    t, df, p = procedures.paired_t_test([3.0, 5.0, 9.0, 2.0], [2.0, 3.0, 6.0, 0.0])
    assert (t, df) == pytest.approx((2 * np.sqrt(6), 3))
    assert p == pytest.approx(2 * stats.t.sf(2 * np.sqrt(6), 3))


@pytest.mark.parametrize(
    ("test", "a", "b"),
    [
        (procedures.welch_test, [1.0], [0.0, 1.0]),
        (procedures.welch_test, [1.0, 1.0], [0.0, 0.0]),
        (procedures.paired_t_test, [1.0], [0.0]),
        (procedures.paired_t_test, [], []),
        (procedures.paired_t_test, [0.3, 0.7, 0.9], [0.1, 0.5, 0.7]),
        (procedures.spearman, [1, 2], [3, 3]),
        (procedures.spearman, [1], [2]),
    ],
)
def test_nothing_is_said_of_samples_that_are_short_or_do_not_vary(test, a, b):
    assert np.isnan(test(a, b)).all()


@pytest.mark.parametrize("scale", [1, 1e-9, 1e9])
def test_rounding_noise_is_no_variation(scale):
    a = scale * np.array(MEANS * 15)
    b = np.full(60, a.min())
    assert 0 < np.ptp(a) < 1e-15 * scale
    for test in (procedures.welch_test, procedures.paired_t_test):
        assert np.isnan(test(a, b)).all() and np.isnan(test(b, a)).all()
    assert np.isnan(procedures.spearman(a, np.arange(60))) and np.isnan(procedures.spearman(np.arange(60), a))
    # A small difference of large values is one.
    assert procedures.has_variation([scale / 2, scale / 2 + scale * 1e-9], scale / 2)


def test_small_numbers_that_vary_are_tested_as_by_scipy():
    x, y = np.array([0.25, 0.5, 0.75, 1]), np.array([0.25, 0.25, 0.5, 0.5])
    for size in (1e-9, 1, 1e9):
        a, b = size * x, size * y
        assert procedures.welch_test(a, b)[2] == pytest.approx(stats.ttest_ind(x, y, equal_var=False).pvalue)
        assert procedures.paired_t_test(a, b)[2] == pytest.approx(stats.ttest_rel(x, y).pvalue)
        assert procedures.spearman(a, b) == pytest.approx(stats.spearmanr([1, 2, 3, 4], [1, 1, 2, 2]).statistic)


def test_what_does_not_vary_has_an_exact_test():
    assert procedures.compare_constants([1.0] * 5, [0.25] * 4) == pytest.approx(1 / math.comb(9, 4))
    assert procedures.compare_constants([0.1 + 0.2] * 5, [0.3] * 4) == 1
    for one, other in ((6, 0), (7, 2), (3, 3), (0, 1)):
        expected = stats.binomtest(one, one + other).pvalue
        assert procedures.sign_test(one, other) == procedures.sign_test(other, one) == pytest.approx(expected)
    assert procedures.sign_test(0, 0) == 1


def test_holm_by_hand_and_by_statsmodels():
    # Ordered 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1, never decreasing; the undefined test is left out.
    adjusted = procedures.holm([0.04, np.nan, 0.01, 0.03, 0.02])
    assert adjusted[[0, 2, 3, 4]] == pytest.approx([0.06, 0.04, 0.06, 0.06]) and np.isnan(adjusted[1])
    assert procedures.holm([]).tolist() == [] and np.isnan(procedures.holm([np.nan])).all()
    rng = np.random.default_rng(5)
    for size in (1, 2, 7, 200):
        p = np.round(rng.uniform(0, 1, size) ** 4, 2)  # with ties, zeros and ones
        assert procedures.holm(p).tolist() == multipletests(p, method="holm")[1].tolist()


@pytest.mark.parametrize(("alpha", "tests", "size"), [(0.05, 1, 6), (0.05, 6, 8), (0.05, 10, 9), (0.01, 1, 8)])
def test_the_smallest_sample_is_the_first_that_could_be_significant_if_all_units_agreed(alpha, tests, size):
    assert procedures.smallest_sample(alpha, tests) == size
    # The exact sign test of units that all point one way, by Holm's first step.
    assert tests * 2 * 0.5**size <= alpha < tests * 2 * 0.5 ** (size - 1)


def test_each_bootstrap_sample_draws_as_many_clusters_anew():
    weights = procedures.cluster_weights(30, 4000, 7)
    assert weights.shape == (4000, 30) and (weights.sum(axis=1) == 30).all() and (weights >= 0).all()
    # Drawn with replacement from thirty: 1 on average, with a variance of 29 / 30 within a sample and over them.
    assert weights.mean(axis=0) == pytest.approx(1, abs=5 * np.sqrt(29 / 30 / 4000))
    assert weights.var(axis=0).mean() == pytest.approx(29 / 30, rel=0.03)
    assert (weights == np.array(procedures.cluster_weights(30, 4000, 7))).all()
    assert (weights != procedures.cluster_weights(30, 4000, 8)).any()


def test_the_interval_of_a_share_is_that_of_a_loop_over_resampled_clusters():
    rng = np.random.default_rng(3)
    trials = rng.integers(1, 9, 15)
    successes = rng.binomial(trials, 0.6)
    drawn = []
    for weights in procedures.cluster_weights(15, 400, 7).astype(int):
        chosen = np.repeat(np.arange(15), weights)
        drawn.append(successes[chosen].sum() / trials[chosen].sum())
    assert procedures.ratio_samples(successes, trials, 400, 7) == pytest.approx(drawn)
    for level in (0.95, 0.8):
        tail = (1 - level) / 2
        ends = procedures.cluster_bootstrap(successes, trials, 400, seed=7, level=level)
        assert ends == pytest.approx(tuple(np.quantile(drawn, [tail, 1 - tail])))


def test_clusters_without_trials_count_for_nothing_and_one_is_not_enough():
    few = procedures.cluster_bootstrap([48, 50, 52], [100] * 3, 500, seed=1)
    assert 0.4 < few[0] < few[1] < 0.6, "cut at neither end"
    with_empty = [48, 0, 50, 52, *[0] * 20], [100, 0, 100, 100, *[0] * 20]
    assert procedures.cluster_bootstrap(*with_empty, 500, seed=1) == few
    assert np.isnan(procedures.cluster_bootstrap([1, 0], [4, 0], 500, seed=1)).all()
    # Two clusters that are all right and all wrong: a bootstrap over trials would be narrow.
    assert procedures.cluster_bootstrap([100, 0], [100, 100], 1000, seed=1) == (0, 1)


def test_clusters_that_agree_leave_something_unknown():
    """Of all right or all wrong it is Wilson's of so many clusters, whatever their trials."""
    assert procedures.cluster_bootstrap([4] * 6, [4] * 6, 100, seed=1) == procedures.wilson_interval(6, 6)
    assert procedures.cluster_bootstrap([0] * 20, [4] * 20, 100, seed=1) == procedures.wilson_interval(0, 20)
    half = procedures.cluster_bootstrap([2] * 6, [4] * 6, 100, seed=1)
    assert half == procedures.agreeing_interval(0.5, 6, least=0.0) and half[0] > 0
    equal = procedures.cluster_bootstrap([0] * 6, [4] * 6, 100, seed=1, least=-1.0)
    assert equal == procedures.agreeing_interval(0.0, 6) and equal[0] == -equal[1] < 0


def test_the_interval_of_clusters_that_agree_has_both_ends():
    """Shares by the exact test: 0.025 is the chance that so many clusters all agree."""
    for clusters, share in ((1, 0.975), (5, 0.5218), (20, 0.1684)):
        low, high = procedures.agreeing_interval(0.2, clusters, least=0.0, most=1.0)
        assert (0.2 - low, high - 0.2) == pytest.approx((0.2 * share, 0.8 * share), abs=1e-4)


@pytest.mark.parametrize(
    ("successes", "trials", "level"), [(0, 5, 0.95), (599, 600, 0.95), (600, 600, 0.95), (3, 7, 0.99)]
)
def test_wilsons_interval_is_that_of_scipy(successes, trials, level):
    expected = stats.binomtest(successes, trials).proportion_ci(level, method="wilson")
    made = procedures.wilson_interval(successes, trials, level)
    assert made == pytest.approx((expected.low, expected.high), abs=1e-9)
    # Rounding leaves no share outside: 0 of any number is 0.
    assert all(
        procedures.wilson_interval(0, n)[0] == 0 and procedures.wilson_interval(n, n)[1] == 1 for n in range(1, 200)
    )


def test_the_interval_of_ten_clusters_is_of_percentiles_and_has_a_width_or_there_is_none():
    def interval(samples, clusters=10, value=0.5, **bounds):
        return procedures.bootstrap_interval(value, samples, clusters, **bounds)

    assert interval(np.arange(101.0) / 100) == pytest.approx((0.025, 0.975))
    assert interval(np.arange(101.0) / 100, level=0.9) == pytest.approx((0.05, 0.95))
    assert interval([np.nan, np.inf, 0.1, 0.2])[0] == pytest.approx(0.1025)
    # None of ten clusters differs: a share of at most .31 of all does (Clopper and Pearson 1934).
    reach = stats.binomtest(0, 10).proportion_ci().high / 2
    assert interval([0.5] * 9, least=0.0) == pytest.approx((0.5 - reach, 0.5 + reach))
    unbounded = interval([0.5] * 9, least=-np.inf, most=np.inf)
    for nothing in (unbounded, interval([np.nan]), interval([0.1, 0.2], 1), interval([1.0], value=np.nan)):
        assert np.isnan(nothing).all()


@pytest.mark.parametrize(
    "values", [[0.2, 0.5, 0.4, 0.7], [0.12, 0.3, 0.22, 0.24], [0.5, 0.6, 0.1, 0.3, 0.2, 0.4, 0.35, 0.3, 0.6]]
)
def test_the_interval_of_fewer_than_ten_clusters_is_that_of_students_t(values):
    """Of a share, a difference and a crossed share of equal clusters; within what is possible."""
    n, draws = len(values), 100_000
    expected = stats.t(n - 1, np.mean(values), stats.sem(values)).interval(0.95)
    sizes = np.full(n, 50.0)
    sums = sizes * values
    of_share = procedures.cluster_bootstrap(sums, sizes, draws, seed=1)
    of_difference = procedures.cluster_bootstrap(-sums, sizes, draws, seed=1, least=-1.0)
    rows = procedures.resampling_weights(["x"] * n, draws, 1)
    samples = procedures.crossed_shares(sums[:, None], sizes[:, None], rows, np.ones((draws, 1)))
    crossed = procedures.bootstrap_interval(np.mean(values), samples, n, least=0.0)
    for ends in (of_share, crossed, (-of_difference[1], -of_difference[0])):
        assert ends == pytest.approx(np.clip(expected, 0, 1), abs=3e-3)


def test_clusters_are_drawn_within_their_strata():
    weights = procedures.resampling_weights(["a", "a", "b", "a", "c", "c"], 200, 5)
    assert weights.shape == (200, 6)
    assert (weights[:, [0, 1, 3]].sum(axis=1) == 3).all()
    assert (weights[:, 2] == 1).all()  # alone in its stratum
    assert (weights[:, 4:].sum(axis=1) == 2).all() and len(np.unique(weights, axis=0)) > 20
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
