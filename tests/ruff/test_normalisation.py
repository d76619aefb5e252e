"""Accuracies, and decisions under other scores than the sum: values worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.errors import UserError
from scripts.ruff.lib import tables
from scripts.ruff.lib.analyses import normalisation
from tests.ruff import synthetic
from tests.ruff.synthetic import results

SETS = ["he", "she", "xe"]
TASK = {"occupation": "baker", "participant": "guest", "case": "nominative", "task_index": 0}


def instance(identifier, text, n=None, **facts):
    return {
        "instance_id": identifier, "text": text, "options": SETS, "gold": None, "n_distractors": n, "seed": None,
        "polarity": None, "pronoun": None, "distractor_pronoun": None, **TASK, **facts,
    }  # fmt: skip


@pytest.fixture
def instances():
    return pd.DataFrame(
        [
            instance("free", "the baker said ___ was late"),
            instance("asked", "Xe bakes. the baker said ___ was late", 0, gold="xe", pronoun="xe", seed=13),
        ]
    )


@pytest.fixture
def scores():
    """The sum prefers *he*, the mean over tokens *xe*, the mean over bytes *she*, the difference *xe*."""
    return pd.DataFrame(
        {
            "instance_id": ["free"] * 3 + ["asked"] * 3,
            "option": SETS * 2,
            "option_index": [0, 1, 2] * 2,
            "log_probability": [-20.0, -21.0, -30.0, -40.0, -40.1, -41.0],
            "scored_tokens": [6, 6, 7, 10, 10, 11],
        }
    )


def test_every_score_by_hand(instances, scores):
    table = normalisation.with_normalisers(instances, scores, "m")
    assert table.instance_id.unique().tolist() == ["asked"]
    # "Xe bakes. the baker said he was late" has 36 bytes.
    assert table.text_bytes.tolist() == [36, 37, 36]
    assert table.context_free_log_probability.tolist() == [-20, -21, -30]
    decided = normalisation.decide_instances(instances, scores, "m", SETS).set_index("normalisation")
    assert decided.prediction.to_dict() == {"sum": "he", "tokens": "xe", "bytes": "she", "context_free": "xe"}
    assert decided.correct.to_dict() == {"sum": False, "tokens": True, "bytes": False, "context_free": True}
    assert decided.confidence["sum"] == pytest.approx(1 / (1 + np.exp(-0.1) + np.exp(-1)))
    # Differences are -20, -19.1 and -11.
    assert decided.confidence["context_free"] == pytest.approx(1 / (1 + np.exp(-9) + np.exp(-8.1)))


def test_what_cannot_be_compared_is_refused(instances, scores):
    with pytest.raises(UserError, match="scored_tokens is missing"):
        normalisation.with_normalisers(instances, scores.drop(columns="scored_tokens"), "m")
    opening = instances.assign(text=["___ was late", "Xe bakes. ___ was late"])
    with pytest.raises(UserError, match="free: the slot opens a sentence"):
        normalisation.with_normalisers(opening, scores, "m")
    with pytest.raises(UserError, match="asked has no task sentence without context"):
        normalisation.with_normalisers(instances.assign(task_index=[1, 0]), scores, "m")
    twice = pd.concat([instances, instances[:1].assign(instance_id="again")])
    with pytest.raises(UserError, match="twice without context"):
        normalisation.with_normalisers(twice, scores, "m")


def decisions(**picks):
    """Return decisions on he, she, xe, xe of four occupations under each normalisation of one model."""
    gold = ["he", "she", "xe", "xe"]
    base = {
        "model": "m", "instance_id": list("abcd"), "seed": 13, "n_distractors": [0, 0, 1, 1],
        "occupation": list("wxyz"), "case": "nominative", "pronoun": gold, "tie": False,
    }  # fmt: skip
    parts = [
        pd.DataFrame(base).assign(normalisation=name, prediction=named, confidence=0.75)
        for name, named in picks.items()
    ]
    return pd.concat(parts, ignore_index=True).assign(correct=lambda rows: rows.prediction == rows.pronoun)


PICKS = {
    "sum": ["he", "she", "he", "he"], "tokens": ["he", "he", "xe", "xe"], "bytes": ["he", "she", "he", "she"],
    "context_free": ["xe", "xe", "xe", "xe"],
}  # fmt: skip


def test_flips_and_differences_by_hand():
    frame = results(decisions(**PICKS))
    rows = frame[frame.factor == "all"].set_index("normalisation")
    assert rows.accuracy.to_dict() == {"sum": 0.5, "tokens": 0.75, "bytes": 0.5, "context_free": 0.5}
    assert rows.difference.tolist()[1:] == [0.25, 0, 0]
    assert rows.flipped.tolist()[1:] == [0.75, 0.25, 1.0]
    assert rows.gained.tolist()[1:] == [0.5, 0, 0.5]
    assert rows.lost.tolist()[1:] == [0.25, 0, 0.5]
    # Two gained and one lost: every one of the eight sign patterns has a sum of one or more.
    assert rows.p["tokens"] == 1
    assert rows.loc["sum", ["difference", "p", "flipped", "kappa"]].isna().all()
    xe = frame[(frame.factor == "pronoun") & (frame.level == "xe")].set_index("normalisation")
    assert xe.accuracy.to_dict() == {"sum": 0, "tokens": 1, "bytes": 0, "context_free": 1}
    assert set(frame[frame.factor == "n_distractors"].level) == {"0", "1"}


def test_orders_of_models_by_hand():
    better = decisions(**(PICKS | {"tokens": ["xe"] * 4, "sum": ["he", "she", "xe", "xe"]})).assign(model="b")
    frame = results(pd.concat([decisions(**PICKS), better]))
    ranks = frame[frame.factor == "all"].set_index(["model", "normalisation"])["rank"]
    assert (ranks["m", "sum"], ranks["b", "sum"], ranks["m", "tokens"], ranks["b", "tokens"]) == (2, 1, 1, 2)
    orders = normalisation.rankings(frame)
    orders = orders[orders.factor == "all"].set_index("normalisation")
    assert orders.tau["tokens"] == -1
    assert orders.moved["tokens"] == 2
    assert orders.best.to_dict()["sum"] == "b"
    # Both are as good by bytes: they share the first rank, and no order can be compared.
    assert orders.best["bytes"] == "m b" and np.isnan(orders.tau["bytes"])


def test_models_with_fewer_instances_are_ranked_apart():
    few = decisions(**PICKS).assign(model="few")
    few = few[few.instance_id != "d"]
    frame = results(pd.concat([decisions(**PICKS), few]))
    assert (frame[frame.factor == "all"]["rank"] == 1).all()
    orders = normalisation.rankings(frame)
    assert (orders[orders.factor == "all"].n_models == 1).all()


def test_cells_of_the_tables():
    models, sets = synthetic.DEMONSTRATION, synthetic.SETS[:4]
    table = synthetic.decided(models, sets)
    frame = results(table)
    cells = tables.normalisation_cells(frame, models, sets)
    assert len(cells) == 2 * 4
    assert cells.Model.tolist() == ["SmolLM2-135M-Instruct", "", "", "", "MiniLM (demonstration)", "", "", ""]
    assert cells.loc[0, ["Difference", "p", "Flipped"]].tolist() == ["–", "–", "–"]
    assert cells.loc[1, "Difference"].endswith("]")
