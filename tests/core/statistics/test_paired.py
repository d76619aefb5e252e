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


def test_the_standard_error_of_single_items_is_the_usual_one():
    difference = np.random.default_rng(8).integers(-1, 2, 90).astype(float)
    assert paired.standard_error(difference, np.ones(90)) == pytest.approx(stats.sem(difference))
    # Means of equal clusters: their standard error.
    sums = difference.reshape(30, 3).sum(axis=1)
    assert paired.standard_error(sums, np.full(30, 3)) == pytest.approx(stats.sem(sums / 3))
    assert np.isnan(paired.standard_error([1.0], [3.0]))


def test_the_detectable_difference_is_2_8_standard_errors_of_many_clusters():
    assert paired.detectable_difference(0.01, 100000) == pytest.approx(0.028016, rel=1e-3)
    # t(9): 2.2622 + 0.8834
    assert paired.detectable_difference(1.0, 10) == pytest.approx(3.1456, abs=1e-3)
    assert np.isnan(
        [
            paired.detectable_difference(0.0, 10),
            paired.detectable_difference(1.0, 1),
            paired.detectable_difference(np.nan, 10),
        ]
    ).all()


def outcomes(random, templates, per_template, difference, spread):
    """Return whether each of two models is right on every item; the second is better by ``difference``."""
    hardness = np.repeat(random.normal(0, 0.15, templates), per_template)
    taste = np.repeat(random.normal(0, spread, templates), per_template)
    size = templates * per_template
    first = random.random(size) < np.clip(0.5 + hardness, 0, 1)
    second = random.random(size) < np.clip(0.5 + hardness + difference + taste, 0, 1)
    return first, second, np.repeat(np.arange(templates), per_template)


def test_the_promised_share_of_detectable_differences_is_found():
    """80 % at the minimum detectable effect, 5 % without a difference, though items of a template are alike."""
    random = np.random.default_rng(9)
    probe = [paired.cluster_sums(*outcomes(random, 60, 8, 0, 0.15)) for _ in range(50)]
    effect = np.mean([paired.detectable_difference(paired.standard_error(*sums), 60) for sums in probe])
    rates = {}
    for true in (0.0, effect):
        p = [
            paired.sign_flip_p(paired.cluster_sums(*outcomes(random, 60, 8, true, 0.15))[0], 499, repeat)
            for repeat in range(400)
        ]
        rates[true] = np.mean(np.array(p) <= 0.05)
    # Two standard errors of 400 simulations.
    assert rates[effect] == pytest.approx(0.8, abs=0.04)
    assert rates[0.0] == pytest.approx(0.05, abs=0.022)


def test_a_comparison_tells_all_of_it():
    first, second, clusters = outcomes(np.random.default_rng(11), 40, 5, 0.2, 0.0)
    made = paired.comparison(second, first, clusters, 1000, 3)
    assert made["n"] == 200 and made["n_clusters"] == 40
    assert made["difference"] == pytest.approx(second.mean() - first.mean())
    assert made["ci_low"] < made["difference"] < made["ci_high"]
    assert made["discordant"] == pytest.approx((first != second).mean())
    assert made["p"] == pytest.approx(paired.comparison(first, second, clusters, 1000, 3)["p"])
    half = (made["ci_high"] - made["ci_low"]) / 2
    assert made["detectable"] == pytest.approx(2.87 * half / 1.96, rel=0.15)


def test_equal_outcomes_detect_nothing():
    made = paired.comparison([1, 0, 1], [1, 0, 1], list("abc"), 100, 0)
    assert (made["difference"], made["p"], made["discordant"]) == (0, 1, 0)
    assert np.isnan(made["detectable"])
