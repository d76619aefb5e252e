"""The estimates, on predictions and outputs small enough to count by hand."""

import numpy as np
import pandas as pd
import pytest

from scripts.ruff import estimates
from tests.ruff.synthetic import FOUR, of_models


def row(n, pronoun, distractor, prediction, free="he", **facts):
    """Return a prediction; a distractor is None without any."""
    known = {"model": "m", "setting": "fidelity", "seed": 13, "occupation": "baker", "case": "nominative"}
    known |= {"polarity": "positive", "pronoun": pronoun, "distractor_pronoun": distractor, "n_distractors": n}
    return known | {"prediction": prediction, "context_free_prediction": free, "correct": prediction == pronoun} | facts


def given(rows):
    table = pd.DataFrame(rows).astype({"correct": "boolean", "seed": "Int64", "n_distractors": "Int64"})
    return estimates.fidelity_rows(table)


def accuracies(rows, draws=100):
    """Return accuracies over all samples."""
    made = estimates.estimate_accuracies(given(rows), draws, 1).fillna({"seed": ""})
    return made[made.seed == ""]


def overall(made):
    return made[(made.pronoun == "") & (made["case"] == "") & (made.polarity == "")].iloc[0]


def test_accuracy_averages_over_samples_not_over_instances():
    rows = [row(0, "he", None, "he")] * 3 + [row(0, "he", None, "she")]
    found = overall(accuracies([*rows, row(0, "he", None, "she", seed=17)]))
    assert found.value == pytest.approx((0.75 + 0) / 2)
    assert found.sd == pytest.approx(np.std([0.75, 0], ddof=1))
    assert (found.samples, found.above, found.below) == (2, 3, 5)


def test_accuracy_has_every_factor_and_no_sd_for_one_sample():
    made = accuracies([row(0, "he", None, "he"), row(0, "xe", None, "he", case="accusative")])
    assert made.set_index("pronoun").value[["he", "xe"]].tolist() == [1, 0]
    assert made.set_index("case").value["accusative"] == 0
    assert made.set_index("polarity").below["positive"] == 2
    assert made.sd.isna().all()


def test_accuracies_of_occupations_are_those_without_distractors():
    rows = pd.DataFrame(
        [row(0, "he", None, "he"), row(1, "he", "she", "she"), row(0, "xe", None, "he", setting="other")]
    )
    assert estimates.occupation_accuracies(rows).to_dict() == {("m", "he", "baker"): 1.0}


def test_intervals_resample_occupations():
    sure = [row(0, "he", None, "he" if o < 30 else "she", occupation=f"o{o}") for o in range(60) for _ in range(20)]
    mixed = [row(0, "he", None, "he" if k % 2 else "she", occupation=f"o{o}") for o in range(60) for k in range(20)]
    first, second = (overall(accuracies(rows, draws=500)) for rows in (sure, mixed))
    assert [(found.value, found.clusters) for found in (first, second)] == [(0.5, 60)] * 2
    assert first.high - first.low > 0.2
    # All samples agree: that is no certainty.
    assert second.high - second.low == pytest.approx(1 - 0.025 ** (1 / 60))


def test_preferences_of_one_introduction_add_up():
    rows = [row(1, "he", "she", picked) for picked, n in (("he", 6), ("she", 4)) for _ in range(n)]
    rows += [row(1, "xe", "he", picked) for picked, n in (("he", 9), ("xe", 3)) for _ in range(n)]
    made = estimates.estimate_preferences(given(rows), FOUR, 200, 1)
    shares = made.set_index(["pronoun", "preferred"]).value
    assert [shares["he", "he"], shares["he", "she"], shares["xe", "he"]] == [0.6, 0.4, 0.75]
    assert made.groupby("pronoun").value.sum().tolist() == pytest.approx([1, 1])


def test_picks_without_context_have_a_row_for_every_set():
    made = estimates.estimate_picks(pd.DataFrame({"prediction": ["he", "they"], "tie": [True, False]}), FOUR)
    picked, tied = (made[made.metric == metric] for metric in ("picked", "tied"))
    assert (picked.above.tolist(), picked.below.tolist(), picked.value.tolist()) == (
        [1, 0, 1, 0], [2] * 4, [0.5, 0, 0.5, 0],
    )  # fmt: skip
    assert (tied.above.tolist(), tied.below.tolist()) == ([1, 0, 0, 0], [1, 0, 1, 0])


def errors(rows):
    """Return the errors of one number of distractors by metric."""
    return estimates.estimate_errors(given(rows)).set_index("metric")


def test_errors_by_hand():
    rows = [
        row(1, "she", "they", "they"),  # distraction
        row(1, "she", "they", "they"),  # distraction
        row(1, "she", "they", "he"),  # bias: the context-free pick is he
        row(1, "she", "they", "xe"),  # other
        row(1, "she", "he", "he"),  # ambiguous: distractor and context-free pick agree
        row(1, "he", "they", "they"),  # distraction; bias impossible because the pick is right
        row(1, "she", "they", "she"),  # no error
    ]
    counts = {
        "error": (6, 7), "ambiguous": (1, 6), "unbiased": (1, 5), "distraction": (3, 5), "bias": (1, 5), "other": (1, 5)
    }  # fmt: skip
    made = errors(rows)
    assert {metric: (found.above, found.below) for metric, found in made.iterrows()} == counts
    assert made.value.to_dict() == pytest.approx({metric: above / below for metric, (above, below) in counts.items()})


def test_shares_of_errors_average_over_samples_and_skip_empty_ones():
    rows = [row(2, "she", "they", "they"), row(2, "she", "they", "he", seed=17), row(2, "she", "he", "he", seed=19)]
    found = errors(rows).loc["distraction"]
    assert (found.value, found.samples, found.sd) == (0.5, 2, pytest.approx(np.sqrt(0.5)))
    assert errors([row(0, "she", None, "he")]).empty
    assert errors([row(1, "she", "he", "she")]).value[["distraction", "bias", "other"]].isna().all()


# Outputs of a prompted model: instance, seed, distractors, method, answer in, prompt, kind, outcome.
OUTPUTS = pd.DataFrame(
    [
        ("a0", 13, "0", "vanilla", "final", "0", "open", "right"),
        ("a0", 13, "0", "vanilla", "final", "5", "options", "wrong"),
        *(("b1", seed, "1", "vanilla", "final", "0", "open", "wrong_case") for seed in (13, 17)),
        *(("b1", seed, "1", "vanilla", "final", "5", "options", "several") for seed in (13, 17)),
        ("b1", 13, "1", "kojima", "final", "0", "open", "none"),
        ("b1", 13, "1", "kojima", "chain", "0", "open", "right"),
    ],
    columns=["instance_id", "seed", "n_distractors", "method", "answer", "prompt", "kind", "outcome"],
).assign(model="m")


def cell(table, **where):
    for key, value in where.items():
        table = table[table[key] == value]
    assert len(table) == 1, table
    return table.iloc[0]


def test_every_output_of_a_prompt_is_counted_once():
    table = of_models(estimates.estimate_prompts(OUTPUTS), scoring="prompted")
    asked = {"method": "vanilla", "answer": "final"}
    first = cell(table, metric="accuracy", n_distractors="0", prompt="0", **asked)
    assert (first.above, first.below, first.value) == (1, 1, 1)
    second = {"n_distractors": "1", "prompt": "5", **asked}
    assert cell(table, metric="accuracy", **second)[["below", "value"]].tolist() == [2, 0]
    assert cell(table, metric="several", **second).value == 1
    assert cell(table, metric="wrong_case", n_distractors="1", prompt="0", **asked).value == 1
    assert cell(table, metric="accuracy", method="kojima", answer="chain", prompt="0").value == 1
    keys = ["model", "method", "answer", "n_distractors", "prompt"]
    assert np.allclose(table.groupby(keys).value.sum(), 1) and not table.duplicated([*keys, "metric"]).any()


def test_pooled_rows_are_means_over_prompts():
    table = of_models(estimates.estimate_prompts(OUTPUTS))
    found = cell(table, metric="accuracy", method="vanilla", n_distractors="0", prompt="")
    assert found[["samples", "above", "below", "value", "sd"]].tolist() == pytest.approx((2, 1, 2, 0.5, np.sqrt(0.5)))


def test_prompted_and_scored_models_meet_on_the_same_instances():
    scored = OUTPUTS.iloc[[0, 3, 4]].assign(model="base", setting="fidelity", correct=[True, False, False])
    scored = pd.concat([scored, scored.assign(seed=99)]).astype({"correct": "boolean", "n_distractors": "Int64"})
    pairs = [{"prompted": "m", "scored": "base"}]
    table = estimates.compare_with_scored(OUTPUTS, scored, pairs)
    found = cell(table, n_distractors="0", model="m")
    assert (found.below, found.samples, found.value, found.lowest, found.highest) == (1, 2, 0.5, 0, 1)
    assert cell(table, n_distractors="0", model="base").value == 1
    # An instance of two samples counts in both.
    assert cell(table, n_distractors="1", model="m").below == 2
