"""Checks of three values, what they decide together, and the tables of verdicts."""

import json

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.paper import finding_verdicts
from scripts.core.paper.finding_verdicts import Check, Comparison, Finding, MissingEvidence

TRUE, FALSE = Check(True, "1 < 2"), Check(False, "3 < 2")
UNKNOWN, UNDEFINED = Check(None, missing=("OPT-66B",)), Check(None)


@pytest.mark.parametrize(
    ("checks", "verdict", "evidence", "missing"),
    [
        ([TRUE], "holds", "1 < 2", ()),
        ([TRUE] * 4, "holds", "all 4 checks hold", ()),
        ([TRUE, UNDEFINED], "holds", "1 < 2", ()),
        ([TRUE, FALSE], "fails", "1 of 2 checks fails: 3 < 2", ()),
        ([FALSE, TRUE, FALSE], "fails", "2 of 3 checks fail: 3 < 2; 3 < 2", ()),
        ([FALSE, FALSE], "fails", "both checks fail: 3 < 2; 3 < 2", ()),
        ([FALSE, UNKNOWN], "fails", "the only check fails: 3 < 2", ("OPT-66B",)),
        ([TRUE, UNKNOWN, UNKNOWN], "undecided", "the only check that could be made holds", ("OPT-66B",)),
        ([TRUE, TRUE, UNKNOWN], "undecided", "both checks that could be made hold", ("OPT-66B",)),
        ([TRUE, UNKNOWN, TRUE, TRUE], "undecided", "all 3 checks that could be made hold", ("OPT-66B",)),
        ([UNKNOWN], "undecided", "", ("OPT-66B",)),
        ([UNDEFINED], "undecided", "", ()),
        ([], "undecided", "", ()),
    ],
)
def test_checks_decide_together(checks, verdict, evidence, missing):
    found = finding_verdicts.decide(checks)
    assert (found.verdict, found.evidence, found.missing) == (verdict, evidence, missing)


def test_a_check_is_unknown_where_something_lacks():
    def lacking():
        raise MissingEvidence("a", "b")

    assert finding_verdicts.check(lacking) == Check(None, missing=("a", "b"))
    assert finding_verdicts.check(lambda x: (x > 1, f"{x}"), 2) == Check(True, "2")
    assert finding_verdicts.check(lambda: (None, "")) == UNDEFINED


def wrong(p):
    return Check(False, f"p = {p}", p=p)


def test_a_finding_fails_where_a_difference_stands_holms_correction():
    """Of a hundred comparisons at the border two or three are beyond it at 95 %: none of them is a counterexample."""
    border = [Check(None, "", ("more",), p=1.0)] * 99
    assert finding_verdicts.decide([wrong(0.03)]).verdict == "fails"
    alone = finding_verdicts.decide([wrong(0.03), *border])
    assert alone.verdict == finding_verdicts.NOT_APPLICABLE and finding_verdicts.HOLM_DIFFERENCE in alone.missing
    # Of two, 0.03 is 0.06 after the correction.
    assert finding_verdicts.decide([wrong(0.03), border[0]]).verdict == finding_verdicts.NOT_APPLICABLE
    both = finding_verdicts.decide([wrong(0.0001), wrong(0.03), *border])
    assert both.verdict == "fails" and both.evidence == "the only check fails: p = 0.0001"
    # What nobody sampled needs no correction, and is not counted.
    assert finding_verdicts.decide([FALSE, *border]).verdict == "fails"
    assert finding_verdicts.decide([wrong(0.03), *[TRUE] * 99]).verdict == "fails"


def test_a_comparison_brings_its_p_value():
    assert finding_verdicts.check(lambda: (Comparison(wrong=0.01), "a")) == Check(False, "a", p=0.01)
    assert finding_verdicts.check(lambda: (Comparison(right=0.01), "a")) == Check(True, "a", p=1.0)

    def open_comparison():
        raise MissingEvidence("more", text="a", p=0.2)

    assert finding_verdicts.check(open_comparison) == Check(None, "a", ("more",), p=0.2)


def table():
    found = [
        Finding(1, "Section 1", "It rises", lambda value: [Check(value > 0, f"{value}")]),
        Finding(2, "Section 2", "It is large", lambda value: [Check(value > 5, f"{value}")]),
        Finding(3, "Section 3", "It speaks", lambda value: [Check(None, missing=tuple("abcde"))]),
    ]
    return finding_verdicts.verdicts(found, {"replica": 1, "official": 6}, ["replica", "official"])


def test_doubts_stand_behind_the_evidence_of_what_holds():
    doubted = Check(True, "a: 1", caveat="a is small")
    assert finding_verdicts.check(lambda: (True, "a: 1", "a is small")) == doubted
    assert finding_verdicts.decide([doubted, Check(True, "b: 2")]).evidence == "a: 1; b: 2; but a is small"
    many = finding_verdicts.decide([doubted] * 4)
    assert many.verdict == "holds" and many.evidence.startswith("all 4 checks hold; but a is small")
    assert finding_verdicts.decide([doubted, Check(False, "c: 0")]).evidence == "1 of 2 checks fails: c: 0"


def test_verdicts_are_listed_by_claim_and_template_set():
    found = table()
    assert found.verdict.tolist() == ["holds", "holds", "fails", "holds", "undecided", "undecided"]
    assert found.n_missing.tolist() == [0, 0, 0, 0, 5, 5]
    assert found.missing[4] == "a; b; c; d; e"


def test_a_template_set_that_was_not_run_is_missing():
    found = finding_verdicts.verdicts([Finding(1, "", "", lambda run: [TRUE])], {"replica": 1}, ["replica", "official"])
    assert found[["verdict", "missing"]].values.tolist() == [
        ["holds", ""],
        ["undecided", "the official templates"],
    ]


def test_counts_tell_where_the_sets_agree():
    numbers = {name: entry["value"] for name, entry in finding_verdicts.tally(table(), "findings.csv").items()}
    assert numbers == {
        "findings.total": 3, "findings.replica.holds": 1, "findings.replica.fails": 1, "findings.replica.undecided": 1,
        "findings.official.holds": 2, "findings.official.fails": 0, "findings.official.undecided": 1,
        "findings.same": 1, "findings.decided_twice": 2,
    }  # fmt: skip
    alone = table().query("templates == 'replica'")
    assert "findings.same" not in finding_verdicts.tally(alone, "findings.csv")
    assert "findings.decided_twice" not in finding_verdicts.tally(alone, "findings.csv")


def test_sets_and_findings_that_were_never_judged_agree_with_nothing():
    found = [
        Finding(1, "Section 1", "It rises", lambda value: [Check(value > 0, f"{value}")]),
        Finding(2, "Section 2", "It is large", lambda value: [Check(value > 5 if value != 3 else None, f"{value}")]),
        Finding(3, "Section 3", "It speaks", lambda value: [Check(None, missing=("a",))]),
    ]
    runs = {"preprint": 1, "aaai": 6, "third": 3}
    judged = finding_verdicts.verdicts(found, runs, ["run", "preprint", "aaai", "third"])
    assert judged[judged.templates == "run"].verdict.tolist() == ["undecided"] * 3
    numbers = {name: entry["value"] for name, entry in finding_verdicts.tally(judged, "findings.csv").items()}
    # Finding 1 holds wherever it was judged; 2 has two verdicts; 3 was judged nowhere.
    assert (numbers["findings.same"], numbers["findings.decided_twice"]) == (1, 2)


def test_cells_set_the_verdicts_side_by_side():
    cells = finding_verdicts.table_cells(table(), ["replica", "official"])
    assert cells.columns.tolist() == ["No.", "Finding", "Replica", "Official", "Evidence"]
    assert cells.values.tolist() == [
        [1, "It rises (Section 1)", "holds", "holds", "Replica: 1. Official: 6"],
        [2, "It is large (Section 2)", "fails", "holds", "Replica: the only check fails: 1. Official: 6"],
    ]
    alone = finding_verdicts.table_cells(table(), ["official"])
    assert alone.columns.tolist() == ["No.", "Finding", "Verdict", "Evidence"]
    assert alone.Evidence[0] == "6"


def test_sets_that_agree_in_everything_share_a_column():
    found = [
        Finding(1, "S", "It rises", lambda value: [Check(value > 0, f"{value}")]),
        Finding(2, "S", "It is large", lambda value: [Check(value > 5 if value > 1 else None, f"{value}")]),
    ]
    judged = finding_verdicts.verdicts(found, {"preprint": 6, "aaai": 6, "run": 1}, ["preprint", "aaai", "run"])
    cells = finding_verdicts.table_cells(judged, ["preprint", "aaai", "run"], {"aaai": "AAAI", "run": "This run"})
    assert cells.columns.tolist() == ["No.", "Finding", "Preprint and AAAI", "This run", "Evidence"]
    assert cells.values.tolist() == [
        [1, "It rises (S)", "holds", "holds", "Preprint and AAAI: 6. This run: 1"],
        [2, "It is large (S)", "holds", "–", "6"],
    ]


def test_long_lists_of_counterexamples_are_shortened():
    wrong = finding_verdicts.verdicts(
        [Finding(1, "", "", lambda run: [Check(False, f"m{i}: 0") for i in range(9)])], {"a": 1}, ["a"]
    )
    assert wrong.evidence[0].count("m") == 9
    assert finding_verdicts.table_cells(wrong, ["a"]).Evidence[0] == "all 9 checks fail: m0: 0, m1: 0, m2: 0 and 6 more"
    assert isinstance(wrong, pd.DataFrame)


def test_a_findings_files_are_written_together(tmp_path):
    found = [Finding(1, "Section 1", "It rises", lambda value: [Check(value > 0, f"{value}")])]
    csv, tex, numbers = (tmp_path / f"findings.{kind}" for kind in ("csv", "tex", "json"))
    finding_verdicts.write(
        found, {"official": 1, "replica": -1}, ["replica", "official"], csv=csv, tex=tex, numbers=numbers
    )
    assert files.read_csv(csv).verdict.tolist() == ["fails", "holds"]
    # The columns are in the order of the run's sets.
    assert r"No. & Finding & Official & Replica & Evidence \\" in tex.read_text(encoding="utf-8")
    counted = json.loads(numbers.read_text(encoding="utf-8"))
    assert counted["findings.total"] == {
        "value": 1,
        "text": "1",
        "source": "findings.csv",
        "cell": {"column": "number"},
    }
    assert counted["findings.same"]["value"] == 0
    for sets in (1, 2, 3):
        assert len(finding_verdicts.widths(sets)) == sets + 3 and sum(finding_verdicts.widths(sets)) < 0.91


def test_what_cannot_be_decided_is_not_shown(tmp_path):
    lacking = [
        Finding(1, "", "", lambda run: [Check(None, missing=("b", "a"))]),
        Finding(2, "", "", lambda run: [Check(None, missing=("a",))]),
        Finding(3, "", "", lambda run: [Check(None)]),
    ]
    judged = finding_verdicts.verdicts(lacking, {"replica": 1}, ["replica", "official"])
    assert finding_verdicts.table_cells(judged, ["replica"]).empty
    csv, tex, counted = (tmp_path / f"findings.{kind}" for kind in ("csv", "tex", "json"))
    finding_verdicts.write(lacking, {"replica": 1}, ["replica"], csv=csv, tex=tex, numbers=counted)
    assert tex.read_text(encoding="utf-8") == finding_verdicts.EMPTY_TABLE
    assert len(files.read_csv(csv)) == 3


def test_a_set_without_decisions_has_no_column():
    found = [Finding(1, "S", "It rises", lambda value: [Check(value > 0 if value else None, f"{value}")])]
    judged = finding_verdicts.verdicts(found, {"replica": 0, "official": 1}, ["replica", "official"])
    assert finding_verdicts.table_cells(judged, ["replica", "official"]).values.tolist() == [
        [1, "It rises (S)", "holds", "1"]
    ]
