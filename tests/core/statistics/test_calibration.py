"""Confidences and calibration errors: values worked out by hand, simulations, and limits."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from scripts.core.errors import UserError
from scripts.core.statistics import calibration


def test_confidence_is_the_largest_share_of_a_softmax():
    random = np.random.default_rng(1)
    values = random.normal(-80, 4, (50, 4))
    scores = pd.DataFrame({"instance_id": np.repeat(np.arange(50), 4)})
    order = random.permutation(200)
    made = calibration.confidences(scores.iloc[order], pd.Series(values.ravel()).iloc[order])
    assert made.sort_index().to_numpy() == pytest.approx(softmax(values, axis=1).max(axis=1))


def test_confidences_of_instances_with_different_numbers_of_options():
    scores = pd.DataFrame({"instance_id": ["a", "a", "b", "b", "b"]})
    made = calibration.confidences(scores, pd.Series([-1000 + np.log(3), -1000, -5.0, -5.0, -5.0]))
    assert made.to_dict() == pytest.approx({"a": 0.75, "b": 1 / 3})


def test_a_score_that_is_not_finite_is_refused():
    with pytest.raises(UserError, match="not finite"):
        calibration.confidences(pd.DataFrame({"instance_id": ["a", "a"]}), pd.Series([-np.inf, -1.0]))


# The first bin holds 0.1, its upper end; the second 0.15; the eighth 0.8 twice; the last two more.
CONFIDENCE = [0.1, 0.15, 0.8, 0.8, 0.95, 1.0]
CORRECT = [True, False, True, False, True, True]


def summed(confidence, correct, clusters=0):
    return calibration.bin_sums(confidence, correct, pd.DataFrame({"cluster": clusters}, index=range(len(confidence))))


def errors(confidence, correct, clusters=0, draws=10, seed=0):
    return calibration.errors(summed(confidence, correct, clusters), draws, seed)


def test_reliability_by_hand():
    table = calibration.reliability(summed(CONFIDENCE, CORRECT)).set_index("bin")
    assert table.n.tolist() == [1, 1, 0, 0, 0, 0, 0, 2, 0, 2]
    assert table.confidence[[1, 2, 3, 8, 10]].tolist() == pytest.approx([0.1, 0.15, np.nan, 0.8, 0.975], nan_ok=True)
    assert table.accuracy[[1, 2, 3, 8, 10]].tolist() == pytest.approx([1, 0, np.nan, 0.5, 1], nan_ok=True)
    assert table.high.tolist() == pytest.approx(np.arange(1, 11) / 10)


def test_expected_error_by_hand():
    made = errors(CONFIDENCE, CORRECT)
    # (0.9 + 0.15 + 2 * 0.3 + 2 * 0.025) / 6
    assert made["ece"] == pytest.approx(1.7 / 6)
    assert made["overconfidence"] == pytest.approx(3.8 / 6 - 4 / 6)
    assert (made["n"], made["accuracy"], made["confidence"]) == (6, pytest.approx(4 / 6), pytest.approx(3.8 / 6))


def test_upper_ends_belong_to_their_bins_whatever_rounding_does():
    ends = np.arange(1, calibration.BINS + 1) / calibration.BINS
    assert calibration.reliability(summed(ends, ends > 0)).n.tolist() == [1] * calibration.BINS


def test_perfect_and_wrong_confidences():
    assert errors(np.ones(20), np.ones(20, bool))["ece"] == 0
    assert errors(np.ones(20), np.zeros(20, bool))["ece"] == 1


@pytest.mark.parametrize(("size", "low"), [(60, 0.25), (1000, 0.25), (1000, 0.8)])
def test_the_error_by_chance_is_that_of_simulated_outcomes(size, low):
    random = np.random.default_rng(2)
    confidence = random.uniform(low, 1, size)
    drawn = [errors(confidence, random.random(size) < confidence) for _ in range(400)]
    assert drawn[0]["ece_by_chance"] == pytest.approx(np.mean([made["ece"] for made in drawn]), rel=0.06)


def test_the_interval_is_over_clusters():
    random = np.random.default_rng(4)
    clusters = np.repeat(np.arange(40), 10)
    # All instances of a cluster are right or wrong together: 40 outcomes, not 400.
    together = np.repeat(random.random(40) < 0.5, 10)
    apart = random.random(400) < 0.5
    confidence = np.full(400, 0.7)
    wide, narrow = (errors(confidence, correct, clusters, 1000) for correct in (together, apart))
    assert wide["ci_high"] - wide["ci_low"] > 2 * (narrow["ci_high"] - narrow["ci_low"])
    assert wide["ci_low"] <= wide["ece"] <= wide["ci_high"]
    assert errors(confidence, apart, clusters, 1000) == narrow
    assert np.isnan([errors(confidence, apart)[end] for end in ("ci_low", "ci_high")]).all()


def test_the_interval_covers_the_true_error_of_overconfident_choices():
    """Confidence 0.8 or 0.5 and accuracies 0.2 below, templates that differ: the true error is 0.2."""
    random = np.random.default_rng(6)
    covered = 0
    for repeat in range(150):
        confidence = np.tile([0.8, 0.5], 300)
        clusters = np.repeat(np.arange(60), 10)
        chance = np.clip(confidence - 0.2 + np.repeat(random.normal(0, 0.1, 60), 10), 0, 1)
        made = errors(confidence, random.random(600) < chance, clusters, 400, repeat)
        covered += made["ci_low"] <= 0.2 <= made["ci_high"]
    assert 0.9 <= covered / 150 <= 0.99


def test_what_is_no_confidence_is_refused():
    for wrong in (0.0, 1.1, np.nan):
        with pytest.raises(ValueError, match="above 0"):
            summed([wrong], [True])
    with pytest.raises(ValueError, match="1 confidences and 2 outcomes"):
        summed([0.5], [True, False])
