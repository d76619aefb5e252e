"""Books brought together, predictions without labels, and passages of another edition."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.counter_gap import books as job
from scripts.counter_gap.lib import book_quadruples as output
from scripts.counter_gap.lib.book_passages import STEPS
from scripts.counter_gap.lib.instances import read_c_gap
from tests.counter_gap.test_book_quadruples import four

A, B, NEITHER = (True, False), (False, True), (False, False)
BOOK = "So Mr. Hale met Tom--they spoke--and he left. _Then_ he smiled."
OFFICIAL = {
    "text": "Mr Hale met Tom—they spoke—and he left.",
    "a": "Mr Hale",
    "b": "Tom",
    "a_offset": 0,
    "b_offset": 12,
}


def brought_together(folder, **books):
    """Write books' quadruples (numbers) and outcomes, and return candidates and funnel."""
    paths = {"passages": [], "outcomes": []}
    for name, (numbers, dropped) in books.items():
        rows = [row for number in numbers for row in output.rows_of(four(number), f"{name}{number}", f"book {name}")]
        output.write_rows(folder / f"{name}.tsv", rows)
        steps = [None] * len(numbers) + dropped
        table = pd.DataFrame({"start": range(len(steps)), "dropped": steps, "id": None})
        files.write_csv(folder / f"{name}.csv", table)
        paths["passages"].append(str(folder / f"{name}.tsv"))
        paths["outcomes"].append(str(folder / f"{name}.csv"))
    made = {"candidates": str(folder / "candidates.tsv"), "funnel": str(folder / "funnel.csv")}
    job.book_candidates(**paths, **made, books=list(books))
    return made


def test_two_editions_of_a_book_have_a_passage_once(tmp_path):
    made = brought_together(tmp_path, x=([1, 2], ["context", "context", "pattern"]), y=([2, 3], ["known"]))
    candidates = read_c_gap(made["candidates"], labelled=False)
    assert list(candidates.quadruple.unique()) == ["x1", "x2", "y3"]
    funnel = files.read_csv(made["funnel"]).set_index(["book", "step"]).left
    assert list(funnel["x"]) == [5, 3, 3, *[2] * 7] and list(funnel["y"]) == [3, 3, *[2] * 7, 1]
    drawn = {kind: str(tmp_path / f"figure.{kind}") for kind in ("tex", "pdf", "png", "csv")}
    job.book_funnel(funnel=made["funnel"], table=str(tmp_path / "table.csv"), **drawn)
    table = files.read_csv(tmp_path / "table.csv")
    assert list(table.step) == list(STEPS) and list(table.left) == [8, 6, 5, *[4] * 6, 3]
    assert rf"{STEPS['once']} & 3 & 1 & 25.0\,\% \\" in (tmp_path / "figure.tex").read_text(encoding="utf-8")


def test_books_without_a_passage_leave_an_empty_table(tmp_path):
    made = brought_together(tmp_path, x=([], ["context"]), y=([], []))
    assert list(files.read_csv(made["funnel"]).left) == [1, *[0] * 9, *[0] * 10]
    with pytest.raises(UserError, match="has no instance"):
        read_c_gap(made["candidates"], labelled=False)


def test_a_run_without_books_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"counter_gap\.books\.sources names no book; add one"):
        brought_together(tmp_path)


@pytest.mark.parametrize(
    ("predictions", "across", "within"),
    [
        ([A, A, A, A], 0, 0),
        ([A, A, B, B], 1, 0),
        ([A, B, A, B], 0.5, 1),
        ([A, A, A, B], 0.5, 0.5),
        # Three answers differ from each other; right and wrong are only two.
        ([A, B, NEITHER, NEITHER], 1, 0.5),
    ],
)
def test_shares_of_a_quadruple(predictions, across, within):
    found = job.shares(predictions)
    assert (found[0][0], found[1][0]) == (across, within)


def test_metrics_and_their_relation_to_right_answers():
    generator = np.random.default_rng(1)
    flags = generator.random((400, 2)) < 0.5
    table = {row["metric"]: row for row in job.consistency_of(flags, 500, 1)}
    assert table["delta_p"]["value"] == pytest.approx(table["p_across"]["value"] - table["p_within"]["value"])
    for row in table.values():
        assert row["ci_low"] < row["value"] < row["ci_high"]
    # Whatever the labels are, each inconsistency of right answers is no greater.
    for labels in (A, B, NEITHER):
        right = (flags == labels).all(1).reshape(-1, 4)
        for pairs, metric in ((job.ACROSS, "p_across"), (job.WITHIN, "p_within")):
            differs = np.mean([right[:, i] != right[:, j] for i, j in pairs])
            assert differs <= table[metric]["value"]


def cause(official=(), candidate=(), pronoun="he left", dropped=None):
    theirs = pd.DataFrame([{"id": "1", "pronoun_offset": 31, **OFFICIAL, **dict(official)}])
    ours = pd.DataFrame([{"id": "x", **OFFICIAL, **dict(candidate)}])
    outcomes = pd.DataFrame([{"start": BOOK.index(pronoun), "dropped": dropped, "id": "x"}])
    return job.compare(theirs, ours, outcomes, BOOK).cause[0]


def test_causes():
    assert cause() == "same"
    # Stops and marks are those of an edition.
    assert cause(candidate={"text": "Mr. Hale met Tom--they spoke--and he left.", "b_offset": 13}) == "same"
    assert cause(dropped="pattern") == "pattern"
    assert cause(pronoun="he smiled") == "no pronoun"
    assert cause(official={"text": "Mr Hale saw Tom—they spoke—and he left."}) == "other edition"
    assert cause(candidate={"b": "Hale"}) == "other names"
    assert cause(candidate={"b_offset": 20}) == "other names"
    assert cause(candidate={"text": "So " + OFFICIAL["text"], "a_offset": 3, "b_offset": 15}) == "other context"
    assert set(job.CAUSES) >= {"same", "no pronoun", "other edition", "other names", "other context"}


def test_numbers_of_books():
    labels = ("pg514 Little Women", "1342-0 Pride and Prejudice", "1984.epub", "book 1984")
    assert [job.gutenberg_number(label) for label in labels] == ["514", "1342", "", ""]
