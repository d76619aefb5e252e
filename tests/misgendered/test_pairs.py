"""Pairs of models on the same instances, what samples can show, and the rows of the summary."""

import pandas as pd
import pytest

from scripts.core.paper import paired_cells
from scripts.misgendered import analyses
from scripts.misgendered.lib import numbers, summary, tables
from scripts.misgendered.lib.analyses import normalisation
from tests.misgendered import synthetic

MODELS = {name: facts for name, (_, facts) in zip("ab", synthetic.STUDY_MODELS.items(), strict=False)}


@pytest.fixture(scope="module")
def predicted():
    return synthetic.predicted(["a", "b"], size=550, shots=(2,), draws=2)


def test_pairs_are_of_the_same_instances_without_examples(predicted):
    table = analyses.compare_pairs(predicted, 100, 0)
    overall = table[table.pronoun_type == "all"].iloc[0]
    asked = predicted[predicted.shots == 0]
    rates = asked.groupby("model").correct.mean()
    assert overall.difference == pytest.approx(rates[overall.model_a] - rates[overall.model_b])
    assert overall.n == len(asked) / 2
    assert overall.n_clusters == len(asked[["form", "template_index"]].drop_duplicates())
    assert analyses.compare_pairs(asked[asked.model == "a"], 50, 0).empty
    row = analyses.plan_samples(predicted).set_index(["model", "pronoun_type"]).loc["a", "all"]
    assert row.accuracy == pytest.approx(rates["a"]) and 0 < row.detectable < row.detectable_pair
    labelled = (MODELS, "pronoun_type", "Pronouns", tables.PRONOUNS)
    assert paired_cells.pairs(table, *labelled).Pronouns.tolist()[0] == "all"
    assert len(paired_cells.power(analyses.plan_samples(predicted), *labelled)) == 8


@pytest.fixture(scope="module")
def decided():
    table = synthetic.instances(330)
    parts = [
        normalisation.decide_instances(table, synthetic.scores(table, seed=seed), model)
        for seed, model in enumerate("ab", 1)
    ]
    return pd.concat(parts, ignore_index=True)


def test_the_summary_and_the_text_have_every_analysis(predicted, decided):
    made = {
        **dict(zip(("normalisation", "calibration"), synthetic.results(decided), strict=False)),
        "regressions": analyses.regress(analyses.by_form(predicted)),
        "model_pairs": analyses.compare_pairs(predicted, 50, 0),
        "power": analyses.plan_samples(predicted),
        "mixed_model": analyses.fit_mixed_model(predicted, 1),
    }
    rows = pd.DataFrame(summary.of_analyses(made, MODELS, "replica"))
    for metric in (
        "accuracy", "other pick", "calibration error", "accuracy, difference", "log odds of being right",
        "change of accuracy with a token of the form", "smallest difference from another model found with 80 % power",
    ):  # fmt: skip
        assert metric in set(rows.metric)
    assert "headline" not in rows and set(rows.shots) == {0}
    named = ["model", "compared_with", "metric", "pronoun_type", "normalisation", "coefficient"]
    assert not rows.duplicated(named).any()
    collected = numbers.from_other_scores(made["normalisation"], made["calibration"], made["power"])
    flipped = made["normalisation"].query("model == 'all' and pronoun_type == 'all' and normalisation == 'bytes'")
    assert collected["bytes.other_pick"]["value"] == flipped.flipped.item()
    assert {"bytes.neo.interval", "ece.all.chance", "detectable.all", "needed.all"} <= set(collected)
