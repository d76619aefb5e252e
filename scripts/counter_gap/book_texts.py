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
_NUMBERED = re.compile(r"(?:chapter|book|part|volume|letter|canto|scene|act) [\divxlc]+\b", re.I)
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


def read_book(path: str | Path) -> Book:
    """Read a book."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"{path}: is neither a plain text (.txt) nor an EPUB (.epub); convert it to one of them")
    book = read_epub(path) if path.suffix.lower() == ".epub" else read_plain(path)
    if not book.paragraphs:
        raise UserError(f"{path}: has no text; leave the book out")
    return book


def read_plain(path: Path) -> Book:
    """Read a plain text; what Project Gutenberg puts before and behind a book is left out by its marks."""
    content = path.read_bytes()
    declared = _DECLARED.search(content[:5000])
    encoding = declared[1].decode("ascii", "replace") if declared else "UTF-8"
    try:
        text = content.decode(encoding).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    except (LookupError, ValueError) as error:
        said = "as it declares" if declared else "and declares no other encoding"
        raise UserError(f"{path}: is not {encoding[:40]!a}, {said} ({error}); convert the book to UTF-8") from error
    start = _START.search(text)
    end = _END.search(text, start.end() if start else 0)
    if bool(start) != bool(end):
        missing = "end" if start else "start"
        raise UserError(f"{path}: Project Gutenberg's mark of the book's {missing} is missing; get a whole copy")
    fields = dict.fromkeys(_FIELDS, "")
    if start and end:
        if second := _START.search(text, end.end()):
            line = text.count("\n", 0, second.start()) + 1
            raise UserError(
                f"{path}, line {line}: a second book of Project Gutenberg begins; give each book its own file"
            )
        found = {name: re.search(rule, text[:5000], re.M) for name, rule in _FIELDS.items()}
        fields |= {name: " ".join(match[1].split()) for name, match in found.items() if match}
        text = text[start.end() : end.start()]
    paragraphs = tuple(split_sections(re.split(r"\n[ \t]*(?:\n[ \t]*)+", text)))
    return Book(fields["title"] or path.stem, fields["author"], fields["number"], encoding, paragraphs)


def split_sections(pieces: Iterable[str]) -> Iterator[str]:
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
    piece = re.sub(r"\[(?:Illustration[^\[\]]*|\d+|Footnote[^\[\]]*)\]", "", piece)
    piece = re.sub(r"(?<![\w_])_(?=\S)([^_]*?\S)_(?![\w_])", r"\1", piece, flags=re.S)
    return " ".join(piece.split())


def is_heading(paragraph: str) -> bool:
    """Tell whether a paragraph is a heading or a row of marks: short, and in capitals or without a stop at its end."""
    letters = [character for character in paragraph if character.isalpha()]
    titled = all(map(str.isupper, letters)) or _NUMBERED.match(paragraph) or not paragraph.endswith(_ENDS_SENTENCE)
    return not letters or (len(paragraph.split()) <= HEADING_WORDS and bool(titled))


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
_ENDS_SECTION = {"h1", "h2", "h3", "h4", "h5", "h6", "hr"}
_SILENT = {"head", "script", "style", "nav", "svg", "sup", "h1", "h2", "h3", "h4", "h5", "h6"}


def read_epub(path: Path) -> Book:
    """Read the chapters of an EPUB in their order (EPUB 3.3, Sections 4 and 5)."""
    rootfile = _member(path, _CONTAINER).find(".//{*}rootfile")
    name = unquote(rootfile.get("full-path", "")) if rootfile is not None else ""
    if not name:
        raise UserError(f"{path}: {_CONTAINER} names no package; it is no whole EPUB, get another copy")
    package = _member(path, name)
    documents = {
        item.get("id"): str(PurePosixPath(name).parent / unquote(item.get("href", "")))
        for item in package.iterfind(".//{*}item")
        if item.get("media-type") in ("application/xhtml+xml", "text/html") and "nav" not in item.get("properties", "")
    }
    spine = [entry.get("idref") for entry in package.iterfind(".//{*}itemref") if entry.get("linear") != "no"]
    names = [documents[identifier] for identifier in dict.fromkeys(spine) if identifier in documents]
    pieces = []
    for name, chapter in zip(names, archives.zip_members(path, names, source=archives.BOOK), strict=True):
        try:
            text = chapter.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            where = f"{path}: byte {error.start + 1} of {name}"
            raise UserError(f"{where} is not UTF-8, which EPUBs are in; convert the book again") from error
        reader = _Paragraphs()
        reader.feed(text)
        reader.close()
        reader.end_paragraph()
        pieces += [*reader.found, "* * *"]
    title, author = (" ".join(package.findtext(f".//{{*}}{key}", "").split()) for key in ("title", "creator"))
    return Book(title or path.stem, author, "", "UTF-8", tuple(split_sections(pieces)))


def _member(path: Path, name: str) -> ElementTree.Element:
    (content,) = archives.zip_members(path, [name], source=archives.BOOK)
    try:
        return ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise UserError(f"{path}: {name} is no XML ({error}); it is no whole EPUB, get another copy") from error


class _Paragraphs(HTMLParser):
    """Collects the texts of blocks; a heading becomes a row of stars."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found, self.words, self.silent = [], [], 0

    def end_paragraph(self):
        if text := " ".join("".join(self.words).split()):
            self.found.append(text)
        self.words = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]):
        self.silent += tag in _SILENT
        if tag == "br":
            self.words.append(" ")
        if tag in _BLOCKS | _ENDS_SECTION:
            self.end_paragraph()
        if tag in _ENDS_SECTION:
            self.found.append("* * *")

    def handle_endtag(self, tag: str):
        self.silent -= tag in _SILENT and self.silent > 0
        if tag in _BLOCKS:
            self.end_paragraph()

    def handle_data(self, data: str):
        if not self.silent:
            self.words.append(data)


def name_book(path: str | Path) -> str:
    """Return the name of a book in files: that of its file in lower case, other signs than letters as hyphens."""
    stem = Path(path).stem
    plain = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")
    # A name in another script has no letter left.
    return plain or f"book-{zlib.crc32(stem.encode()):08x}"


def find_books(sources: list[str], fetched: dict[str, str], config_path: Callable) -> dict[str, str]:
    """Return the books of a run: their names (:func:`name_book`) to their files."""
    books = {}
    for source in sources:
        found = [fetched[source]] if source in fetched else _list_books(source, Path(config_path(source)))
        for file in found:
            name = name_book(file)
            if books.setdefault(name, file) != file:
                raise UserError(
                    f"counter_gap.books: {file} and {books[name]} have the same name ({name}); rename one of them"
                )
    return books


def _list_books(source: str, path: Path):
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
