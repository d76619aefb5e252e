"""The rules that the text of every paper and card keeps, as its PDF has it."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from pypdf import PdfReader

from tests.test_vocabulary import found

SMALLEST = 6.5
"""Points of the smallest type: seven, and subscripts of a table that is fitted to the page lose up to half a point."""
FEATURED = {"nobody", "theirs"}
"""Words to avoid that template sentences and tables of pronouns have."""
RULES = {
    "a missing value": r"\b(?:nan|NaN|None|inf)\b",
    "a reference or citation without target": r"\?\?|\[\?\]|\(\?\)",
    "a plural of one": r"(?<![\d.,–−-])(?<!, )1 (?:more )?(?:models|systems|instances|sentences|pairs|prompts|answers"
    r"|texts|findings|checks|jobs|studies|templates|numbers|quadruples|occupations|passages|differences|minutes)\b",
    "an identifier for a name": r"\b[a-zA-Z][a-zA-Z0-9]*_\w+",
    "a percent sign apart from its number": r"\d %",
}
"""What no text may have, to its pattern."""
FILES = r"\S+/\S*|\S+\. ?(?:csv|json|tex|pdf|png|parquet|tsv|yaml|py|html)\b|\b10\.\d{4}\S*"
"""Paths, names of files, and DOIs."""


def problems(pdf: Path, sources: str | None = None) -> list[str]:
    """Return what the text of a PDF does against the rules, one line each.

    Args:
        pdf: The file.
        sources: The heading of the list of files that ends it; what follows is not prose.
    """
    return [f"page {page}: {said}" for page, said in _problems(PdfReader(pdf), sources)]


def _problems(reader: PdfReader, sources: str | None) -> Iterator[tuple[int, str]]:
    for page, text in enumerate(texts(reader), 1):
        prose, heading, _ = text.partition(sources) if sources else (text, "", "")
        prose = re.sub(FILES, " ", prose)
        for rule, pattern in RULES.items():
            for match in re.finditer(pattern, prose):
                yield page, f"{rule}: {prose[max(0, match.start() - 30) : match.end() + 30]}"
        yield from ((page, f"a word to avoid: {word}") for word in found(prose) if word.lower() not in FEATURED)
        yield from ((page, f"type of {size:.1f} points: {word}") for size, word in small(reader.pages[page - 1]))
        if heading:
            return


def texts(reader: PdfReader) -> list[str]:
    """Return the text of each page in one line, words that a line's end divides joined."""
    return [" ".join(page.extract_text().replace("-\n", "").split()) for page in reader.pages]


def small(page) -> Iterable[tuple[float, str]]:
    """Return pieces of text in type below :data:`SMALLEST`, each with its size."""
    pieces: list[tuple[float, str]] = []

    def visit(text, matrix, text_matrix, _font, size):
        scale = np.sqrt(abs(np.linalg.det(np.reshape(text_matrix[:4], (2, 2)) @ np.reshape(matrix[:4], (2, 2)))))
        if text.strip() and size * scale < SMALLEST:
            pieces.append((size * scale, text.strip()))

    page.extract_text(visitor_text=visit)
    return pieces


def captions(pdf: Path, end: str) -> list[str]:
    """Return the captions of figures and tables before a heading."""
    text = " ".join(texts(PdfReader(pdf))).partition(end)[0]
    return re.findall(r"(?:Figure|Table) \d+: .*?\[source\]", text)
