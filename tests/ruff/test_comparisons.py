"""Probability against generation, pairs of models, what samples can show, and the mixed model: values by hand."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.data import estimate_rows
from scripts.core.paper import paired_cells
from scripts.core.paper.summary import describe_metric, row_status
from scripts.ruff.analyses import compare_pairs, fit_correctness, plan_samples
from scripts.ruff.lib import summary, tables
from scripts.ruff.lib.analyses import fertility, generation
from tests.ruff import synthetic

SETS = ["he", "she", "xe"]
PAIR = {"prompted": "m", "scored": "m"}


@pytest.fixture(scope="module")
def predictions():
    """Return predictions of two models on 120 instances, of which the second is right on more."""
    random = np.random.default_rng(5)
    size = 120
    base = pd.DataFrame(
        {
            "setting": "fidelity", "instance_id": [f"{i:016x}" for i in range(size)], "seed": 13,
            "n_distractors": np.arange(size) % 2, "task_index": np.arange(size) % 3,
            "occupation": [f"job {i % 20}" for i in range(size)], "case": "nominative",
            "pronoun": [SETS[i % 3] for i in range(size)],
        }
    )  # fmt: skip
    parts = []
    for model, rate in (("m", 0.4), ("other", 0.8)):
        right = random.random(size) < rate
        named = np.where(right, base.pronoun, "ey")
        parts.append(base.assign(model=model, correct=pd.array(right, dtype="boolean"), prediction=named))
    return pd.concat(parts, ignore_index=True)


def outputs(predictions):
    """Return one output for each instance: as the model scores, but of every fourth instance none."""
    rows = predictions[predictions.model == "m"].reset_index(drop=True)
    silent = np.arange(len(rows)) % 4 == 0
    outcome = np.where(silent, "none", np.where(rows.correct.astype(bool), "right", "wrong"))
    written = {"method": "vanilla", "answer": "final", "prompt": "0", "kind": "open", "order": "published"}
    named = rows.prediction.where(~silent)
    keep = ["model", "instance_id", "seed", "n_distractors", "occupation", "case", "pronoun"]
    return rows[keep].assign(outcome=outcome, named=named, **written)


def test_probability_and_generation_agree_where_they_say_the_same(predictions):
    table = generation.scored_agreement(outputs(predictions), predictions, [PAIR], 100, 0)
    overall = table[table.factor == "all"].set_index("question")
    right = predictions[predictions.model == "m"].correct.astype(bool).to_numpy()
    silent = np.arange(120) % 4 == 0
    # Silent outputs are not right: they differ where the model's scores are.
    assert overall.agreement["right"] == pytest.approx(1 - (right & silent).mean())
    assert overall.loc["pick", ["n", "agreement", "kappa", "answered"]].tolist() == pytest.approx([90, 1, 1, 0.75])
    assert overall.instances["right"] == 120
    assert set(table[table.factor == "pronoun"].level) == set(SETS)
    assert overall.agreement_low["right"] < overall.agreement["right"] < overall.agreement_high["right"]


def test_pairs_of_models_are_compared_on_the_same_instances(predictions):
    table = compare_pairs(predictions, 200, 0)
    overall = table[table.n_distractors == "all"].iloc[0]
    wide = predictions.pivot(index="instance_id", columns="model", values="correct").astype(float)
    assert overall.difference == pytest.approx((wide.m - wide.other).mean())
    assert overall.discordant == pytest.approx((wide.m != wide.other).mean())
    assert overall.ci_high < 0 and overall.p < 0.05
    assert (table.p_holm == table.p).all()
    fewer = predictions[(predictions.model == "m") | (predictions.n_distractors == 0)]
    assert compare_pairs(fewer, 50, 0).set_index("n_distractors").n.to_dict() == {"all": 60, "0": 60, "1": 0}
    assert compare_pairs(predictions[predictions.model == "m"], 50, 0).empty


def test_what_a_sample_can_show(predictions):
    table = plan_samples(predictions).set_index(["model", "n_distractors"])
    row = table.loc["m", "all"]
    rate = predictions[predictions.model == "m"].correct.astype(float).mean()
    assert (row.n, row.n_clusters, row.accuracy) == (120, 20, pytest.approx(rate))
    assert row.discordant == pytest.approx(2 * rate * (1 - rate))
    assert row.detectable_pair == pytest.approx(np.sqrt(2) * row.detectable)
    # Connor: (1.96 + 0.8416)^2 (q - d^2) / d^2 times 1 + 5 times the correlation.
    expected = 2.8016**2 * (row.discordant - 0.01) / 0.01 * (1 + 5 * row.correlation)
    assert row.needed_10 == pytest.approx(expected, abs=2)


def test_the_mixed_model_tells_models_apart(predictions):
    table = fit_correctness(predictions, SETS, 1)
    assert table.converged.all()
    fixed = table[table.kind == "fixed"].set_index(["factor", "level"])
    assert fixed.ci_low["model", "other"] > 0
    assert set(table[table.kind == "random"].factor) == {"occupation", "sentence"}
    refused = fit_correctness(predictions.assign(correct=True), SETS, 1)
    assert refused.reason.tolist() == ["correctness does not vary"]
    cells = tables.mixed_model_cells(refused, {}, [])
    assert cells.Interval.tolist() == ["correctness does not vary"]


MODELS = {
    "m": {"label": "M", "demonstration": True},
    "other": {"label": "Other", "demonstration": False},
}


def test_cells_of_the_tables(predictions):
    labelled = [{"set": name, "label": f"{name}/..."} for name in SETS]
    cells = tables.mixed_model_cells(fit_correctness(predictions, SETS, 1), MODELS, labelled)
    assert cells.Effect.tolist()[:5] == ["Intercept", "1 distractors", "she/...", "xe/...", "Other"]
    table = generation.scored_agreement(outputs(predictions), predictions, [PAIR], 100, 0)
    cells = tables.scored_agreement_cells(table, MODELS, labelled)
    assert cells.Model.tolist() == ["M"] + [""] * 11
    assert cells.Question[cells.Question != ""].tolist() == ["right or not", "which set"]
    cells = paired_cells.pairs(compare_pairs(predictions, 50, 0), MODELS, "n_distractors", "D", tables.DISTRACTORS)
    assert cells.Models.tolist() == ["M – Other", "", ""]
    cells = paired_cells.power(plan_samples(predictions), MODELS, "n_distractors", "D", tables.DISTRACTORS)
    assert cells.D.tolist() == ["all", "0", "1"] * 2 and cells.Model.tolist()[3] == "Other"


def test_the_summary_has_every_analysis(predictions, tmp_path):
    decided = synthetic.decided(MODELS, [{"set": name} for name in SETS])
    made = {
        **dict(zip(("normalisation", "calibration"), synthetic.results(decided), strict=False)),
        "fertility_correlations": fertility.correlations(fertility.by_form(decided)),
        "model_pairs": compare_pairs(predictions, 50, 0),
        "power": plan_samples(predictions),
        "mixed_model": fit_correctness(predictions, SETS, 1),
        "scored_agreement": generation.scored_agreement(outputs(predictions), predictions, [PAIR], 50, 0),
    }
    path = tmp_path / "summary.csv"
    estimate_rows.write(path, "ruff", summary.of_analyses(made, MODELS, "replica"))
    rows = estimate_rows.read([path])
    told = {describe_metric(row): row for row in rows.to_dict("records")}
    assert told.keys() >= {
        "accuracy, by mean over tokens", "other pick, by mean over bytes", "calibration error",
        "accuracy, difference, other", "smallest difference from another model found with 80 % power",
        "log odds of being right, pronoun she", "probability and generation, being right: kappa",
        "accuracy and tokens of a form, rank correlation",
    }  # fmt: skip
    assert not rows.headline.any()
    assert row_status(told["accuracy, difference, other"]) == "demonstration"
    assert {row_status(row) for row in rows[rows.label == "all models"].to_dict("records")} == {"run"}


def drawn(rights):
    """Return greedy outputs, all right, and drawn ones: a row of ``rights`` for each output, a column for each draw."""
    facts = {"model": "m", "method": "vanilla", "answer": "final", "prompt": "0", "kind": "open", "order": "published"}
    base = pd.DataFrame(
        {
            "instance_id": [f"{i}" for i in range(len(rights))], "seed": 13, "n_distractors": 0,
            "occupation": [f"job {i}" for i in range(len(rights))], "pronoun": "he", "outcome": "right",
        }
    ).assign(**facts)  # fmt: skip
    parts = [
        base.assign(sample=sample, outcome=np.where(column, "right", "none"))
        for sample, column in enumerate(np.transpose(rights), 1)
    ]
    return base, pd.concat(parts, ignore_index=True)


def test_draws_of_answers_by_hand():
    greedy, sampled = drawn([[1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 0]])
    row = generation.sampled_agreement(greedy, sampled, 100, 0).iloc[0]
    # Of three pairs of draws 3, 1, 3 and 1 agree.
    assert row.repeated == pytest.approx(8 / 12)
    assert (row.samples, row.n, row.accuracy, row.greedy) == (3, 4, 0.5, 1)
    assert (row.lowest, row.highest, row.sd) == (0.25, 0.75, pytest.approx(0.25))
    assert (row.expected, row.same_as_greedy) == (0.5, 0.5)
    assert row.repeated_low < row.repeated < row.repeated_high
    cells = tables.sampled_agreement_cells(generation.sampled_agreement(greedy, sampled, 100, 0), MODELS, [])
    assert cells.Accuracy[0] == "0.50 ± 0.25"
