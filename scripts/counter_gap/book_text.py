"""Make a clean text of a book: a plain text or an EPUB, without Project Gutenberg's licence, headings and pictures."""

from scripts.core import files
from scripts.core.job import log, run
from scripts.counter_gap.lib.books import texts


def main(*, source: str, text: str, facts: str):
    """Write the ``text`` of the book in the file ``source``, and ``facts`` of it (JSON)."""
    book = texts.read(source)
    files.write_text(text, book.text)
    known = {
        "label": book.label,
        "encoding": book.encoding,
        "gutenberg": bool(book.number),
        "sha256": files.sha256(source),
        "words": len(book.text.split()),
        "paragraphs": sum(paragraph != texts.BREAK for paragraph in book.paragraphs),
    }
    files.write_json(facts, known)
    log.info("%s: %d words in %d paragraphs", known["label"], known["words"], known["paragraphs"])


if __name__ == "__main__":
    run(main)
