"""The study's findings on what its systems released, and on values that speak against them."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from scripts.core.paper import finding_verdicts
from scripts.core.paper.finding_verdicts import FAILS, HOLDS, NOT_APPLICABLE
from scripts.counter_gap import findings, study
from tests.counter_gap import make


def verdicts(results):
    """Return the verdict of each finding by its number."""
    runs = {"official": findings.Results(results)}
    return finding_verdicts.judge_findings(findings.FINDINGS, runs, ["official"]).set_index("number")


def sharp(results):
    """Return the results with intervals of no width: every comparison is decided by its values."""
    return results.assign(low=results.value, high=results.value)


@pytest.mark.parametrize(
    ("quadruples", "genders", "numbers", "verdict"),
    [
        # Always right: of many quadruples a certain no, of few ones still open.
        (1002, "MF", {2, 6, 7}, FAILS),
        (24, "MF", {2, 6, 7}, "undecided"),
        (1002, "M", {5}, HOLDS),
    ],
)
def test_quadruples_that_all_agree(official, quadruples, genders, numbers, verdict):
    """Systems that are right about some genders: no sample of quadruples differs from another."""
    frame, flags = official
    frame = frame[: 4 * quadruples]
    right = flags.id.isin(frame.id[frame.gender.isin([*genders])])
    few = flags.assign(correct=right)[flags.id.isin(frame.id)]
    table = make.estimate_flags(frame, few, draws=100, seed=1)
    ends = table[table.metric == "i_within_diff"]
    assert (ends.value == 0).all() and (ends.low < 0).all() and (ends.high > 0).all()
    assert set(verdicts(table).verdict[list(numbers)]) == {verdict}


def test_findings_by_the_values_alone(results):
    """And what speaks against those that hold."""
    table = verdicts(sharp(results))
    fails = table.evidence[table.verdict == FAILS].to_dict()
    assert fails == {2: "1 of 4 checks fails: SpanBERT-large: +1.85 (+1.85 to +1.85) against +1.50 (+1.50 to +1.50)"}
    # BERT-large is exactly as inconsistent within either gender.
    undecided = set(table.index[table.verdict == NOT_APPLICABLE])
    assert undecided == {6, 10, 11, 12, 13, 14, 16, 17, 18}
    assert "; but BERT-base: −0.083 is significant in the same test as the stars (p = 0.0054)" in table.evidence[9]
    assert table.evidence[9].count("; but") == 1
    assert table.evidence[15].endswith(
        "; but BERT-base, Delta I: p = 0.0104 by the centred bootstrap against p = 0.0075, "
        "and not significant after Holm's correction (p = 0.0300)"
    )
    assert table.evidence[1] == "all 4 checks hold" and "; but" not in table.evidence[8]


def test_correlations_of_few_quadruples_have_the_interval_of_fisher(results):
    rows = sharp(results).assign(n=24, clusters=24)
    rho = rows.value[(rows.metric == "spearman_rho") & (rows.system == "BERT-base") & (rows.debiasing == "none")].iloc[
        0
    ]
    low, high = (np.tanh(np.arctanh(rho) + side * 1.959964 * 1.03 / np.sqrt(21)) for side in (-1, 1))
    assert f"{low:+.3f} to {high:+.3f}".replace("-", "−") in verdicts(rows).evidence[9]


def mirrored(results):
    """Return the results with biases to the other gender, and stars where there were none."""
    signed = results.metric.isin(["acc_diff", "delta_i", "i_within_diff", "i_across_diff"])
    return results.assign(value=results.value.where(~signed, -results.value), significant=~(results.significant == 1))


def with_value(column, pattern, value):
    """Return a function that gives rows another value."""
    return lambda results: results.assign(value=results.value.mask(results[column].str.fullmatch(pattern), value))


def made_up(results, delta=0.01, star=True, accuracy=None, named=None, gap=0.9, f1=0.7):
    """Return the results with rows for what was not released: a-CDA, GAP, F1; ``named`` is Delta I after n-CDA."""
    none = results[(results.debiasing == "none") & (results[study.FACTORS] == "").all(axis=1)]
    of = {metric: none[none.metric == metric] for metric in ("delta_i", "acc_diff", "accuracy")}
    of_names = (results.debiasing == "n-CDA") & (results.metric == "delta_i") & (named is not None)
    parts = [
        results.assign(value=results.value.mask(of_names, named or 0)),
        of["delta_i"].assign(debiasing="a-CDA", value=delta, significant=star),
        of["acc_diff"].assign(debiasing="a-CDA", value=0.001, significant=False),
        of["accuracy"].assign(debiasing="a-CDA", value=accuracy or of["accuracy"].value + 0.001),
        of["acc_diff"].assign(templates="gap_test", value=gap),
        make.f1_scores({"none": 0.8, "n-CDA": f1}),
    ]
    return pd.concat(parts)


worse = partial(made_up, star=False, accuracy=0.99, named=0.9, gap=-0.001, f1=0.9)
WORLDS = {
    # A difference that is significant and below two points is neither none nor one.
    "mirrored": (mirrored, {FAILS: {1, 3, 5, 7, 15}, NOT_APPLICABLE: {8}}),
    "harder": (with_value("metric", "original_minus_counterfactual", 0.05), {FAILS: {8}}),
    "correlated": (with_value("metric", "spearman_rho", 0.2), {FAILS: {9}}),
    "large is worse": (with_value("system", ".*large", 0.5), {FAILS: {4}}),
    "as the study says": (made_up, {HOLDS: {10, 11, 14, 16, 17, 18}}),
    # A test that finds nothing shows nothing; an interval below zero does.
    "debiasing without a star": (worse, {NOT_APPLICABLE: {14}}),
    "debiasing to the other side": (partial(worse, delta=-0.01), {FAILS: {10, 11, 12, 13, 14, 17, 18}}),
    "debiasing costs accuracy": (partial(made_up, accuracy=0.01), {FAILS: {16}}),
}
"""Changes of the results, to verdicts on findings."""


@pytest.mark.parametrize(("change", "expected"), WORLDS.values(), ids=WORLDS)
def test_findings_on_other_values(results, change, expected):
    found = verdicts(sharp(change(results))).verdict
    for verdict, numbers in expected.items():
        assert set(found[list(numbers)]) == {verdict}, found[list(numbers)]
