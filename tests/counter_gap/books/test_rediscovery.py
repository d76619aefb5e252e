"""Comparing passages with those of another edition."""

import pandas as pd

from scripts.counter_gap import book_rediscovery
from scripts.counter_gap.lib.books import rediscovery

BOOK = "So Mr. Hale met Tom--they spoke--and he left. _Then_ he smiled."
OFFICIAL = {
    "text": "Mr Hale met Tom—they spoke—and he left.",
    "a": "Mr Hale",
    "b": "Tom",
    "a_offset": 0,
    "b_offset": 12,
}


def cause(official=(), candidate=(), pronoun="he left", dropped=None):
    theirs = pd.DataFrame([{"id": "1", "pronoun_offset": 31, **OFFICIAL, **dict(official)}])
    ours = pd.DataFrame([{"id": "x", **OFFICIAL, **dict(candidate)}])
    outcomes = pd.DataFrame([{"start": BOOK.index(pronoun), "dropped": dropped, "id": "x"}])
    return rediscovery.compare(theirs, ours, outcomes, BOOK).cause[0]


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
    assert set(rediscovery.CAUSES) >= {"same", "no pronoun", "other edition", "other names", "other context"}


def test_numbers_of_books():
    labels = ("pg514 Little Women", "1342-0 Pride and Prejudice", "1984.epub", "book 1984")
    assert [book_rediscovery.number(label) for label in labels] == ["514", "1342", "", ""]
