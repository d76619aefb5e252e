"""From sentences to passages: contexts, and the step at which each pronoun falls away."""

import pytest

from scripts.counter_gap import book_names, book_passages
from tests.counter_gap.parses import NOBODY, book, gender, sentence

WORDS = {"she": "he", "he": "she", "him": "her", "his": "her", "hers": "his"}
FOUR = "Tom/NNP///P and/CC Bill/NNP///P met/VBD Ann/NNP///P and/CC Kate/NNP///P ./."
HE = "He/PRP/nsubj/1 left/VBD/ROOT ././/1"
NOTHING = "It/PRP rained/VBD ./."


def dropped(*written, known=NOBODY):
    sentences, text = book(*written)
    return [(o.dropped, o.pattern) for o in book_passages.trace_pronouns(sentences, text, known, gender, WORDS)]


def test_a_context_is_as_long_as_it_may_be():
    sentences, _ = book("Eve/NNP///P came/VBD ./.", NOTHING, NOTHING, FOUR, HE)
    window = [(parsed, book_names.find_mentions(parsed, NOBODY, gender)) for parsed in sentences]
    # With Eve there would be three feminine names.
    assert [parsed for parsed, _ in book_passages.find_context(window)] == sentences[1:]
    assert book_passages.find_context(window[:1]) is None
    assert book_passages.find_context(window[2:3]) is None
    # Of a pronoun that no pattern reaches, and of one more than five sentences away.
    assert dropped(FOUR, *[NOTHING] * 3, HE) == [("pattern", None)]
    assert dropped(FOUR, *[NOTHING] * 4, HE) == [("context", None)]


def test_a_context_ends_with_its_section():
    sentences, text = book(FOUR)
    later, more = sentence(HE, len(text), section=1)
    (outcome,) = book_passages.trace_pronouns([*sentences, later], text + more, NOBODY, gender, WORDS)
    assert outcome.dropped == "context" and outcome.start == len(text)


def test_the_ends_of_paragraphs_are_two_spaces():
    sentences, text = book(FOUR)
    text = f"{text.rstrip()}\n\n"
    later, more = sentence(HE, len(text))
    (outcome,) = book_passages.trace_pronouns([*sentences, later], text + more, NOBODY, gender, WORDS)
    assert outcome.four["original"]["text"] == "Tom and Bill met Ann and Kate.  He left."
    assert outcome.four["swap-1"]["text"] == "Ann and Kate met Tom and Bill.  She left."
    assert outcome.span == (0, later.end) and outcome.start == len(text)


@pytest.mark.parametrize(
    ("written", "step"),
    [
        ([FOUR, HE], None),
        (["so Hale/NNP///P spoke/VBD ./.", FOUR, HE], None),
        ([FOUR[:-3] + "and/CC Hale/NNP///P ./.", HE], "known"),
        (["Tom/NNP///P and/CC Tom/NNP///P Hale/NNP///I met/VBD Ann/NNP///P and/CC Kate/NNP///P ./.", HE], "distinct"),
        ([FOUR[:-3] + "the/DT Toms/NNPS ./.", HE], "whole"),
        ([FOUR[:-3] + "and/CC the/DT Misses/NNP ./.", HE], "titles"),
        ([FOUR[:-3] + "with/IN her/PRP/poss ./.", HE], "case"),
    ],
)
def test_each_step(written, step):
    outcome = dropped(*written, known=book_names.Lexicon({"Tom"}, {}))[-1]
    assert outcome == (step, None if step == "known" else "FINALPRO")


def test_the_same_passage_is_taken_once():
    # A third feminine name bounds both contexts.
    stop = "Eve/NNP///P came/VBD ./."
    assert dropped(stop, FOUR, HE, stop, FOUR, HE) == [(None, "FINALPRO"), ("once", "FINALPRO")]


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
    found = [book_names.find_mentions(parsed, NOBODY, gender) for parsed in sentences]
    matched = book_passages.match_pattern(list(zip(sentences, found, strict=True)), {"Tom", "Bill"}, place)
    assert expected == (
        matched and (matched.pattern, *((back, mention.name) for back, mention in (matched.a, matched.b)))
    )


@pytest.mark.parametrize(
    ("word", "tag", "expected"),
    [("He", "PRP", "M"), ("hers", "PRP", "F"), ("her", "PRP$", "F"), ("himself", "PRP", None), ("it", "PRP", None),
     ("His", "NNP", None)],
)  # fmt: skip
def test_target_pronouns(word, tag, expected):
    assert book_passages.target_gender(book(f"{word}/{tag}/nsubj")[0][0].tokens[0]) == expected
