"""Metrics, consistency and bias on outputs whose values are worked out by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest

from scripts.core.errors import UserError
from scripts.core.statistics import procedures
from scripts.winopron.lib import instances, study
from scripts.winopron.lib.analyses import bias, consistency, performance
from tests.winopron import make

OTHER = {"occupation": "participant", "participant": "occupation"}
HE, SHE, THEY, XE = ["he/him/his", "she/her/her", "they/them/their", "xe/xem/xyr"]


@pytest.fixture
def double(tmp_path):
    """12 templates with 4 pronoun sets: 48 instances."""
    return instances.build(make.read(tmp_path), "double", make.PRONOUNS)


def answered(frame, choose):
    """Return answers: ``choose`` gives the prediction for a row, or None."""
    predictions = pd.Series([choose(row) for row in frame.itertuples()], dtype=object)
    return performance.join_instances(
        pd.DataFrame({"instance_id": frame.instance_id, "prediction": predictions}), frame
    )


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
    ("system", "expected"),
    [
        (perfect, (1, 1, 1, 1)),
        # 24 right of 48; all 48 name a person.
        (occupation, (0.5, 0.5, 0.5, 0.5)),
        # Nobody is named: precision is 1 by definition.
        (nobody, (0, 1, 0, 0)),
        # 36 right, 12 the other person.
        (one_wrong, (0.75, 0.75, 0.75, 0.75)),
        # 24 right, 24 nobody: F1 = 2 * 1 * 0.5 / 1.5.
        (half_silent, (0.5, 1, 0.5, 2 / 3)),
    ],
)
def test_metrics_of_systems_of_known_behaviour(double, system, expected):
    found = performance.values(performance.confusion(answered(double, system)).sum())
    assert list(found) == list(performance.METRICS)
    assert tuple(found.values()) == pytest.approx(expected)


def test_the_four_counts_are_as_defined(double):
    rows = answered(double.iloc[:3], lambda row: {HE: "occupation", SHE: "participant"}.get(row.pronoun_set))
    counts = performance.confusion(rows)
    assert counts.astype(int).to_numpy().tolist() == [[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]]


def test_a_random_system_is_near_chance(double):
    big = pd.concat([double.assign(instance_id=[f"{i}-{n}" for i in double.instance_id]) for n in range(200)])
    draw = np.random.default_rng(7)
    rows = answered(big.reset_index(drop=True), lambda row: draw.choice(["occupation", "participant"]))
    assert all(abs(value - 0.5) < 0.02 for value in performance.values(performance.confusion(rows).sum()).values())


def test_every_part_has_its_values_and_interval(double):
    table = performance.evaluate(answered(double, one_wrong), draws=200, seed=1)
    assert list(table) == performance.COLUMNS
    # All, 3 cases, 4 sets, 12 forms, with 4 metrics each.
    assert len(table) == 4 * (1 + 3 + 4 + 12) and not table.duplicated([*performance.PART, "metric"]).any()
    value = table.set_index([*performance.PART, "metric"]).value["all"]
    assert (value["all", "f1"], value[XE, "f1"], value[HE, "f1"]) == (0.75, 0, 1)
    value = table.set_index(["case", "pronoun_set", "metric"]).value
    assert value["nominative", "all", "accuracy"] == 0.75 and value["accusative", XE, "precision"] == 0
    whole = study.overall_rows(table)
    # Both pairs are alike, and so is every sample of them: an interval of no width would say that all is known.
    ends = procedures.agreeing_interval(0.75, 2, least=0.0)
    assert (whole.ci_low == ends[0]).all() and (whole.ci_high == ends[1]).all()
    right = table[(table.pronoun_set == HE) & (table["case"] == "all")]
    assert {(row.ci_low, row.ci_high) for row in right.itertuples()} == {procedures.wilson(2, 2)}
    one_pair = performance.evaluate(answered(double[double.pair == "weaver-buyer"], one_wrong), draws=200, seed=1)
    assert one_pair.ci_low.isna().all() and (study.overall_rows(one_pair).value == whole.value).all()


def test_intervals_contain_the_value_and_repeat(double):
    rows = answered(double, lambda row: row.answer if row.pair == "weaver-buyer" else None)
    first, again = (performance.evaluate(rows, draws=500, seed=3) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    row = study.overall_rows(first[first.metric == "accuracy"]).iloc[0]
    assert (row.value, row.ci_low, row.ci_high) == (0.5, 0, 1)


def test_answers_belong_to_the_instances(double):
    predictions = pd.DataFrame({"instance_id": double.instance_id, "prediction": None})
    with pytest.raises(UserError, match="1 of 48 instances have no answer"):
        performance.join_instances(predictions.iloc[1:], double)
    predictions.loc[0, "instance_id"] = "nobody's"
    with pytest.raises(UserError, match="the answer to 'nobody's' is to none of the instances"):
        performance.join_instances(predictions, double)


@pytest.mark.parametrize("pronoun_sets", [2, 3, 4])
def test_the_bias_of_fair_coins_is_counted_out(pronoun_sets):
    """All outcomes of two coins for each pronoun set: solved, both answers exchanged, positive, negative."""
    ways = list(itertools.product(("solved", "exchanged", "positive", "negative"), repeat=pronoun_sets))
    solvable = [way for way in ways if "solved" in way]
    shown = sum(way.count("positive") for way in solvable) / (pronoun_sets * len(solvable))
    assert bias.coin_share(pronoun_sets) == pytest.approx(shown)
    if pronoun_sets == 4:
        assert round(shown, 3) == 0.211


@pytest.mark.parametrize(
    ("system", "pronoun", "disambiguation"),
    [
        (perfect, 1, 1),
        # Right in every template about the occupation; never in both of a pair.
        (occupation, 0.5, 0),
        (nobody, 0, 0),
        # One pronoun wrong in each template; three of four pronouns disambiguate.
        (one_wrong, 0, 0.75),
        (half_silent, 0.5, 0),
    ],
)
def test_consistencies_of_systems_of_known_behaviour(double, system, pronoun, disambiguation):
    table = consistency.evaluate(answered(double, system), draws=100, seed=1).set_index("metric")
    assert table.value["pronoun_consistency"] == pronoun
    assert table.value["disambiguation_consistency"] == disambiguation
    assert (table.value["pronoun_consistency_chance"], table.value["disambiguation_consistency_chance"]) == (
        0.0625,
        0.25,
    )
    assert (table.pairing == "").all()
    half = procedures.agreeing_interval(0.5, 2, least=0.0)
    ends = procedures.wilson(2 * pronoun, 2) if pronoun in (0, 1) else half
    assert (table.ci_low["pronoun_consistency"], table.ci_high["pronoun_consistency"]) == pytest.approx(
        ends, nan_ok=True
    )


def test_a_prompt_that_fails_breaks_the_pooled_groups_alone(double):
    """Published values take all prompts together: one prompt that abstains leaves nothing of them."""
    good, bad = (answered(double, system).assign(prompt=number) for number, system in enumerate((perfect, nobody)))
    rows = pd.concat([good, bad], ignore_index=True).assign(variant="none")
    table = consistency.evaluate(rows, draws=100, seed=1).set_index(["metric", "pairing"]).value
    for metric in consistency.GROUPS:
        assert (table[metric, consistency.POOLED], table[metric, consistency.SINGLE]) == (0, 0.5)
    assert table["pronoun_consistency_chance", consistency.POOLED] == 0.5**8
    assert table["pronoun_consistency_chance", consistency.SINGLE] == 0.5**4


def test_a_group_with_an_answer_missing_is_refused(double):
    rows = answered(double, perfect).iloc[1:]
    with pytest.raises(UserError, match="the group 'weaver-nominative-1' has 3 answers where others have 4"):
        consistency.groups(rows, "pronoun_consistency")


def biased(row):
    """Right with he; she goes to the occupation, they to the participant, xe to nobody; in the accusative xe swaps."""
    if row.pronoun_set == HE:
        return row.answer
    if row.pronoun_set == XE:
        return OTHER[row.answer] if row.case == "accusative" else None
    return "occupation" if row.pronoun_set == SHE else "participant"


def test_bias_by_hand(double):
    found = bias.pairs(answered(double, biased))
    assert len(found) == 6 * 4 and found.solvable.all()
    table = bias.shares(found).set_index(["case", "pronoun_set"]).drop(columns="chance")
    rows = {form: table.loc[("nominative", form)].tolist() for form in (HE, SHE, THEY)}
    # Attempted, attempted and solvable, positive, negative; then the shares of them, and both together.
    assert rows == {
        HE: [2, 2, 0, 0, 0, 0, 0],
        SHE: [2, 2, 2, 0, 1, 0, 1],
        THEY: [2, 2, 0, 2, 0, 1, 1],
    }
    nothing = table.loc[("nominative", XE)]
    assert nothing.attempted == 0 and np.isnan(nothing.share_biased)
    # Both answers exchanged: an attempt, wrong, and no bias.
    assert table.loc[("accusative", XE)].tolist() == [2, 2, 0, 0, 0, 0, 0]
    # Of 6 pairs: he 6, she 6, they 6, xe 2 in the accusative.
    assert table.loc[("all", "all")].tolist() == pytest.approx([20, 20, 6, 6, 0.3, 0.3, 0.6])
    assert table.loc[("accusative", "all")].tolist()[:4] == [8, 8, 2, 2]


def test_what_nobody_solves_shows_no_bias(double):
    found = bias.pairs(answered(double, occupation))
    assert found.attempted.all() and not found.solvable.any() and found.bias.isna().all()
    assert (bias.shares(found).positive == 0).all() and bias.shares(found).share_biased.isna().all()


def test_biased_occupations_with_and_without_signs(double):
    found = bias.pairs(answered(double, biased))
    signed, plain = bias.occupations(found, signed=True), bias.occupations(found, signed=False)
    assert signed["nominative", SHE] == {("weaver", "positive"), ("pilot", "positive")}
    assert plain["nominative", SHE] == plain["nominative", THEY] == {"weaver", "pilot"}
    assert signed["nominative", HE] == frozenset()
    assert bias.jaccard(plain["nominative", SHE], plain["possessive", THEY], 0.0) == 1
    assert bias.jaccard(signed["nominative", SHE], signed["possessive", THEY], 0.0) == 0
    assert bias.jaccard(frozenset(), frozenset(), 0.0) == 0 and np.isnan(bias.jaccard(frozenset(), frozenset(), np.nan))


def test_overlap_by_chance_agrees_with_counting():
    """Two occupations of four against two of four: all six second sets are counted."""
    expected, p = bias.overlap_by_chance(frozenset("ab"), frozenset("bc"), 4)
    # One of six shares both, four share one (index 1/3), one shares none.
    assert expected == pytest.approx((1 * 1 + 4 / 3) / 6) and p == pytest.approx(5 / 6)
    assert np.isnan(bias.overlap_by_chance(frozenset(), frozenset("a"), 4)).all()


def test_bias_needs_both_endings_and_one_prompt(double):
    rows = answered(double, perfect)
    with pytest.raises(UserError, match="'weaver-nominative, nominative, he/him/his' has 1 answers"):
        bias.pairs(rows.iloc[1:])
    with pytest.raises(UserError, match="select one before"):
        bias.pairs(pd.concat([rows.assign(prompt=0), rows.assign(prompt=1)]))
