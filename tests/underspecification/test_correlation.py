"""Method 1 on curves that are worked out by hand, and by the regressions of other libraries."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.api import OLS, add_constant

from scripts.core.statistics import procedures
from scripts.underspecification import correlation
from tests.underspecification.synthetic import mgc

SLOPE = "slope, female minus male"


def slopes(probabilities, draws=50):
    """Return estimates by prompt, gender and metric."""
    return (
        correlation.estimate_slopes(probabilities, draws, seed=1).set_index(["prompt", "gender", "metric"]).sort_index()
    )


def test_slopes_are_those_of_scipy_and_intervals_those_of_resampled_sentences():
    noisy = mgc(noise=0.05, sentences=12)
    female = slopes(noisy, 200).loc["mask", "female"]
    sentences = 100 * noisy[noisy.gender == "female"].pivot(index="item", columns="position", values="probability")
    expected = stats.linregress(range(6), sentences.mean())
    values = [expected.slope, expected.intercept, expected.rvalue, expected.rvalue**2]
    assert female.value[["slope", "intercept", "r", "r2"]].tolist() == pytest.approx(values)
    weights = procedures.cluster_weights(12, 200, 1)
    for metric, theirs in {"slope": "slope", "r": "rvalue"}.items():
        drawn = [getattr(stats.linregress(range(6), w @ sentences.to_numpy() / 12), theirs) for w in weights]
        row = female.loc[metric]
        assert [row.low, row.high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]).tolist())
        assert (row.n, row.clusters) == (12, 12)


def test_genders_are_resampled_together():
    """Sentences that differ in their level, and not in what lies between the genders, leave nothing unknown of that."""
    frame = mgc((0.02, 0.02, 0.0))
    scale = frame["item"].map({"s0": 1.0, "s1": 0.5, "s2": 0.8, "s3": 0.3})
    table = slopes(frame.assign(probability=frame.probability * scale))
    assert table.low["mask", "female", "slope"] < table.value["mask", "female", "slope"] - 0.1
    assert table.value["mask", "", SLOPE] == pytest.approx(0) and np.isnan(table.low["mask", "", SLOPE])


def test_constant_curves_have_no_correlation_and_exact_ones_no_interval():
    table = slopes(mgc())
    assert np.isnan(table.value["mask", "neutral", "r"]) and table.value["mask", "neutral", "slope"] == 0
    assert table.value["mask", "female", "slope"] == pytest.approx(2)
    assert np.isnan(table.high["mask", "female", "slope"])
    assert table.value["mask", "", SLOPE] == pytest.approx(3)
    silent = mgc()
    silent["probability"] = silent.probability.where(silent.gender != "neutral", 0.0)
    assert np.isnan(slopes(silent).value["mask", "neutral", "slope"])


def test_lines_of_curves_are_the_fits_with_their_intervals():
    noisy = mgc(noise=0.05)
    values = slopes(noisy, 200).loc["mask", "male"]
    curve = correlation.fit_curves(noisy, draws=200, seed=1)
    curve = curve[curve.gender == "male"].sort_values("position")
    assert curve.fit.to_numpy() == pytest.approx(values.value["intercept"] + values.value["slope"] * np.arange(6))
    # At the first position the line is the intercept, with the same draws.
    first = curve.iloc[0]
    assert (first.low, first.high) == pytest.approx((values.low["intercept"], values.high["intercept"]))
    assert ((curve.low < curve.fit) & (curve.fit < curve.high)).all()


def test_the_studys_band_is_two_standard_errors_of_the_line():
    means = np.array([3.0, 4.5, 4.0, 7.0, 6.0])
    line = OLS(means, add_constant(np.arange(5.0))).fit()
    assert correlation.study_band(means) == pytest.approx(2 * line.get_prediction().se_mean)
    assert np.isnan(correlation.study_band(means[:2])).all()


def test_averages_over_prompts_right_and_as_the_authors_did():
    of_prompts = [mgc((slope, 0, 0), prompt=name) for name, slope in (("A", 0.03), ("B", 0.01), ("C", 0.02))]
    table = slopes(pd.concat(of_prompts)).value
    assert table["A|B|C", "", SLOPE] == pytest.approx(2)
    # C, B, A with 1/27, 1/9 and 1/3.
    assert table["A|B|C", "", f"{SLOPE}, authors' mean"] == pytest.approx(2 / 27 + 1 / 9 + 3 / 3)
    masked = slopes(mgc()).value
    assert masked["mask", "", f"{SLOPE}, authors' mean"] / masked["mask", "", SLOPE] == pytest.approx(13 / 27)
    two = correlation.estimate_slopes(pd.concat(of_prompts[:2]), 50, 1)
    assert set(two.prompt) == {"A", "B", "A|B"} and not two.metric.str.contains("authors").any()
