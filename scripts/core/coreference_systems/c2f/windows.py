"""From words to tensors: segments of word pieces, units, and where the mentions of a document lie among them.

A *unit* is what spans are made of. Published systems use word pieces, among them the two marks that enclose every
segment; a system whose configuration says so uses words.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from scripts.core.coreference_systems.c2f import features
from scripts.core.coreference_systems.c2f.configuration import DEFAULT_GENRE, GENRES, Configuration
from scripts.core.errors import UserError

if TYPE_CHECKING:
    from scripts.core.coreference_systems.documents import AnnotatedDocument

# Shapes are rounded up to these, so that texts of one shape are read together. A short text would be mostly padding:
# what is shorter than a multiple is rounded up to a part of it.
PIECES_MULTIPLE = 64
UNITS_MULTIPLE = 128
SHORT_PARTS = 8


def rounded_up(length: int, multiple: int) -> int:
    """Return the size that a shape of at least ``length`` has: a multiple, or a part of the first one.

    Examples:
        >>> rounded_up(130, 64), rounded_up(25, 64)
        (192, 32)
    """
    part = multiple // SHORT_PARTS if length <= multiple else multiple
    return -(-length // part) * part


@dataclass(frozen=True)
class Window:
    """A document as the model reads it.

    Attributes:
        input_ids, attention_mask: Shape ``(segments, pieces)``.
        first, last: The place of each unit's first and last piece in the flattened segments, shape ``(units,)``.
        pieces, unit_of_piece: All pieces of the units, by their places in the flattened segments, and their units.
        sentence, segment, speaker, case: Of each unit, shape ``(units,)``. Spans lie within one sentence.
        words: The document's words.
        cases: Of the document's words.
        word: The document's word of each unit; of a segment's mark that of its neighbour.
        clusters: The number of the cluster, from 1, of each gold mention, by its first and last unit.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    first: torch.Tensor
    last: torch.Tensor
    pieces: torch.Tensor
    unit_of_piece: torch.Tensor
    sentence: torch.Tensor
    segment: torch.Tensor
    speaker: torch.Tensor
    case: torch.Tensor
    genre: int
    words: tuple
    cases: list
    word: list
    clusters: dict

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self.word)

    def to(self, device: torch.device | str) -> "Window":
        """Return the window with its tensors on a device."""
        return replace(
            self, **{name: value.to(device) for name, value in vars(self).items() if isinstance(value, torch.Tensor)}
        )


class Splitter:
    """Makes windows of documents for a model's configuration and tokenizer.

    Args:
        tokenizer: A fast tokenizer of transformers.
    """

    def __init__(self, tokenizer: Any, configuration: Configuration):
        self.tokenizer, self.configuration = tokenizer, configuration
        self._pieces = {}

    def pieces(self, word: str) -> list[int]:
        """Return the pieces of a word, at least one."""
        if word not in self._pieces:
            text = features.plain_punctuation(word) if self.configuration.plain_marks else word
            ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
            self._pieces[word] = ids or [self.tokenizer.unk_token_id]
        return self._pieces[word]

    def segments(self, document: "AnnotatedDocument") -> list[tuple[int, int]]:
        """Divide words into segments: as many whole sentences as fit; of a sentence that does not fit, words.

        Returns:
            Half-open ranges of words, without gaps.

        Raises:
            UserError: If a word has more pieces than a segment can hold.
        """
        room, size = self.configuration.max_segment_pieces - 2, len(document.words)
        sentence_ends = {stop for _, stop in document.sentences}
        found, begin = [], 0
        while begin < size:
            position, used, sentence_end = begin, 0, None
            while position < size:
                used += len(self.pieces(document.words[position]))
                if used > room:
                    break
                position += 1
                if position in sentence_ends:
                    sentence_end = position
            if position == begin:
                raise UserError(
                    f"the document '{document.name}': word {begin} has {used} word pieces, more than a segment's "
                    f"{room}; divide it"
                )
            stop = sentence_end or position
            found.append((begin, stop))
            begin = stop
        return found

    def window(self, document: "AnnotatedDocument") -> Window:
        """Return the tensors of a document, which has words, with its mentions.

        The genre is the document's own (Joshi et al. 2019) or, if the system does not know that, newswire.

        Raises:
            UserError: As :meth:`segments`.
        """
        segments = self.segments(document)
        by_word = self.configuration.unit == "word"
        pieces = [[self.pieces(word) for word in document.words[a:b]] for a, b in segments]
        length = max(sum(map(len, segment)) for segment in pieces) + 2
        length = min(rounded_up(length, PIECES_MULTIPLE), self.configuration.max_segment_pieces)
        ids = torch.full((len(segments), length), self.tokenizer.pad_token_id or 0)
        mask = torch.zeros(len(segments), length, dtype=torch.long)
        sentence_of = [number for number, (a, b) in enumerate(document.sentences) for _ in range(a, b)]
        ends = {stop - 1 for _, stop in document.sentences}
        # Of each unit: the place of its first piece, how many it has, its word, sentence and segment, and whether it
        # is a segment's mark.
        units: list[tuple[int, int, int, int, int, bool]] = []
        for number, ((a, b), segment) in enumerate(zip(segments, pieces, strict=True)):
            row = [
                self.tokenizer.cls_token_id,
                *(piece for word in segment for piece in word),
                self.tokenizer.sep_token_id,
            ]
            ids[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = 1
            place = number * length
            if not by_word:
                units.append((place, 1, a, sentence_of[a], number, True))
            place += 1
            for word, word_pieces in enumerate(segment, a):
                size = len(word_pieces) if by_word else 1
                for offset in range(0, len(word_pieces), size):
                    units.append((place + offset, size, word, sentence_of[word], number, False))
                place += len(word_pieces)
            if not by_word:
                # As published, the closing mark belongs to the sentence after it where one ends before it.
                units.append((place, 1, b - 1, sentence_of[b - 1] + ((b - 1) in ends), number, True))
        first, sizes, words, sentences, segment_numbers, are_marks = zip(*units, strict=True)
        sentence, segment = torch.tensor(sentences), torch.tensor(segment_numbers)
        if by_word:
            # A span of words lies within one segment too; pieces follow the published systems, which do not ask.
            sentence = sentence * (segment[-1] + 1) + segment
        cases = features.word_cases(document.words, document.sentences)
        speakers = document.speakers or ("-",) * len(document.words)
        numbers = {name: number for number, name in enumerate(dict.fromkeys(speakers), 1)}
        marked = list(zip(words, are_marks, strict=True))
        return Window(
            input_ids=ids,
            attention_mask=mask,
            first=torch.tensor(first),
            last=torch.tensor(first) + torch.tensor(sizes) - 1,
            pieces=torch.tensor([place + i for place, size, *_ in units for i in range(size)]),
            unit_of_piece=torch.tensor([unit for unit, size in enumerate(sizes) for _ in range(size)]),
            sentence=sentence,
            segment=segment,
            speaker=torch.tensor([0 if is_mark else numbers[speakers[word]] for word, is_mark in marked]),
            case=torch.tensor([0 if is_mark else cases[word] for word, is_mark in marked]),
            genre=self._genre(document),
            words=document.words,
            cases=cases,
            word=list(words),
            clusters=_mentions(document, marked),
        )

    def _genre(self, document: "AnnotatedDocument") -> int:
        if not self.configuration.speaker_and_genre:
            return 0
        return GENRES.index(document.genre if document.genre in GENRES else DEFAULT_GENRE)


def _mentions(document: "AnnotatedDocument", units: list[tuple[int, bool]]) -> dict[tuple[int, int], int]:
    """Return the number of the cluster, from 1, of each mention by its first and last unit.

    Args:
        units: The word of each, and whether it is a segment's mark.
    """
    first_unit, last_unit = {}, {}
    for unit, (word, is_mark) in enumerate(units):
        if not is_mark:
            first_unit.setdefault(word, unit)
            last_unit[word] = unit
    return {
        (first_unit[first], last_unit[last]): number
        for number, cluster in enumerate(document.clusters, 1)
        for first, last in cluster
    }
