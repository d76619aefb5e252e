"""Passages to quadruples: names, titles, possessives, gendered words, capitals, articles and offsets."""

import pytest

from scripts.core.coreference_systems import augmentation
from scripts.counter_gap import book_names, book_passages, book_quadruples
from scripts.counter_gap.passages import unlabelled_problems
from tests.counter_gap.parses import NOBODY, book, gender, sentence


@pytest.fixture(scope="module")
def words(root):
    return augmentation.read_words(root / "templates/coreference/gendered_words.tsv")


def fours(written, words, known=NOBODY):
    sentences, text = book(*written)
    return [
        outcome for outcome in book_passages.outcomes(sentences, text, known, gender, words) if outcome.dropped is None
    ]


PASSAGE = (
    "Tom/NNP//1/P and/CC Mr./NNP Hale/NNP///P knew/VBD Kate/NNP///P ,/, a/DT lady/NN ,/, and/CC HER/PRP$/poss aunt/NN "
    "Ann/NNP///P ./.",
    "Soon/RB/advmod/2 he/PRP/nsubj/2 took/VBD/ROOT Tom/NNP///P 's/POS hat/NN from/IN her/PRP/dobj/2 ;/: that/DT is/VBZ "
    "his/PRP$/attr ,/, an/DT Ann/NNP///P said/VBD ./.",
)


def test_a_quadruple_by_hand(words):
    first, *_ = fours(PASSAGE, words)
    texts = {role: entry["text"] for role, entry in first.four.items()}
    assert texts == {
        "original": "Tom and Mr Hale knew Kate, a lady, and HER aunt Ann. Soon he took Tom's hat from her; that is "
        "his, an Ann said.",
        "control": "Mr Hale and Tom knew Ann, a lady, and HER aunt Kate. Soon he took Mr Hale's hat from her; that is "
        "his, a Kate said.",
        "swap-1": "Kate and Ann knew Tom, a gentleman, and HIS uncle Mr Hale. Soon she took Kate's hat from him; that "
        "is hers, a Mr Hale said.",
        "swap-2": "Ann and Kate knew Mr Hale, a gentleman, and HIS uncle Tom. Soon she took Ann's hat from him; that "
        "is hers, a Tom said.",
    }
    assert first.pattern == "FINALPRO" and first.four["swap-1"]["pronoun"] == "she"
    assert [(entry["a"], entry["b"]) for entry in first.four.values()] == [
        ("Tom", "Mr Hale"), ("Mr Hale", "Tom"), ("Kate", "Ann"), ("Ann", "Kate")
    ]  # fmt: skip


def test_offsets_are_carried_along(words):
    outcomes = fours(PASSAGE, words)
    # Of the three pronouns of the second sentence; HER in the first has no two names before it.
    assert [outcome.four["original"]["pronoun"] for outcome in outcomes] == ["he", "her", "his"]
    for outcome in outcomes:
        for entry in outcome.four.values():
            for key in ("pronoun", "a", "b"):
                start = entry[f"{key}_offset"]
                assert entry["text"][start : start + len(entry[key])] == entry[key]
        assert not unlabelled_problems(book_quadruples.rows_of(outcome.four, "x", "book"))
    # The mention that the pattern speaks of, not the first or the last that reads the same.
    (_, her, _) = outcomes
    assert her.four["original"]["a_offset"] == 21 and her.four["swap-1"]["a_offset"] == 18


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
    assert book_quadruples.swapped_word(tokens[0], words, tokens[1] if len(tokens) > 1 else None) == expected


@pytest.mark.parametrize(
    ("word", "tag", "loose"), [("Mr.", "NNP", True), ("Miss", "NNP", True), ("miss", "VB", False), ("sir", "NN", False)]
)
def test_titles_of_address_that_stand_alone(word, tag, loose):
    assert book_quadruples.loose_title(book_names.Token(word, 0, 1, tag, "", 0, "")) == loose
