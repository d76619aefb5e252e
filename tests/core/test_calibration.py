"""Confidences and calibration errors: values worked out by hand, simulations, and limits."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from scripts.core import calibration
from scripts.core.errors import UserError


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


# Bins of 0.2: the first holds 0.2, its upper end; the second 0.3; the fourth 0.8 twice; the last two more.
CONFIDENCE = [0.2, 0.3, 0.8, 0.8, 0.9, 1.0]
CORRECT = [True, False, True, False, True, True]


def test_reliability_by_hand():
    table = calibration.reliability(CONFIDENCE, CORRECT, bins=5)
    assert table.n.tolist() == [1, 1, 0, 2, 2]
    assert table.confidence.tolist() == pytest.approx([0.2, 0.3, np.nan, 0.8, 0.95], nan_ok=True)
    assert table.accuracy.tolist() == pytest.approx([1, 0, np.nan, 0.5, 1], nan_ok=True)
    assert table.high.tolist() == pytest.approx([0.2, 0.4, 0.6, 0.8, 1])


def test_expected_error_by_hand():
    # (0.8 + 0.3 + 2 * 0.3 + 2 * 0.05) / 6
    assert calibration.expected_error(CONFIDENCE, CORRECT, bins=5) == pytest.approx(1.8 / 6)
    assert calibration.overconfidence(CONFIDENCE, CORRECT) == pytest.approx(4 / 6 - 4 / 6)


def test_upper_ends_belong_to_their_bins_whatever_rounding_does():
    for bins in (5, 10, 15, 20):
        ends = np.arange(1, bins + 1) / bins
        assert calibration.reliability(ends, ends > 0, bins).n.tolist() == [1] * bins


def test_perfect_and_wrong_confidences():
    assert calibration.expected_error(np.ones(20), np.ones(20, bool)) == 0
    assert calibration.expected_error(np.ones(20), np.zeros(20, bool)) == 1
    assert np.isnan(calibration.expected_error([], []))
    assert np.isnan(calibration.error_if_calibrated([]))
    assert np.isnan(calibration.overconfidence([], []))


@pytest.mark.parametrize(("size", "low"), [(60, 0.25), (1000, 0.25), (1000, 0.8)])
def test_the_error_by_chance_is_that_of_simulated_outcomes(size, low):
    random = np.random.default_rng(2)
    confidence = random.uniform(low, 1, size)
    drawn = [calibration.expected_error(confidence, random.random(size) < confidence) for _ in range(400)]
    assert calibration.error_if_calibrated(confidence) == pytest.approx(np.mean(drawn), rel=0.06)


def test_the_interval_is_over_clusters():
    random = np.random.default_rng(4)
    clusters = np.repeat(np.arange(40), 10)
    # All instances of a cluster are right or wrong together: 40 outcomes, not 400.
    together = np.repeat(random.random(40) < 0.5, 10)
    apart = random.random(400) < 0.5
    confidence = np.full(400, 0.7)
    wide, narrow = (calibration.error_interval(confidence, correct, clusters, 1000, 0) for correct in (together, apart))
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])
    assert wide[0] <= calibration.expected_error(confidence, together) <= wide[1]
    assert calibration.error_interval(confidence, apart, clusters, 1000, 0) == narrow
    assert np.isnan(calibration.error_interval(confidence, apart, np.zeros(400), 100, 0)).all()


def test_the_interval_covers_the_true_error_of_overconfident_choices():
    """Confidence 0.8 or 0.5 and accuracies 0.2 below, templates that differ: the true error is 0.2."""
    random = np.random.default_rng(6)
    covered = 0
    for repeat in range(150):
        confidence = np.tile([0.8, 0.5], 300)
        clusters = np.repeat(np.arange(60), 10)
        chance = np.clip(confidence - 0.2 + np.repeat(random.normal(0, 0.1, 60), 10), 0, 1)
        low, high = calibration.error_interval(confidence, random.random(600) < chance, clusters, 400, repeat)
        covered += low <= 0.2 <= high
    assert 0.9 <= covered / 150 <= 0.99


def test_what_is_no_confidence_is_refused():
    for wrong in (0.0, 1.1, np.nan):
        with pytest.raises(ValueError, match="above 0"):
            calibration.reliability([wrong], [True])
    with pytest.raises(ValueError, match="1 confidences and 2 outcomes"):
        calibration.reliability([0.5], [True, False])
