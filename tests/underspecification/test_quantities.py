"""The quantities behind findings: what their intervals are where a bootstrap has none, and what is missing."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.core.paper.finding_verdicts import MissingEvidence
from scripts.underspecification.quantities import Source, rank_correlation

FACTORS = {"label": "GPT-3", "accumulation": "top", "n": 32, "clusters": 8}
METHOD_1 = FACTORS | {"evaluation_set": "mgc", "variable": "date", "gender": "female", "metric": "slope"}
METHOD_2 = FACTORS | {"evaluation_set": "winogender", "templates": "official", "prompt": "A", "gender": "female",
                      "dates": "1", "choice": "fixed", "metric": "balanced accuracy"}  # fmt: skip


def source(*rows, **more):
    return Source({"estimates": pd.DataFrame(rows)}, 0.5, **more)


def test_lines_are_means_over_prompts():
    of_prompts = [
        METHOD_1 | {"prompt": p, "value": v, "low": v - 0.1, "high": v + 0.3} for p, v in (("A", 1), ("B", 3))
    ]
    pooled = METHOD_1 | {"prompt": "A|B", "value": 9.0, "low": 9.0, "high": 9.0}
    known = source(*of_prompts, pooled)
    for line, value in ((known.line("GPT-3", "female", "slope"), 2), (known.absolute("GPT-3", "slope", prompt="B"), 3)):
        assert (line.value, line.low, line.high) == pytest.approx((value, value - 0.1, value + 0.3))


@pytest.mark.parametrize(
    ("value", "low", "high", "ends"),
    [
        (0.5, 0.4, 0.7, (0.4, 0.7)),
        # Exactly, of the sixteen sentences of either kind.
        (1.0, 1.0, 1.0, tuple(stats.binomtest(16, 16).proportion_ci())),
        (0.0, 0.0, 0.0, tuple(stats.binomtest(0, 16).proportion_ci())),
        (0.5, 0.5, 0.5, (np.nan, np.nan)),
    ],
)
def test_rates_are_never_known_exactly(value, low, high, ends):
    rate = source(METHOD_2 | {"value": value, "low": low, "high": high}).accuracy("GPT-3")
    assert rate.value == value and (rate.low, rate.high) == pytest.approx(ends, nan_ok=True)


def test_models_that_are_left_out_or_were_not_asked_are_named():
    rate = METHOD_2 | {"value": 0.5, "low": 0.4, "high": 0.7}
    for known, name in ((source(rate, excluded=frozenset({"GPT-3"})), "GPT-3"), (source(rate), "GPT-4")):
        with pytest.raises(MissingEvidence, match=f"{name} on the official winogender set"):
            known.accuracy(name)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_rank_correlations_are_spearmans_with_the_p_of_random_pairings(alternative):
    x, y = [1.0, 5.0, 2.0, 2.0, 7.0, 3.0, 9.0, 4.0], [2.0, 4.0, 3.0, 1.0, 6.0, 8.0, 7.0, 5.0]
    rho, p = rank_correlation(x, y, alternative)

    def statistic(values):
        return stats.spearmanr(values, y).statistic

    expected = stats.permutation_test(
        (x,), statistic, permutation_type="pairings", n_resamples=2000, alternative=alternative,
        rng=np.random.default_rng(2),
    )  # fmt: skip
    assert rho == pytest.approx(stats.spearmanr(x, y).statistic) and p == pytest.approx(expected.pvalue, abs=0.02)
