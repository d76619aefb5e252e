"""The study's findings on what its systems released, and on values that speak against them."""

import pandas as pd
import pytest

from scripts.core.paper import finding_verdicts
from scripts.counter_gap import findings, quantities, study
from tests.counter_gap import make


def verdicts(results, *corpus_scores):
    """Return the verdict of each finding by its number."""
    run = quantities.Results(pd.concat([results, *corpus_scores]))
    return finding_verdicts.verdicts(findings.FINDINGS, {"official": run}, ["official"]).set_index("number")


def sharp(results):
    """Return the results with intervals of no width: every comparison is decided by its values."""
    return results.assign(low=results.value, high=results.value)


@pytest.mark.parametrize(
    ("quadruples", "genders", "numbers", "verdict"),
    [
        # Always right: of many quadruples a certain no, of few ones still open.
        (1002, "MF", {2, 6, 7}, finding_verdicts.FAILS),
        (24, "MF", {2, 6, 7}, "undecided"),
        (1002, "M", {5}, finding_verdicts.HOLDS),
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
    fails = table.evidence[table.verdict == finding_verdicts.FAILS].to_dict()
    assert fails == {2: "1 of 4 checks fails: SpanBERT-large: +1.85 (+1.85 to +1.85) against +1.50 (+1.50 to +1.50)"}
    # BERT-large is exactly as inconsistent within either gender.
    undecided = set(table.index[table.verdict == finding_verdicts.NOT_APPLICABLE])
    assert undecided == {6, 10, 11, 12, 13, 14, 16, 17, 18}
    assert "; but BERT-base: −0.083 is significant in the same test as the stars (p = 0.0054)" in table.evidence[9]
    assert table.evidence[9].count("; but") == 1
    assert table.evidence[15].endswith(
        "; but BERT-base, Delta I: p = 0.0104 by the centred bootstrap against p = 0.0075, "
        "and not significant after Holm's correction (p = 0.0300)"
    )
    assert table.evidence[1] == "all 4 checks hold" and "; but" not in table.evidence[8]


def turned(results):
    """Return the results of mirrored systems."""
    signed = results.metric.isin(["acc_diff", "delta_i", "i_within_diff", "i_across_diff"])
    return results.assign(value=results.value.where(~signed, -results.value), significant=~(results.significant == 1))


@pytest.mark.parametrize(
    ("change", "verdict", "numbers"),
    [
        pytest.param(turned, finding_verdicts.FAILS, {1, 3, 5, 7, 15}, id="mirrored"),
        # A difference that is significant and below two points is neither none nor one.
        pytest.param(turned, finding_verdicts.NOT_APPLICABLE, {8}, id="small and significant"),
        pytest.param(
            lambda t: t.assign(value=t.value.mask(t.metric == "original_minus_counterfactual", 0.05)),
            finding_verdicts.FAILS, {8}, id="counterfactuals are harder",
        ),
        pytest.param(
            lambda t: t.assign(value=t.value.mask(t.metric == "spearman_rho", 0.2)), finding_verdicts.FAILS, {9},
            id="correlated",
        ),
        pytest.param(
            lambda t: t.assign(value=t.value.mask(t.system.str.endswith("large"), 0.5)), finding_verdicts.FAILS, {4},
            id="large is worse",
        ),
    ],
)  # fmt: skip
def test_findings_fail_on_other_values(results, change, verdict, numbers):
    assert set(verdicts(sharp(change(results))).verdict[list(numbers)]) == {verdict}


def made_up(results, delta=0.01, star=True, accuracy=None, named=None, gap=0.9):
    """Return the results with rows for what was not released: a-CDA, and GAP; ``named`` is Delta I after n-CDA."""
    none = results[(results.debiasing == "none") & (results[study.FACTORS] == "").all(axis=1)]
    of = {metric: none[none.metric == metric] for metric in ("delta_i", "acc_diff", "accuracy")}
    of_names = (results.debiasing == "n-CDA") & (results.metric == "delta_i") & (named is not None)
    parts = [
        results.assign(value=results.value.mask(of_names, named or 0)),
        of["delta_i"].assign(debiasing="a-CDA", value=delta, significant=star),
        of["acc_diff"].assign(debiasing="a-CDA", value=0.001, significant=False),
        of["accuracy"].assign(debiasing="a-CDA", value=accuracy or of["accuracy"].value + 0.001),
        of["acc_diff"].assign(templates="gap_test", value=gap),
    ]
    return sharp(pd.concat(parts))


WORSE = {"star": False, "accuracy": 0.99, "named": 0.9, "gap": -0.001}


@pytest.mark.parametrize(
    ("values", "f1", "verdict", "numbers"),
    [
        ({}, 0.7, finding_verdicts.HOLDS, {10, 11, 14, 16, 17, 18}),
        (WORSE | {"delta": -0.01}, 0.9, finding_verdicts.FAILS, {10, 11, 12, 13, 14, 17, 18}),
        # A test that finds nothing shows nothing; an interval below zero does.
        (WORSE, 0.9, finding_verdicts.NOT_APPLICABLE, {14}),
        ({"accuracy": 0.01}, 0.9, finding_verdicts.FAILS, {16}),
    ],
)
def test_findings_about_what_was_not_released(results, values, f1, verdict, numbers):
    found = verdicts(made_up(results, **values), make.f1_scores({"none": 0.8, "n-CDA": f1})).verdict
    assert set(found[list(numbers)]) == {verdict}
