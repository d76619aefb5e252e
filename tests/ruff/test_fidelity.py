"""The analyses, on predictions small enough to count by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.core.errors import UserError
from scripts.core.statistics import procedures
from scripts.ruff import analyses
from scripts.ruff.lib import study
from scripts.ruff.lib.analyses import accuracy, errors, predictions, pronoun_tests

SETS = ["he", "she", "they", "xe"]


def row(n, pronoun, distractor, prediction, free="he", model="m", seed=13, occupation="baker", case="nominative"):
    return {
        "model": model, "setting": "fidelity", "instance_id": "x", "seed": seed, "n_distractors": n, "task_index": 0,
        "occupation": occupation, "participant": "customer", "case": case, "polarity": "positive", "pronoun": pronoun,
        "distractor_pronoun": distractor, "prediction": prediction, "context_free_prediction": free,
        "correct": prediction == pronoun, "margin": 1.0, "tie": False,
    }  # fmt: skip


def frame(rows):
    return pd.DataFrame(rows).astype({"correct": "boolean", "seed": "Int64", "n_distractors": "Int64"})


@pytest.fixture
def selected():
    """Two task sentences: each without context, and one instance drawn by two seeds."""
    free = [
        {"instance_id": f"f{i}", "seed": None, "n_distractors": None, "task_index": i, "occupation": o,
             "participant": "p", "case": "nominative", "polarity": None, "pronoun": None, "distractor_pronoun": None}
        for i, o in enumerate(["baker", "clerk"])
    ]  # fmt: skip
    drawn = [
        {"instance_id": "a", "seed": s, "n_distractors": 1, "task_index": 1, "occupation": "clerk", "participant": "p",
             "case": "nominative", "polarity": "positive", "pronoun": "xe", "distractor_pronoun": "she"}
        for s in (13, 17)
    ]  # fmt: skip
    return pd.DataFrame(free + drawn).assign(options=[SETS] * 4, gold=[None, None, "xe", "xe"])


def scores(**best):
    return pd.DataFrame(
        [
            {"instance_id": i, "option_index": k, "log_probability": -1.0 if k == b else -5.0}
            for i, b in best.items()
            for k in range(4)
        ]
    )


def test_predictions_join_scores_with_every_sample(selected):
    table = predictions.predictions(selected, scores(f0=0, f1=2, a=3), "m", SETS)
    assert table.setting.tolist() == ["context_free", "context_free", "fidelity", "fidelity"]
    assert table.prediction.tolist() == ["he", "they", "xe", "xe"]
    assert table.context_free_prediction.tolist() == ["he", "they", "they", "they"]
    assert table.correct.isna().tolist() == [True, True, False, False]
    assert table.correct.dropna().all()
    assert table.margin.tolist() == [4.0] * 4


def test_predictions_refuse_an_unscored_instance(selected):
    with pytest.raises(UserError, match="not scored"):
        predictions.predictions(selected, scores(f0=0, f1=2), "m", SETS)


def test_predictions_refuse_instances_of_other_pronoun_sets(selected):
    """Otherwise the place of a form would be taken for another set."""
    with pytest.raises(UserError, match=r"instances: f0 has 4 options and the run 3 pronoun sets; delete"):
        predictions.predictions(selected, scores(f0=0, f1=2, a=2), "m", SETS[:3])


def test_context_free_counts_have_a_row_for_every_set(selected):
    table = predictions.predictions(selected, scores(f0=0, f1=2, a=3), "m", SETS)
    table["tie"] = table.prediction == "he"
    counts = analyses.count_context_free(table, SETS)
    assert counts["count"].tolist() == [1, 0, 1, 0]
    assert counts.share.tolist() == [0.5, 0, 0.5, 0]
    assert counts.n_templates.tolist() == [2] * 4
    assert counts.ties.tolist() == [1, 0, 0, 0]


def test_accuracy_averages_over_samples_not_over_instances():
    rows = [row(0, "he", None, "he")] * 3 + [row(0, "he", None, "she")]
    rows += [row(0, "he", None, "she", seed=17)]
    summary = accuracy.accuracy(frame(rows), draws=100, seed=1)
    overall = summary[summary.factor == "all"].iloc[0]
    assert overall.accuracy == pytest.approx((0.75 + 0) / 2)
    assert overall.sd == pytest.approx(np.std([0.75, 0], ddof=1))
    assert (overall.n_seeds, overall.n) == (2, 5)


def test_accuracy_has_every_factor_and_no_sd_for_one_sample():
    rows = [row(0, "he", None, "he", case="nominative"), row(0, "xe", None, "he", case="accusative")]
    summary = accuracy.accuracy(frame(rows), draws=100, seed=1).set_index(["factor", "level"])
    assert summary.loc[("pronoun", "he"), "accuracy"] == 1
    assert summary.loc[("pronoun", "xe"), "accuracy"] == 0
    assert summary.loc[("case", "accusative"), "accuracy"] == 0
    assert summary.loc[("polarity", "positive"), "n"] == 2
    assert summary.sd.isna().all()


def test_intervals_resample_occupations():
    sure = [row(0, "he", None, "he" if o < 30 else "she", occupation=f"o{o}") for o in range(60) for _ in range(20)]
    mixed = [row(0, "he", None, "he" if k % 2 else "she", occupation=f"o{o}") for o in range(60) for k in range(20)]
    widths = []
    for rows in (sure, mixed):
        summary = accuracy.accuracy(frame(rows), draws=500, seed=1)
        first = summary[summary.factor == "all"].iloc[0]
        assert (first.accuracy, first.n_occupations) == (0.5, 60)
        widths.append(first.ci_high - first.ci_low)
    assert widths[0] > 0.2
    # All samples agree: that is no certainty.
    assert widths[1] == pytest.approx(1 - 0.025 ** (1 / 60))


def test_over_models_averages_models_within_architectures():
    table = pd.DataFrame({"model": ["a", "b", "c"], "level": "all", "accuracy": [0.2, 0.4, 0.9]})
    models = {
        name: {"architecture": architecture, "demonstration": False}
        for name, architecture in (("a", "decoder"), ("b", "decoder"), ("c", "encoder"))
    }
    over = analyses.over_models(table, models, ["level"], "accuracy").set_index("architecture")
    assert over["mean"].to_dict() == pytest.approx({"all": 0.5, "decoder": 0.3, "encoder": 0.9})
    assert over.n_models.to_dict() == {"all": 3, "decoder": 2, "encoder": 1}
    assert np.isnan(over.loc["encoder", "sd"])
    # An architecture whose only model is not pooled keeps its row.
    models["c"]["demonstration"] = True
    over = analyses.over_models(table, models, ["level"], "accuracy").set_index("architecture")
    assert over["mean"].to_dict() == pytest.approx({"all": 0.3, "decoder": 0.3, "encoder": 0.9})
    assert over.n_models.to_dict() == {"all": 2, "decoder": 2, "encoder": 1}


def test_demonstration_models_are_pooled_only_with_each_other():
    real, demonstration = {"demonstration": False}, {"demonstration": True}
    assert study.pooled_models({"a": real, "b": demonstration}) == ["a"]
    assert study.pooled_models({"a": demonstration, "b": demonstration}) == ["a", "b"]


def test_tests_over_all_models_leave_out_what_is_not_pooled():
    rows = []
    for o in range(12):
        for model, right in (("a", 8), ("demo", 0)):
            rows += outcomes("he", f"o{o}", right - (o % 3 if model == "a" else 0), 10, model)
            rows += outcomes("she", f"o{o}", 2, 10, model)
    tests = pronoun_tests.pronoun_tests(frame(rows), ["he", "she"], alpha=0.05, pooled=["a"]).set_index("model")
    assert tests.loc["all", "mean_a"] == tests.loc["a", "mean_a"] == pytest.approx(0.7)
    assert tests.n_models.to_dict() == {"all": 1, "a": 1, "demo": 1}
    every = pronoun_tests.pronoun_tests(frame(rows), ["he", "she"], alpha=0.05).set_index("model")
    assert every.loc["all", "mean_a"] == pytest.approx(0.35) and every.loc["all", "n_models"] == 2


def test_pronoun_tests_use_occupations_and_correct_within_a_model():
    rng = np.random.default_rng(0)
    rows = []
    for o in range(60):
        for p, share in zip(SETS, (0.9, 0.9, 0.3, 0.3), strict=True):
            rows += [row(0, p, None, p if rng.random() < share else "other", occupation=f"o{o}") for _ in range(9)]
    tests = pronoun_tests.pronoun_tests(frame(rows), SETS, alpha=0.05)
    assert tests.model.tolist() == ["all"] * 6 + ["m"] * 6
    assert (tests.n_a == 60).all()
    of_model = tests[tests.model == "m"].set_index(["pronoun_a", "pronoun_b"])
    assert of_model.loc[("he", "they"), "significant_holm"]
    assert not of_model.loc[("he", "she"), "significant_holm"]
    assert (of_model.p_holm >= of_model.p).all()
    assert of_model.loc[("he", "they"), "difference"] > 0.4


def outcomes(pronoun, occupation, right, of, model="m"):
    """Return rows without distractors of which the first ``right`` are right."""
    return [
        row(0, pronoun, None, pronoun if k < right else "other", model=model, occupation=occupation) for k in range(of)
    ]


def test_equal_means_over_models_are_not_tested():
    """Three models change places from occupation to occupation; their means differ by rounding alone."""
    rows = []
    for o in range(12):
        he, she = ((1, 2, 4), (4, 2, 1)) if o else ((2, 1, 4), (1, 4, 2))
        for pronoun, order in (("he", he), ("she", she)):
            for model, right in zip("klm", order, strict=True):
                rows += outcomes(pronoun, f"o{o}", right, 6, model)
    table = frame(rows)
    units = table.astype({"correct": float}).groupby(["model", "pronoun", "occupation"], sort=False).correct.mean()
    means = units.groupby(level=["pronoun", "occupation"], sort=False).mean()
    assert 0 < np.ptp(means) < 1e-15
    tests = pronoun_tests.pronoun_tests(table, SETS, alpha=0.05)
    pooled = tests[tests.model == "all"]
    assert len(pooled) == 1
    assert pooled[["t", "df", "t_paired", "df_paired"]].isna().all(axis=None)
    assert (pooled[["p", "p_holm", "p_paired", "p_paired_holm"]] == 1).all(axis=None)
    assert (pooled[["difference", "difference_paired"]] == 0).all(axis=None)
    assert not pooled[[c for c in tests if c.startswith("significant")]].any(axis=None)
    assert tests[tests.model == "k"].p.notna().all()


def test_sets_whose_accuracies_do_not_vary_are_tested():
    """He is always right and the others never are: the largest difference that there can be."""
    rows = [r for i in range(33) for p in SETS for r in outcomes(p, f"o{i}", 3 if p == "he" else 0, 3)]
    tests = pronoun_tests.pronoun_tests(frame(rows), SETS, alpha=0.05, least=8)
    of_he = (tests.pronoun_a == "he").to_numpy()
    assert tests.loc[of_he, "p"].tolist() == pytest.approx([2 / math.comb(66, 33)] * 6)
    assert tests.loc[of_he, "p_paired"].tolist() == pytest.approx([2 / 2**33] * 6)
    assert tests.loc[of_he, ["significant_holm", "significant_paired_holm"]].all(axis=None)
    assert (tests.loc[~of_he, ["p", "p_paired", "p_holm", "p_paired_holm"]] == 1).all(axis=None)


def test_pairs_are_those_of_one_occupation():
    """The sets come in other orders of occupations, and one occupation is there with one set alone."""
    he = {"a": 9, "b": 5, "c": 2, "d": 7}
    she = {"c": 1, "a": 7, "b": 4}
    rows = [r for o, k in he.items() for r in outcomes("he", o, k, 10)]
    rows += [r for o, k in she.items() for r in outcomes("she", o, k, 10)]
    tests = pronoun_tests.pronoun_tests(frame(rows), SETS, alpha=0.05)
    of_model = tests[tests.model == "m"].iloc[0]
    assert (of_model.n_a, of_model.n_b, of_model.n_pairs) == (4, 3, 3)
    assert of_model.difference == pytest.approx(0.575 - 0.4)
    # Differences 0.2, 0.1, 0.1: mean 0.4 / 3, standard deviation 0.1 / sqrt(3), t = 4.
    assert (of_model.difference_paired, of_model.t_paired, of_model.df_paired) == pytest.approx((0.4 / 3, 4, 2))
    assert of_model.p_paired == pytest.approx(2 * stats.t.sf(4, 2))


def test_the_paired_test_sees_what_welchs_test_misses():
    """Occupations are between nearly hopeless and nearly sure; in each, he is a little ahead of she."""
    rng = np.random.default_rng(0)
    rows = []
    for o in range(60):
        easy = int(rng.integers(10, 80))
        for pronoun, ahead in (("he", 6), ("she", 0), ("xe", 0)):
            rows += outcomes(pronoun, f"o{o}", easy + ahead + int(rng.integers(-4, 5)), 100)
    tests = pronoun_tests.pronoun_tests(frame(rows), SETS, alpha=0.05)
    of_model = tests[tests.model == "m"].set_index(["pronoun_a", "pronoun_b"])
    seen = of_model.loc[[("he", "she"), ("he", "xe")]]
    assert not seen.significant_holm.any()
    assert seen.significant_paired_holm.all()
    assert seen.difference_paired.between(0.04, 0.08).all()
    assert not of_model.loc[("she", "xe"), "significant_paired_holm"]
    # Holm's correction is over the pairs of one model, for each test by itself.
    assert of_model.p_paired_holm.tolist() == pytest.approx(procedures.holm(of_model.p_paired).tolist())
    assert of_model.p_holm.tolist() == pytest.approx(procedures.holm(of_model.p).tolist())


def test_sets_without_a_common_occupation_have_no_pairs():
    rows = (
        outcomes("he", "a", 1, 2) + outcomes("he", "b", 2, 2) + outcomes("she", "c", 0, 2) + outcomes("she", "d", 1, 2)
    )
    of_model = pronoun_tests.pronoun_tests(frame(rows), SETS, alpha=0.05).iloc[-1]
    assert of_model.n_pairs == 0
    assert np.isfinite(of_model.p)
    assert np.isnan([of_model.difference_paired, of_model.t_paired, of_model.p_paired, of_model.p_paired_holm]).all()
    assert not of_model.significant_paired


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
    types = errors.error_types(frame(rows)).set_index("error_type")
    assert types["count"].to_dict() == {"distraction": 3, "bias": 1, "other": 1}
    assert types.share.to_dict() == pytest.approx({"distraction": 0.6, "bias": 0.2, "other": 0.2})
    first = types.iloc[0]
    assert (first.n_instances, first.n_errors, first.n_ambiguous, first.n_unambiguous) == (7, 6, 1, 5)
    assert first.n_bias_equals_gold == 1


def test_error_shares_average_over_samples_and_skip_empty_ones():
    rows = [row(2, "she", "they", "they"), row(2, "she", "they", "he", seed=17), row(2, "she", "he", "he", seed=19)]
    types = errors.error_types(frame(rows)).set_index("error_type")
    assert types.loc["distraction", "share"] == 0.5
    assert types.loc["distraction", "n_seeds"] == 2
    assert types.loc["distraction", "sd"] == pytest.approx(np.sqrt(0.5))


def test_errors_are_undefined_without_distractors_or_errors():
    assert errors.error_types(frame([row(0, "she", None, "he")])).empty
    types = errors.error_types(frame([row(1, "she", "he", "she")]))
    assert types.share.isna().all()
    assert errors.error_range(types).empty


def test_error_range_adds_distraction_and_bias():
    rows = [row(1, "she", "they", "they"), row(1, "she", "they", "xe"), row(2, "she", "they", "he")]
    bounds = errors.error_range(errors.error_types(frame(rows))).set_index("bound")
    assert bounds.loc["lowest", "share"] == 0.5
    assert bounds.loc["lowest", "n_distractors"] == 1
    assert bounds.loc["highest", "share"] == 1


def test_scaling_takes_the_fewest_and_the_most_distractors():
    rows = [row(n, "he", "she", "he", model=m) for n in (0, 1, 5) for m in ("big", "small")]
    facts = {
        "big": {"family": "OPT", "architecture": "decoder", "parameters": 10},
        "small": {"family": "OPT", "architecture": "decoder", "parameters": 1},
    }
    table = analyses.accuracy_by_size(accuracy.accuracy(frame(rows), 100, 1), facts)
    assert table.n_distractors.tolist() == [0, 0, 5, 5]
    assert table.model.tolist() == ["small", "big"] * 2


@pytest.mark.parametrize("occupations", [7, 8])
def test_samples_that_cannot_carry_a_test_are_not_tested_and_told_what_would(occupations):
    rows = [(pronoun, i) for i in range(occupations) for pronoun in SETS[:2]]
    table = pd.DataFrame(
        {"model": "m", "setting": "fidelity", "n_distractors": 0, "pronoun": [p for p, _ in rows],
         "occupation": [f"o{i}" for _, i in rows], "correct": [p == "he" or i == 0 for p, i in rows]}
    )  # fmt: skip
    tests = pronoun_tests.pronoun_tests(table, SETS[:2], alpha=0.05, least=8)
    assert (tests.needed == 8).all()
    assert tests.difference.notna().all()
    assert tests.p.notna().all() == tests.p_paired.notna().all() == (occupations >= 8)
    assert not tests.significant[tests.p.isna()].any()
