"""GAP's patterns in small parses."""

import pytest

from scripts.counter_gap.lib.books import names, patterns
from tests.counter_gap.books.make import NOBODY, book, gender

MET = "Tom/NNP/nsubj/1/P met/VBD/ROOT Bill/NNP/dobj/1/P ././/1"
TOM = "There/EX/expl/1 stood/VBD/ROOT Tom/NNP/nsubj/1/P ././/1"
# "When he came, Bill smiled." and "Bill smiled when he came."
CLAUSE = "When/WRB/advmod/2 he/PRP/nsubj/2 came/VBD/advcl/5 ,/,//5 Bill/NNP/nsubj/5/P smiled/VBD/ROOT ././/5"
LATE = "Bill/NNP/nsubj/1/P smiled/VBD/ROOT when/WRB/advmod/4 he/PRP/nsubj/4 came/VBD/advcl/1 ././/1"
# "After his walk Bill met Tom." and "After seeing him Bill met Tom."
PHRASE = "After/IN/prep/4 his/PRP$/poss/2 walk/NN/pobj/0 Bill/NNP/nsubj/4/P met/VBD/ROOT Tom/NNP/dobj/4/P ././/4"
GERUND = "After/IN/prep/4 seeing/VBG/pcomp/0 him/PRP/dobj/1 Bill/NNP/nsubj/4/P met/VBD/ROOT Tom/NNP/dobj/4/P ././/4"
# "To him Bill spoke": not possessive.
TO_HIM = "To/IN/prep/3 him/PRP/pobj/0 Bill/NNP/nsubj/3/P spoke/VBD/ROOT ././/3"


@pytest.mark.parametrize(
    ("written", "place", "expected"),
    [
        ((MET, "Then/RB/advmod/2 he/PRP/nsubj/2 left/VBD/ROOT ././/2"), 1, ("FINALPRO", (1, "Tom"), (1, "Bill"))),
        (("Tom/NNP/nsubj/1/P met/VBD/ROOT Bill/NNP/dobj/1/P and/CC/cc/1 he/PRP/nsubj/5 left/VBD/conj/1",), 4,
         ("FINALPRO", (0, "Tom"), (0, "Bill"))),
        # The nearest mentions.
        ((MET, MET, "He/PRP/nsubj/1 left/VBD/ROOT ././/1"), 0, ("FINALPRO", (1, "Tom"), (1, "Bill"))),
        ((TOM, CLAUSE), 1, ("MEDIALPRO", (1, "Tom"), (0, "Bill"))),
        # A pronoun that stands first goes with the name behind it, though both names are in the sentence before.
        ((MET, CLAUSE), 1, ("MEDIALPRO", (1, "Tom"), (0, "Bill"))),
        ((PHRASE,), 1, ("INITIALPRO", (0, "Bill"), (0, "Tom"))),
        ((GERUND,), 2, ("INITIALPRO", (0, "Bill"), (0, "Tom"))),
        # Not in one sentence, two sentences before, behind the names of another sentence, not possessive.
        ((TOM, LATE), 3, None),
        ((MET, TOM, "He/PRP/nsubj/1 left/VBD/ROOT ././/1"), 0, None),
        ((TOM, TO_HIM), 1, None),
    ],
)  # fmt: skip
def test_patterns(written, place, expected):
    sentences, _ = book(*written)
    found = [names.mentions(parsed, NOBODY, gender) for parsed in sentences]
    matched = patterns.match(sentences, found, {"Tom", "Bill"}, place)
    if expected is None:
        assert matched is None
    else:
        assert (matched.pattern, *((back, mention.name) for back, mention in (matched.a, matched.b))) == expected


def token(word, tag, dependency):
    return book(f"{word}/{tag}/{dependency}")[0][0].tokens[0]


@pytest.mark.parametrize(
    ("word", "tag", "expected"),
    [("He", "PRP", "M"), ("hers", "PRP", "F"), ("her", "PRP$", "F"), ("himself", "PRP", None), ("it", "PRP", None),
     ("His", "NNP", None)],
)  # fmt: skip
def test_target_pronouns(word, tag, expected):
    assert patterns.target_gender(token(word, tag, "nsubj")) == expected


@pytest.mark.parametrize(
    ("tag", "dependency", "following", "possessive"),
    [
        ("PRP$", "poss", "NN", True), ("PRP$", "pobj", ".", False), ("PRP$", "attr", None, False),
        # The parser errs: a noun or a gerund follows.
        ("PRP$", "pobj", "VBG", True), ("PRP$", "dobj", "JJ", True), ("PRP", "dobj", "NN", False),
    ],
)  # fmt: skip
def test_possessives_by_themselves(tag, dependency, following, possessive):
    after = following and token("x", following, "")
    assert patterns.is_possessive(token("his", tag, dependency), after) == possessive


@pytest.mark.parametrize(
    ("tag", "dependency", "following", "unclear"),
    [("PRP$", "poss", "NN", False), ("PRP", "dobj", ".", False), ("PRP$", "dobj", "NN", True),
     ("PRP", "poss", "NN", True), ("PRP$", "poss", "VBG", True), ("PRP", "nsubj", "VBG", True)],
)  # fmt: skip
def test_cases_of_her_that_are_open(tag, dependency, following, unclear):
    assert patterns.is_unclear(token("Her", tag, dependency), token("x", following, "")) == unclear
    assert not patterns.is_unclear(token("his", tag, dependency), token("x", following, ""))
