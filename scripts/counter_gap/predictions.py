"""Which names each system puts into the pronoun's cluster, from what it leaves: clusters, or flags that were released.

Clusters are read in two ways:

- ``corrected``: the pronoun is a mention of exactly its tokens, and a name is in the cluster if one of the cluster's
  mentions stands for it (:func:`stands_for`).
- ``published``, as the conversion in the study's repository does: every span runs to the token at its end offset, which
  lies one character behind the span, and to the left over a mark that is glued to it and splits no words, and a name is
  in the cluster if its span contains a mention or is contained in one. A pronoun that punctuation follows directly is
  then a span that no system predicts.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import coreference
from scripts.core.data.coreference import Document
from scripts.core.workflow.job import log, run_named
from scripts.counter_gap import released_flags
from scripts.counter_gap.study import CORRECTED, IDENTITY, PUBLISHED

COLUMNS = [*IDENTITY, "id", "a_pred", "b_pred", "correct"]
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


def predictions(*, instances: str, outputs: list, predictions: str, readers: list, templates: str) -> None:
    """Write which names every system takes the pronoun of each instance for (Parquet; :data:`COLUMNS`).

    ``outputs`` are the files of ``readers`` (:meth:`scripts.counter_gap.plan.Plan.readers`), in their order. An
    instance is ``correct`` if both flags are as annotated (Section 4).
    """
    passages = files.read_parquet(instances)
    annotated = passages.set_index("id")[["a_coref", "b_coref"]]
    tables = []
    for path, reader in zip(outputs, readers, strict=True):
        for reading, flags in read_flags(path, reader, passages).items():
            facts = {name: reader[name] for name in ("model", "kind", "scoring", "debiasing")}
            right = (flags[["a_pred", "b_pred"]].to_numpy() == annotated.loc[flags.id].to_numpy()).all(axis=1)
            log.info("%s, %s, %s: accuracy %.4f", facts["model"], facts["debiasing"], reading, right.mean())
            tables.append(flags.assign(**facts, templates=templates, reading=reading, correct=right)[COLUMNS])
    files.write_parquet(predictions, pd.concat(tables, ignore_index=True))


def read_flags(path: str, reader: Mapping[str, Any], passages: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the flags of one system (``id``, ``a_pred``, ``b_pred``), by the way of reading its output."""
    if reader["outputs"] == "flags":
        return {"": released_flags.read_output(path, passages)}
    if reader["outputs"] == "table":
        return {"": released_flags.read_flags(path)[reader["model"], reader["debiasing"]]}
    documents = coreference.read_clusters(path, dict(zip(passages.id, passages.text, strict=True)))
    return {reading: flags_from_clusters(passages, documents, reading) for reading in (CORRECTED, PUBLISHED)}


def flags_from_clusters(instances: pd.DataFrame, documents: dict[str, Document], reading: str) -> pd.DataFrame:
    """Return which names the clusters of documents put with the pronoun: ``id``, ``a_pred``, ``b_pred`` (bool)."""
    flags = []
    for row in files.iterate_rows(instances, index=False):
        document = documents[row.id]
        places = ((row.pronoun, row.pronoun_offset), (row.a, row.a_offset), (row.b, row.b_offset))
        spans = [document.span(start, start + len(word)) for word, start in places]
        if reading == PUBLISHED:
            spans = [
                span and _released_span(document, row.text, start, start + len(word))
                for span, (word, start) in zip(spans, places, strict=True)
            ]
        clusters = document.clusters_with(spans[0])
        if reading == PUBLISHED:
            # The released conversion looks at the first cluster that holds the pronoun.
            clusters = clusters[:1]
            predicted = [span and any(_nested(m, span) for c in clusters for m in c) for span in spans[1:]]
        else:
            predicted = [
                span and any(stands_for(document, row.text, m, span) for c in clusters for m in c) for span in spans[1:]
            ]
        flags.append((row.id, *map(bool, predicted)))
    return pd.DataFrame(flags, columns=["id", "a_pred", "b_pred"])


def _released_span(document: Document, text: str, start: int, end: int) -> tuple[int, int] | None:
    # A mark before the span that does not split words belongs to the span's first one.
    glued = start and not text[start - 1].isspace() and text[start - 1] not in released_flags.SPLITTING
    # The character at the exclusive end: a blank still belongs to the token before it, a mark is the next token, and
    # behind the last character the conversion takes the last token.
    beginning, whole = document.span(start - 1 if glued else start, end), document.span(0, end + 1)
    return (beginning[0], whole[1]) if beginning and whole else None


def _nested(one: tuple[int, int], other: tuple[int, int]):
    inside = one[0] >= other[0] and one[1] <= other[1]
    return inside or (other[0] >= one[0] and other[1] <= one[1])


def stands_for(document: Document, text: str, mention: tuple[int, int], name: tuple[int, int]) -> bool:
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


if __name__ == "__main__":
    run_named()
