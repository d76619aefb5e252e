"""The bootstrap against a plain one, and its tests."""

import itertools

import numpy as np
import pandas as pd
import pytest

from scripts.counter_gap import estimates, metrics, study
from scripts.counter_gap.metrics import key
from tests.counter_gap.test_metrics import count_types, equations, random_data


def test_the_bootstrap_is_that_of_quadruples():
    right, masculine = random_data(1)
    codes = metrics.quadruple_types(right, masculine)
    weights = estimates.resample(len(codes), 300, seed=3)
    assert (weights.sum(1) == len(codes)).all()
    table = estimates.estimate_metrics([codes, codes], weights, metrics.RATIOS)
    draws = [np.repeat(np.arange(len(codes)), w.astype(int)) for w in weights]
    plain = [equations(right[d], masculine[d]) for d in draws]
    row = table.set_index(["system", "metric", *study.FACTORS])
    for of in (key("acc_diff"), key("i_across", original_gender="M"), key("delta_i"), key("spearman_rho")):
        samples = np.array([p[of] for p in plain])
        low, high = np.quantile(samples, [0.025, 0.975])
        assert row.low[0, *of] == pytest.approx(low, abs=1e-6)
        assert row.high[1, *of] == pytest.approx(high, abs=1e-6)
    drawn = key("i_across_diff")
    value, samples = row.value[0, *drawn], np.array([p[drawn] for p in plain])
    against, reached = np.sign(value) * samples <= 0, np.sign(value) * (samples - value) >= abs(value) - 1e-9
    assert row.p_value[0, *drawn] == pytest.approx((1 + against.sum()) / 301)
    assert row.p_centred[0, *drawn] == pytest.approx((1 + reached.sum()) / 301)
    assert np.isnan(row.p_value[0, *key("accuracy", gender="M")])


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("metric", estimates.EXACT_METRICS)
def test_exact_p_values_are_those_of_all_samples(metric, sign):
    right, masculine = random_data(4, n=6)
    codes = metrics.quadruple_types(right, masculine)
    types = (codes[:, None] == np.arange(metrics.N_TYPES)) * 1
    drawn = np.array(list(itertools.product(range(6), repeat=6)))
    samples = metrics.evaluate(types[drawn].sum(1))[key(metric)]
    value = metrics.evaluate(types.sum(0))[key(metric)]
    percentile, centred = estimates.exact_p(types.sum(0), metric, sign)
    assert percentile == pytest.approx((sign * samples < 1e-9).mean())
    assert centred == pytest.approx((sign * (samples - 2 * value) > -1e-9).mean())
    table = estimates.estimate_metrics([codes], estimates.resample(6, 10, seed=3), metrics.RATIOS)
    tested = table[table.role == ""].set_index("metric").loc[metric]
    if sign == (1.0 if metric == "delta_i" or value >= 0 else -1.0):
        assert (tested.p_value, tested.p_centred) == (percentile, centred)


def test_tails_are_those_of_whole_numbers():
    """Samples of 200 quadruples, counted without rounding; far below what a Fourier transform could tell from zero."""
    right = [[1, 1, 0, 0]] * 70 + [[1, 0, 1, 0]] * 30 + [[1, 1, 1, 1]] * 100
    # Delta I of a quadruple in halves: 2, -1 or 0, and 1 is added to each to have no negative ones.
    once, total = [30, 100, 0, 70], [1]
    for _ in range(200):
        longer = [0] * (len(total) + 3)
        for i, ways in enumerate(total):
            for step, more in enumerate(once):
                longer[i + step] += ways * more
        total = longer
    percentile = sum(total[: 200 + 1]) / 200**200
    centred = sum(total[200 + 2 * (2 * 70 - 30) :]) / 200**200
    assert percentile < 1e-10
    assert estimates.exact_p(count_types(right), "delta_i", 1.0) == pytest.approx(
        (percentile, centred), rel=1e-10, abs=0
    )


@pytest.mark.parametrize(
    ("right", "metric", "sign", "expected"),
    [
        # Every sample of three such quadruples has a Delta I of one; a single one of 27 has a chance of 1/27.
        pytest.param([[1, 1, 0, 0]] * 3, "delta_i", 1.0, (1 / 27, 1 / 27), id="a sample's chance at least"),
        pytest.param([[1, 1, 0, 0]] * 1000, "delta_i", 1.0, (estimates.SMALLEST,) * 2, id="never zero"),
    ],
)
def test_exact_p_values_of_few_quadruples_by_hand(right, metric, sign, expected):
    assert estimates.exact_p(count_types(right), metric, sign) == pytest.approx(expected, rel=1e-12, abs=0)


def test_what_is_undefined_is_missing():
    codes = metrics.quadruple_types(np.ones((4, 4)), [1, 1, 1, 1])
    weights = estimates.resample(4, 100, seed=1)
    table = estimates.estimate_metrics([codes], weights, metrics.RATIOS)
    row = table.set_index(["metric", *study.FACTORS])
    for of in (key("i_across", original_gender="F"), key("cancelled"), key("spearman_rho"), key("i_across_diff")):
        assert np.isnan(row.value[of]) and np.isnan(row.low[of]) and np.isnan(row.p_value[of])
    assert row.p_value[key("delta_i")] == pytest.approx(1)


def test_tests_are_corrected_within_their_family():
    rows = [
        {"scoring": scoring, "model": model, "metric": metric, "p_value": p, "p_centred": 2 * p}
        for scoring, model, metric, p in (
            ("a", "x", "delta_i", 0.008), ("a", "y", "delta_i", 0.5), ("b", "x", "delta_i", 0.008),
            ("a", "x", "acc_diff", 0.004), ("a", "y", "acc_diff", 0.006), ("a", "x", "accuracy", np.nan),
        )
    ]  # fmt: skip
    shared = dict.fromkeys([*study.IDENTITY[:1], *study.IDENTITY[4:], *study.FACTORS], "")
    table = pd.DataFrame(rows).assign(**shared).reindex(columns=[c for c in estimates.COLUMNS if "holm" not in c])
    tests = study.add_significance(estimates.correct_tests(table), 0.01)
    assert tests.p_value.isna().tolist() == tests.significant.isna().tolist() == [False] * 5 + [True]
    tests = tests[:5]
    assert tests.p_holm.round(6).tolist() == [0.016, 0.5, 0.008, 0.008, 0.008]
    assert tests.significant.tolist() == [True, False, True, True, True]
    assert tests.significant_holm.tolist() == [False, False, True, True, True]
    assert tests.p_centred_holm.round(6).tolist() == [0.032, 1, 0.016, 0.016, 0.016]
    assert tests.significant_centred.tolist() == [False, False, False, True, False]
    assert not tests.significant_centred_holm.any()
    # Each reading is a family of its own.
    both = pd.concat([table, table.assign(reading="other")], ignore_index=True)
    twice = estimates.correct_tests(both)
    assert twice.p_holm[twice.reading == ""].round(6).tolist()[:5] == [0.016, 0.5, 0.008, 0.008, 0.008]


def test_sums_are_those_of_the_groups():
    """Of five quadruples two have a masculine original."""
    codes = metrics.quadruple_types([[1, 1, 0, 0]] * 3 + [[1, 0, 1, 0]] * 2, [1, 1, 0, 0, 0])
    table = estimates.estimate_metrics([codes], estimates.resample(5, 50, seed=1), metrics.RATIOS)
    row = table.set_index(["metric", *study.FACTORS])[["above", "below", "clusters"]]
    assert row.loc[key("i_across", original_gender="M")].tolist() == [2, 2, 2]
    assert row.loc[key("i_across", original_gender="F")].tolist() == [1 + 2 / 2, 3, 3]
    assert row.loc[key("split_masculine")].tolist() == [2, 5, 5] and row.loc[key("one_each")].tolist() == [2, 5, 5]
    difference = row.loc[key("acc_diff", "original")]
    assert difference.isna().tolist() == [True, True, False] and difference.clusters == 5
