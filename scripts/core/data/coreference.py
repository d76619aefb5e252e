"""The output of a coreference system in one format, whatever the system: a document's tokens and its clusters.

A file is JSON Lines, one document a line::

    {"document": "12-swap-1", "text_sha256": "…", "tokens": [[0, 4], [5, 9]], "clusters": [[[0, 0], [1, 1]]]}

``tokens`` are half-open character ranges (code points) of the document's text, in order and without overlap.
``clusters`` are lists of mentions; a mention is the first and the last of its tokens, both included. ``text_sha256``
is the digest of the text that the system read, so that offsets are never applied to another text. A mention occurs in
one cluster only, and there once; a cluster has at least one.
"""

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.errors import UserError, count_noun

KEYS = ("document", "text_sha256", "tokens", "clusters")


@dataclass(frozen=True)
class Document:
    """One document as a system resolved it; the fields are those of the file."""

    document: str
    text_sha256: str
    tokens: tuple
    clusters: tuple

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the first and the last token that share characters with ``[start, end)``, or None without any."""
        first = bisect_right(self.tokens, start, key=lambda token: token[1])
        last = bisect_right(self.tokens, end - 1, key=lambda token: token[0]) - 1
        return (first, last) if first <= last else None

    def clusters_with(self, span: tuple[int, int] | None) -> list[tuple]:
        """Return the clusters that hold exactly this mention; none for the span None."""
        return [cluster for cluster in self.clusters if span in cluster]


def digest_text(text: str) -> str:
    """Return the digest that ties a document's offsets to its text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def split_words(text: str) -> tuple[tuple[int, int], ...]:
    """Return the character ranges of words and of single other marks; a word keeps no apostrophe or hyphen."""
    return tuple(match.span() for match in re.finditer(r"\w+|[^\w\s]", text))


def encode_document(document: Document) -> str:
    """Return a document's line of a file, with its end."""
    return json.dumps({key: getattr(document, key) for key in KEYS}, ensure_ascii=False) + "\n"


def write_clusters(path: str | Path, documents: Iterable[Document]) -> None:
    """Write documents, in their order, atomically."""
    files.write_text(path, "".join(map(encode_document, documents)))


def read_clusters(path: str | Path, texts: dict[str, str]) -> dict[str, Document]:
    """Read a system's output for known texts.

    Args:
        texts: The texts that the system was given, by document.

    Returns:
        In the order of ``texts``.

    Raises:
        UserError: If the file is missing, a line is not as described above or belongs to a different text, a document
            occurs twice or is unknown, or one of ``texts`` is missing. The message names file, row and what to do.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as UTF-8 text ({error}); run the system again") from error
    documents = {}
    if lines == [""]:
        lines = []
    for row, line in enumerate(lines, 1):
        document = _document(line, f"{path}, row {row}", texts)
        if document.document in documents:
            raise UserError(f"{path}, row {row}: the document '{document.document}' occurs twice; remove one")
        documents[document.document] = document
    missing = [name for name in texts if name not in documents]
    if missing:
        raise UserError(
            f"{path}: {len(missing)} of {len(texts)} documents are missing, the first is '{missing[0]}'; "
            "run the system on all of them"
        )
    return {name: documents[name] for name in texts}


def _document(line: str, where: str, texts: dict[str, str]) -> Document:
    entry = _parse(line, where)
    if not isinstance(entry, dict) or set(entry) != set(KEYS):
        raise UserError(f"{where}: an object with the keys {', '.join(KEYS)} was expected; write the document again")
    for key, kind, words in zip(KEYS, (str, str, list, list), ("text", "text", "a list", "a list"), strict=True):
        if not isinstance(entry[key], kind):
            raise UserError(
                f"{where}: '{key}' is {_kind(entry[key])} where {words} was expected; write the document again"
            )
    name = entry["document"]
    if name not in texts:
        raise UserError(f"{where}: the document {name[:100]!r} is not in the data; run the system on the same data")
    if entry["text_sha256"] != digest_text(texts[name]):
        raise UserError(f"{where}: the text of '{name}' differs from that in the data; run the system again")
    tokens = _pairs(entry["tokens"], f"{where}: tokens")
    clusters = []
    for number, cluster in enumerate(entry["clusters"], 1):
        if not isinstance(cluster, list):
            raise UserError(
                f"{where}: cluster {number} is {_kind(cluster)} where a list of mentions was expected; write the "
                "document again"
            )
        if not cluster:
            raise UserError(f"{where}: cluster {number} is empty; leave it out")
        clusters.append(_pairs(cluster, f"{where}: mentions"))
    before = 0
    for start, end in tokens:
        if not before <= start < end <= len(texts[name]):
            raise UserError(
                f"{where}: the token [{start}, {end}) of '{name}' is empty, out of order or outside the text; "
                "give half-open ranges of characters"
            )
        before = end
    seen = {}
    for number, cluster in enumerate(clusters):
        for mention in cluster:
            first, last = mention
            if not 0 <= first <= last < len(tokens):
                raise UserError(
                    f"{where}: the mention [{first}, {last}] of '{name}' is outside its "
                    f"{count_noun(len(tokens), 'token')}; give the first and the last token, counted from 0"
                )
            if seen.setdefault(mention, number) != number:
                raise UserError(
                    f"{where}: the mention [{first}, {last}] of '{name}' is in two clusters; leave it in one of them"
                )
        if len(set(cluster)) < len(cluster):
            first, last = next(mention for i, mention in enumerate(cluster) if mention in cluster[:i])
            raise UserError(f"{where}: the mention [{first}, {last}] of '{name}' is in a cluster twice; remove one")
    return Document(name, entry["text_sha256"], tokens, tuple(clusters))


def _parse(line: str, where: str) -> Any:
    """Return the object of a line; keys given twice, constants that JSON lacks and deep nesting are refused."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        repeated = next((key for i, key in enumerate(keys) if key in keys[:i]), None)
        if repeated is not None:
            raise UserError(f"{where}: the key {repeated[:100]!r} is given twice; write the document again")
        return dict(pairs)

    def constant(word: str):
        raise UserError(f"{where}: not JSON ({word} is not a number); write the document again")

    try:
        return json.loads(line, object_pairs_hook=once, parse_constant=constant)
    except ValueError as error:
        # A number of thousands of digits raises a plain ValueError.
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a number has too many digits"
        raise UserError(f"{where}: not JSON ({reason}); write one document a line") from error
    except RecursionError as error:
        raise UserError(f"{where}: nested too deeply; write one document a line") from error


def _pairs(values: Sequence[Any], where: str) -> tuple[tuple[int, int], ...]:
    # True and 3.0 equal whole numbers and are not accepted as such.
    if not all(isinstance(v, list) and len(v) == 2 and all(type(n) is int for n in v) for v in values):
        raise UserError(f"{where} must be pairs of whole numbers; write the document again")
    return tuple((first, second) for first, second in values)


def _kind(value: Any) -> str:
    kinds = {str: "text", list: "a list", dict: "an object", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
