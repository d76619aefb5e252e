"""Rules that stand in for a coreference system where none is at hand; their behaviour is known in advance.

Each is told where the people are and puts one of them into the pronoun's cluster. They show that the machinery works
and what its metrics say of a known behaviour; they are no coreference systems. A sentence about one person leaves them
no choice.

``nearest`` takes the person fewest tokens away from the pronoun, on either side (of two equally far the earlier);
``first`` and ``last`` take the first and the last named in the sentence; ``subject`` takes the subject of the main
clause (:func:`main_subject`). In WinoPron both people precede the pronoun, so that *nearest* and *last* agree on every
sentence; each rule resolves both endings of a template to the same person, so that one of the two is right.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import coreference
from scripts.core.data.coreference import Document, digest_text, split_words
from scripts.core.data.templates import word_set
from scripts.core.workflow.job import run_named
from scripts.winopron.templates import ANSWERS

OPENING = word_set(
    "according after although as at because before besides by despite during for from if in near on once since though",
    "to until unlike when while with without",
)
"""What begins a part of the sentence that comes before its main clause."""


def clusters(*, instances: str, clusters: str, rule: str) -> None:
    """Write what a rule (one of ``study.RULES``) makes of instances, in the format of a coreference system."""
    coreference.write_clusters(
        clusters, (resolve_by_rule(rule, row) for row in files.iterate_rows(files.read_parquet(instances)))
    )


def resolve_by_rule(rule: str, row: Any) -> Document:
    """Return what a rule makes of an instance: a cluster of the person that it takes and the pronoun."""
    tokens = split_words(row.text)
    document = Document(row.instance_id, digest_text(row.text), tokens, ())
    pronoun: Any = document.span(row.pronoun_offset, row.pronoun_offset + len(row.pronoun))
    spans = person_spans(row, tokens)
    if rule == "subject":
        person = main_subject(row, tokens, spans)
    elif rule == "nearest":
        person = min(spans, key=lambda who: min(abs(pronoun[0] - place) for place in spans[who]))
    else:
        person = list(spans)[{"first": 0, "last": -1}[rule]]
    return replace(document, clusters=((spans[person], pronoun),))


def person_spans(row: Any, tokens: Sequence[tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """Return the first and last token of each person of an instance, articles included, in the order of the text."""
    spans = {}
    for answer in ANSWERS:
        start = getattr(row, f"{answer}_offset")
        end = start if pd.isna(start) else start + len(getattr(row, answer))
        covered = [] if pd.isna(start) else [i for i, (a, b) in enumerate(tokens) if a < end and b > start]
        if covered:
            first = covered[0]
            article = first and row.text[slice(*tokens[first - 1])].lower() in ("the", "a", "an")
            spans[answer] = (first - bool(article), covered[-1])
    return dict(sorted(spans.items(), key=lambda item: item[1]))


def main_subject(row: Any, tokens: Sequence[tuple[int, int]], spans: Mapping[str, tuple[int, int]]) -> str:
    """Return the person who is the subject of the main clause.

    A sentence that begins with a preposition or a conjunction has its main clause after the first comma; the subject is
    the first person named there who is no possessor (*the broker's*). If there is none, it is the first person.
    """
    words = [row.text[start:end].lower() for start, end in tokens]
    begins = words.index(",") if words[0] in OPENING and "," in words else -1
    for answer, (first, last) in spans.items():
        possessor = re.match(r"['’]s?\b", row.text[tokens[last][1] :]) is not None
        if first > begins and not possessor:
            return answer
    return next(iter(spans))


if __name__ == "__main__":
    run_named()
