"""From words to tensors: segments of word pieces, units, and where the mentions of a document lie among them.

A *unit* is what spans are made of. Published systems use word pieces, among them the two marks that enclose every
segment; a system whose configuration says so uses words.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from scripts.core.coreference_systems.c2f import features
from scripts.core.errors import UserError

if TYPE_CHECKING:
    from scripts.core.coreference_systems.documents import AnnotatedDocument

# Shapes are rounded up to these: on a CPU every new shape costs the making of new kernels in training.
PIECES_MULTIPLE = 64
UNITS_MULTIPLE = 128
# Where nothing is trained, what is shorter than a multiple is rounded up to a part of it: a sentence alone would be
# mostly padding. In training the draws of dropout depend on the shapes.
SHORT_PARTS = 8


def rounded_up(length: int, multiple: int, short: bool) -> int:
    """Return the size that a shape of at least ``length`` has: a multiple or, if ``short``, part of the first one.

    Examples:
        >>> rounded_up(130, 64, True), rounded_up(25, 64, True), rounded_up(25, 64, False)
        (192, 32, 64)
    """
    part = multiple // SHORT_PARTS if short and length <= multiple else multiple
    return -(-length // part) * part


@dataclass(frozen=True)
class Window:
    """A document, or a part of one, as the model reads it.

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
        configuration: A :class:`scripts.core.coreference_systems.c2f.configuration.Configuration`.
        short: Whether short texts get little padding, where nothing is trained.
    """

    def __init__(self, tokenizer: Any, configuration: Any, short: bool = False):
        self.tokenizer, self.configuration, self.short = tokenizer, configuration, short
        self._pieces = {}

    def pieces(self, word: str) -> list[int]:
        """Return the pieces of a word, at least one."""
        if word not in self._pieces:
            text = features.plain_punctuation(word) if self.configuration.plain_marks else word
            ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
            self._pieces[word] = ids or [self.tokenizer.unk_token_id]
        return self._pieces[word]

    def segments(self, document: "AnnotatedDocument", start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        """Divide words into segments: as many whole sentences as fit; of a sentence that does not fit, words.

        Args:
            start, end: The words to divide, half open.

        Returns:
            Half-open ranges of words, without gaps.

        Raises:
            UserError: If a word has more pieces than a segment can hold.
        """
        end = len(document.words) if end is None else end
        room = self.configuration.max_segment_pieces - 2
        sentence_ends = {stop for _, stop in document.sentences} | {end}
        found, begin = [], start
        while begin < end:
            position, used, sentence_end = begin, 0, None
            while position < end:
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

    def window(self, document: "AnnotatedDocument", start: int = 0, end: int | None = None) -> Window:
        """Return the tensors of a document's words from ``start`` to ``end``, with the mentions that lie within.

        The genre is the document's own (Joshi et al. 2019) or, if the system does not know that, the one that the
        configuration names for texts without a genre.

        Args:
            start, end: Half open; by default the whole document.

        Raises:
            UserError: As :meth:`segments`; for a document without words.
        """
        end = len(document.words) if end is None else end
        if start >= end:
            raise UserError(f"the document '{document.name}' has no words; leave it out")
        segments = self.segments(document, start, end)
        by_word = self.configuration.unit == "word"
        pieces = [[self.pieces(word) for word in document.words[a:b]] for a, b in segments]
        length = max(sum(map(len, segment)) for segment in pieces) + 2
        length = min(rounded_up(length, PIECES_MULTIPLE, self.short), self.configuration.max_segment_pieces)
        ids = torch.full((len(segments), length), self.tokenizer.pad_token_id or 0)
        mask = torch.zeros(len(segments), length, dtype=torch.long)
        sentence_of = _sentence_numbers(document)
        ends = {stop - 1 for _, stop in document.sentences}
        rows = _Rows()
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
                rows.add(place, 1, a, sentence_of[a], number, True)
            place += 1
            for word, word_pieces in enumerate(segment, a):
                count = len(word_pieces)
                for offset in range(0, count, count if by_word else 1):
                    rows.add(place + offset, count if by_word else 1, word, sentence_of[word], number, False)
                place += count
            if not by_word:
                # As published, the closing mark belongs to the sentence after it where one ends before it.
                rows.add(place, 1, b - 1, sentence_of[b - 1] + ((b - 1) in ends), number, True)
        return self._finish(rows, document, (ids, mask), (start, end), by_word)

    def _finish(
        self,
        rows: "_Rows",
        document: "AnnotatedDocument",
        tensors: tuple[torch.Tensor, torch.Tensor],
        limits: tuple[int, int],
        by_word: bool,
    ) -> Window:
        start, end = limits
        cases = features.word_cases(document.words, document.sentences)
        speakers = document.speakers or ("-",) * len(document.words)
        numbers = {name: number for number, name in enumerate(dict.fromkeys(speakers), 1)}
        first_unit, last_unit = {}, {}
        for unit, (word, mark) in enumerate(zip(rows.word, rows.mark, strict=True)):
            if not mark:
                first_unit.setdefault(word, unit)
                last_unit[word] = unit
        clusters = {
            (first_unit[first], last_unit[last]): number
            for number, cluster in enumerate(document.clusters, 1)
            for first, last in cluster
            if start <= first and last < end
        }
        sentence = torch.tensor(rows.sentence)
        segment = torch.tensor(rows.segment)
        if by_word:
            # A span of words lies within one segment too; pieces follow the published systems, which do not ask.
            sentence = sentence * (segment[-1] + 1) + segment
        speaker = [0 if mark else numbers[speakers[word]] for word, mark in zip(rows.word, rows.mark, strict=True)]
        return Window(
            input_ids=tensors[0],
            attention_mask=tensors[1],
            first=torch.tensor(rows.first),
            last=torch.tensor(rows.last),
            pieces=torch.tensor(rows.pieces),
            unit_of_piece=torch.tensor(rows.unit_of_piece),
            sentence=sentence,
            segment=segment,
            speaker=torch.tensor(speaker),
            case=torch.tensor([0 if mark else cases[word] for word, mark in zip(rows.word, rows.mark, strict=True)]),
            genre=self._genre(document),
            words=document.words,
            cases=cases,
            word=rows.word,
            clusters=clusters,
        )

    def _genre(self, document: "AnnotatedDocument") -> int:
        c = self.configuration
        known = document.genre in c.genres
        return c.genres.index(document.genre if known else c.genre) if c.speaker_and_genre else 0


class _Rows:
    """What is known of each unit, column by column."""

    def __init__(self):
        self.first, self.last, self.pieces, self.unit_of_piece = [], [], [], []
        self.word, self.sentence, self.segment, self.mark = [], [], [], []

    def add(self, place: int, count: int, word: int, sentence: int, segment: int, mark: bool) -> None:
        self.pieces += range(place, place + count)
        self.unit_of_piece += [len(self.first)] * count
        self.first.append(place)
        self.last.append(place + count - 1)
        self.word.append(word)
        self.sentence.append(sentence)
        self.segment.append(segment)
        self.mark.append(mark)


def _sentence_numbers(document: "AnnotatedDocument") -> list[int]:
    numbers = [0] * len(document.words)
    for number, (start, end) in enumerate(document.sentences):
        numbers[start:end] = [number] * (end - start)
    return numbers
