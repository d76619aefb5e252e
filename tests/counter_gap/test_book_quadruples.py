"""Rows in C-GAP's columns, labels, balancing, and the data card."""

import re

import pandas as pd
import pytest

from scripts.core.errors import UserError
from scripts.counter_gap import book_quadruples as output
from scripts.counter_gap.passages import PLACES, read_c_gap


def four(number, pronouns=("he", "she")):
    """Return a quadruple whose text has a quotation mark, which needs quoting in the file."""
    made = {}
    for role in PLACES:
        swapped = role.startswith("swap")
        a, b = ("Ann", "Eve") if swapped == (pronouns[0] == "he") else ("Tom", "Max")
        pronoun = pronouns[swapped]
        text = f'"{a}" met {b} ({number}), and {pronoun} left.'
        made[role] = {
            "text": text, "pronoun": pronoun, "a": a, "b": b, "pronoun_offset": text.index(f" {pronoun} ") + 1,
            "a_offset": 1, "b_offset": text.index(b),
        }  # fmt: skip
    return made


@pytest.fixture
def candidates(tmp_path):
    """Five quadruples, two of them feminine."""
    rows = []
    for number in range(5):
        rows += output.rows_of(four(number, ("she", "he") if number > 2 else ("he", "she")), f"b{number}", "book X")
    output.write_rows(tmp_path / "candidates.tsv", rows)
    return read_c_gap(tmp_path / "candidates.tsv", labelled=False)


def test_candidates_are_read_as_c_gap_without_labels(candidates, tmp_path):
    assert len(candidates) == 20 and candidates.a_coref.isna().all()
    assert list(candidates.id[:4]) == ["b0", "b0-control", "b0-swap-1", "b0-swap-2"]
    with pytest.raises(UserError, match="A-coref '' is neither TRUE nor FALSE"):
        read_c_gap(tmp_path / "candidates.tsv")


def test_labelled_quadruples_where_none_should_be_are_refused(candidates, tmp_path):
    labelled = candidates.assign(a_coref="TRUE", b_coref="FALSE").rename(columns=output.NAMED)
    output.write_rows(tmp_path / "labelled.tsv", labelled)
    assert read_c_gap(tmp_path / "labelled.tsv").a_coref.all()
    with pytest.raises(UserError, match="A-coref 'TRUE' is a label where none was expected"):
        read_c_gap(tmp_path / "labelled.tsv", labelled=False)


def labels(numbers, a="TRUE", b="FALSE"):
    ids = [f"b{number}{suffix}" for number in numbers for suffix in ("", "-control", "-swap-1", "-swap-2")]
    return pd.DataFrame({"ID": ids, "A-coref": a, "B-coref": b})


def test_quadruples_without_labels_are_left_out(candidates):
    # In another order than the candidates.
    given = pd.concat([labels([4], "FALSE"), labels([3, 0])])
    chosen = output.label_quadruples(candidates, given)
    assert list(chosen.quadruple.unique()) == ["b0", "b3", "b4"]
    assert list(chosen.a_coref) == ["TRUE"] * 8 + ["FALSE"] * 4 and set(chosen.b_coref) == {"FALSE"}


def test_labels_of_other_candidates_are_refused(candidates):
    with pytest.raises(UserError, match="4 labels of instances that are no candidates, the first is 'b9'"):
        output.label_quadruples(candidates, pd.concat([labels([0]), labels([9])]))


def test_either_gender_has_as_many_originals(candidates):
    chosen = output.balance_genders(candidates, 1)
    originals = chosen[chosen.role == "original"]
    assert list(originals.gender) == ["M", "M", "F", "F"] and len(chosen) == 16
    assert output.balance_genders(candidates, 1).equals(chosen)
    drawn = {tuple(output.balance_genders(candidates, seed).quadruple.unique()) for seed in range(20)}
    assert len(drawn) == 3
    assert output.balance_genders(candidates[candidates.quadruple < "b3"], 1).empty


def test_names_of_quadruples_depend_on_book_text_and_place():
    original = four(0)["original"]
    names = {
        output.identifier("X", original), output.identifier("Y", original),
        output.identifier("X", four(1)["original"]), output.identifier("X", original | {"pronoun_offset": 1}),
    }  # fmt: skip
    assert len(names) == 4 and all(re.fullmatch("b[0-9a-f]{12}", name) for name in names)


def test_the_data_card_says_what_the_set_is_made_of():
    books = [
        {"label": "pg1 X (by Y)", "words": 1200, "encoding": "UTF-8", "sha256": "ab", "gutenberg": True},
        {"label": "book Z", "words": 10, "encoding": "ASCII", "sha256": "cd", "gutenberg": False},
    ]
    funnel = pd.DataFrame({"step": ["pronouns", "context"], "left": [1500, 4], "dropped": [0, 1496], "share": 0.0})
    counts = {"candidates": 4, "accepted": 3, "quadruples": 2}
    card = output.card(books, funnel, {"pronouns": "pronouns", "context": "names"}, {"spacy": "3.8"}, counts, 7)
    for said in (
        "Quadruples: 2,", "seed 7", "spacy 3.8", "| pg1 X (by Y) | 1,200 | UTF-8 | `ab` |", "| names | 4 | 1,496 |",
        "1 book of Project Gutenberg", "1 book from files of this machine",
    ):  # fmt: skip
        assert said in card
    assert "this machine" not in output.card(books[:1], funnel, {"pronouns": "p", "context": "c"}, {}, counts, 7)
