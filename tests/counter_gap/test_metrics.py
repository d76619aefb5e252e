"""The metrics against the study's equations."""

import numpy as np
import pytest
from scipy import stats

from scripts.counter_gap import metrics
from scripts.counter_gap.metrics import key


def equations(right, masculine):
    """The metrics straight from Equations 1 to 4 and the captions of Tables 3 and 4, quadruple by quadruple."""
    acc, within, across = {"M": [], "F": []}, {"M": [], "F": []}, {"M2F": [], "F2M": []}
    scores = []
    for (o, c, s1, s2), m in zip(right.astype(int), masculine, strict=True):
        first, second = ("M", "F") if m else ("F", "M")
        acc[first] += [o, c]
        acc[second] += [s1, s2]
        within[first].append(abs(o - c))
        within[second].append(abs(s1 - s2))
        score = abs(o - s1) + abs(c - s2) + abs(o - s2) + abs(c - s1)
        across["M2F" if m else "F2M"].append(score / 4)
        scores.append(score)
    mean = np.mean
    i_within, i_across = mean(within["M"] + within["F"]), mean(across["M2F"] + across["F2M"])
    return {
        key("accuracy", gender="M"): mean(acc["M"]),
        key("accuracy", gender="F"): mean(acc["F"]),
        key("accuracy"): mean(right),
        key("accuracy", "original|control"): mean(right[:, :2]),
        key("accuracy", "swap-1|swap-2"): mean(right[:, 2:]),
        key("acc_diff"): mean(acc["M"]) - mean(acc["F"]),
        key("original_minus_counterfactual"): mean(right[:, :2]) - mean(right[:, 2:]),
        key("i_within", gender="M"): mean(within["M"]),
        key("i_within", gender="F"): mean(within["F"]),
        key("i_within"): i_within,
        key("i_within_diff"): mean(within["M"]) - mean(within["F"]),
        key("i_across", original_gender="M"): mean(across["M2F"]),
        key("i_across", original_gender="F"): mean(across["F2M"]),
        key("i_across"): i_across,
        key("i_across_diff"): mean(across["M2F"]) - mean(across["F2M"]),
        key("delta_i"): i_across - i_within,
        key("spearman_rho"): stats.spearmanr(masculine, scores).statistic,
    }


def random_data(seed, n=60):
    generator = np.random.default_rng(seed)
    return generator.random((n, 4)) < 0.7, generator.random(n) < 0.5


def count_types(right, masculine=1):
    masculine = np.broadcast_to(masculine, len(right))
    return np.bincount(metrics.quadruple_types(right, masculine), minlength=metrics.N_TYPES)


@pytest.mark.parametrize("seed", range(5))
def test_metrics_are_the_equations(seed):
    right, masculine = random_data(seed)
    values = metrics.evaluate(count_types(right, masculine))
    for of, value in equations(right, masculine).items():
        assert values[of] == pytest.approx(value), of
    assert values[key("acc_diff")] == pytest.approx(values[key("lean_masculine")] - values[key("lean_feminine")])
    assert values[key("delta_i")] == pytest.approx(
        values[key("split_masculine")] + values[key("split_feminine")] - values[key("one_each")] / 2
    )
    cancelled = 2 * min(values[key("lean_masculine")], values[key("lean_feminine")]) / values[key("lean")]
    assert values[key("cancelled")] == pytest.approx(cancelled)
    assert values[key("accuracy", "original", "M")] == pytest.approx(right[masculine, 0].mean())
    assert values[key("acc_diff", "original")] == pytest.approx(
        right[masculine, 0].mean() - right[~masculine, 0].mean()
    )


def test_single_instances_have_accuracies():
    values = metrics.evaluate(np.array([1, 3, 2, 2]), metrics.SINGLE)
    assert values[key("accuracy", gender="F")] == 0.75 and values[key("accuracy", gender="M")] == 0.5
    assert values[key("acc_diff")] == -0.25 and values[key("accuracy")] == 0.625
