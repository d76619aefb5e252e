"""From sentences to passages: contexts, and the step at which each pronoun falls away."""

import pytest

from scripts.counter_gap.lib.books import names, passages
from tests.counter_gap.books.make import NOBODY, book, gender

WORDS = {"she": "he", "he": "she", "him": "her", "his": "her", "hers": "his"}
FOUR = "Tom/NNP///P and/CC Bill/NNP///P met/VBD Ann/NNP///P and/CC Kate/NNP///P ./."
HE = "He/PRP/nsubj/1 left/VBD/ROOT ././/1"
NOTHING = "It/PRP rained/VBD ./."


def dropped(*written, known=NOBODY):
    sentences, text = book(*written)
    return [(o.dropped, o.pattern) for o in passages.outcomes(sentences, text, known, gender, WORDS)]


def test_a_context_is_as_long_as_it_may_be():
    sentences, _ = book("Eve/NNP///P came/VBD ./.", NOTHING, NOTHING, FOUR, HE)
    window = [(parsed, names.mentions(parsed, NOBODY, gender)) for parsed in sentences]
    # With Eve there would be three feminine names.
    assert [parsed for parsed, _ in passages.context(window)] == sentences[1:]
    assert passages.context(window[:1]) is None
    assert passages.context(window[2:3]) is None


def test_five_sentences_at_most():
    assert dropped(FOUR, HE) == [(None, "FINALPRO")]
    assert dropped(FOUR, NOTHING, NOTHING, NOTHING, HE) == [("pattern", None)]
    assert dropped(FOUR, NOTHING, NOTHING, NOTHING, NOTHING, HE) == [("context", None)]


def test_a_context_ends_with_its_section():
    sentences, text = book(FOUR)
    later, more = book(HE, section=1)
    later = [parsed._replace(tokens=tuple(t._replace(start=t.start + len(text), end=t.end + len(text))
                             for t in parsed.tokens)) for parsed in later]  # fmt: skip
    (outcome,) = passages.outcomes([*sentences, *later], text + more, NOBODY, gender, WORDS)
    assert outcome.dropped == "context" and outcome.start == len(text)


@pytest.mark.parametrize(
    ("before", "sentence", "step"),
    [
        ("so Hale/NNP///P spoke/VBD ./.", HE, None),
        (FOUR[:-3] + "and/CC Hale/NNP///P ./.", HE, "known"),
        ("so Max/NNP///P spoke/VBD ./.", FOUR[:-3] + "and/CC Max/NNP///P ./.", None),
        ("Tom/NNP///P and/CC Tom/NNP///P Hale/NNP///I met/VBD Ann/NNP///P and/CC Kate/NNP///P ./.", HE, "distinct"),
        (FOUR[:-3] + "the/DT Toms/NNPS ./.", HE, "whole"),
        (FOUR[:-3] + "and/CC the/DT Misses/NNP ./.", HE, "titles"),
        (FOUR[:-3] + "with/IN her/PRP/poss ./.", HE, "case"),
        (FOUR, HE, None),
    ],
)  # fmt: skip
def test_each_step(before, sentence, step):
    known = names.Lexicon({"Tom"}, {})
    outcomes = dropped(before, FOUR, sentence, known=known) if "spoke" in before else dropped(before, sentence)
    assert outcomes[-1:] == ([(step, "FINALPRO" if step not in ("known", "context") else None)] if outcomes else [])


def test_the_same_passage_is_taken_once():
    # A third feminine name bounds both contexts.
    stop = "Eve/NNP///P came/VBD ./."
    assert dropped(stop, FOUR, HE, stop, FOUR, HE) == [(None, "FINALPRO"), ("once", "FINALPRO")]


def test_the_ends_of_paragraphs_are_two_spaces():
    sentences, text = book(FOUR)
    later, more = book(HE)
    begin = len(text.rstrip()) + 2
    moved = later[0]._replace(
        tokens=tuple(t._replace(start=t.start + begin, end=t.end + begin) for t in later[0].tokens)
    )
    (outcome,) = passages.outcomes([*sentences, moved], f"{text.rstrip()}\n\n{more}", NOBODY, gender, WORDS)
    assert outcome.four["original"]["text"] == "Tom and Bill met Ann and Kate.  He left."
    assert outcome.four["swap-1"]["text"] == "Ann and Kate met Tom and Bill.  She left."
    assert outcome.span == (0, later[0].end) and outcome.start == begin
