"""Annotated documents of coreference corpora, and files of them: JSON Lines.

Words are as the corpus has them. A mention is the first and the last of its words, both included and counted from the
document's first word; a cluster is the mentions of one entity, and a cluster of one mention is a singleton.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError

PARTS = ("train", "development", "test")
# On which part systems are scored: the study has F1 on OntoNotes' development set (Counter-GAP, Section 5), which also
# chose the epoch.
SCORED_PARTS = {"ontonotes": "development", "litbank": "test"}

_GENRE = re.compile(r"([a-z]{2})/")


@dataclass(frozen=True)
class AnnotatedDocument:
    """A document with its entities.

    Attributes:
        name: As the corpus has it; of a part other than the first ``<name>; part <number>``.
        sentences: Half-open ranges of words, without gaps.
        clusters: Mentions in the order of the text, clusters in the order of their first mentions.
        speakers: One for each word; None where the corpus names none in the whole document.
        tags: Parts of speech of the Penn Treebank, one for each word.
    """

    name: str
    words: tuple
    sentences: tuple
    clusters: tuple
    speakers: tuple | None = None
    tags: tuple | None = None

    @property
    def genre(self) -> str | None:
        """The first directory of the name if it has two letters, as OntoNotes names its genres (``bc/cnn/00/...``)."""
        match = _GENRE.match(self.name)
        return match and match[1]

    @property
    def mentions(self) -> list[tuple[int, int]]:
        """All mentions, in the order of the text."""
        return sorted(mention for cluster in self.clusters for mention in cluster)


def order_clusters(clusters: Iterable[Iterable[tuple[int, int]]]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return clusters as tuples, mentions in the order of the text and clusters in that of their first mentions."""
    return tuple(sorted(tuple(sorted((first, last) for first, last in cluster)) for cluster in clusters))


def refuse_repeated(documents: list[AnnotatedDocument], path: str | Path) -> list[AnnotatedDocument]:
    """Return documents of which no two have one name."""
    names = set()
    for document in documents:
        if document.name in names:
            raise UserError(f"{path}: the document '{document.name}' occurs twice; remove one")
        names.add(document.name)
    return documents


def write_documents(path: str | Path, documents: Iterable[AnnotatedDocument]) -> None:
    """Write documents as JSON Lines, one document a line under the names of the fields, atomically."""
    files.write_text(path, "".join(json.dumps(asdict(d), ensure_ascii=False) + "\n" for d in documents))


def read_documents(path: str | Path) -> list[AnnotatedDocument]:
    """Read documents written by :func:`write_documents`.

    Raises:
        UserError: Naming file and row, if a line is not a document, or two documents have one name.
    """
    remedy = "delete the file and run the workflow again"
    text = files.read_text(path, remedy)
    documents = []
    for row, line in enumerate(text.removesuffix("\n").split("\n") if text else [], 1):
        where = f"{path}, row {row}"
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise UserError(f"{where}: not JSON ({error}); {remedy}") from error
        try:
            document = AnnotatedDocument(
                name=entry["name"],
                words=tuple(entry["words"]),
                sentences=tuple((start, end) for start, end in entry["sentences"]),
                clusters=tuple(tuple((first, last) for first, last in cluster) for cluster in entry["clusters"]),
                speakers=None if entry["speakers"] is None else tuple(entry["speakers"]),
                tags=None if entry["tags"] is None else tuple(entry["tags"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            names = ", ".join(field.name for field in fields(AnnotatedDocument))
            raise UserError(f"{where}: a document with {names} was expected; {remedy}") from error
        documents.append(document)
    return refuse_repeated(documents, path)
