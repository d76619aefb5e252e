"""The statistical procedures agree with textbook values and with other libraries."""

import numpy as np
import pytest
from scipy import stats

from scripts.core import statistics


def test_welch_agrees_with_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 1, 40), rng.normal(0.5, 3, 25)
    expected = stats.ttest_ind(a, b, equal_var=False)
    t, df, p = statistics.welch(a, b)
    assert (t, df, p) == pytest.approx((expected.statistic, expected.df, expected.pvalue))


@pytest.mark.parametrize(("a", "b"), [([1.0], [0.0, 1.0]), ([1.0, 1.0], [0.0, 0.0])])
def test_welch_is_undefined_without_variation(a, b):
    assert np.isnan(statistics.welch(a, b)).all()


def test_welch_is_defined_when_one_sample_varies():
    assert statistics.welch([1.0, 1.0, 1.0], [0.0, 1.0, 0.0])[2] < 0.2


def test_holm_by_hand():
    # Ordered 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1, never decreasing; the undefined test is left out.
    adjusted = statistics.holm([0.04, np.nan, 0.01, 0.03, 0.02])
    assert adjusted[[0, 2, 3, 4]] == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert np.isnan(adjusted[1])


def test_bootstrap_interval_covers_and_is_reproducible():
    rng = np.random.default_rng(2)
    covered = 0
    for repetition in range(200):
        shares = rng.beta(6, 4, 60)
        trials = np.full(60, 12)
        low, high = statistics.cluster_bootstrap(rng.binomial(trials, shares), trials, 500, seed=repetition)
        covered += low <= 0.6 <= high
    assert 180 <= covered <= 199
    once = statistics.cluster_bootstrap([3, 1, 2], [4, 4, 4], 500, seed=7)
    assert once == statistics.cluster_bootstrap([3, 1, 2], [4, 4, 4], 500, seed=7)
    assert once != statistics.cluster_bootstrap([3, 1, 2], [4, 4, 4], 500, seed=8)


def test_bootstrap_resamples_clusters_not_trials():
    # Two clusters that are all right and all wrong: a bootstrap over trials would be narrow.
    low, high = statistics.cluster_bootstrap([100, 0], [100, 100], 1000, seed=1)
    assert (low, high) == (0, 1)
    assert np.isnan(statistics.cluster_bootstrap([1], [2], 100, seed=1)).all()


def test_spearman():
    assert statistics.spearman([1, 2, 3], [1, 4, 9]) == pytest.approx(1)
    assert np.isnan(statistics.spearman([1, 2], [3, 3]))


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.5, "= 0.5000"), (0.0075067, "= 0.0075"), (0.00023, "= 2.3e-04"), (1.1e-10, "= 1.1e-10"), (9e-11, "< 1e-10"),
     (0.0, "< 1e-10")],
)  # fmt: skip
def test_small_p_values_are_bounds(p, text):
    assert statistics.p_text(p) == text
