"""From a system's output to one flag for each candidate name: is it in the pronoun's cluster?"""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from scripts.core import files
from scripts.core.data import coreference
from scripts.core.data.templates import read_tsv
from scripts.core.errors import UserError
from scripts.counter_gap.lib.analyses.subsets import SPLITTING
from scripts.counter_gap.lib.instances import LABELS

if TYPE_CHECKING:
    import numpy as np

SPAN_SCORINGS = ("clusters", "clusters_faithful")
"""``clusters``: spans end where they end. ``clusters_faithful``: as the study's released conversion took them."""
# Without a full stop, which tokenizers leave at the word (*Mr.*).
_TITLES = {
    "the", "mr", "mister", "mrs", "ms", "miss", "mx", "master", "sir", "dame", "lady", "lord", "madam", "madame", "mme",
    "mademoiselle", "mlle", "monsieur", "squire", "king", "queen", "prince", "princess", "duke", "duchess", "earl",
    "count", "countess", "baron", "baroness", "dr", "doctor", "prof", "professor", "rev", "reverend", "father",
    "mother", "brother", "sister", "saint", "st", "bishop", "cardinal", "pope", "rabbi", "president", "pres", "senator",
    "sen", "governor", "gov", "mayor", "judge", "justice", "captain", "capt", "colonel", "col", "major", "maj",
    "general", "gen", "lieutenant", "lt", "sergeant", "sgt", "admiral", "commander", "inspector", "aunt",
    "uncle",
}  # fmt: skip


def read_flags(path: str | Path, instances: pd.DataFrame) -> pd.DataFrame:
    """Read a released output: ``ID``, ``A-coref``, ``B-coref``, one row for each of ``instances`` in their order.

    Returns:
        ``id``, ``a_pred``, ``b_pred`` (bool).

    Raises:
        UserError: If the IDs are not those of the instances or a flag is neither TRUE nor FALSE; names file and row.
    """
    rows = read_tsv(path, ("ID", "A-coref", "B-coref"))
    if len(rows) != len(instances):
        raise UserError(f"{path}: {len(rows)} rows for {len(instances)} instances; fetch the file again")
    flags = []
    for (row, cells), expected in zip(rows, instances.id, strict=True):
        if cells["ID"] != expected:
            raise UserError(f"{path}, row {row}: the ID '{cells['ID']}' should be '{expected}'; fetch the file again")
        for column in ("A-coref", "B-coref"):
            if cells[column] not in LABELS:
                raise UserError(
                    f"{path}, row {row}: {column} '{cells[column]}' is neither TRUE nor FALSE; fetch the file again"
                )
        flags.append((expected, LABELS[cells["A-coref"]], LABELS[cells["B-coref"]]))
    return pd.DataFrame(flags, columns=["id", "a_pred", "b_pred"])


def flags_from_clusters(
    instances: pd.DataFrame, documents: dict[str, coreference.Document], scoring: str
) -> pd.DataFrame:
    """Score clusters.

    Args:
        instances: As of :mod:`scripts.counter_gap.lib.instances`.
        scoring: One of :data:`SPAN_SCORINGS`. With ``clusters`` the pronoun is a mention of exactly its tokens, and a
            name is in the cluster if one of the cluster's mentions stands for it (:func:`stands_for`). With
            ``clusters_faithful`` every span runs to the token at its end offset, which lies one character behind the
            span, and to the left over a mark that is glued to it and splits no words, and a name is in the cluster if
            its span contains a mention or is contained in one: what the conversion in the study's repository does. A
            pronoun that punctuation follows directly is then a span that no system predicts.

    Returns:
        ``id``, ``a_pred``, ``b_pred`` (bool).
    """
    flags = []
    for row in files.rows(instances, index=False):
        document = documents[row.id]
        places = ((row.pronoun, row.pronoun_offset), (row.a, row.a_offset), (row.b, row.b_offset))
        spans = [document.span(start, start + len(word)) for word, start in places]
        if scoring == "clusters_faithful":
            spans = [
                span and _released_span(document, row.text, start, start + len(word))
                for span, (word, start) in zip(spans, places, strict=True)
            ]
        clusters = document.clusters_with(spans[0])
        if scoring == "clusters_faithful":
            # The released conversion looks at the first cluster that holds the pronoun.
            clusters = clusters[:1]
            predicted = [span and any(_nested(m, span) for c in clusters for m in c) for span in spans[1:]]
        else:
            predicted = [
                span and any(stands_for(document, row.text, m, span) for c in clusters for m in c) for span in spans[1:]
            ]
        flags.append((row.id, *map(bool, predicted)))
    return pd.DataFrame(flags, columns=["id", "a_pred", "b_pred"])


def _released_span(document: coreference.Document, text: str, start: int, end: int) -> tuple[int, int] | None:
    # A mark before the span that does not split words belongs to the span's first one.
    glued = start and not text[start - 1].isspace() and text[start - 1] not in SPLITTING
    # The character at the exclusive end: a blank still belongs to the token before it, a mark is the next token, and
    # behind the last character the conversion takes the last token.
    beginning, whole = document.span(start - 1 if glued else start, end), document.span(0, end + 1)
    return (beginning[0], whole[1]) if beginning and whole else None


def _nested(one: tuple[int, int], other: tuple[int, int]):
    inside = one[0] >= other[0] and one[1] <= other[1]
    return inside or (other[0] >= one[0] and other[1] <= one[1])


def stands_for(document: coreference.Document, text: str, mention: tuple[int, int], name: tuple[int, int]) -> bool:
    """Tell whether a mention stands for the person whose annotated name has the tokens ``name``.

    It does if it is the name or a part of it, once titles and articles before it and a possessive ending or marks
    after it are left off. A longer mention that holds the name (*Tom's sister*) is somebody else.
    """
    first, last = mention
    words = [text[start:end].lower() for start, end in document.tokens[first : last + 1]]
    while words and last > name[1] and (words[-1] in {"s", "'s", "’s"} or not any(c.isalnum() for c in words[-1])):
        words.pop()
        last -= 1
    while first < name[0] and words and (words[0].rstrip(".") in _TITLES or not any(c.isalnum() for c in words[0])):
        words.pop(0)
        first += 1
    return bool(words) and first >= name[0] and last <= name[1]


def correct(instances: pd.DataFrame, flags: pd.DataFrame) -> "np.ndarray":
    """Return whether each instance is right: both flags are as annotated (Section 4)."""
    return (flags.a_pred.to_numpy() == instances.a_coref.to_numpy()) & (
        flags.b_pred.to_numpy() == instances.b_coref.to_numpy()
    )


def read_clusters(path: str | Path, instances: pd.DataFrame, scoring: str) -> pd.DataFrame:
    """Read a system's clusters and return its flags."""
    texts = dict(zip(instances.id, instances.text, strict=True))
    return flags_from_clusters(instances, coreference.read(path, texts), scoring)
