"""Books as files: Project Gutenberg's header, encodings, headings, EPUBs, and what is refused."""

import re
import time
import zipfile

import pytest

from scripts.counter_gap import book_texts as texts
from tests.refusals import refused

HEADER = """\
The Project Gutenberg EBook of A Walk, by A. Nonymous

Title: A Walk
       In Two Parts

Author: A. Nonymous

Release Date: May 24, 2008 [EBook #99999]

Character set encoding: {encoding}

*** START OF THIS PROJECT GUTENBERG EBOOK A WALK ***

Produced by Somebody and the
Online Team

"""
BODY = """\
A WALK

CHAPTER I

The Hill

Tom _really_ went up
the hill.[1] [Illustration: A hill]

  * * * * *

Ann saw caf\u00e9s.
"""
FOOTER = """

End of the Project Gutenberg EBook of A Walk, by A. Nonymous

*** END OF THIS PROJECT GUTENBERG EBOOK A WALK ***

Most people start at our Web site.
"""


def whole(encoding="UTF-8"):
    return HEADER.format(encoding=encoding) + BODY + FOOTER


def written(folder, text, encoding="utf-8", name="walk.txt"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("declared", "encoding", "ends"), [("UTF-8", "utf-8", "\n"), ("ISO-8859-1", "latin-1", "\r\n")]
)
def test_a_book_of_project_gutenberg_is_read_as_it_declares(tmp_path, declared, encoding, ends):
    book = texts.read_book(written(tmp_path, whole(declared).replace("\n", ends), encoding))
    assert book.paragraphs == ("Tom really went up the hill.", texts.BREAK, "Ann saw cafés.")
    assert book.label == "pg99999 A Walk In Two Parts (by A. Nonymous)" and book.encoding == declared
    assert book.text == "Tom really went up the hill.\n\n\f\n\nAnn saw cafés.\n"


def test_a_text_without_marks_is_taken_whole(tmp_path):
    book = texts.read_book(written(tmp_path, "One line\nand another.\n\nA new paragraph.\n", name="1984.txt"))
    assert book.paragraphs == ("One line and another.", "A new paragraph.")
    # A number at the beginning would be taken for one of Project Gutenberg.
    assert book.label == "book 1984"


HEADINGS = ["CHAPTER IV", "Chapter 4. A walk", "* * *", "The Hill", "BOOK"]
TEXTS = ["Tom went.", "“Go!”", "He said--", "Then all of them went up the hill and down again and home"]


@pytest.mark.parametrize("paragraph", HEADINGS + TEXTS)
def test_headings(paragraph):
    assert texts.is_heading(paragraph) == (paragraph in HEADINGS)


def test_a_table_of_contents_is_left_out():
    contents = "I. The hill and the valley 3\nII. The long way home to us 19\nIII. Tom and Ann at the well 112"
    assert texts.is_list(contents) and not texts.is_list("He was 3\nand she\nwas 4.")
    assert list(texts.split_sections([contents, "Tom went.", "II", "Ann came."])) == [
        "Tom went.",
        texts.BREAK,
        "Ann came.",
    ]


def test_marks_for_italics_are_left_out():
    cleaned = texts.clean_paragraph("_I_ saw snake_case and _two\nwords_, [Footnote 3: x] so.")
    assert cleaned == "I saw snake_case and two words, so."
    # A search from every open bracket to the end takes minutes.
    opened, start = "[Illustration " * 30_000, time.perf_counter()
    assert texts.clean_paragraph(f"[Illustration: x] [1] {opened}") == opened.strip()
    assert time.perf_counter() - start < 2


PACKAGE = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>A Walk</dc:title><dc:creator>A. Nonymous</dc:creator>
</metadata><manifest><item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="b" href="two%20.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="one.xhtml" media-type="application/xhtml+xml"/>
<item id="c" href="cover.png" media-type="image/png"/></manifest>
<spine><itemref idref="n"/><itemref idref="c"/><itemref idref="a"/><itemref idref="b"/></spine></package>"""
ONE = """<html><head><title>Not this</title></head><body><h1>Chapter <i>One</i></h1><p>Tom &amp; Ann<br/>
went<sup>1</sup> up.</p><script>no()</script><div>They <em>came</em> down.<hr/></div><p>Then home.</p></body></html>"""
MEMBERS = {
    "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    "OPS/book.opf": PACKAGE, "OPS/one.xhtml": ONE, "OPS/two .xhtml": "<html><body><h2/><p>Later.</p></body></html>",
    "OPS/nav.xhtml": "<p>Contents</p>",
}  # fmt: skip


def epub(folder, changed=None):
    path = folder / "walk.epub"
    with zipfile.ZipFile(path, "w") as file:
        for name, text in (MEMBERS | (changed or {})).items():
            if text is not None:
                file.writestr(name, text)
    return path


def test_chapters_of_an_epub_are_read_in_their_order(tmp_path):
    book = texts.read_book(epub(tmp_path))
    assert book.paragraphs == (
        "Tom & Ann went up.", "They came down.", texts.BREAK, "Then home.", texts.BREAK, "Later."
    )  # fmt: skip
    assert book.label == "book A Walk (by A. Nonymous)"


NO_BODY = HEADER.format(encoding="UTF-8")
REFUSED = {
    "not UTF-8": ("Ann saw cafés.\n".encode("latin-1"), ["is not 'UTF-8', and declares no other", "position 11"]),
    "not what it declares": (whole("ASCII"), ["is not 'ASCII', as it declares", "convert"]),
    # Names that are no codec's, or that no codec of texts has.
    **{name: (whole(name), [repr(name), "convert"]) for name in ("KLINGON", "UTF\0-8", "hex")},
    "two books": (2 * whole(), ["line 47", "a second book"]),
    "empty": (NO_BODY + FOOTER, ["has no text", "leave the book out"]),
    "no end": (NO_BODY + BODY, ["mark of the book's end", "whole copy"]),
    "no start": (BODY + FOOTER, ["mark of the book's start", "whole copy"]),
    "EPUB without text": ({"OPS/one.xhtml": "<p> </p>", "OPS/two .xhtml": "<p></p>"}, ["has no text"]),
    "EPUB in Latin 1": ({"OPS/one.xhtml": b"<p>caf\xe9</p>"}, ["byte 7 of OPS/one.xhtml", "UTF-8"]),
    "EPUB without a package": ({"META-INF/container.xml": "<container/>"}, ["names no package"]),
    "EPUB without XML": ({"OPS/book.opf": "<package>"}, ["OPS/book.opf is no XML"]),
    "EPUB without a chapter": ({"OPS/two .xhtml": None}, ["two .xhtml"]),
}


@pytest.mark.parametrize(("content", "named"), REFUSED.values(), ids=REFUSED)
def test_books_that_are_refused(tmp_path, content, named):
    path = tmp_path / "walk.txt"
    if isinstance(content, dict):
        path = epub(tmp_path, content)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with refused(path, *named):
        texts.read_book(path)


def test_other_files_and_protected_books_are_refused(tmp_path):
    with refused("walk.pdf", "EPUB (.epub)"):
        texts.read_book(tmp_path / "walk.pdf")
    path = epub(tmp_path)
    # The bit that says that a member is encrypted, in the list of members at the end.
    content = re.sub(rb"(PK\x01\x02.{4})\x00", b"\\g<1>\x01", path.read_bytes(), flags=re.S)
    path.write_bytes(content)
    with refused(path, "encrypted"):
        texts.read_book(path)


def test_books_have_names_of_their_own(tmp_path):
    folder = tmp_path / "shelf"
    folder.mkdir()
    for name in ("B Side.txt", "a.epub", "notes.md"):
        (folder / name).write_text("x", encoding="utf-8")
    fetched = {"gutenberg/x/1-0.txt": "results/upstream/gutenberg/x/1-0.txt"}
    books = texts.find_books(["gutenberg/x/1-0.txt", "shelf"], fetched, lambda name: tmp_path / name)
    assert books == {
        "1-0": "results/upstream/gutenberg/x/1-0.txt", "b-side": f"{folder}/B Side.txt", "a": f"{folder}/a.epub"
    }  # fmt: skip
    assert texts.name_book("Война.txt") == texts.name_book("x/Война.txt") != texts.name_book("Мир.txt")


@pytest.mark.parametrize(
    ("names", "named"),
    [
        (["one.txt", "One.epub"], "have the same name (one); rename"),
        (["nothing"], "nothing is neither a file"),
        (["empty"], "the folder empty has no .txt and no .epub"),
    ],
)
def test_lists_of_books_that_are_refused(tmp_path, names, named):
    (tmp_path / "empty").mkdir()
    for name in ("one.txt", "One.epub"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    with refused(named):
        texts.find_books(names, {}, lambda name: tmp_path / name)
