"""Agreement of two answers: values worked out by hand, and Pearson's correlation for two answers."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from scripts.core.statistics.method_agreement import agreement, compare_answers, confusion


def answers(table, names):
    """Return two lists of answers with this table of counts."""
    pairs = [(a, b) for a, row in zip(names, table, strict=True) for b, n in zip(names, row, strict=True)
             for _ in range(n)]  # fmt: skip
    return [a for a, _ in pairs], [b for _, b in pairs]


def test_cohen_s_kappa_by_hand():
    # 20 + 15 of 50 agree; by chance (25 * 30 + 25 * 20) / 2500 = 0.5.
    made = agreement(*answers([[20, 5], [10, 15]], "yn"))
    assert made["n"] == 50
    assert made["agreement"] == pytest.approx(0.7)
    assert made["kappa"] == pytest.approx(0.4)
    # (20 * 15 - 5 * 10) / sqrt(25 * 25 * 30 * 20)
    assert made["matthews"] == pytest.approx(250 / np.sqrt(375000))


def test_three_answers_by_hand():
    table = np.array([[4, 1, 0], [0, 4, 0], [1, 0, 1]])
    made = agreement(*answers(table, ["he", "she", "xe"]))
    assert made["n"] == 11
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    assert (rows.tolist(), columns.tolist()) == ([5, 4, 2], [5, 5, 1])
    # c = 9, s = 11: c s = 99, rows times columns 25 + 20 + 2 = 47, squares 45 and 51.
    assert made["matthews"] == pytest.approx((99 - 47) / np.sqrt((121 - 45) * (121 - 51)))
    # p_o = 9 / 11, p_e = 47 / 121.
    assert made["kappa"] == pytest.approx((9 / 11 - 47 / 121) / (1 - 47 / 121))


def test_two_answers_have_pearson_s_correlation():
    random = np.random.default_rng(3)
    first = random.random(500) < 0.4
    second = np.where(random.random(500) < 0.7, first, random.random(500) < 0.6)
    made = agreement(first, second)
    assert made["matthews"] == pytest.approx(np.corrcoef(first, second)[0, 1])
    swapped = agreement(second, first)
    assert swapped == pytest.approx(made)


def test_extremes():
    same = agreement(list("abcabc"), list("abcabc"))
    assert (same["agreement"], same["kappa"], same["matthews"]) == pytest.approx((1, 1, 1))
    opposite = agreement([0, 0, 1, 1], [1, 1, 0, 0])
    assert (opposite["agreement"], opposite["kappa"], opposite["matthews"]) == pytest.approx((0, -1, -1))


def test_what_is_not_defined_is_missing():
    constant = agreement(["he"] * 4, ["he"] * 4)
    assert constant["agreement"] == 1
    assert np.isnan([constant["kappa"], constant["matthews"]]).all()
    one_side = agreement(["he"] * 4, ["he", "he", "she", "he"])
    assert one_side["kappa"] == pytest.approx(0)
    assert np.isnan(one_side["matthews"])
    assert np.isnan([agreement([], [])[k] for k in ("agreement", "kappa", "matthews")]).all()


@pytest.mark.parametrize(("first", "second", "said"), [
    (["he"], ["he", "she"], "1 answers on one side and 2"), (["he", None], ["he", "he"], "missing"),
    ([1.0, float("nan")], [1.0, 1.0], "missing"),
])  # fmt: skip
def test_answers_have_to_be_pairs(first, second, said):
    with pytest.raises(ValueError, match=said):
        confusion(first, second)


def test_kappa_is_that_of_statsmodels():
    random = np.random.default_rng(4)
    first, second = random.integers(0, 4, 300), random.integers(0, 4, 300)
    second = np.where(random.random(300) < 0.4, first, second)
    assert agreement(first, second)["kappa"] == pytest.approx(cohens_kappa(confusion(first, second)).kappa)


def alike(random, clusters, size):
    """Return two answers to items of clusters that are harder or easier as a whole."""
    ease = np.repeat(random.uniform(0.2, 1, clusters), size)
    first = random.integers(0, 2, clusters * size)
    return first, np.where(random.random(len(first)) < ease, first, 1 - first), np.repeat(np.arange(clusters), size)


def test_intervals_hold_the_true_measures_when_clusters_are_drawn():
    # Over all clusters the answers agree in 0.6, and kappa is 2 * 0.6 - 1.
    held = np.zeros(3)
    for seed in range(200):
        made = compare_answers(*alike(np.random.default_rng(seed), 40, 6), draws=400, seed=seed)
        for place, (name, truth) in enumerate({"agreement": 0.6, "kappa": 0.2, "matthews": 0.2}.items()):
            assert made[f"{name}_low"] < made[name] < made[f"{name}_high"]
            held[place] += made[f"{name}_low"] <= truth <= made[f"{name}_high"]
    # Two standard errors of 200 simulations are 0.03.
    assert (np.abs(held / 200 - 0.95) < 0.04).all(), held


def test_intervals_belong_to_the_values_without_clusters():
    first, second, clusters = alike(np.random.default_rng(1), 30, 5)
    made = compare_answers(first, second, clusters, 100, 0)
    assert {name: made[name] for name in ("n", "agreement", "kappa", "matthews")} == pytest.approx(
        agreement(first, second)
    )
    assert np.isnan(compare_answers(first, second, np.zeros(len(first)), 100, 0)["kappa_low"])
