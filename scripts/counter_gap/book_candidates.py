"""Bring the quadruples of all books together, without repetitions, and count what fell away at each step."""

import csv
from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.job import log, run
from scripts.counter_gap.lib.books import output
from scripts.counter_gap.lib.books.passages import STEPS
from scripts.counter_gap.lib.instances import read_c_gap


def main(*, passages: list, outcomes: list, candidates: str, funnel: str, books: list):
    """Write ``candidates`` for annotators, in C-GAP's columns and without labels.

    Parameters
    ----------
    passages : list of str
        The quadruples of each of ``books``.
    outcomes : list of str
        What became of the pronouns of each.
    candidates : str
        The table to write; it is read back and checked.
    funnel : str
        The table of steps to write: what is left of each book's pronouns after each.
    books : list of str
        The books' names.
    """
    if not books:
        raise UserError("counter_gap.books.sources names no book; add one")
    rows, seen, counts = [], set(), []
    for name, path, table in zip(books, passages, outcomes, strict=True):
        with Path(path).open(encoding="utf-8", newline="") as file:
            fours = list(csv.DictReader(file, delimiter="\t"))
        found, repeated = files.read_csv(table), 0
        for start in range(0, len(fours), 4):
            original = fours[start]
            # Two editions of a book have the same passages.
            key = original["Text"], original["Pronoun-offset"]
            repeated += key in seen
            if key not in seen:
                rows += fours[start : start + 4]
            seen.add(key)
        counts += [{"book": name, "step": step, "left": left} for step, left in steps(found, repeated)]
    output.write_rows(candidates, rows)
    if rows:
        read_c_gap(candidates, labelled=False)
    else:
        log.warning("no book has a passage for a quadruple; add books")
    files.write_csv(funnel, pd.DataFrame(counts, columns=["book", "step", "left"]))
    log.info("%d quadruples from %d books", len(rows) // 4, len(books))


def steps(outcomes, repeated):
    """Yield each step with the number of pronouns that are left after it.

    Parameters
    ----------
    outcomes : DataFrame
        With ``dropped``: the step at which a pronoun fell away, missing for those that became quadruples.
    repeated : int
        Quadruples that an earlier book has as well; they fall away in the last step.
    """
    left = len(outcomes)
    dropped = outcomes.dropped.value_counts()
    for step in STEPS:
        left -= int(dropped.get(step, 0)) + (repeated if step == "once" else 0)
        yield step, left


if __name__ == "__main__":
    run(main)
