"""Comparisons of two models on the same items: values by hand, other procedures, and promised rates by simulation."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from scripts.core.statistics import paired

ROOT = Path(__file__).parents[3]


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


def test_random_flips_come_close_to_all_of_them():
    sums = np.random.default_rng(7).normal(0.5, 1, 20)
    everything = stats.permutation_test(
        (sums,), lambda x, axis: x.sum(axis=axis), permutation_type="samples", vectorized=True, n_resamples=20000,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    assert paired.sign_flip_p(sums, 20000, 1) == pytest.approx(everything.pvalue, abs=0.01)


def outcomes(random, templates, per_template, difference, spread):
    """Return whether each of two models is right on every item; the second is better by ``difference``."""
    hardness = np.repeat(random.normal(0, 0.15, templates), per_template)
    taste = np.repeat(random.normal(0, spread, templates), per_template)
    size = templates * per_template
    first = random.random(size) < np.clip(0.5 + hardness, 0, 1)
    second = random.random(size) < np.clip(0.5 + hardness + difference + taste, 0, 1)
    return first, second, np.repeat(np.arange(templates), per_template)


def test_models_that_are_alike_differ_in_a_twentieth_of_the_samples():
    """Though items of a template are alike."""
    random = np.random.default_rng(9)
    p = [
        paired.sign_flip_p(paired.cluster_sums(*outcomes(random, 60, 8, 0, 0.15))[0], 499, repeat)
        for repeat in range(400)
    ]
    # Two standard errors of 400 simulations.
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.022)
