"""Accuracies and decisions under other scores than the mean, and what the section says of them: worked out by hand."""

import pandas as pd
import pytest

from scripts.core.errors import UserError
from scripts.core.statistics import normalisation as normalising
from scripts.core.statistics.ratios import POOLED
from scripts.misgendered import normalisation, section, study
from scripts.misgendered.study import estimates_by
from tests.misgendered import synthetic

SUMS, TOKENS = [-10.0, -11.0, -10.1], [5, 6, 5]


def asked(sentinels=0):
    """Return an instance of *xem* against *him* and *thon*, and its scores."""
    table = synthetic.instances(1).assign(
        text=["Jo came. Ann saw ___ there."], gold=["xem"], options=[["him", "xem", "thon"]],
        groups=[["he", "xe", "thon"]], group=["xe"], form=["acc"], pronoun_type=["neo"],
    )  # fmt: skip
    scores = synthetic.scores(table).assign(
        log_probability=SUMS, scored_tokens=TOKENS, option_log_probability=[-1.0, -3.0, -2.0], option_tokens=[1, 2, 1],
        sentinel_tokens=sentinels,
    )  # fmt: skip
    return table, scores


def sums(table, scores):
    return normalisation.loss_sums(table, scores, "corrected", "corrected", "m")


def counted(table, scores, model):
    """Return the decisions on instances, counted."""
    return normalising.count_decisions(table, sums(table, scores), model, normalisation.DESIGN)


def test_every_score_by_hand():
    table, scores = asked()
    # "Jo came. Ann saw him there." has 27 bytes.
    assert sums(table, scores).text_bytes.tolist() == [27, 27, 28]
    cells = counted(table, scores, "m").set_index("normalisation")
    # The means over tokens pick *xem*, which is right, sums *him* and means over bytes *thon*.
    assert cells.correct.to_dict() == {"tokens": 1, "sum": 0, "bytes": 0}
    assert cells.flipped.to_dict() == {"tokens": 0, "sum": 1, "bytes": 1}
    with pytest.raises(UserError, match="lack an option"):
        counted(table, scores[scores.option_index < 2], "m")


def test_labels_of_t5_s_kind_are_the_option_alone():
    table, scores = asked(sentinels=2)
    assert sums(table, scores)[["text_bytes", "log_probability"]].values.tolist() == [[3, -1], [3, -3], [4, -2]]
    # Means are -1, -1.5, -2 over tokens and -1/3, -1, -1/2 over bytes: all pick *him*.
    assert counted(table, scores, "m")[["correct", "flipped"]].to_numpy().tolist() == [[0, 0]] * 3


@pytest.fixture(scope="module")
def decided():
    """Return instances, what two models pick, and their decisions under all scores, counted."""
    table = synthetic.instances(330)
    scores = {model: synthetic.scores(table, place, 0.5 + place) for place, model in enumerate("ab")}
    picked = pd.concat([synthetic.predictions(table, of, model) for model, of in scores.items()], ignore_index=True)
    return picked, pd.concat([counted(table, of, model) for model, of in scores.items()], ignore_index=True)


@pytest.fixture(scope="module")
def compared(decided):
    return normalising.compare_scores(decided[1], normalisation.DESIGN, 50, 0)


def test_picks_are_those_of_the_predictions(decided):
    picked, cells = decided
    keys = ["model", *normalisation.DESIGN.kept]
    for name, column in (("tokens", "correct"), ("sum", "correct_sum")):
        expected = picked.groupby(keys, sort=False)[column].sum()
        assert cells[cells.normalisation == name].set_index(keys).correct.to_dict() == expected.to_dict()
    assert cells[cells.normalisation == "sum"].flipped.sum() == (picked.picked != picked.picked_sum).sum()


def test_accuracies_and_intervals_are_those_of_the_estimates(decided, compared, tmp_path):
    measured = synthetic.estimated(synthetic.write(tmp_path / "p.parquet", decided[0]), 50, 0)
    expected = pd.concat(
        [estimates_by(measured), estimates_by(measured, "pronoun_type"), estimates_by(measured, "group")]
    )
    keys, columns = ["model", "pronoun_type", "group"], ["accuracy", "low", "high"]
    own = compared[compared.normalisation == "tokens"].set_index(keys)[columns]
    expected = expected.rename(columns={"value": "accuracy"}).set_index(keys).reindex(own.index)[columns]
    pd.testing.assert_frame_equal(own, expected, check_dtype=False)


def test_models_that_change_places_by_the_sum_are_counted():
    places = {"tokens": (0.1, 0.2, 0.3), "sum": (0.2, 0.1, 0.3), "bytes": (0.3, 0.2, 0.1)}
    rows = [(m, "neo", score, value) for score, of in places.items() for m, value in zip("abc", of, strict=True)]
    rows += [(POOLED, kind, score, 0.2) for score in places for kind in (POOLED, "neo")]
    table = pd.DataFrame(rows, columns=["model", "pronoun_type", "normalisation", "accuracy"])
    table = table.assign(difference=0.0, difference_low=-0.1, difference_high=0.1, flipped=0.5, ties=0, group=POOLED)
    made = section.changes_of_scores(study.add_identity(table, "replica", "corrected"))
    assert made["sum.models.moved"]["value"] == 2


@pytest.mark.parametrize(("high", "distinct"), [(0.3, False), (0.1, True)])
def test_the_best_neopronoun_is_called_best_if_its_interval_is_above_all_others(high, distinct):
    """The largest of some noisy shares is no finding."""
    rows = [("ze", 0.2, 0.15, 0.4), ("xe", 0.08, 0.05, high), ("co", 0.0, 0.0, 0.05)]
    best = section.best_neo(pd.DataFrame(rows, columns=["group", "value", "low", "high"]))
    assert (best["label"], best["row"].value, best["distinct"]) == ("ze", 0.2, distinct)
