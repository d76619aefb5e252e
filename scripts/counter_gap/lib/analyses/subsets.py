"""Facts about each quadruple, from the data alone: no output of a system decides them."""

from typing import Any

import numpy as np
import pandas as pd

from scripts.core.data.coreference import tokenise

SPLITTING = ".,`\"'()-/*"
"""Marks at which the released conversion starts a new token. A pronoun directly before one gets a span that ends with
the mark (see ``predictions``), which no system predicts; the released flags of these quadruples are all FALSE."""
SOURCES = ("gutenberg", "bookcorpus")
MARKS = ("splitting", "other", "none")


def factors_of(instances: pd.DataFrame) -> pd.DataFrame:
    """Return each quadruple's factors.

    Args:
        instances: As of :mod:`scripts.counter_gap.lib.instances`; four rows for each quadruple, in order. Instances
            without texts (:mod:`scripts.counter_gap.lib.released_flags`) have the columns of :func:`facts_of_texts`
            instead.

    Returns:
        A row for each quadruple, in order: ``quadruple``, ``gender`` (of the original), ``source``, ``artefact`` (a
        splitting mark directly follows the pronoun in all four), ``glued`` (another mark or letter does),
        ``right_name`` (one of the names is right) and ``words``.
    """
    originals = instances.iloc[::4].reset_index(drop=True)
    facts = facts_of_texts(instances) if "text" in instances else originals[["source", "mark", "words"]]
    words = facts.words.to_numpy()
    return originals[["quadruple", "gender"]].assign(
        source=facts.source,
        artefact=facts.mark == "splitting",
        glued=facts.mark == "other",
        right_name=np.isfinite(words),
        words=words,
    )


def facts_of_texts(instances: pd.DataFrame) -> pd.DataFrame:
    """Return what the factors need of the texts of quadruples.

    Returns:
        A row for each quadruple, in order: ``source`` (of :data:`SOURCES` by the form of the book's name, ``own``
        otherwise), ``mark`` (:data:`MARKS`: a splitting mark directly follows the pronoun in all four, a mark or letter
        does, or not) and ``words`` (tokens between the right name and the pronoun, mean over the four; missing without
        a right name).
    """
    ends = instances.pronoun_offset + instances.pronoun.str.len()
    follows = [text[end : end + 1] for text, end in zip(instances.text, ends, strict=True)]
    splitting = np.array([bool(mark) and mark in SPLITTING for mark in follows]).reshape(-1, 4).all(1)
    glued = np.array([bool(mark.strip()) for mark in follows]).reshape(-1, 4).all(1)
    words = np.array([_words(row) for row in instances.itertuples(index=False)]).reshape(-1, 4).mean(1)
    return pd.DataFrame(
        {
            "source": [_source(book) for book in instances.book.iloc[::4]],
            "mark": np.select([splitting, glued], MARKS[:2], MARKS[2]),
            "words": words,
        }
    )


def _source(book: str):
    if book.endswith(".epub"):
        return "bookcorpus"
    return "gutenberg" if book.removeprefix("pg")[:1].isdecimal() else "own"


def _words(row: Any):
    """Return the number of tokens between the right name and the pronoun; NaN without a right name."""
    if not (row.a_coref or row.b_coref):
        return np.nan
    name, offset = (row.a, row.a_offset) if row.a_coref else (row.b, row.b_offset)
    (start, word), (later, _) = sorted([(offset, name), (row.pronoun_offset, row.pronoun)])
    return float(sum(start + len(word) <= s and e <= later for s, e in tokenise(row.text)))
