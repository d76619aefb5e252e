"""Checks of three values, what they decide together, and the tables of verdicts."""

import json

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


def lacking(**facts):
    def function():
        raise MissingEvidence("a", "b", **facts)

    return function


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda: (2 > 1, "2"), Check(True, "2")),
        (lambda: (None, ""), UNDEFINED),
        (lambda: (True, "a: 1", "a is small"), Check(True, "a: 1", caveat="a is small")),
        (lambda: (Comparison(wrong=0.01), "a"), Check(False, "a", p=0.01)),
        (lambda: (Comparison(right=0.01), "a"), Check(True, "a", p=1.0)),
        (lacking(), Check(None, missing=("a", "b"))),
        (lacking(text="c", p=0.2), Check(None, "c", ("a", "b"), p=0.2)),
    ],
    ids=["true", "undefined", "doubted", "shown false", "shown true", "missing", "open"],
)
def test_a_check_is_what_its_function_returns_or_lacks(function, expected):
    assert finding_verdicts.evaluate_check(function) == expected


def wrong(p):
    return Check(False, f"p = {p}", p=p)


BORDER = [Check(None, "", ("more",), p=1.0)] * 99
"""Of a hundred comparisons at the border two or three are beyond it at 95 %: none of them is a counterexample."""


@pytest.mark.parametrize(
    ("checks", "verdict", "evidence"),
    [
        ([wrong(0.03)], "fails", "the only check fails: p = 0.03"),
        ([wrong(0.03), *BORDER], "undecided", "1 undecided: p = 0.03"),
        # Of two, 0.03 is 0.06 after the correction.
        ([wrong(0.03), BORDER[0]], "undecided", "1 undecided: p = 0.03"),
        ([wrong(0.0001), wrong(0.03), *BORDER], "fails", "the only check fails: p = 0.0001"),
        # What nobody sampled needs no correction, and is not counted.
        ([FALSE, *BORDER], "fails", "the only check fails: 3 < 2"),
        ([wrong(0.03), *[TRUE] * 99], "fails", "1 of 100 checks fails: p = 0.03"),
    ],
)
def test_a_finding_fails_where_a_difference_stands_holms_correction(checks, verdict, evidence):
    found = finding_verdicts.decide(checks)
    assert (found.verdict, found.evidence) == (verdict, evidence)
    stands_alone = f"fails: {checks[0].text}" in evidence
    assert stands_alone or finding_verdicts.HOLM_DIFFERENCE in found.missing


FINDINGS = [
    Finding(1, "Section 1", "It rises", lambda value: [Check(value > 0, f"{value}")]),
    # Of 3, and of nothing, it cannot be said.
    Finding(2, "Section 2", "It is large", lambda value: [Check(value > 5 if value != 3 else None, f"{value}")]),
    Finding(3, "Section 3", "It speaks", lambda value: [Check(None, missing=tuple("abcde"))]),
]


def table():
    return finding_verdicts.judge_findings(FINDINGS, {"replica": 1, "official": 6}, ["replica", "official"])


def test_doubts_stand_behind_the_evidence_of_what_holds():
    doubted = Check(True, "a: 1", caveat="a is small")
    assert finding_verdicts.decide([doubted, Check(True, "b: 2")]).evidence == "a: 1; b: 2; but a is small"
    many = finding_verdicts.decide([doubted] * 4)
    assert many.verdict == "holds" and many.evidence.startswith("all 4 checks hold; but a is small")
    assert finding_verdicts.decide([doubted, Check(False, "c: 0")]).evidence == "1 of 2 checks fails: c: 0"


def test_verdicts_are_listed_by_claim_and_template_set():
    found = table()
    assert found.verdict.tolist() == ["holds", "holds", "fails", "holds", "undecided", "undecided"]
    assert found.n_missing.tolist() == [0, 0, 0, 0, 5, 5] and found.missing[4] == "a; b; c; d; e"
    alone = finding_verdicts.judge_findings(FINDINGS[:1], {"replica": 1}, ["replica", "official"])
    assert alone[["verdict", "missing"]].values.tolist() == [["holds", ""], ["undecided", "the official templates"]]


def test_counts_tell_where_the_sets_agree():
    numbers = {name: entry["value"] for name, entry in finding_verdicts.count_verdicts(table(), "findings.csv").items()}
    assert numbers == {
        "findings.total": 3, "findings.replica.holds": 1, "findings.replica.fails": 1, "findings.replica.undecided": 1,
        "findings.official.holds": 2, "findings.official.fails": 0, "findings.official.undecided": 1,
        "findings.same": 1, "findings.decided_twice": 2,
    }  # fmt: skip
    alone = table().query("templates == 'replica'")
    assert "findings.same" not in finding_verdicts.count_verdicts(alone, "findings.csv")
    assert "findings.decided_twice" not in finding_verdicts.count_verdicts(alone, "findings.csv")


def test_sets_and_findings_that_were_never_judged_agree_with_nothing():
    runs = {"preprint": 1, "aaai": 6, "third": 3}
    once = Finding(4, "Section 4", "It is one", lambda value: [Check(True if value == 1 else None, f"{value}")])
    judged = finding_verdicts.judge_findings([*FINDINGS, once], runs, ["run", "preprint", "aaai", "third"])
    assert judged[judged.templates == "run"].verdict.tolist() == ["undecided"] * 4
    numbers = {name: entry["value"] for name, entry in finding_verdicts.count_verdicts(judged, "findings.csv").items()}
    # Finding 1 holds wherever it was judged; 2 has two verdicts; 3 was judged nowhere, 4 once.
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


def test_sets_that_agree_in_everything_share_a_column_and_one_without_decisions_has_none():
    sets = ["preprint", "aaai", "run", "empty"]
    runs = {"preprint": 6, "aaai": 6, "run": 3}
    judged = finding_verdicts.judge_findings(FINDINGS, runs, sets)
    cells = finding_verdicts.table_cells(judged, sets, {"aaai": "AAAI", "run": "This run"})
    assert cells.columns.tolist() == ["No.", "Finding", "Preprint and AAAI", "This run", "Evidence"]
    assert cells.values.tolist() == [
        [1, "It rises (Section 1)", "holds", "holds", "Preprint and AAAI: 6. This run: 3"],
        [2, "It is large (Section 2)", "holds", "–", "6"],
    ]
    # Of sets with the same verdicts and other evidence each has its own.
    judged = finding_verdicts.judge_findings(FINDINGS, {"preprint": 6, "near": 7}, ["preprint", "near"])
    cells = finding_verdicts.table_cells(judged, ["preprint", "near"])
    assert cells.columns.tolist() == ["No.", "Finding", "Preprint", "Near", "Evidence"]
    assert cells.Evidence[0] == "Preprint: 6. Near: 7"


def test_long_lists_of_counterexamples_are_shortened():
    many = [Finding(1, "", "", lambda run: [Check(False, f"m{i}: 0") for i in range(9)])]
    wrong = finding_verdicts.judge_findings(many, {"a": 1}, ["a"])
    assert wrong.evidence[0].count("m") == 9
    assert finding_verdicts.table_cells(wrong, ["a"]).Evidence[0] == "all 9 checks fail: m0: 0, m1: 0, m2: 0 and 6 more"


def test_a_findings_files_are_written_together(tmp_path):
    paths = {kind: tmp_path / f"findings.{kind}" for kind in ("csv", "tex")} | {"numbers": tmp_path / "findings.json"}
    finding_verdicts.write_verdicts(FINDINGS[:1], {"official": 1, "replica": -1}, ["replica", "official"], **paths)
    assert files.read_csv(paths["csv"]).verdict.tolist() == ["fails", "holds"]
    # The columns are in the order of the run's sets.
    assert r"No. & Finding & Official & Replica & Evidence \\" in paths["tex"].read_text(encoding="utf-8")
    counted = json.loads(paths["numbers"].read_text(encoding="utf-8"))
    assert counted["findings.total"] == {
        "value": 1,
        "text": "1",
        "source": "findings.csv",
        "cell": {"column": "number"},
    }
    assert counted["findings.same"]["value"] == 0
    for sets in (1, 2, 3):
        assert (
            len(finding_verdicts.column_widths(sets)) == sets + 3 and sum(finding_verdicts.column_widths(sets)) < 0.91
        )
    # What cannot be decided is in the CSV alone.
    finding_verdicts.write_verdicts(FINDINGS[2:], {"replica": 1}, ["replica"], **paths)
    assert paths["tex"].read_text(encoding="utf-8") == finding_verdicts.EMPTY_TABLE
    assert len(files.read_csv(paths["csv"])) == 1
