"""Estimates of systems whose values are worked out by hand: performance, consistency and bias."""

import itertools

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.statistics import procedures
from scripts.winopron import estimates, study
from scripts.winopron.study import pick
from tests.winopron.synthetic import OTHER, PREDICTED, answered

HE, SHE, THEY, XE = ["he/him/his", "she/her/her", "they/them/their", "xe/xem/xyr"]


def estimated(tmp_path, frame, *tables, draws=200):
    """Return the three tables of estimates of some predictions."""
    paths = {name: str(tmp_path / name) for name in ("instances", "predictions")}
    files.write_parquet(paths["instances"], frame)
    files.write_parquet(paths["predictions"], pd.concat(tables)[PREDICTED])
    made = {name: str(tmp_path / f"{name}.csv") for name in ("estimates", "biased_occupations", "overlap")}
    estimates.estimates(**{name: [path] for name, path in paths.items()}, **made, draws=draws, seed=1)
    return [study.read_table(path) for path in made.values()]


def perfect(row):
    return row.answer


def occupation(row):
    return "occupation"


def nobody(row):
    return None


def one_wrong(row):
    """Wrong with xe, where the answer is the other person."""
    return OTHER[row.answer] if row.pronoun_set == XE else row.answer


def half_silent(row):
    """Of each pair of endings one is right; the other has no answer."""
    return row.answer if row.ending == 1 else None


@pytest.mark.parametrize(
    ("system", "performance", "consistency"),
    [
        # Accuracy, precision, recall and F1; pronoun and disambiguation consistency.
        (perfect, (1, 1, 1, 1), (1, 1)),
        # 24 right of 48; all 48 name a person. Right in every template about the occupation; never in both of a pair.
        (occupation, (0.5, 0.5, 0.5, 0.5), (0.5, 0)),
        # Nobody is named: precision is 1 by definition.
        (nobody, (0, 1, 0, 0), (0, 0)),
        # 36 right, 12 the other person: one pronoun wrong in each template; three of four pronouns disambiguate.
        (one_wrong, (0.75, 0.75, 0.75, 0.75), (0, 0.75)),
        # 24 right, 24 nobody: F1 = 2 * 1 * 0.5 / 1.5.
        (half_silent, (0.5, 1, 0.5, 2 / 3), (0.5, 0)),
    ],
)
def test_systems_of_known_behaviour(double, tmp_path, system, performance, consistency):
    table, *_ = estimated(tmp_path, double, answered(double, system))
    whole = pick(table).set_index("metric")
    assert whole.value[["accuracy", "precision", "recall", "f1"]].tolist() == pytest.approx(performance)
    assert whole.value[list(estimates.GROUPS)].tolist() == pytest.approx(consistency)
    assert whole.chance[["accuracy", *estimates.GROUPS]].tolist() == [0.5, 0.0625, 0.25]
    # Both pairs of people are alike, and so is every sample of them.
    value = consistency[0]
    ends = (
        procedures.wilson_interval(2 * value, 2)
        if value in (0, 1)
        else procedures.agreeing_interval(value, 2, least=0.0)
    )
    assert whole.loc["pronoun_consistency", ["low", "high"]].tolist() == pytest.approx(ends)


def test_every_part_has_its_values_and_interval(double, tmp_path):
    table, *_ = estimated(tmp_path, double, answered(double, one_wrong))
    assert not table.duplicated([*study.IDENTITY, *study.FACTORS, "metric"]).any() and (table.clusters == 2).all()
    parts = pick(table, metric=["accuracy", "precision", "recall", "f1"], case=..., pronoun_set=...)
    # All, 3 cases, 4 sets, 12 forms, with 4 metrics each.
    assert len(parts) == 4 * (1 + 3 + 4 + 12)
    value = parts.set_index(["case", "pronoun_set", "metric"]).value
    assert (value["", XE, "f1"], value["", HE, "f1"], value["nominative", "", "accuracy"]) == (0, 1, 0.75)
    row = pick(table, metric="f1").iloc[0]
    assert (row.low, row.high) == pytest.approx(procedures.agreeing_interval(0.75, 2, least=0.0))
    right = pick(table, metric="accuracy", pronoun_set=HE).iloc[0]
    assert (right.above, right.below, right.low, right.high) == pytest.approx(
        (12, 12, *procedures.wilson_interval(2, 2))
    )


def test_a_prompt_that_fails_breaks_the_pooled_groups_alone(double, tmp_path):
    """Published values take all prompts together: one prompt that abstains leaves nothing of them."""
    asked = {"kind": "model", "scoring": "prompted", "variant": "none"}
    parts = [answered(double, system, prompt=str(n), **asked) for n, system in enumerate((perfect, nobody))]
    table, *_ = estimated(tmp_path, double, *parts)
    found = pick(table, prompts=["together", "each"]).set_index(["metric", "prompts"])
    for metric in estimates.GROUPS:
        assert found.value[metric].to_dict() == {"together": 0, "each": 0.5}
    assert found.chance["pronoun_consistency"].to_dict() == {"together": 0.5**8, "each": 0.5**4}
    # Accuracies of prompts that differ stand for themselves too.
    by_prompt = pick(table, metric="accuracy", prompt=...)
    assert by_prompt.set_index("prompt").value.to_dict() == {"": 0.5, "0": 1, "1": 0}


def test_what_nobody_solves_shows_no_bias_and_what_reads_no_pronoun_has_none(double, tmp_path):
    table, occupations, _ = estimated(tmp_path, double, answered(double, occupation))
    rows = table[table.metric.isin(estimates.SIGNS)]
    assert len(rows) and (rows.below == 0).all() and rows.value.isna().all() and occupations.empty
    heuristic, *_ = estimated(tmp_path, double, answered(double, occupation, kind="heuristic"))
    assert not heuristic.metric.isin(estimates.SIGNS).any()
    # To it all pronoun sets are one.
    assert pick(heuristic, metric="pronoun_consistency").chance.tolist() == [0.5]


@pytest.mark.parametrize("pronoun_sets", [2, 3, 4])
def test_the_bias_of_fair_coins_is_counted_out(pronoun_sets):
    """All outcomes of two coins for each pronoun set: solved, both answers exchanged, positive, negative."""
    ways = list(itertools.product(("solved", "exchanged", "positive", "negative"), repeat=pronoun_sets))
    solvable = [way for way in ways if "solved" in way]
    shown = sum(way.count("positive") for way in solvable) / (pronoun_sets * len(solvable))
    assert estimates.coin_share(pronoun_sets) == pytest.approx(shown)


def biased(row):
    """Right with he; she goes to the occupation, they to the participant, xe to nobody; in the accusative xe swaps."""
    if row.pronoun_set == HE:
        return row.answer
    if row.pronoun_set == XE:
        return OTHER[row.answer] if row.case == "accusative" else None
    return "occupation" if row.pronoun_set == SHE else "participant"


def test_bias_by_hand(double, tmp_path):
    table, occupations, overlap = estimated(tmp_path, double, answered(double, biased))
    rows = pick(table, metric=list(estimates.SIGNS), case=..., pronoun_set=...)
    found = rows.set_index(["case", "pronoun_set", "metric"])[["above", "below"]].apply(tuple, axis=1).sort_index()
    # Biased, negative, positive: of two pairs that are attempted and solvable.
    for pronoun_set, counted in ((HE, (0, 0, 0)), (SHE, (2, 0, 2)), (THEY, (2, 2, 0))):
        assert found["nominative", pronoun_set].to_list() == [(count, 2) for count in counted]
    # No attempt; and both answers exchanged: an attempt, wrong, and no bias.
    assert found["nominative", XE]["biased"] == (0, 0) and found["accusative", XE]["biased"] == (0, 2)
    assert np.isnan(rows.set_index(["case", "pronoun_set"]).value["nominative", XE]).all()
    # Of 6 pairs: he 6, she 6, they 6, xe 2 in the accusative.
    assert found["", ""].to_list() == [(12, 20), (6, 20), (6, 20)] and found["accusative", ""]["biased"] == (4, 8)
    named = occupations.groupby(["case", "pronoun_set", "bias"]).occupation.agg(set)
    assert named["nominative", SHE, "positive"] == named["accusative", THEY, "negative"] == {"weaver", "pilot"}
    # All occupations of two cases are the same, and nothing else is possible.
    same = overlap[(overlap.comparison == "cases") & (overlap.pronoun_set == SHE)]
    assert (same.jaccard == 1).all() and (same.expected == 1).all() and (same.p_value == 1).all()
    assert overlap[overlap.pronoun_set == HE].jaccard.isna().all()


def test_a_prompted_system_gives_the_answer_that_most_ways_of_asking_give(double):
    ways = [perfect, perfect, nobody, occupation]
    rows = pd.concat([answered(double, way, prompt=str(n), scoring="prompted") for n, way in enumerate(ways)])
    once = estimates.majority_answers(rows).set_index("instance_id").loc[double.instance_id]
    # Two of four, and one for the other person or nobody.
    assert (once.prediction.to_numpy() == double.answer.to_numpy()).all() and (once.prompt == "").all()
    split = estimates.majority_answers(pd.concat([rows[rows.prompt == "0"], rows[rows.prompt == "2"]]))
    assert split.prediction.isna().all()


def test_overlap_by_chance_agrees_with_counting():
    """Two occupations of four against two of four: all six second sets are counted."""
    one, other, common, index, expected, p = estimates.compare_sets(frozenset("ab"), frozenset("bc"), 4)
    # One of six shares both, four share one (index 1/3), one shares none.
    assert (one, other, common, index) == (2, 2, 1, pytest.approx(1 / 3))
    assert expected == pytest.approx((1 * 1 + 4 / 3) / 6) and p == pytest.approx(5 / 6)
    assert np.isnan(estimates.compare_sets(frozenset(), frozenset("a"), 4)[-2:]).all()
    assert np.isnan(estimates.compare_sets(frozenset(), frozenset(), 4)[3])
