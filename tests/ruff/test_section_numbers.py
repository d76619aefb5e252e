"""Numbers of the section that the golden files do not have: what is no favourite, unclear, or zero."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.ruff import section_numbers, study
from tests.ruff.synthetic import DEMONSTRATION, of_models

DECODER, ENCODER = DEMONSTRATION
NUMBERS = ("flipped", "difference_low", "difference_high")
MODELS = DEMONSTRATION | {"b": DEMONSTRATION[DECODER]}


def values(made, *names):
    return [made[name]["value"] for name in names]


def accuracies(**of_model):
    """Return accuracies: model to value, low and high with each number of distractors from 0 on."""
    rows = [
        {"model": model, "n_distractors": str(n), "metric": "accuracy", "value": value, "low": low, "high": high}
        for model, cells in of_model.items()
        for n, (value, low, high) in enumerate(cells)
    ]
    return of_models(rows, **study.SCORED)


def test_models_are_above_chance_by_their_intervals():
    of_all = {DECODER: (0.3, 0.2, 0.4), "b": (0.4, 0.3, 0.5), ENCODER: (0.2, 0.1, 0.3)}
    made = section_numbers.accuracy_entries(
        accuracies(**{name: [row, row] for name, row in of_all.items()}), MODELS, 0.25
    )
    assert values(made, "above_chance.0", "models.n", "models.pooled", "distractors.fewest") == [1, 3, 2, 1]
    # The demonstration model is not pooled.
    assert made["accuracy.all.0"]["value"] == pytest.approx(0.35)
    # What rounds to zero has no sign.
    rows = accuracies(**{DECODER: [(0.501, 0.4, 0.6), (0.5, 0.4, 0.55)]})
    alone = section_numbers.accuracy_entries(rows, {DECODER: MODELS[DECODER]}, 0.25)
    assert alone["accuracy_change.all"]["text"] == "0"


def test_other_scores_change_an_accuracy_where_zero_is_outside_the_interval():
    found = [("sum", None, None, None), ("tokens", 0.3, -0.1, 0.9), ("bytes", 0.2, -0.6, -0.4)]
    found += [("context_free", 0.15, -0.3, -0.1), ("other", 0.1, 0.1, 0.2)]
    rows = pd.DataFrame(found, columns=["normalisation", *NUMBERS]).assign(n_distractors="", pronoun="")
    made = section_numbers.score_entries(pd.concat([rows, rows.assign(pronoun="xe", flipped=0.9)]))
    assert {name: found["text"] for name, found in made.items()} == {
        "flipped.lowest": "0.10", "flipped.highest": "0.30", "other_changed": "3", "other_compared": "4",
    }  # fmt: skip


def test_the_most_frequent_sets_without_context_are_told_apart_by_a_test():
    """Three sentences about an occupation count as one; sets that are equally frequent are no favourite."""
    picks = {"close": (69, 48, 44, 0), "clear": (10, 120, 30, 20), "tied": (60, 60, 60, 0)}
    rows = [
        {"model": model, "preferred": name, "metric": metric, "above": above}
        for model, counts in picks.items()
        for ties, (name, n) in enumerate(zip(study.PRONOUN_SETS, counts, strict=True))
        for metric, above in (("picked", n), ("tied", ties))
    ]
    made = section_numbers.pick_entries(of_models(rows))
    assert (made["first.close"]["set"], made["second.close"]["set"]) == ("he", "she")
    assert (made["first.clear"]["set"], made["second.clear"]["set"]) == ("she", "they")
    assert (
        made["first_p.close"]["value"] == pytest.approx(stats.binomtest(16, 39).pvalue)
        and made["first_p.clear"]["value"] < 0.001
    )
    assert values(made, "ties.close", *(f"favourite.{p}" for p in study.PRONOUN_SETS), "favourites.tied") == [
        6, 1, 1, 0, 0, 1
    ]  # fmt: skip


def test_an_accuracy_near_chance_takes_many_instances():
    counts = pd.DataFrame({"n_distractors": [np.nan, 0], "scored": [180, 60]})
    made = section_numbers.setting_entries(counts, {"chance": 0.25, "alpha": 0.05}, {"a": 20})
    # An interval of an accuracy at chance is 0.1 wide on either side: 1.96 times the root of 0.25 · 0.75 / 73.
    assert made["chance.needed"]["value"] == 73
    assert values(made, *(f"scored.{name}" for name in ("context_free", "0", "a.0"))) == [180, 60, 60]
