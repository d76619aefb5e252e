"""Segments of word pieces, units, and the mentions among them."""

from dataclasses import replace

import pytest

from scripts.core.coreference_systems.c2f import features
from scripts.core.coreference_systems.c2f.configuration import GENRES
from scripts.core.coreference_systems.c2f.windows import Splitter
from tests.core.coreference_systems import tiny
from tests.refusals import refused


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny.encoder(tmp_path_factory.mktemp("encoder") / "e"))


def splitter(tokenizer, **changes):
    return Splitter(tokenizer, tiny.configuration(**changes))


@pytest.mark.parametrize(
    ("pieces", "segments"),
    [
        pytest.param(25, [(0, 22)], id="all sentences"),
        # Sentences of 9, 6 and 7 words; "it" has two pieces.
        pytest.param(18, [(0, 15), (15, 22)], id="two and one"),
        pytest.param(16, [(0, 9), (9, 22)], id="one and two"),
        pytest.param(7, [(0, 5), (5, 9), (9, 14), (14, 15), (15, 19), (19, 22)], id="cut between words"),
    ],
)
def test_segments_hold_whole_sentences_or_words_of_one(tokenizer, pieces, segments):
    assert splitter(tokenizer, max_segment_pieces=pieces).segments(tiny.documents()[0]) == segments


def test_a_document_that_cannot_be_divided_is_named(tokenizer):
    document = tiny.documents()[0]
    with refused("'harbour'", "word 0", "8 word pieces", "segment's 5", "divide"):
        splitter(tokenizer, max_segment_pieces=7).segments(replace(document, words=("abcdefgh", *document.words[1:])))


def test_a_short_text_is_not_mostly_padding(tokenizer):
    window = splitter(tokenizer, max_segment_pieces=100).window(tiny.documents()[0])
    assert window.input_ids.shape == (1, 32)


def test_a_window_has_the_genre_of_its_document(tokenizer):
    made = splitter(tokenizer)
    for name, genre in [
        *((f"{genre}/x/00/x_0001; part 1", genre) for genre in GENRES),
        ("harbour", "nw"),
        ("xx/y", "nw"),
    ]:
        assert made.window(replace(tiny.documents()[0], name=name)).genre == GENRES.index(genre)


@pytest.mark.parametrize("unit", ["piece", "word"])
@pytest.mark.parametrize("pieces", [7, 16, 100])
def test_units_are_the_pieces_of_their_words(tokenizer, unit, pieces):
    document = tiny.documents()[0]
    made = splitter(tokenizer, unit=unit, max_segment_pieces=pieces)
    window = made.window(document)
    flat = window.input_ids.reshape(-1).tolist()
    marks = {made.tokenizer.cls_token_id, made.tokenizer.sep_token_id}
    inner = [unit for unit in range(window.units) if flat[window.first[unit]] not in marks]
    for word, text in enumerate(document.words):
        units = [number for number in inner if window.word[number] == word]
        places = range(window.first[units[0]], window.last[units[-1]] + 1)
        assert [flat[place] for place in places] == made.pieces(text)
        assert len(units) == (1 if unit == "word" else len(made.pieces(text)))
    assert window.units - len(inner) == (0 if unit == "word" else 2 * len(window.input_ids))
    # Every mention is where its words are.
    for (first, last), number in window.clusters.items():
        assert (window.word[first], window.word[last]) in document.clusters[number - 1]
    assert len(window.clusters) == len(document.mentions)


def test_marks_stand_between_sentences_as_published(tokenizer):
    # The closing mark of a segment, the next opening one and the next sentence share a number.
    window = splitter(tokenizer, max_segment_pieces=16).window(tiny.documents()[0])
    assert window.sentence.tolist() == [0] * 10 + [1, 1] + [1] * 6 + [2] * 8 + [3]
    assert window.segment.tolist() == [0] * 11 + [1] * 16


def test_spans_of_words_do_not_cross_segments(tokenizer):
    window = splitter(tokenizer, unit="word", max_segment_pieces=7).window(tiny.documents()[0])
    numbers = window.sentence.tolist()
    assert len(set(numbers[:5])) == len(set(numbers[5:9])) == 1
    assert numbers[4] != numbers[5]


def test_cases_and_plain_marks():
    words = ["Anna", "saw", "NASA", "\u2019s", "Berta", "12"]
    assert features.word_cases(words, [(0, 2), (2, 6)]) == [4, 1, 3, 0, 2, 0]
    typed = ["\u201c", "``", "-LRB-", "o\u2019clock"]
    assert [features.plain_punctuation(word) for word in typed] == ['"', '"', "(", "o'clock"]


def test_classes_of_pairs():
    words = [
        "Anna", "Berg", "saw", "her", ";", "the", "captain", "and", "Mr.", "Berg", "saw", "her", "and", "she", "saw",
        "Carl", "and", "a", "Captain",
    ]  # fmt: skip
    cases = features.word_cases(words, [(0, len(words))])
    spans = [(0, 1), (3, 3), (5, 6), (8, 9), (11, 11), (13, 13), (15, 15), (17, 18)]
    classes = features.pair_classes(words, cases, spans)
    assert (classes == classes.T).all()
    expected = {
        (0, 1): features.ONE_PRONOUN,
        (0, 3): features.SAME_LAST,
        (0, 6): features.TWO_NAMES,
        (0, 2): features.OTHER,
        (2, 7): features.SAME_WORDS,
        (1, 4): features.SAME_PRONOUN,
        (1, 5): features.TWO_PRONOUNS,
    }
    assert {pair: int(classes[pair]) for pair in expected} == expected
    shared = features.pair_classes(["Anna", "Berg", "Anna"], [4, 2, 2], [(0, 1), (2, 2)])
    assert shared[0, 1] == features.SHARED
