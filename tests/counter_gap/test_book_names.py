"""Personal names in small parses: titles, endings, what the recogniser missed, and genders."""

import pytest

from scripts.counter_gap import book_names
from tests.counter_gap.parses import NOBODY, book, gender, sentence


def found(written, known=NOBODY):
    parsed, _ = sentence(written)
    return [(m.name, m.gender, m.first, m.last) for m in book_names.find_mentions(parsed, known, gender)]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("so Tom/NNP///P met Ann/NNP///P ./.", [("Tom", "M", 1, 1), ("Ann", "F", 3, 3)]),
        # Titles decide, whoever has a name; the stop goes, and a title that the recogniser left out is added.
        ("with Mrs./NNP Tom/NNP///P", [("Mrs Tom", "F", 1, 2)]),
        ("with Mr./NNP///P Hale/NNP///I", [("Mr Hale", "M", 1, 2)]),
        # A surname behind a title is a name even where the recogniser has none, particles included.
        ("with Miss/NNP Hale/NNP ,/,", [("Miss Hale", "F", 1, 2)]),
        ("with Madame/NNP de/X Sel/NNP .", [("Madame de Sel", "F", 1, 3)]),
        ("with Captain/NNP Max/NNP Hale/NNP///P", [("Captain Max Hale", "M", 1, 3)]),
        # A possessive ending is no part of a name.
        ("in Tom/NNP///P 's/POS///I house/NN", [("Tom", "M", 1, 1)]),
        # Two names without a mark between them are one; a title begins another.
        ("when Tom/NNP///P Hale/NNP///P came/VBD", [("Tom Hale", "M", 1, 2)]),
        ("gave Tom/NNP///P Lady/NNP Ann/NNP///P", [("Tom", "M", 1, 1), ("Lady Ann", "F", 2, 3)]),
        # A title alone is nobody's name, and a surname alone has no gender.
        ("the Captain/NNP///P spoke/VBD", []),
        ("so Hale/NNP///P spoke/VBD", [("Hale", None, 1, 1)]),
        # A first name that nobody took for a person: who it is remains open; a town is a town.
        ("so Eve/NNP spoke/VBD", [("Eve", None, 1, 1)]),
        ("in Paris/NNP///G ./.", []),
    ],
)
def test_names_of_a_sentence(written, expected):
    assert found(written) == expected


def test_a_surname_has_the_gender_of_those_whom_the_book_calls_so():
    known = book_names.Lexicon(set(), {"Darcy": "M", "Hale": None})
    assert found("so Darcy/NNP///P met Hale/NNP///P", known) == [("Darcy", "M", 1, 1), ("Hale", None, 3, 3)]
    assert found("so Tom/NNP Darcy/NNP///P", known)[-1][1] == "M"


def test_words_that_are_names_wherever_they_stand():
    sentences, _ = book(
        *["so Meg/NNP///P and Eve/NNP///P and Ann/NNP///P"] * 2,
        # A first name that is an organisation most of the time, an unknown word that is, a town, a month.
        *["so Ann/NNP///B-ORG and Meg/NNP///B-ORG and Eve/NNP///G"] * 15,
        "so Paris/NNP///P and Paris/NNP///P and Paris/NNP///B-DATE and Paris/NNP///B-DATE and Paris/NNP///B-DATE",
    )
    lexicon = book_names.collect_names(sentences, gender)
    assert lexicon.words == {"Ann", "Eve"}
    more, _ = book(*["so Eve/NNP///G"] * 10)
    assert book_names.collect_names([*sentences, *more], gender).words == {"Ann"}
    assert found("but Ann/NNP///B-ORG said/VBD", lexicon) == [("Ann", "F", 1, 1)]


def test_surnames_follow_titles():
    sentences, _ = book(
        *["so Mr./NNP Hale/NNP and Miss/NNP Grey/NNP"] * 4, "so Mrs./NNP Hale/NNP and Sir/NNP Will/NNP",
        "so Mr./NNP Grey/NNP and Mr./NNP Grey/NNP",
    )  # fmt: skip
    assert book_names.collect_names(sentences, gender).surnames == {"Hale": "M", "Grey": None}


@pytest.mark.parametrize(
    ("name", "other", "same"),
    [
        ("Mr Darcy", "Darcy", True), ("Darcy", "Mr Darcy", True), ("Mr Darcy", "Mrs Darcy", False),
        ("Ann", "Ann Hale", True), ("Mary Hale", "Ann Hale", False), ("Mr Hale", "Tom Hale", True),
        ("Miss Eliza", "Elizabeth", True), ("Jo", "John", False), ("Mr Hale", "Mr Tom Hale", True),
    ],
)  # fmt: skip
def test_two_names_of_one_person(name, other, same):
    assert book_names.may_be_one_person(name, other) == same


def test_the_package_decides_about_first_names():
    guess = book_names.gender_detector()
    assert [guess(word) for word in ("Thomas", "Elizabeth", "ELIZABETH", "Anna-Maria", "Xyzzy")] == [
        "M", "F", "F", "F", None
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "possessive", "unclear"),
    [
        ("her/PRP$/poss hat/NN", True, False), ("her/PRP/dobj ./.", False, False),
        ("her/PRP/dobj hat/NN", False, False),
        ("her/PRP$/pobj ./.", False, True), ("her/PRP$/attr", False, True),
        # The parser errs: a noun or a gerund follows.
        ("her/PRP$/pobj going/VBG", True, True), ("her/PRP$/dobj old/JJ", True, True),
        ("her/PRP$/dobj hat/NN", True, True), ("her/PRP/poss hat/NN", False, True),
        # Both cases go with a gerund.
        ("Her/PRP$/poss going/VBG", True, True), ("her/PRP/nsubj going/VBG", False, True),
        # The accusative of his is another word.
        ("his/PRP$/pobj going/VBG", True, False),
    ],
)  # fmt: skip
def test_cases_of_her_and_his(written, possessive, unclear):
    first, following = [*sentence(written)[0].tokens, None][:2]
    assert book_names.is_possessive(first, following) == possessive
    assert book_names.is_unclear(first, following) == unclear
