"""Comparisons of two models on the same items: values by hand and other procedures."""

import numpy as np
import pytest
from scipy import stats

from scripts.core.statistics import paired


def test_sums_of_clusters():
    sums, sizes = paired.cluster_sums([1, 0, 1, 1], [0, 1, 0, 1], ["b", "a", "b", "a"])
    assert (sums.tolist(), sizes.tolist()) == ([-1, 2], [2, 2])
    with pytest.raises(ValueError, match="2 and 1 outcomes and 2 clusters"):
        paired.cluster_sums([1, 0], [1], ["a", "a"])


def test_sign_flips_by_hand():
    # Eight patterns of 1, 2, 3: only +++ and --- reach 6.
    assert paired.sign_flip_p([1, 2, 3], 100, 0) == pytest.approx(2 / 8)
    # 3 and -1 sum to 2; |+-3 +-1| is 2 or 4, never less.
    assert paired.sign_flip_p([3, -1, 0, 0], 100, 0) == 1
    assert paired.sign_flip_p([0, 0], 100, 0) == 1
    assert np.isnan(paired.sign_flip_p([], 100, 0))


def test_sign_flips_of_single_items_are_the_exact_test_of_mcnemar():
    sums = np.array([1.0] * 10 + [-1.0] * 3 + [0.0] * 50)
    assert paired.sign_flip_p(sums, 100, 0) == pytest.approx(stats.binomtest(3, 13, 0.5).pvalue)


def test_random_flips_are_counted_with_the_observed_one():
    sums = np.random.default_rng(7).normal(0.3, 1, 20)
    signs = np.random.default_rng(3).choice((1.0, -1.0), size=(99, 20))
    reaching = sum(abs(np.dot(flipped, sums)) >= abs(sums.sum()) for flipped in signs)
    assert 0 < reaching < 99 and paired.sign_flip_p(sums, 99, 3) == (1 + reaching) / 100
    # All alike: no pattern but the observed one reaches it, except by chance.
    assert paired.sign_flip_p(np.ones(60), 99, 3) == 1 / 100


def test_random_flips_come_close_to_all_of_them():
    sums = np.random.default_rng(7).normal(0.5, 1, 20)
    everything = stats.permutation_test(
        (sums,), lambda x, axis: x.sum(axis=axis), permutation_type="samples", vectorized=True, n_resamples=20000,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    assert paired.sign_flip_p(sums, 20000, 1) == pytest.approx(everything.pvalue, abs=0.01)
