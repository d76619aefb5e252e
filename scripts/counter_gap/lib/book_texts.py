"""Books as plain text: Project Gutenberg's files, other text files and EPUBs, without what is not the book.

A clean text has a line for each paragraph and empty lines between them. Headings and rows of stars are left out; a form
feed in their place ends a section, which no passage crosses.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote
from xml.etree import ElementTree

from scripts.core.data import archives
from scripts.core.errors import UserError

BREAK = "\f"
"""The paragraph that ends a section (scripts/core/coreference_systems/sentences.py)."""
SUFFIXES = (".txt", ".epub")
HEADING_WORDS = 12
"""Longer paragraphs without a stop at their end are no headings."""
FIRST = 5
"""Paragraphs at a book's beginning that may say who made the file."""

_START = re.compile(r"^\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG EBOOK.*$|^\*END\*? ?THE SMALL PRINT!.*$", re.M)
_END = re.compile(
    r"^(?:\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG EBOOK|End of (?:the )?Project Gutenberg).*$", re.M
)
_CREDITS = re.compile(r"(?:E-text |This e-?text was )?(?:produced|prepared|scanned|transcribed) by\b", re.I)
_DECLARED = re.compile(rb"^Character set encoding: *(\S+)", re.M)
_FIELDS = {"title": r"^Title: *(.+(?:\n +\S.*)*)", "author": r"^Author: *(.+)", "number": r"\[EBook #(\d+)\]"}
_ENDS_SENTENCE = tuple(".!?:;,\"'”’)-—…")


@dataclass(frozen=True)
class Book:
    """A book: its paragraphs (:data:`BREAK` between sections) and what is known of it."""

    title: str
    author: str
    number: str
    encoding: str
    paragraphs: tuple

    @property
    def label(self) -> str:
        """What stands in the column Book, in the manner of C-GAP for books of Project Gutenberg."""
        by = f" (by {self.author})" if self.author else ""
        # Books of C-GAP are told by a number at the beginning or the ending .epub.
        return f"pg{self.number} {self.title}{by}" if self.number else f"book {self.title}{by}".removesuffix(".epub")

    @property
    def text(self) -> str:
        """The clean text."""
        return "\n\n".join(self.paragraphs) + "\n"


def read(path: str | Path) -> Book:
    """Read a book."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"{path}: is neither a plain text (.txt) nor an EPUB (.epub); convert it to one of them")
    book = read_epub(path) if path.suffix.lower() == ".epub" else read_plain(path)
    if not book.paragraphs:
        raise UserError(f"{path}: has no text; leave the book out")
    return book


def read_plain(path: str | Path) -> Book:
    """Read a plain text; what Project Gutenberg puts before and behind a book is left out by its marks."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); correct its name in counter_gap.books") from error
    declared = _DECLARED.search(content[:5000])
    encoding = declared[1].decode("ascii", "replace") if declared else "UTF-8"
    try:
        text = content.decode("utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding)
    except UnicodeDecodeError as error:
        said = "as it declares" if declared else "and declares no other encoding"
        raise UserError(
            f"{path}: byte {error.start + 1} is not {encoding}, {said}; convert the book to UTF-8"
        ) from error
    except (LookupError, ValueError) as error:
        # A name with a null byte, or of a codec that is not for texts, is a ValueError.
        named = encoding[:40].encode("ascii", "backslashreplace").decode().replace("\0", "\\0")
        raise UserError(f"{path}: declares the encoding '{named}', which is unknown; convert it to UTF-8") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    facts = {name: match[1] if (match := re.search(rule, text[:5000], re.M)) else "" for name, rule in _FIELDS.items()}
    body, bounded = without_licence(text, path)
    if not bounded:
        facts = {"title": Path(path).stem, "author": "", "number": ""}
    return Book(
        " ".join(facts["title"].split()) or Path(path).stem, facts["author"].strip(), facts["number"], encoding,
        tuple(sections(re.split(r"\n[ \t]*(?:\n[ \t]*)+", body))),
    )  # fmt: skip


def without_licence(text: str, path: str | Path) -> tuple[str, bool]:
    """Return a text without the header and footer of Project Gutenberg, and whether it had them."""
    start = _START.search(text)
    end = _END.search(text, start.end() if start else 0)
    if not start and not end:
        return text, False
    if not start or not end:
        missing = "end" if start else "start"
        raise UserError(f"{path}: Project Gutenberg's mark of the book's {missing} is missing; get a whole copy")
    if second := _START.search(text, end.end()):
        line = text.count("\n", 0, second.start()) + 1
        raise UserError(f"{path}, line {line}: a second book of Project Gutenberg begins; give each book its own file")
    return text[start.end() : end.start()], True


def sections(pieces: Iterable[str]) -> Iterator[str]:
    """Yield clean paragraphs of pieces of text, with :data:`BREAK` in place of headings, lists and rows of stars."""
    begun = broken = False
    for number, piece in enumerate(pieces):
        paragraph = clean_paragraph(piece)
        # An empty piece was a picture, which ends nothing.
        if not paragraph or (number < FIRST and _CREDITS.match(paragraph)):
            continue
        if is_heading(paragraph) or is_list(piece):
            broken = True
            continue
        if broken and begun:
            yield BREAK
        begun, broken = True, False
        yield paragraph


def clean_paragraph(piece: str) -> str:
    """Return a paragraph in one line, without the signs of Project Gutenberg for italics, pictures and notes."""
    # Behind the last bracket nothing can match, and the search would be quadratic.
    closed, bracket, rest = piece.rpartition("]")
    piece = re.sub(r"\[(?:Illustration[^\]]*|\d+|Footnote[^\]]*)\]", "", closed + bracket) + rest
    piece = re.sub(r"(?<![\w_])_(?=\S)([^_]*?\S)_(?![\w_])", r"\1", piece, flags=re.S)
    return " ".join(piece.split())


def is_heading(paragraph: str) -> bool:
    """Tell whether a paragraph is a heading or a row of marks: short, and in capitals or without a stop at its end."""
    letters = [character for character in paragraph if character.isalpha()]
    if not letters or all(character.isupper() for character in letters):
        return len(paragraph.split()) <= HEADING_WORDS or not letters
    if re.match(r"(?:chapter|book|part|volume|letter|canto|scene|act) [\divxlc]+\b", paragraph, re.I):
        return len(paragraph.split()) <= HEADING_WORDS
    return len(paragraph.split()) <= HEADING_WORDS and not paragraph.endswith(_ENDS_SENTENCE)


def is_list(piece: str) -> bool:
    """Tell whether a paragraph is a table of contents: of three lines or more, most end with a number."""
    lines = [line.strip() for line in piece.strip().split("\n")]
    numbered = sum(bool(re.search(r"(?:\d|\b[ivxlc]+)$", line)) for line in lines)
    return len(lines) >= 3 and 2 * numbered > len(lines)


_CONTAINER = "META-INF/container.xml"
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "caption", "dd", "div", "dl", "dt", "figcaption", "figure",
    "footer", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul",
}  # fmt: skip
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_SILENT = {"head", "script", "style", "nav", "svg", "sup"}


def read_epub(path: str | Path) -> Book:
    """Read the chapters of an EPUB in their order (EPUB 3.3, Sections 4 and 5)."""
    (container,) = archives.zip_members(path, [_CONTAINER], source=archives.BOOK)
    rootfile = next(_named(_xml(container, path, _CONTAINER), "rootfile"), None)
    package_name = unquote(rootfile.get("full-path", "")) if rootfile is not None else ""
    if not package_name:
        raise UserError(f"{path}: {_CONTAINER} names no package; it is no whole EPUB, get another copy")
    (content,) = archives.zip_members(path, [package_name], source=archives.BOOK)
    package = _xml(content, path, package_name)
    folder = PurePosixPath(package_name).parent
    documents = {
        item.get("id"): str(folder / unquote(item.get("href", "")))
        for item in _named(package, "item")
        if item.get("media-type") in ("application/xhtml+xml", "text/html") and "nav" not in item.get("properties", "")
    }
    spine = [entry.get("idref") for entry in _named(package, "itemref") if entry.get("linear") != "no"]
    names = [documents[identifier] for identifier in dict.fromkeys(spine) if identifier in documents]
    pieces = []
    chapters = archives.zip_members(path, names, source=archives.BOOK) if names else ()
    for name, chapter in zip(names, chapters, strict=True):
        reader = _Paragraphs()
        reader.feed(_decoded(chapter, path, name))
        reader.close()
        pieces += [*reader.found, "* * *"]
    title, author = (next((e.text or "" for e in _named(package, key)), "") for key in ("title", "creator"))
    facts = " ".join(title.split()) or Path(path).stem, " ".join(author.split()), "", "UTF-8"
    return Book(*facts, tuple(sections(pieces)))


def _xml(content: bytes, path: str | Path, name: str):
    try:
        return ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise UserError(f"{path}: {name} is no XML ({error}); it is no whole EPUB, get another copy") from error


def _named(tree: ElementTree.Element, name: str):
    return (element for element in tree.iter() if str(element.tag).rpartition("}")[2] == name)


def _decoded(content: bytes, path: str | Path, name: str):
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: byte {error.start + 1} of {name} is not UTF-8, which EPUBs are in; convert the book again"
        ) from error


class _Paragraphs(HTMLParser):
    """Collects the texts of blocks; a heading becomes a row of stars."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found, self.words, self.silent, self.heading = [], [], 0, 0

    def close(self):
        super().close()
        self._end()

    def _end(self):
        if text := " ".join("".join(self.words).split()):
            self.found.append("* * *" if self.heading else text)
        self.words = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]):
        if tag in _SILENT:
            self.silent += 1
        elif tag == "br":
            self.words.append(" ")
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._end()
            self.heading += tag in _HEADINGS
            if tag == "hr":
                self.found.append("* * *")

    def handle_endtag(self, tag: str):
        if tag in _SILENT:
            self.silent = max(0, self.silent - 1)
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._end()
            self.heading -= tag in _HEADINGS and self.heading > 0

    def handle_data(self, data: str):
        if not self.silent:
            self.words.append(data)


def identifier(path: str | Path) -> str:
    """Return the name of a book in files: that of its file in lower case, other signs than letters as hyphens."""
    stem = Path(path).stem
    plain = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")
    # A name in another script has no letter left.
    return plain or f"book-{zlib.crc32(stem.encode()):08x}"


def books_of(sources: list[str], fetched: dict[str, str], located: Callable) -> dict[str, str]:
    """Return the books of a run.

    Returns:
        Books' names (:func:`identifier`) to their files.
    """
    books = {}
    for source in sources:
        found = [fetched[source]] if source in fetched else _members(source, Path(located(source)))
        for file in found:
            name = identifier(file)
            if books.setdefault(name, file) != file:
                raise UserError(
                    f"counter_gap.books: {file} and {books[name]} have the same name ({name}); rename one of them"
                )
    return books


def _members(source: str, path: Path):
    if path.is_file():
        return [str(path)]
    if not path.is_dir():
        raise UserError(
            f"counter_gap.books: {source} is neither a file, nor a folder, nor listed in config/upstream.tsv; "
            "correct its name"
        )
    found = sorted(str(member) for member in path.iterdir() if member.suffix.lower() in SUFFIXES)
    if not found:
        raise UserError(f"counter_gap.books: the folder {source} has no .txt and no .epub; correct its name")
    return found
