"""Accuracies, and decisions under other scores than the sum: values worked out by hand."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.statistics import normalisation as normalising
from scripts.ruff import normalisation
from tests.refusals import refused

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
    cells = normalising.count_decisions(instances[1:], table, "m", normalisation.DESIGN).set_index("normalisation")
    # The right one is *xe*: by the sum *he* is picked, by bytes *she*.
    assert cells.correct.to_dict() == {"sum": 0, "tokens": 1, "bytes": 0, "context_free": 1}
    assert cells.flipped.to_dict() == {"sum": 0, "tokens": 1, "bytes": 1, "context_free": 1}


def test_rows_are_of_all_instances_of_each_number_of_distractors_and_each_set(instances, scores):
    table = normalisation.with_normalisers(instances, scores, "m")
    asked = instances[1:].astype({"n_distractors": "Int64"})
    cells = normalising.count_decisions(asked, table, "m", normalisation.DESIGN)
    frame = normalising.compare_scores(cells, normalisation.DESIGN, 10, 0)
    levels = frame[["n_distractors", "pronoun"]].drop_duplicates().to_numpy().tolist()
    assert levels == [["", ""], ["0", ""], ["", "xe"]]


def test_how_often_a_set_is_chosen_where_another_is_right():
    # Right set, chosen option, texts; of the xe texts two are right by a form that she has as well.
    counts = [("he", 0, 6, 6), ("he", 2, 2, 0), ("she", 2, 4, 0), ("xe", 2, 3, 3), ("xe", 1, 2, 2)]
    cells = pd.DataFrame(counts, columns=["pronoun", "option_index", "n", "correct"])
    cells = cells.assign(model="m", normalisation="sum")
    table = normalisation.chosen_elsewhere(cells, SETS).set_index("pronoun")
    assert table.chosen_elsewhere.to_dict() == {"he": 0, "she": 0, "xe": 6 / 12}
    assert table.n_elsewhere.to_dict() == {"he": 9, "she": 13, "xe": 12}


def test_the_table_says_how_often_a_set_is_chosen_elsewhere(tmp_path, instances, scores):
    other = instance("other", "He bakes. the baker said ___ was late", 0, gold="he", pronoun="he", seed=13)
    rows = pd.concat([instances, pd.DataFrame([other])], ignore_index=True).assign(priority=[None, 0, 0])
    more = scores[3:].assign(instance_id="other", log_probability=[-40.0, -39.0, -50.0])
    paths = [str(tmp_path / name) for name in ("instances.parquet", "scores.parquet", "normalisation.csv")]
    files.write_parquet(paths[0], rows)
    files.write_parquet(paths[1], pd.concat([scores, more]), {"model": "m"})
    normalisation.normalisation(
        instances=paths[:1], scores=paths[1:2], normalisation=paths[2], template_sets=["replica"], models=["m"],
        sizes={"m": 9}, pronoun_sets=SETS, draws=10, seed=0,
    )  # fmt: skip
    table = pd.read_csv(paths[2], keep_default_na=False)
    shown = table[table.normalisation == "sum"].set_index(["n_distractors", "pronoun"])
    assert shown.chosen_elsewhere.to_dict() == {("", ""): "", ("0", ""): "", ("", "he"): "1", ("", "xe"): "0"}
    assert shown.n_elsewhere.tolist() == ["", "", "1", "1"]


REFUSED = {
    "no-tokens": (lambda rows, scores: (rows, scores.drop(columns="scored_tokens")), ["scores of m", "scored_tokens"]),
    "slot-first": (
        lambda rows, scores: (rows.assign(text=["___ was late", rows.text[1]]), scores), ["free", "slot", "word before"]
    ),
    "no-task": (lambda rows, scores: (rows.assign(task_index=[1, 0]), scores), ["asked", "without context", "again"]),
    "twice": (
        lambda rows, scores: (pd.concat([rows, rows[:1].assign(instance_id="again")]), scores), ["twice", "again"]
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "named"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_compared_is_refused(instances, scores, change, named):
    with refused(*named):
        normalisation.with_normalisers(*change(instances, scores), "m")
