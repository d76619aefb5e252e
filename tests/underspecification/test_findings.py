"""Findings at the borders of what they may say: nothing known, nothing moving, nothing to miss."""

import numpy as np
import pandas as pd
import pytest

from scripts.underspecification import correlation, findings_correlation, findings_detection, study
from scripts.underspecification.quantities import Source
from tests.underspecification.synthetic import GENDERS, tidy


def asked(values, width=0.05, **source):
    """Return what the first finding says of a model with these values of r and slope, female and male."""
    rows = [
        {"label": "OPT", "evaluation_set": "mgc", "variable": "date", "prompt": "A", "gender": gender,
         "metric": metric, "accumulation": "top", "value": value, "low": value - width, "high": value + width, "n": 9}
        for gender, value in zip(("female", "male"), values, strict=True)
        for metric in ("r", "slope")
    ]  # fmt: skip
    return findings_correlation.gender_and_time(Source({"estimates": pd.DataFrame(rows)}, 0.5, **source))


@pytest.mark.parametrize(
    ("values", "width", "outcome", "told"),
    [
        ((0.9, -0.9), 0.05, True, ""),
        ((-0.9, -0.9), 0.05, False, ""),
        ((np.nan, -0.9), 0.05, False, ""),
        # Always "he": no curve moves. Samples that agree on another slope are no certainty.
        ((np.nan, 0.0), np.nan, False, ""),
        ((0.26, -0.26), 0.0, None, "no interval"),
    ],
)
def test_a_curve_that_does_not_move_in_any_sentence_is_a_certain_no(values, width, outcome, told):
    (check,) = asked(values, width, alone=("OPT",))
    assert check.outcome is outcome and told in check.text


def test_of_models_without_any_mass_nothing_is_known_and_models_that_were_not_asked_are_named():
    (still,) = asked((np.nan, np.nan), alone=("OPT",))
    assert (still.outcome, still.missing) == (None, ("a female or male word that the model gives any mass",))
    assert next(check.missing for check in asked((0.9, -0.9)) if check.outcome is None) == ("BERT-base",)


@pytest.mark.parametrize(
    ("shares", "outcome"),
    [
        ((0.0, 1.0, 0.0), False),  # always "he": "they" has as little as "she"
        ((0.2, 0.2, 0.2), False),
        ((0.4, 0.4, 0.05), True),
        ((0.0, 0.0, 0.0), None),
    ],
)
def test_shares_that_are_the_same_in_all_sentences_decide(shares, outcome):
    rows = [
        {"item": item, "gender": gender, "position": position, "probability": share}
        for gender, share in zip(GENDERS, shares, strict=True) for item in range(60) for position in range(4)
    ]  # fmt: skip
    curves = correlation.fit_curves(tidy(rows, label="OPT"), draws=100, seed=1)
    (check,) = findings_correlation.little_mass_to_neutral(Source({"curves": curves}, 0.5, alone=("OPT",)))
    assert check.outcome is outcome


# Below every value there is no miss to compare.
@pytest.mark.parametrize(
    ("threshold", "outcome", "missing"), [(2.0, True, ()), (0.5, None, ("a significant test (n = 32)",))]
)
def test_sentences_are_missed_at_the_threshold_of_the_settings(threshold, outcome, missing):
    metrics = pd.DataFrame(
        [
            {"label": m, "prompt": "mask", "templates": "official", "accumulation": "top", "dates": "1",
             "gender": "female", "evaluation_set": "winogender", "well_specified": False, "occupation": f"o{i}",
             "value": value}
            for m in study.METHOD2 for i, value in enumerate((*[1] * 7, *[3] * 17, *[1] * 7, 3))
        ]
    )  # fmt: skip
    source = Source({"metrics": metrics}, threshold, {f"o{i}": i for i in range(32)})
    for check in findings_detection.missed_at_both_ends(source):
        assert (check.outcome, tuple(check.missing)) == (outcome, missing)
        assert ("p < 0.001" in check.text) == bool(outcome)
