"""Passages of a book that become quadruples, and how many fall away at each step (Xie et al. 2023, Section 2.1).

Their pronouns are in one of GAP's patterns of ambiguous pronouns (Webster et al. 2018).
"""

import itertools
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.core import files
from scripts.core.coreference_systems.sentences import COLUMNS
from scripts.counter_gap.lib import book_names
from scripts.counter_gap.lib.book_names import Lexicon, Mention, Sentence, Token
from scripts.counter_gap.lib.book_quadruples import Passage, instance, loose_title, rows_of
from scripts.counter_gap.lib.instances import PLACES, unlabelled_problems

MOST_SENTENCES = 5
"""Of a context."""
SENTENCES_AT_ONCE = 256
"""Sentences that are in memory while a book is read."""
STEPS = {
    "pronouns": "gendered pronouns",
    "context": "two names of each gender",
    "known": "nobody's gender open",
    "pattern": "a pattern of GAP",
    "distinct": "four different people",
    "whole": "whole names only",
    "titles": "no loose titles",
    "case": "case of her clear",
    "checked": "passes the reader",
    "once": "not repeated",
}
"""The steps in their order, with what is left after each."""
PRONOUNS = {"he": "M", "him": "M", "his": "M", "she": "F", "her": "F", "hers": "F"}
Window = list[tuple[Sentence, list[Mention]]]
"""Sentences with their names."""
CLAUSES = ("advcl", "csubj", "csubjpass", "pcomp")
"""Dependencies of clauses that can be subordinate and come first."""


class Match(NamedTuple):
    """A pattern and the mentions of the two candidates, as (sentences back from the pronoun's, mention), in order."""

    pattern: str
    a: tuple
    b: tuple


def target_gender(token: Token) -> str | None:
    """Return M or F for a gendered pronoun that is not reflexive, else None."""
    return PRONOUNS.get(token.word.lower()) if token.tag in ("PRP", "PRP$") else None


def stands_first(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a pronoun is in an initial subordinate clause, or a possessive in an initial prepositional phrase.

    The clause or phrase comes before the verb that it belongs to and before that verb's subject.
    """
    possessive = tokens[place].tag == "PRP$"
    seen, here = set(), place
    while here not in seen and tokens[here].head != here:
        seen.add(here)
        token, head = tokens[here], tokens[here].head
        opens = token.dependency in CLAUSES or (token.dependency == "prep" and possessive)
        if opens and here < head and _before_subject(tokens, place, head):
            return True
        # A clause behind a preposition ("after seeing him") has the preposition before the verb.
        verb = tokens[head].head
        if token.dependency == "pcomp" and head < verb and _before_subject(tokens, place, verb):
            return True
        here = head
    return False


def _before_subject(tokens: Sequence[Token], place: int, verb: int):
    kinds = ("nsubj", "nsubjpass", "expl")
    subjects = [at for at, token in enumerate(tokens) if token.head == verb and token.dependency in kinds]
    # What precedes the verb and is not before its subject stands in the middle.
    return place < min([*subjects, verb])


def match(window: Window, names: Collection[str], place: int) -> Match | None:
    """Find the pattern that a pronoun and its candidates are in.

    A pronoun that stands first belongs to the name behind it: MEDIALPRO and INITIALPRO go before FINALPRO, as in the
    study's data. Of several mentions of a name the nearest is taken.
    """
    before, behind, earlier = {}, {}, {}
    for mention in window[-1][1]:
        if mention.name in names:
            if mention.last < place:
                before[mention.name] = (0, mention)
            else:
                behind.setdefault(mention.name, (0, mention))
    if len(window) > 1:
        earlier = {mention.name: (1, mention) for mention in window[-2][1] if mention.name in names}
    found = None
    if stands_first(window[-1][0].tokens, place):
        late = {name: at for name, at in behind.items() if name not in before}
        if len(late) == 2:
            found = "INITIALPRO", late.values()
        elif len(late) == 1:
            ((second, at),) = late.items()
            rest = [spot for name, spot in earlier.items() if name != second]
            if rest:
                found = "MEDIALPRO", (rest[0], at)
    if found is None and len(before) == 2:
        found = "FINALPRO", before.values()
    if found is None and len(earlier) == 2:
        found = "FINALPRO", earlier.values()
    if found is None:
        return None
    a, b = sorted(found[1], key=lambda spot: (-spot[0], spot[1].first))
    return Match(found[0], a, b)


class Outcome(NamedTuple):
    """What became of a pronoun.

    Attributes:
        start: Its place in the book.
        dropped: The step of :data:`STEPS` at which it fell away.
        four: The instances by role.
        span: The context's place in the book.
    """

    start: int
    dropped: str | None
    pattern: str | None = None
    four: dict | None = None
    span: tuple | None = None


def read_sentences(path: str | Path, text: str) -> Iterator[Sentence]:
    """Yield the sentences that scripts/core/coreference_systems/sentences.py wrote, a row group in memory at a time."""
    with files.open_parquet(path, COLUMNS) as stored:
        for batch in stored.iter_batches(batch_size=SENTENCES_AT_ONCE):
            for row in batch.to_pylist():
                yield book_names.sentence(row, text)


def outcomes(
    sentences: Iterable[Sentence], text: str, known: Lexicon, gender: Callable, words: dict[str, str]
) -> Iterator[Outcome]:
    """Yield what becomes of each gendered pronoun of a book that is not reflexive.

    Of the sentences of a context only :data:`MOST_SENTENCES` are in memory.
    """
    window = deque(maxlen=MOST_SENTENCES)
    seen = set()
    for parsed in sentences:
        if window and window[-1][0].section != parsed.section:
            window.clear()
        window.append((parsed, book_names.mentions(parsed, known, gender)))
        named = {place for m in window[-1][1] for place in range(m.first, m.last + 1)}
        for place, token in enumerate(parsed.tokens):
            target = target_gender(token)
            if target and place not in named:
                yield _outcome(list(window), place, target, text, words, seen)


def _outcome(window: Window, place: int, target: str, text: str, words: dict[str, str], seen: set[tuple[str, int]]):
    start = window[-1][0].tokens[place].start
    chosen = context(window)
    if chosen is None:
        return Outcome(start, "context" if context(window, strangers=True) is None else "known")
    span = (chosen[0][0].start, chosen[-1][0].end)
    by_gender = {"M": [], "F": []}
    for mention in (mention for _, found in chosen for mention in found):
        if mention.gender and mention.name not in by_gender[mention.gender]:
            by_gender[mention.gender].append(mention.name)
    candidates = by_gender.pop(target)
    (others,) = by_gender.values()
    matched = match(chosen, candidates, place)
    if matched is None:
        return Outcome(start, "pattern", span=span)
    four, dropped = _quadruple(chosen, matched, others, place, text, words)
    if four is not None and dropped is None:
        key = (four["original"]["text"], four["original"]["pronoun_offset"])
        dropped = "once" if key in seen else None
        seen.add(key)
    return Outcome(start, dropped, matched.pattern, None if dropped else four, span)


def context(window: Window, strangers: bool = False) -> Window | None:
    """Return the longest part of a window up to its last sentence with exactly two names of each gender.

    Names of unknown gender are not allowed, or ignored with ``strangers``.
    """
    for first in range(len(window)):
        names = {(mention.name, mention.gender) for _, found in window[first:] for mention in found}
        genders = [gender for _, gender in names if gender or not strangers]
        if sorted(map(str, genders)) == ["F", "F", "M", "M"]:
            return window[first:]
    return None


def _quadruple(window: Window, matched: Match, others: list[str], place: int, text: str, words: dict[str, str]):
    """Return the quadruple of a passage, or None and the step at which it falls away."""
    names = {"a": matched.a[1].name, "b": matched.b[1].name, "x": others[0], "y": others[1]}
    if any(book_names.may_be_one_person(*pair) for pair in itertools.combinations(names.values(), 2)):
        return None, "distinct"
    passage = _passage(window, matched, names, place, text)
    inside = {at for first, (last, _) in passage.spots.items() for at in range(first, last + 1)}
    outside = [token for at, token in enumerate(passage.tokens) if at not in inside]
    parts = {word for name in names.values() for word in book_names.name_without_titles(name) if word[:1].isupper()}
    if any(token.word in parts or token.word.rstrip("s") in parts for token in outside if token.word[:1].isupper()):
        return None, "whole"
    if any(loose_title(token) for token in outside):
        return None, "titles"
    if any(map(book_names.is_unclear, passage.tokens, (*passage.tokens[1:], None))):
        return None, "case"
    four = {role: instance(passage, role, words) for role in PLACES}
    if unlabelled_problems(rows_of(four, "0", "book")):
        return None, "checked"
    return four, None


def _passage(window: Window, matched: Match, names: dict[str, str], place: int, text: str) -> Passage:
    """Return the passage with all its tokens in one row."""
    tokens, spots, begins = [], {}, []
    roles = {name: role for role, name in names.items()}
    for parsed, found in window:
        begins.append(len(tokens))
        for mention in found:
            spots[len(tokens) + mention.first] = (len(tokens) + mention.last, roles[mention.name])
        tokens += parsed.tokens
    gaps, end = [], tokens[0].start
    for token in tokens:
        # The ends of paragraphs are two spaces, as in C-GAP.
        gaps.append("".join(" " if character.isspace() else character for character in text[end : token.start]))
        end = token.end
    at = [begins[-1 - back] + mention.first for back, mention in (matched.a, matched.b)]
    return Passage(tuple(tokens), tuple(gaps), spots, names, begins[-1] + place, *at)
