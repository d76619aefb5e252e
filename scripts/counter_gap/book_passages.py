"""Find the passages of a book that become quadruples, and say what became of each of its gendered pronouns."""

import json
from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.coreference_systems import augmentation
from scripts.core.job import log, run
from scripts.counter_gap.lib.books import names, output
from scripts.counter_gap.lib.books import passages as extraction


def main(*, text: str, facts: str, sentences: str, words: str, passages: str, outcomes: str):
    """Write the ``passages`` of a book and what became of its pronouns.

    Parameters
    ----------
    text : str
        The book.
    facts : str
        What is known of it (JSON).
    sentences : str
        Its sentences (Parquet).
    words : str
        Gendered words (TSV).
    passages : str
        Quadruples to write, in C-GAP's columns and without labels.
    outcomes : str
        A row to write for each gendered pronoun (CSV): its place in the text, the step at which it fell away, the
        pattern, where the context is, and the quadruple's ID.
    """
    book, label = files.read_text(text, "run the workflow again"), json.loads(Path(facts).read_text("utf-8"))["label"]
    gender = names.guesser()
    known = names.lexicon(extraction.read_sentences(sentences, book), gender)
    rows, found = [], []
    for outcome in extraction.outcomes(
        extraction.read_sentences(sentences, book), book, known, gender, augmentation.read_words(words)
    ):
        identifier = output.identifier(label, outcome.four["original"]) if outcome.four else None
        if identifier:
            rows += output.rows_of(outcome.four, identifier, label)
        found.append((outcome.start, outcome.dropped, outcome.pattern, *(outcome.span or (None, None)), identifier))
    output.write_rows(passages, rows)
    table = pd.DataFrame(found, columns=["start", "dropped", "pattern", "context_start", "context_end", "id"])
    files.write_csv(outcomes, table.astype({"context_start": "Int64", "context_end": "Int64"}))
    log.info("%s: %d gendered pronouns, %d quadruples, %d names", label, len(table), len(rows) // 4, len(known.words))


if __name__ == "__main__":
    run(main)
