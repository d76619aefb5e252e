"""From books to labelled quadruples (Xie et al. 2023, Section 2), each step by the function of its rule."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.coreference_systems import augmentation
from scripts.core.coreference_systems import sentences as parser
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run_named
from scripts.counter_gap import book_names, book_texts
from scripts.counter_gap import book_passages as extraction
from scripts.counter_gap import book_quadruples as output
from scripts.counter_gap.passages import NAMED, read_c_gap


def book_text(*, source: str, text: str, facts: str) -> None:
    """Write the clean ``text`` of a book (a plain text or an EPUB) and ``facts`` about it (JSON)."""
    book = book_texts.read_book(source)
    files.write_text(text, book.text)
    known = {
        "label": book.label,
        "encoding": book.encoding,
        "gutenberg": bool(book.number),
        "sha256": files.sha256(source),
        "words": len(book.text.split()),
        "paragraphs": sum(paragraph != book_texts.BREAK for paragraph in book.paragraphs),
    }
    files.write_json(facts, known)
    log.info("%s: %d words in %d paragraphs", known["label"], known["words"], known["paragraphs"])


def book_sentences(*, text: str, environment: str, sentences: str) -> None:
    """Divide a text into ``sentences`` (Parquet) with tags, dependencies and named entities, by spaCy.

    ``environment`` says where the environment with spaCy is (JSON): ``python`` is its interpreter.
    """
    facts, count = parser.parse_text(text, environment, sentences)
    log.info("%d sentences, parsed by %s", count, ", ".join(f"{name} {facts[name]}" for name in facts))


def book_passages(*, text: str, facts: str, sentences: str, words: str, passages: str, outcomes: str) -> None:
    """Find the passages of a book that become quadruples, and say what became of each of its gendered pronouns.

    Args:
        words: Gendered words (TSV).
        passages: The quadruples, in C-GAP's columns and without labels.
        outcomes: A row per gendered pronoun (CSV): its place in the text, the step that removed it, the pattern, the
            place of the context and the quadruple's ID.
    """
    book, label = files.read_text(text, "run the workflow again"), json.loads(Path(facts).read_text("utf-8"))["label"]
    gender = book_names.gender_detector()
    known = book_names.collect_names(extraction.read_sentences(sentences, book), gender)
    rows, found = [], []
    parsed, gendered = extraction.read_sentences(sentences, book), augmentation.read_words(words)
    for outcome in extraction.trace_pronouns(parsed, book, known, gender, gendered):
        identifier = output.name_quadruple(label, outcome.four["original"]) if outcome.four else None
        if identifier and outcome.four:
            rows += output.rows_of(outcome.four, identifier, label)
        found.append((outcome.start, outcome.dropped, outcome.pattern, *(outcome.span or (None, None)), identifier))
    output.write_rows(passages, rows)
    table = pd.DataFrame(found, columns=["start", "dropped", "pattern", "context_start", "context_end", "id"])
    files.write_csv(outcomes, table.astype({"context_start": "Int64", "context_end": "Int64"}))
    log.info("%s: %d gendered pronouns, %d quadruples, %d names", label, len(table), len(rows) // 4, len(known.words))


def book_candidates(*, passages: list, outcomes: list, candidates: str, funnel: str, table: str, books: list) -> None:
    """Join the quadruples of all books without repetitions, and count the pronouns that each step leaves.

    Args:
        candidates: The quadruples for annotators, in C-GAP's columns and without labels.
        funnel, table: The pronouns left after each step, by book and in all books (CSV).
        books: Names, in the order of ``passages`` and ``outcomes``.
    """
    if not books:
        raise UserError("counter_gap.books.sources names no book; add one")
    kept, seen, counts = [], set(), []
    for name, path, outcome in zip(books, passages, outcomes, strict=True):
        rows = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
        # Two editions of a book have the same passages; a repetition falls away in the last step.
        originals = list(rows.loc[::4, ["Text", "Pronoun-offset"]].itertuples(index=False, name=None))
        new = np.array([original not in seen for original in originals], dtype=bool)
        seen.update(originals)
        kept.append(rows[new.repeat(4)])
        found = files.read_csv(outcome)
        left = len(found) - found.dropped.value_counts().reindex(list(extraction.STEPS), fill_value=0).cumsum()
        left["once"] -= (~new).sum()
        counts.append(pd.DataFrame({"book": name, "step": left.index, "left": left.array}))
    every = pd.concat(kept)
    output.write_rows(candidates, every)
    if every.empty:
        log.warning("no book has a passage for a quadruple; add books")
    else:
        read_c_gap(candidates, labelled=False)
    by_book = pd.concat(counts)
    files.write_csv(funnel, by_book)
    files.write_csv(table, output.funnel_totals(by_book))
    log.info("%d quadruples from %d books", len(every) // 4, len(books))


def book_quadruples(
    *, candidates: str, labels: str, funnel: str, facts: list, sentences: list, quadruples: str, card: str, seed: int
) -> None:
    """Make the labelled, balanced set of quadruples from candidates and annotators' labels, and its data card.

    ``labels`` (CSV) are those of accepted instances: ID, A-coref, B-coref. ``facts`` are known of each book (JSON), and
    its ``sentences`` (Parquet) say what parsed it. The ``seed`` is of the draw that balances original genders.
    """
    found = read_c_gap(candidates, labelled=False)
    accepted = output.label_quadruples(found, files.read_csv(labels, dtype=str))
    chosen = output.balance_genders(accepted, seed)
    if chosen.empty:
        raise UserError(
            f"{labels}: of {len(accepted) // 4} accepted quadruples none is left, since originals of both genders are "
            "needed; annotate more"
        )
    output.write_rows(quadruples, chosen.rename(columns=NAMED))
    read_c_gap(quadruples)
    counts = {"candidates": len(found) // 4, "accepted": len(accepted) // 4, "quadruples": len(chosen) // 4}
    totals = output.funnel_totals(files.read_csv(funnel))
    books = [json.loads(Path(path).read_text(encoding="utf-8")) for path in facts]
    parsed_by = files.parquet_metadata(sentences[0])["parser"]
    files.write_text(card, output.render_card(books, totals, extraction.STEPS, parsed_by, counts, seed))
    log.info("%d of %d accepted quadruples", counts["quadruples"], counts["accepted"])


if __name__ == "__main__":
    run_named()
