"""Rules that stand in for a coreference system where none is at hand; their behaviour is known in advance.

Each is told where the people are and puts one of them into the pronoun's cluster. They show that the machinery works
and what its metrics say of a known behaviour; they are no coreference systems. A sentence about one person leaves them
no choice.

``nearest`` takes the person fewest tokens away from the pronoun, on either side (of two equally far the earlier);
``first`` and ``last`` take the first and the last named in the sentence; ``subject`` takes the subject of the main
clause (:func:`subject`). In WinoPron both people precede the pronoun, so that *nearest* and *last* agree on every
sentence; each rule resolves both endings of a template to the same person, so that one of the two is right.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data.coreference import Document, digest, tokenise
from scripts.winopron.lib.templates import ANSWERS

_DETERMINERS = ("the", "a", "an")
# What begins a part of the sentence that comes before its main clause.
_OPENING = frozenset(
    [
        "according", "after", "although", "as", "at", "because", "before", "besides", "by", "despite", "during", "for",
        "from", "if", "in", "near", "on", "once", "since", "though", "to", "until", "unlike", "when", "while", "with",
        "without",
    ]
)  # fmt: skip


def people(row: Any, tokens: Sequence[tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """Return the token spans of the people of one instance, articles included.

    Args:
        row: Of a table of instances.
        tokens: Where each begins and ends.

    Returns:
        ``occupation`` or ``participant`` to the first and the last token, in the order of
        the text.
    """
    spans = {}
    for answer in ANSWERS:
        start = getattr(row, f"{answer}_offset")
        if pd.isna(start):
            continue
        end = int(start) + len(getattr(row, answer))
        covered = [i for i, (a, b) in enumerate(tokens) if a < end and b > int(start)]
        if not covered:
            continue
        first, last = covered[0], covered[-1]
        if first and row.text[slice(*tokens[first - 1])].lower() in _DETERMINERS:
            first -= 1
        spans[answer] = (first, last)
    return dict(sorted(spans.items(), key=lambda item: item[1]))


def choose(rule: str, row: Any, tokens: Sequence[tuple[int, int]]) -> str:
    """Return whom a rule takes, ``occupation`` or ``participant``."""
    spans = people(row, tokens)
    named = list(spans)
    if rule == "first":
        return named[0]
    if rule == "last":
        return named[-1]
    if rule == "subject":
        return subject(row, tokens, spans)
    if rule != "nearest":
        raise ValueError(rule)
    pronoun = next(i for i, (start, _) in enumerate(tokens) if start == row.pronoun_offset)
    return min(named, key=lambda answer: min(abs(pronoun - place) for place in spans[answer]))


def subject(row: Any, tokens: Sequence[tuple[int, int]], spans: Mapping[str, tuple[int, int]]) -> str:
    """Return the person who is the subject of the main clause.

    A sentence that begins with a preposition or a conjunction has its main clause after the first comma; the subject is
    the first person named there who is no possessor (*the broker's*). If there is none, it is the first person.
    """
    words = [row.text[start:end].lower() for start, end in tokens]
    begins = words.index(",") if words[0] in _OPENING and "," in words else -1
    for answer, (first, last) in spans.items():
        possessor = re.match(r"['’]s?\b", row.text[tokens[last][1] :]) is not None
        if first > begins and not possessor:
            return answer
    return next(iter(spans))


def resolve(rule: str, instances: pd.DataFrame) -> Iterator[Document]:
    """Yield what a rule makes of every instance: a cluster of the person that it takes and the pronoun.

    Args:
        rule: One of :data:`scripts.winopron.lib.study.RULES`.
    """
    for row in files.rows(instances):
        tokens = tokenise(row.text)
        document = Document(row.instance_id, digest(row.text), tokens, ())
        pronoun = document.span(row.pronoun_offset, row.pronoun_offset + len(row.pronoun))
        person = people(row, tokens)[choose(rule, row, tokens)]
        yield Document(row.instance_id, digest(row.text), tokens, ((person, pronoun),))
