"""Accuracies and decisions under other scores than the mean: values worked out by hand."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.statistics import normalisation as normalising
from scripts.core.statistics.ratios import POOLED
from scripts.misgendered import normalisation, section, study
from scripts.misgendered.study import split
from tests.misgendered import synthetic


def asked(values, tokens, sentinels=0):
    """Return an instance of *xem* against *him* and *thon* with sums ``values`` over ``tokens`` tokens."""
    table = synthetic.instances(1).assign(
        text=["Jo came. Ann saw ___ there."], gold=["xem"], options=[["him", "xem", "thon"]],
        groups=[["he", "xe", "thon"]], group=["xe"], form=["acc"], pronoun_type=["neo"],
    )  # fmt: skip
    scores = synthetic.scores(table)
    scores["log_probability"], scores["scored_tokens"] = values, tokens
    scores["option_log_probability"], scores["option_tokens"] = [-1.0, -3.0, -2.0], [1, 2, 1]
    scores["sentinel_tokens"] = sentinels
    return table, scores


def counted(table, scores, model):
    """Return the decisions on instances, counted."""
    sums = normalisation.loss_sums(table, scores, "corrected", "corrected", model)
    return normalising.count_decisions(table, sums, model, normalisation.DESIGN)


def test_every_score_by_hand():
    table, scores = asked([-10.0, -11.0, -10.1], [5, 6, 5])
    made = normalisation.loss_sums(table, scores, "corrected", "corrected", "m")
    # "Jo came. Ann saw him there." has 27 bytes.
    assert made.text_bytes.tolist() == [27, 27, 28]
    cells = counted(table, scores, "m").set_index("normalisation")
    # The means over tokens pick *xem*, which is right, sums *him* and means over bytes *thon*.
    assert cells.correct.to_dict() == {"tokens": 1, "sum": 0, "bytes": 0}
    assert cells.flipped.to_dict() == {"tokens": 0, "sum": 1, "bytes": 1}


def test_labels_of_t5_s_kind_are_the_option_alone():
    table, scores = asked([-10.0, -11.0, -10.1], [5, 6, 5], sentinels=2)
    made = normalisation.loss_sums(table, scores, "corrected", "corrected", "m")
    assert made.text_bytes.tolist() == [3, 3, 4]
    assert made.log_probability.tolist() == [-1, -3, -2]
    # Means are -1, -1.5, -2 over tokens and -1/3, -1, -1/2 over bytes: all pick *him*.
    assert counted(table, scores, "m")[["correct", "flipped"]].to_numpy().tolist() == [[0, 0]] * 3


def test_picks_are_those_of_the_predictions():
    table = synthetic.instances(220)
    scores = synthetic.scores(table)
    base = synthetic.predictions(table, scores, "m")
    cells = counted(table, scores, "m")
    keys = normalisation.DESIGN.kept
    for name, suffix in (("tokens", ""), ("sum", "_sum")):
        expected = base.groupby(keys, sort=False)[f"correct{suffix}"].sum()
        assert cells[cells.normalisation == name].set_index(keys).correct.to_dict() == expected.to_dict()
    assert cells[cells.normalisation == "sum"].flipped.sum() == (base.picked != base.picked_sum).sum()


def test_a_candidate_without_a_score_is_refused():
    table, scores = asked([-10.0, -11.0, -10.1], [5, 6, 5])
    with pytest.raises(UserError, match="lack an option"):
        counted(table, scores[scores.option_index < 2], "m")


@pytest.fixture(scope="module")
def decided():
    table = synthetic.instances(330)
    parts = [
        counted(table, synthetic.scores(table, seed=i, skill=0.5 + i), model) for i, model in enumerate(["a", "b"])
    ]
    return pd.concat(parts, ignore_index=True)


def test_rows_count_what_differs(decided):
    frame = synthetic.normalised(decided)
    kinds = frame[frame.group == POOLED].pronoun_type.unique().tolist()
    assert kinds == [POOLED, "binary", "neutral", "neo"]
    assert (frame.groupby("model").size() == 3 * (1 + 3 + 11)).all()
    of_a = decided[(decided.model == "a") & (decided.pronoun_type == "neo")]
    sums = of_a.groupby("normalisation")[list(normalising.COUNTS)].sum()
    row = frame[(frame.model == "a") & (frame.pronoun_type == "neo") & (frame.group == POOLED)]
    row = row.set_index("normalisation").loc["bytes"]
    assert row.accuracy == pytest.approx(sums.correct["bytes"] / sums.n["bytes"])
    assert row.difference == pytest.approx((sums.correct["bytes"] - sums.correct["tokens"]) / sums.n["bytes"])
    assert row.gained - row.lost == pytest.approx(row.difference)
    study = frame[frame.normalisation == normalisation.DESIGN.scores[0]]
    assert study[["difference", "p", "flipped"]].isna().all(axis=None)
    assert frame[(frame.model == POOLED) & (frame.group == POOLED)].n.max() == 660


def test_accuracies_and_intervals_are_those_of_the_estimates(decided, tmp_path):
    frame = synthetic.normalised(decided)
    table = synthetic.instances(330)
    base = pd.concat(
        [synthetic.predictions(table, synthetic.scores(table, i, 0.5 + i), model) for i, model in enumerate(["a", "b"])]
    )
    measured = synthetic.estimated(synthetic.write(tmp_path / "p.parquet", base), 50, 0)
    expected = pd.concat([split(measured), split(measured, "pronoun_type"), split(measured, "group")])
    keys, columns = ["model", "pronoun_type", "group"], {"value": "accuracy", "low": "ci_low", "high": "ci_high"}
    own = frame[frame.normalisation == "tokens"].set_index(keys)[list(columns.values())]
    expected = expected.rename(columns=columns).set_index(keys).reindex(own.index)[list(own)]
    pd.testing.assert_frame_equal(own, expected, check_dtype=False)


def test_the_summary_and_the_text_say_what_other_scores_change(decided, tmp_path):
    models = {name: facts for name, (_, facts) in zip("ab", synthetic.STUDY_MODELS.items(), strict=False)}
    table = study.identify(synthetic.normalised(decided), "replica", "corrected")
    estimated = synthetic.estimated(synthetic.write(tmp_path / "p.parquet", synthetic.predicted(["a", "b"], 55)), 10)
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("estimates", "normalisation", "summary")}
    for name, rows in (("estimates", estimated), ("normalisation", table)):
        files.write_csv(paths[name], rows)
    section.summary(**paths, models=models)
    rows = files.read_csv(paths["summary"]).fillna({"normalisation": "", "pronoun_type": ""})
    assert set(rows.metric) == {"accuracy", "other pick"}
    assert set(rows[rows.headline].normalisation) == {""} and set(rows.normalisation) == {"", "tokens", "sum", "bytes"}
    assert set(rows[rows.headline].pronoun_type) == {"binary", "neutral", "neo"} and set(rows.shots) == {0}
    said = section.changes_of_scores(table)
    of_all = table[(table.model == POOLED) & (table.group == POOLED)].set_index(["normalisation", "pronoun_type"])
    for score in ("sum", "bytes"):
        assert said[f"{score}.other_pick"]["value"] == of_all.flipped[score, POOLED]
        before, after = (said[f"{score}.neo.{when}"]["value"] for when in ("before", "after"))
        assert before == pytest.approx(of_all.accuracy["tokens", "neo"]) and after == of_all.accuracy[score, "neo"]
        assert " to " in said[f"{score}.neo.interval"]["text"]


def test_models_that_change_places_by_the_sum_are_counted():
    places = {"tokens": (0.1, 0.2, 0.3), "sum": (0.2, 0.1, 0.3), "bytes": (0.3, 0.2, 0.1)}
    rows = [
        (model, "neo", score, accuracy)
        for score, accuracies in places.items()
        for model, accuracy in zip("abc", accuracies, strict=True)
    ]
    rows += [(POOLED, kind, score, 0.2) for score in places for kind in (POOLED, "neo")]
    table = pd.DataFrame(rows, columns=["model", "pronoun_type", "normalisation", "accuracy"])
    table = table.assign(difference=0.0, difference_low=-0.1, difference_high=0.1, flipped=0.5, ties=0, group=POOLED)
    made = section.changes_of_scores(study.identify(table, "replica", "corrected"))
    assert made["sum.models.moved"]["value"] == 2


@pytest.mark.parametrize(("second", "clear"), [((0.05, 0.3), False), ((0.05, 0.1), True)])
def test_the_best_neopronoun_is_called_best_if_its_interval_is_above_all_others(second, clear):
    """The largest of some noisy shares is no finding."""
    intervals = {"ze": (0.2, 0.15, 0.4), "xe": (0.08, *second), "co": (0.0, 0.0, 0.05)}
    rows = pd.DataFrame(
        [(group, *ends) for group, ends in intervals.items()], columns=["group", "value", "low", "high"]
    )
    best = section.best_neo(rows)
    assert (best["label"], best["row"].value, best["clear"]) == ("ze", 0.2, clear)
