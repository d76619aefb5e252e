"""From passages to quadruples in C-GAP's columns: rewriting, labels, balancing, and the data card."""

import re

import pandas as pd
import pytest

from scripts.core.coreference_systems import augmentation
from scripts.counter_gap import book_passages
from scripts.counter_gap import book_quadruples as output
from scripts.counter_gap.passages import NAMED, PLACES, quadruple_problems, read_c_gap
from tests.counter_gap.parses import NOBODY, book, gender, sentence
from tests.refusals import refused


@pytest.fixture(scope="module")
def words(root):
    return augmentation.read_words(root / "templates/coreference/gendered_words.tsv")


PASSAGE = (
    "Tom/NNP//1/P and/CC Mr./NNP Hale/NNP///P knew/VBD Kate/NNP///P ,/, a/DT lady/NN ,/, and/CC HER/PRP$/poss aunt/NN "
    "Ann/NNP///P ./.",
    "Soon/RB/advmod/2 he/PRP/nsubj/2 took/VBD/ROOT Tom/NNP///P 's/POS hat/NN from/IN her/PRP/dobj/2 ;/: that/DT is/VBZ "
    "his/PRP$/attr ,/, an/DT Ann/NNP///P said/VBD ./.",
)


def test_a_passage_becomes_quadruples(words):
    sentences, text = book(*PASSAGE)
    found = book_passages.trace_pronouns(sentences, text, NOBODY, gender, words)
    fours = [outcome.four for outcome in found if outcome.dropped is None]
    first = fours[0]
    assert {role: entry["text"] for role, entry in first.items()} == {
        "original": "Tom and Mr Hale knew Kate, a lady, and HER aunt Ann. Soon he took Tom's hat from her; that is "
        "his, an Ann said.",
        "control": "Mr Hale and Tom knew Ann, a lady, and HER aunt Kate. Soon he took Mr Hale's hat from her; that is "
        "his, a Kate said.",
        "swap-1": "Kate and Ann knew Tom, a gentleman, and HIS uncle Mr Hale. Soon she took Kate's hat from him; that "
        "is hers, a Mr Hale said.",
        "swap-2": "Ann and Kate knew Mr Hale, a gentleman, and HIS uncle Tom. Soon she took Ann's hat from him; that "
        "is hers, a Tom said.",
    }
    assert [(entry["a"], entry["b"]) for entry in first.values()] == [
        ("Tom", "Mr Hale"), ("Mr Hale", "Tom"), ("Kate", "Ann"), ("Ann", "Kate")
    ]  # fmt: skip
    # Of the three pronouns of the second sentence; HER in the first has no two names before it.
    assert [four["original"]["pronoun"] for four in fours] == ["he", "her", "his"]
    for four in fours:
        for entry in four.values():
            for key in ("pronoun", "a", "b"):
                start = entry[f"{key}_offset"]
                assert entry["text"][start : start + len(entry[key])] == entry[key]
        assert not quadruple_problems(dict(enumerate(output.rows_of(four, "x", "book"))), labelled=False)
    # The mention that the pattern speaks of, not the first or the last that reads the same.
    assert fours[1]["original"]["a_offset"] == 21 and fours[1]["swap-1"]["a_offset"] == 18


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("her/PRP$/poss hat/NN", "his"), ("her/PRP/dobj ./.", "him"), ("Her/PRP$/poss hat/NN", "His"),
        ("his/PRP$/poss hat/NN", "her"), ("his/PRP$/pobj ./.", "hers"), ("HIM/PRP ./.", "HER"), ("hers/PRP", "his"),
        ("himself/PRP", "herself"), ("Queen/NNP", "King"), ("table/NN", "table"), ("I/PRP", "I"),
        # Verbs are no people.
        ("miss/VBP", "miss"), ("mastered/VBD", "mastered"), ("father/VB", "father"), ("father/NN", "mother"),
    ],
)  # fmt: skip
def test_gendered_words(words, written, expected):
    tokens = sentence(written)[0].tokens
    assert output.swapped_word(tokens[0], words, tokens[1] if len(tokens) > 1 else None) == expected


@pytest.mark.parametrize(
    ("written", "loose"), [("Mr./NNP", True), ("Miss/NNP", True), ("miss/VB", False), ("sir/NN", False)]
)
def test_titles_of_address_that_stand_alone(written, loose):
    assert output.loose_title(sentence(written)[0].tokens[0]) == loose


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


def test_candidates_are_read_as_c_gap_and_have_no_labels(candidates, tmp_path):
    assert len(candidates) == 20 and candidates.a_coref.isna().all()
    assert list(candidates.id[:4]) == ["b0", "b0-control", "b0-swap-1", "b0-swap-2"]
    output.write_rows(
        tmp_path / "labelled.tsv", candidates.assign(a_coref="TRUE", b_coref="FALSE").rename(columns=NAMED)
    )
    assert read_c_gap(tmp_path / "labelled.tsv").a_coref.all()
    for name, labelled, cell in (("candidates", True, "''"), ("labelled", False, "'TRUE'")):
        with refused(f"{name}.tsv", f"row 2: A-coref {cell} is not"):
            read_c_gap(tmp_path / f"{name}.tsv", labelled)


def test_quadruples_without_labels_are_left_out(candidates):
    # In another order than the candidates.
    given = candidates[candidates.quadruple.isin(["b0", "b3"])][::-1]
    labels = pd.DataFrame({"ID": given.id, "A-coref": "TRUE", "B-coref": "FALSE"})
    labels.loc[labels.ID.str.startswith("b3"), "A-coref"] = "FALSE"
    chosen = output.label_quadruples(candidates, labels)
    assert list(chosen.quadruple.unique()) == ["b0", "b3"] and set(chosen.b_coref) == {"FALSE"}
    assert list(chosen.a_coref) == ["TRUE"] * 4 + ["FALSE"] * 4


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
    others = [("Y", original), ("X", four(1)["original"]), ("X", original | {"pronoun_offset": 1})]
    names = {output.name_quadruple(*of) for of in [("X", original), *others]}
    assert len(names) == 4 and all(re.fullmatch("b[0-9a-f]{12}", name) for name in names)


def test_the_data_card_says_what_the_set_is_made_of():
    books = [
        {"label": "pg1 X (by Y)", "words": 1200, "encoding": "UTF-8", "sha256": "ab", "gutenberg": True},
        {"label": "book Z", "words": 10, "encoding": "ASCII", "sha256": "cd", "gutenberg": False},
    ]
    funnel = pd.DataFrame({"step": ["pronouns", "context"], "left": [1500, 4], "dropped": [0, 1496], "share": 0.0})
    counts = {"candidates": 4, "accepted": 3, "quadruples": 2}
    card = output.render_card(books, funnel, {"pronouns": "pronouns", "context": "names"}, {"spacy": "3.8"}, counts, 7)
    for said in (
        "Quadruples: 2,", "seed 7", "spacy 3.8", "| pg1 X (by Y) | 1,200 | UTF-8 | `ab` |", "| names | 4 | 1,496 |",
        "1 book of Project Gutenberg", "1 book from files of this machine",
    ):  # fmt: skip
        assert said in card
