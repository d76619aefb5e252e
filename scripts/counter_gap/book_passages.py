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
from scripts.counter_gap import book_names
from scripts.counter_gap.book_names import Lexicon, Mention, Sentence, Token
from scripts.counter_gap.book_quadruples import Passage, loose_title, make_instance, rows_of
from scripts.counter_gap.passages import GENDERS, PLACES, quadruple_problems

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
    return GENDERS.get(token.word.lower()) if token.tag in ("PRP", "PRP$") else None


def stands_first(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a pronoun is in an initial subordinate clause, or a possessive in an initial prepositional phrase.

    The clause or phrase comes before the verb that it belongs to and before that verb's subject.
    """
    here = place
    while (head := tokens[here].head) != here:
        kind, verb = tokens[here].dependency, tokens[head].head
        opens = kind in CLAUSES or (kind == "prep" and tokens[place].tag == "PRP$")
        if opens and here < head and _before_subject(tokens, place, head):
            return True
        # A clause behind a preposition ("after seeing him") has the preposition before the verb.
        if kind == "pcomp" and head < verb and _before_subject(tokens, place, verb):
            return True
        here = head
    return False


def _before_subject(tokens: Sequence[Token], place: int, verb: int) -> bool:
    kinds = ("nsubj", "nsubjpass", "expl")
    subjects = [at for at, token in enumerate(tokens) if token.head == verb and token.dependency in kinds]
    # What precedes the verb and is not before its subject stands in the middle.
    return place < min([*subjects, verb])


def match_pattern(window: Window, names: Collection[str], place: int) -> Match | None:
    """Find the pattern that a pronoun and its two candidates are in.

    A pronoun that stands first belongs to the name behind it: MEDIALPRO and INITIALPRO go before FINALPRO, as in the
    study's data. Of several mentions of a name the nearest is taken.
    """
    sentence, mentioned = window[-1]
    here = [mention for mention in mentioned if mention.name in names]
    before = {mention.name: (0, mention) for mention in here if mention.last < place}
    behind = {mention.name: (0, mention) for mention in reversed(here) if mention.last >= place}
    earlier = {mention.name: (1, mention) for _, found in window[-2:-1] for mention in found if mention.name in names}
    late = {name: at for name, at in behind.items() if name not in before}
    if not stands_first(sentence.tokens, place):
        late = {}
    patterns = [("INITIALPRO", late), ("MEDIALPRO", earlier | late if late else {})]
    for pattern, found in [*patterns, ("FINALPRO", before), ("FINALPRO", earlier)]:
        if len(found) == 2:
            return Match(pattern, *sorted(found.values(), key=lambda spot: (-spot[0], spot[1].first)))
    return None


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
                yield book_names.make_sentence(row, text)


def trace_pronouns(
    sentences: Iterable[Sentence], text: str, known: Lexicon, gender: Callable, words: dict[str, str]
) -> Iterator[Outcome]:
    """Yield what becomes of each gendered pronoun of a book that is not reflexive.

    Of the sentences of a context only :data:`MOST_SENTENCES` are in memory.
    """
    window, seen = deque(maxlen=MOST_SENTENCES), set()
    for parsed in sentences:
        if window and window[-1][0].section != parsed.section:
            window.clear()
        window.append((parsed, book_names.find_mentions(parsed, known, gender)))
        named = {place for m in window[-1][1] for place in range(m.first, m.last + 1)}
        for place, token in enumerate(parsed.tokens):
            target = target_gender(token)
            if target is None or place in named:
                continue
            outcome = _outcome(list(window), place, target, text, words)
            if outcome.four:
                key = (outcome.four["original"]["text"], outcome.four["original"]["pronoun_offset"])
                outcome = outcome._replace(dropped="once", four=None) if key in seen else outcome
                seen.add(key)
            yield outcome


def _outcome(window: Window, place: int, target: str, text: str, words: dict[str, str]) -> Outcome:
    start = window[-1][0].tokens[place].start
    chosen = find_context(window)
    if chosen is None:
        return Outcome(start, "context" if find_context(window, strangers=True) is None else "known")
    span = (chosen[0][0].start, chosen[-1][0].end)
    genders = {mention.name: mention.gender for _, found in chosen for mention in found}
    candidates = [name for name, gender in genders.items() if gender == target]
    matched = match_pattern(chosen, candidates, place)
    if matched is None:
        return Outcome(start, "pattern", span=span)
    others = [name for name in genders if name not in candidates]
    names = dict(zip("abxy", (matched.a[1].name, matched.b[1].name, *others), strict=True))
    passage = _passage(chosen, matched, names, place, text)
    dropped = _problem(passage)
    four = None if dropped else {role: make_instance(passage, role, words) for role in PLACES}
    if four and quadruple_problems(dict(enumerate(rows_of(four, "0", "book"))), labelled=False):
        dropped, four = "checked", None
    return Outcome(start, dropped, matched.pattern, four, span)


def find_context(window: Window, strangers: bool = False) -> Window | None:
    """Return the longest part of a window up to its last sentence with exactly two names of each gender.

    Names of unknown gender are not allowed, or ignored with ``strangers``.
    """
    for first in range(len(window)):
        names = {(mention.name, mention.gender) for _, found in window[first:] for mention in found}
        genders = [gender for _, gender in names if gender or not strangers]
        if sorted(map(str, genders)) == ["F", "F", "M", "M"]:
            return window[first:]
    return None


def _problem(passage: Passage) -> str | None:
    """Return the step at which a passage falls away before it is rewritten; None if it stays."""
    names = passage.names.values()
    if any(book_names.may_be_one_person(*pair) for pair in itertools.combinations(names, 2)):
        return "distinct"
    inside = {at for first, (last, _) in passage.spots.items() for at in range(first, last + 1)}
    outside = [token for at, token in enumerate(passage.tokens) if at not in inside]
    parts = {word for name in names for word in book_names.name_without_titles(name) if word[:1].isupper()}
    if any(not parts.isdisjoint((token.word, token.word.rstrip("s"))) for token in outside):
        return "whole"
    if any(loose_title(token) for token in outside):
        return "titles"
    unclear = map(book_names.is_unclear, passage.tokens, (*passage.tokens[1:], None))
    return "case" if any(unclear) else None


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
