"""Compare the passages that the rules take from books with those of C-GAP from the same books of Project Gutenberg."""

import json
import re
from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.job import log, run
from scripts.counter_gap.lib.books import rediscovery as comparison
from scripts.counter_gap.lib.instances import ROLES, read_c_gap

COLUMNS = ["book", "id", "cause"]


def main(*, c_gap: str, texts: list, facts: list, passages: list, outcomes: list, rediscovery: str):
    """Write a row for each original passage of C-GAP from these books: what became of it (CSV).

    Parameters
    ----------
    c_gap : str
        The authors' quadruples.
    texts : list of str
        The books.
    facts : list of str
        What is known of each (JSON).
    passages : list of str
        The quadruples taken from each (TSV).
    outcomes : list of str
        What became of the pronouns of each (CSV).
    rediscovery : str
        The table to write.
    """
    official = read_c_gap(c_gap)
    official = official[official.role == ROLES[0]]
    numbers = official.book.map(number)
    tables = [pd.DataFrame(columns=COLUMNS)]
    for text, fact, path, table in zip(texts, facts, passages, outcomes, strict=True):
        label = json.loads(Path(fact).read_text(encoding="utf-8"))["label"]
        theirs = official[numbers == number(label)]
        if not number(label) or theirs.empty:
            continue
        found = files.read_csv(table)
        taken = read_c_gap(path, labelled=False) if found.id.notna().any() else official.iloc[:0]
        book = files.read_text(text, "run the workflow again")
        tables.append(comparison.compare(theirs, taken[taken.role == ROLES[0]], found, book).assign(book=label))
    joined = pd.concat(tables, ignore_index=True)[COLUMNS]
    files.write_csv(rediscovery, joined)
    for cause, count in joined.cause.value_counts().items():
        log.info("%d of %d: %s", count, len(joined), cause)


def number(book):
    """Return the number of a book of Project Gutenberg, from its label; empty for other books.

    Examples
    --------
    >>> number("pg514 Little Women (by Louisa May Alcott)"), number("1342-0 Pride and Prejudice"), number("1984.epub")
    ('514', '1342', '')
    """
    match = re.match(r"(?:pg)?(\d+)(?:-\d+)? ", book)
    return match[1] if match else ""


if __name__ == "__main__":
    run(main)
