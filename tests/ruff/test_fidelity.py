"""The analyses, on predictions small enough to count by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.core.errors import UserError
from scripts.core.statistics import procedures
from scripts.ruff import estimates, predictions, pronoun_tests, study

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
    table = predictions.make_predictions(selected, scores(f0=0, f1=2, a=3), "m", SETS)
    assert table.setting.tolist() == ["context_free", "context_free", "fidelity", "fidelity"]
    assert table.prediction.tolist() == ["he", "they", "xe", "xe"]
    assert table.context_free_prediction.tolist() == ["he", "they", "they", "they"]
    assert table.correct.isna().tolist() == [True, True, False, False]
    assert table.correct.dropna().all()
    assert table.margin.tolist() == [4.0] * 4


def test_predictions_refuse_an_unscored_instance(selected):
    with pytest.raises(UserError, match="not scored"):
        predictions.make_predictions(selected, scores(f0=0, f1=2), "m", SETS)


def test_predictions_refuse_instances_of_other_pronoun_sets(selected):
    """Otherwise the place of a form would be taken for another set."""
    with pytest.raises(UserError, match=r"instances: f0 has 4 options and the run 3 pronoun sets; delete"):
        predictions.make_predictions(selected, scores(f0=0, f1=2, a=2), "m", SETS[:3])


def test_picks_without_context_have_a_row_for_every_set(selected):
    table = predictions.make_predictions(selected, scores(f0=0, f1=2, a=3), "m", SETS)
    table["tie"] = table.prediction == "he"
    made = estimates.picks(table[table.setting == "context_free"], SETS)
    picked, tied = (made[made.metric == metric] for metric in ("picked", "tied"))
    assert picked.above.tolist() == [1, 0, 1, 0]
    assert picked.value.tolist() == [0.5, 0, 0.5, 0]
    assert picked.below.tolist() == [2] * 4
    assert tied.above.tolist() == [1, 0, 0, 0]


def accuracies(rows, draws=100):
    """Return accuracies over all samples."""
    made = estimates.accuracies(estimates.fidelity_rows(frame(rows)), draws, 1).fillna({"seed": ""})
    return made[made.seed == ""]


def overall(made):
    return made[(made.pronoun == "") & (made["case"] == "") & (made.polarity == "")].iloc[0]


def test_accuracy_averages_over_samples_not_over_instances():
    rows = [row(0, "he", None, "he")] * 3 + [row(0, "he", None, "she")]
    rows += [row(0, "he", None, "she", seed=17)]
    found = overall(accuracies(rows))
    assert found.value == pytest.approx((0.75 + 0) / 2)
    assert found.sd == pytest.approx(np.std([0.75, 0], ddof=1))
    assert (found.samples, found.above, found.below) == (2, 3, 5)


def test_accuracy_has_every_factor_and_no_sd_for_one_sample():
    rows = [row(0, "he", None, "he", case="nominative"), row(0, "xe", None, "he", case="accusative")]
    made = accuracies(rows)
    assert made.set_index("pronoun").value[["he", "xe"]].tolist() == [1, 0]
    assert made.set_index("case").value["accusative"] == 0
    assert made.set_index("polarity").below["positive"] == 2
    assert made.sd.isna().all()


def test_intervals_resample_occupations():
    sure = [row(0, "he", None, "he" if o < 30 else "she", occupation=f"o{o}") for o in range(60) for _ in range(20)]
    mixed = [row(0, "he", None, "he" if k % 2 else "she", occupation=f"o{o}") for o in range(60) for k in range(20)]
    widths = []
    for rows in (sure, mixed):
        first = overall(accuracies(rows, draws=500))
        assert (first.value, first.clusters) == (0.5, 60)
        widths.append(first.high - first.low)
    assert widths[0] > 0.2
    # All samples agree: that is no certainty.
    assert widths[1] == pytest.approx(1 - 0.025 ** (1 / 60))


def test_preferences_of_one_introduction_add_up():
    rows = [row(1, "he", "she", picked) for picked, n in (("he", 6), ("she", 4)) for _ in range(n)]
    rows += [row(1, "xe", "he", picked) for picked, n in (("he", 9), ("xe", 3)) for _ in range(n)]
    made = estimates.preferences(estimates.fidelity_rows(frame(rows)), SETS, 200, 1)
    shares = made.set_index(["pronoun", "preferred"]).value
    assert [shares["he", "he"], shares["he", "she"], shares["xe", "he"]] == [0.6, 0.4, 0.75]
    assert made.groupby("pronoun").value.sum().tolist() == pytest.approx([1, 1])


def test_demonstration_models_are_pooled_only_with_each_other():
    real, demonstration = {"demonstration": False}, {"demonstration": True}
    assert study.pooled_models({"a": real, "b": demonstration}) == ["a"]
    assert study.pooled_models({"a": demonstration, "b": demonstration}) == ["a", "b"]


def compare_sets(table, sets, alpha, **options):
    """Return the tests between pronoun sets; what is over models has the model ``all``."""
    made = pronoun_tests.compare_sets(estimates.occupation_accuracies(table), sets, alpha, **options)
    return made.assign(model=made.model.replace("", "all"))


def test_tests_over_all_models_leave_out_what_is_not_pooled():
    rows = []
    for o in range(12):
        for model, right in (("a", 8), ("demo", 0)):
            rows += outcomes("he", f"o{o}", right - (o % 3 if model == "a" else 0), 10, model)
            rows += outcomes("she", f"o{o}", 2, 10, model)
    tests = compare_sets(frame(rows), ["he", "she"], alpha=0.05, pooled=["a"]).set_index("model")
    assert tests.loc["all", "mean_a"] == tests.loc["a", "mean_a"] == pytest.approx(0.7)
    assert tests.n_models.to_dict() == {"all": 1, "a": 1, "demo": 1}
    every = compare_sets(frame(rows), ["he", "she"], alpha=0.05).set_index("model")
    assert every.loc["all", "mean_a"] == pytest.approx(0.35) and every.loc["all", "n_models"] == 2


def test_pronoun_tests_use_occupations_and_correct_within_a_model():
    rng = np.random.default_rng(0)
    rows = []
    for o in range(60):
        for p, share in zip(SETS, (0.9, 0.9, 0.3, 0.3), strict=True):
            rows += [row(0, p, None, p if rng.random() < share else "other", occupation=f"o{o}") for _ in range(9)]
    tests = compare_sets(frame(rows), SETS, alpha=0.05)
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
    tests = compare_sets(table, SETS, alpha=0.05)
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
    tests = compare_sets(frame(rows), SETS, alpha=0.05, least=8)
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
    tests = compare_sets(frame(rows), SETS, alpha=0.05)
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
    tests = compare_sets(frame(rows), SETS, alpha=0.05)
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
    of_model = compare_sets(frame(rows), SETS, alpha=0.05).iloc[-1]
    assert of_model.n_pairs == 0
    assert np.isfinite(of_model.p)
    assert np.isnan([of_model.difference_paired, of_model.t_paired, of_model.p_paired, of_model.p_paired_holm]).all()
    assert not of_model.significant_paired


def errors(rows):
    """Return the errors of one number of distractors by metric."""
    return estimates.errors(estimates.fidelity_rows(frame(rows))).set_index("metric")


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
    made = errors(rows)
    counts = {
        "error": (6, 7),
        "ambiguous": (1, 6),
        "unbiased": (1, 5),
        "distraction": (3, 5),
        "bias": (1, 5),
        "other": (1, 5),
    }
    assert {metric: (found.above, found.below) for metric, found in made.iterrows()} == counts
    assert made.value.to_dict() == pytest.approx({metric: above / below for metric, (above, below) in counts.items()})


def test_error_shares_average_over_samples_and_skip_empty_ones():
    rows = [row(2, "she", "they", "they"), row(2, "she", "they", "he", seed=17), row(2, "she", "he", "he", seed=19)]
    made = errors(rows)
    assert made.loc["distraction", "value"] == 0.5
    assert made.loc["distraction", "samples"] == 2
    assert made.loc["distraction", "sd"] == pytest.approx(np.sqrt(0.5))


def test_errors_are_undefined_without_distractors_or_errors():
    assert errors([row(0, "she", None, "he")]).empty
    made = errors([row(1, "she", "he", "she")])
    assert made.value[["distraction", "bias", "other"]].isna().all()


@pytest.mark.parametrize("occupations", [7, 8])
def test_samples_that_cannot_carry_a_test_are_not_tested_and_told_what_would(occupations):
    rows = [(pronoun, i) for i in range(occupations) for pronoun in SETS[:2]]
    table = pd.DataFrame(
        {"model": "m", "setting": "fidelity", "seed": 13, "n_distractors": 0, "pronoun": [p for p, _ in rows],
         "occupation": [f"o{i}" for _, i in rows], "correct": [p == "he" or i == 0 for p, i in rows]}
    )  # fmt: skip
    tests = compare_sets(table, SETS[:2], alpha=0.05, least=8)
    assert (tests.needed == 8).all()
    assert tests.difference.notna().all()
    assert tests.p.notna().all() == tests.p_paired.notna().all() == (occupations >= 8)
    assert not tests.significant[tests.p.isna()].any()
