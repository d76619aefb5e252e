"""Segments of word pieces, units, and the mentions among them."""

from dataclasses import replace

import pytest

from scripts.core.coreference_systems.c2f import features
from scripts.core.coreference_systems.c2f.windows import Splitter
from scripts.core.errors import UserError
from tests.core.coreference_systems import tiny


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny.encoder(tmp_path_factory.mktemp("encoder") / "e"))


def splitter(tokenizer, **changes):
    return Splitter(tokenizer, tiny.configuration(**changes))


def test_segments_hold_whole_sentences(tokenizer):
    document = tiny.documents()[0]
    # Sentences of 9, 6 and 7 words; "it" has two pieces.
    assert splitter(tokenizer, max_segment_pieces=18).segments(document) == [(0, 15), (15, 22)]
    assert splitter(tokenizer, max_segment_pieces=16).segments(document) == [(0, 9), (9, 22)]
    assert splitter(tokenizer, max_segment_pieces=25).segments(document) == [(0, 22)]


def test_a_sentence_longer_than_a_segment_is_cut_between_words(tokenizer):
    document = tiny.documents()[0]
    segments = splitter(tokenizer, max_segment_pieces=7).segments(document)
    assert segments == [(0, 5), (5, 9), (9, 14), (14, 15), (15, 19), (19, 22)]
    assert [start for start, _ in segments[1:]] == [end for _, end in segments[:-1]]


def test_a_word_longer_than_a_segment_is_refused(tokenizer):
    document = replace(tiny.documents()[0], words=("abcdefgh", *tiny.documents()[0].words[1:]))
    with pytest.raises(UserError, match="'harbour': word 0 has 8 word pieces, more than a segment's 5; divide it"):
        splitter(tokenizer, max_segment_pieces=7).segments(document)


def test_a_document_without_words_is_refused(tokenizer):
    empty = replace(tiny.documents()[0], words=(), sentences=(), clusters=())
    with pytest.raises(UserError, match="'harbour' has no words"):
        splitter(tokenizer).window(empty)


def test_a_short_text_is_not_mostly_padding(tokenizer):
    document = tiny.documents()[0]
    padded = splitter(tokenizer, max_segment_pieces=100).window(document)
    short = Splitter(tokenizer, tiny.configuration(max_segment_pieces=100), short=True).window(document)
    assert (padded.input_ids.shape, short.input_ids.shape) == ((1, 64), (1, 32))
    assert (padded.input_ids[:, :32] == short.input_ids).all() and not padded.attention_mask[:, 32:].any()


def test_an_unknown_genre_is_refused(tokenizer):
    with pytest.raises(UserError, match="the genre 'xx' is none of bc, bn"):
        splitter(tokenizer).window(tiny.documents()[0], genre="xx")


def test_a_window_has_the_genre_of_its_document(tokenizer):
    made = splitter(tokenizer)
    genres = made.configuration.genres
    for name, genre in [
        *((f"{genre}/x/00/x_0001; part 1", genre) for genre in genres),
        ("harbour", "nw"),
        ("xx/y", "nw"),
    ]:
        assert made.window(replace(tiny.documents()[0], name=name)).genre == genres.index(genre)


@pytest.mark.parametrize("unit", ["piece", "word"])
@pytest.mark.parametrize("pieces", [7, 16, 100])
def test_units_are_the_pieces_of_their_words(tokenizer, unit, pieces):
    document = tiny.documents()[0]
    made = splitter(tokenizer, unit=unit, max_segment_pieces=pieces)
    window = made.window(document)
    flat = window.input_ids.reshape(-1).tolist()
    inner = [unit for unit in range(window.units) if not window.marks[unit]]
    for word, text in enumerate(document.words):
        units = [number for number in inner if window.word[number] == word]
        places = range(window.first[units[0]], window.last[units[-1]] + 1)
        assert [flat[place] for place in places] == made.pieces(text)
        assert len(units) == (1 if unit == "word" else len(made.pieces(text)))
    assert window.marks.sum() == (0 if unit == "word" else 2 * len(window.input_ids))
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


def test_a_part_of_a_document(tokenizer):
    window = splitter(tokenizer, unit="word").window(tiny.documents()[0], 9, 22)
    assert window.word == list(range(9, 22))
    assert set(window.clusters.values()) == {1, 2, 3}
    assert sorted(window.clusters) == [(0, 0), (2, 2), (3, 4), (6, 7), (9, 9)]


def test_cases_and_plain_marks():
    words = ["Anna", "saw", "NASA", "\u2019s", "Berta", "12"]
    assert features.word_cases(words, [(0, 2), (2, 6)]) == [4, 1, 3, 0, 2, 0]
    assert [features.plain_punctuation(word) for word in ("\u201c", "``", "-LRB-", "o\u2019clock")] == [
        '"',
        '"',
        "(",
        "o'clock",
    ]


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
