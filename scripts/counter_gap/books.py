"""From books to labelled quadruples (Xie et al. 2023, Section 2), each step by the function of its rule."""

import json
import re
from collections.abc import Iterator
from csv import DictReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.coreference_systems import augmentation
from scripts.core.coreference_systems import sentences as parser
from scripts.core.errors import UserError
from scripts.core.statistics.procedures import cluster_weights, percentile_interval
from scripts.core.workflow.job import log, run_named
from scripts.counter_gap.lib import book_names, book_texts
from scripts.counter_gap.lib import book_passages as extraction
from scripts.counter_gap.lib import book_quadruples as output
from scripts.counter_gap.lib.analyses import predictions
from scripts.counter_gap.lib.instances import ROLES, read_c_gap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACROSS = ((0, 2), (1, 3), (0, 3), (1, 2))
"""Pairs of instances (places in ROLES) of Equation 2."""
WITHIN = ((0, 1), (2, 3))
"""Those of Equation 3."""
CAUSES = {
    "same": "the same passage, pronoun and names",
    "other names": "the same pronoun, other candidate names or mentions",
    "other context": "the same pronoun and names, another context",
    "other edition": "the passage is not in this edition of the book",
    "no pronoun": "the parser has no gendered pronoun in this place",
}
"""What can become of a passage of C-GAP, besides the steps at which its pronoun falls away."""


def book_text(*, source: str, text: str, facts: str) -> None:
    """Make a clean text of a book: a plain text or an EPUB, without Project Gutenberg's licence, headings and pictures.

    Write the ``text`` of the book in the file ``source``, and ``facts`` of it (JSON).

    Args:
        source: The book's file.
    """
    book = book_texts.read(source)
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
    """Divide a ``text`` into ``sentences`` (Parquet) with tags, dependencies and named entities, by spaCy.

    Args:
        sentences: The table to write (Parquet).
        environment: What says where the environment is (JSON): ``python`` is its interpreter.
    """
    facts, count = parser.parse(text, environment, sentences)
    log.info("%d sentences, parsed by %s", count, ", ".join(f"{name} {facts[name]}" for name in facts))


def book_passages(*, text: str, facts: str, sentences: str, words: str, passages: str, outcomes: str) -> None:
    """Find the passages of a book that become quadruples, and say what became of each of its gendered pronouns.

    The book is ``text``, with what is known of it in ``facts`` (JSON). ``passages`` gets the quadruples, in C-GAP's
    columns and without labels. ``outcomes`` gets a row for each gendered pronoun (CSV): its place in the text, the step
    at which it fell away, the pattern, where the context is, and the quadruple's ID.

    Args:
        sentences: The parsed sentences of the book (Parquet).
        words: Gendered words (TSV).
    """
    book, label = files.read_text(text, "run the workflow again"), json.loads(Path(facts).read_text("utf-8"))["label"]
    gender = book_names.gender_detector()
    known = book_names.lexicon(extraction.read_sentences(sentences, book), gender)
    rows, found = [], []
    parsed, gendered = extraction.read_sentences(sentences, book), augmentation.read_words(words)
    for outcome in extraction.outcomes(parsed, book, known, gender, gendered):
        identifier = output.identifier(label, outcome.four["original"]) if outcome.four else None
        if identifier and outcome.four:
            rows += output.rows_of(outcome.four, identifier, label)
        found.append((outcome.start, outcome.dropped, outcome.pattern, *(outcome.span or (None, None)), identifier))
    output.write_rows(passages, rows)
    table = pd.DataFrame(found, columns=["start", "dropped", "pattern", "context_start", "context_end", "id"])
    files.write_csv(outcomes, table.astype({"context_start": "Int64", "context_end": "Int64"}))
    log.info("%s: %d gendered pronouns, %d quadruples, %d names", label, len(table), len(rows) // 4, len(known.words))


def book_candidates(*, passages: list, outcomes: list, candidates: str, funnel: str, books: list) -> None:
    """Bring the quadruples of all books together, without repetitions, and count what fell away at each step.

    ``passages`` are the quadruples of each of the ``books``, ``outcomes`` what became of the pronouns of each.
    The ``candidates`` for annotators are written in C-GAP's columns and without labels, read back and checked;
    ``funnel`` gets the table of steps, with what is left of each book's pronouns after each.

    Args:
        books: The books' names.
    """
    if not books:
        raise UserError("counter_gap.books.sources names no book; add one")
    rows, seen, counts = [], set(), []
    for name, path, table in zip(books, passages, outcomes, strict=True):
        with Path(path).open(encoding="utf-8", newline="") as file:
            fours = list(DictReader(file, delimiter="\t"))
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


def steps(outcomes: pd.DataFrame, repeated: int) -> Iterator[tuple[str, int]]:
    """Yield each step with the number of pronouns that are left after it.

    Args:
        outcomes: With ``dropped``: the step at which a pronoun fell away, missing for those that became quadruples.
        repeated: Quadruples that an earlier book has as well; they fall away in the last step.
    """
    left = len(outcomes)
    dropped = outcomes.dropped.value_counts()
    for step in extraction.STEPS:
        left -= int(dropped.get(step, 0)) + (repeated if step == "once" else 0)
        yield step, left


def book_funnel(*, funnel: str, table: str, tex: str, pdf: str, png: str, csv: str) -> None:
    """Tabulate and draw how many gendered pronouns of the books are left after each step on the way to quadruples.

    Write the ``table`` over all books (CSV and LaTeX) and the figure, from what the table ``funnel`` says of each book.
    """
    from scripts.core.paper import plotting
    from scripts.core.paper.tables import write_table

    totals = output.funnel_totals(files.read_csv(funnel))
    cells = totals.assign(
        step=totals.step.map(extraction.STEPS),
        left=totals.left.map("{:,}".format),
        dropped=totals.dropped.map("{:,}".format),
        share=["--" if pd.isna(share) else f"{100 * share:.1f} %" for share in totals.share],
    )
    write_table(tex, table, cells, rows=totals, symbols={r" \%": r"\,\%"})
    with plotting.style():
        plotting.save(draw_funnel(totals), totals, pdf, png, csv)


def draw_funnel(totals: pd.DataFrame) -> "Figure":
    """Draw a bar for each step, on a logarithmic scale, with the number of pronouns that are left."""
    from scripts.core.paper import plotting

    drawn = plotting.figure(plotting.COLUMN, 2.4)
    ax = drawn.subplots()
    places = range(len(totals))
    ax.barh(places, totals.left.where(totals.left > 0), color=plotting.CATEGORIES[2], height=0.7)
    ax.set_xscale("log")
    # Room for the number behind the longest bar.
    ax.set_xlim(1, 20 * max(totals.left.max(), 10))
    ax.grid(axis="x")
    ax.grid(axis="y", visible=False)
    for place, left in zip(places, totals.left, strict=True):
        ax.annotate(
            f"{left:,}", (max(left, 1), place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7
        )
    ax.set_yticks(list(places), [extraction.STEPS[step] for step in totals.step])
    ax.invert_yaxis()
    ax.set_xlabel("pronouns left")
    return drawn


def book_quadruples(
    *, candidates: str, labels: str, funnel: str, facts: list, sentences: list, quadruples: str, card: str, seed: int
) -> None:
    """Make the labelled, balanced set of quadruples from candidates and annotators' labels, and its data card.

    ``candidates`` have no labels; ``labels`` are the majority labels of accepted instances: ID, A-coref, B-coref (CSV).
    ``funnel`` is what is left of each book's pronouns after each step, ``facts`` what is known of each book (JSON).
    ``card`` gets the data card (Markdown).

    Args:
        sentences: The books' sentences, which say what parsed them (Parquet).
        quadruples: The set to write, in C-GAP's columns (TSV).
        seed: Of the draw that balances original genders.
    """
    found = read_c_gap(candidates, labelled=False)
    try:
        accepted = output.label_quadruples(found, output.read_labels(labels))
    except UserError as error:
        raise UserError(f"{labels}: {str(error).removeprefix(f'{labels}: ')}") from error
    chosen = output.balance_genders(accepted, seed)
    if chosen.empty:
        raise UserError(
            f"{labels}: of {len(accepted) // 4} accepted quadruples none is left, since originals of both genders are "
            "needed; annotate more"
        )
    output.write_rows(quadruples, output.cells(chosen.to_dict("records")))
    read_c_gap(quadruples)
    counts = {"candidates": len(found) // 4, "accepted": len(accepted) // 4, "quadruples": len(chosen) // 4}
    totals = output.funnel_totals(files.read_csv(funnel))
    books = [json.loads(Path(path).read_text(encoding="utf-8")) for path in facts]
    parsed_by = files.parquet_metadata(sentences[0])["parser"]
    files.write_text(card, output.card(books, totals, extraction.STEPS, parsed_by, counts, seed))
    log.info("%d of %d accepted quadruples", counts["quadruples"], counts["accepted"])


def book_consistency(*, instances: str, outputs: list, consistency: str, systems: list, draws: int, seed: int) -> None:
    """Compare systems' predictions on candidates within and across genders, before anybody has labelled them.

    ``instances`` are the candidates. ``consistency`` gets how often predictions differ in pairs of instances, for each
    system (CSV).

    Args:
        outputs: Clusters of each of ``systems``.
        systems: ``system`` and ``debiasing`` of each.
    """
    candidates = files.read_parquet(instances)
    rows = []
    for path, facts in zip(outputs, systems, strict=True):
        found = predictions.read_clusters(path, candidates, "clusters")[["a_pred", "b_pred"]].to_numpy()
        keys = {"system": facts["system"], "debiasing": facts["debiasing"], "quadruples": len(candidates) // 4}
        rows += [keys | row for row in consistency_of(found, draws, seed)]
    files.write_csv(consistency, pd.DataFrame(rows))


def shares(flags: np.ndarray) -> tuple:
    """Return the shares of pairs of each quadruple that differ.

    Args:
        flags: Bool, shape (4 * quadruples, 2). Whether each candidate is in the pronoun's cluster, in the order of the
            instances.

    Returns:
        across, within: Array of float, shape (quadruples,).
    """
    codes = (np.asarray(flags, dtype=int) @ (1, 2)).reshape(-1, 4)
    return tuple(
        np.mean([codes[:, first] != codes[:, second] for first, second in pairs], axis=0) for pairs in (ACROSS, WITHIN)
    )


def consistency_of(flags: np.ndarray, draws: int, seed: int) -> list[dict]:
    """Return how consistent one system is, with 95 percent bootstrap intervals over quadruples. This needs no labels.

    Equations 2 and 3 of the study compare whether two instances are both *right*. Without labels this compares whether
    a system predicts the *same*: which of the two places of candidates are in the pronoun's cluster. The labels of a
    quadruple's instances are equal, so that two equal predictions are both right or both wrong: each inconsistency of
    predictions is at least that of right answers. Their difference has no such bound. It answers the same question
    (does gender change more than names do?), but it is another quantity than the study's Delta I.

    Args:
        flags: Bool, shape (4 * quadruples, 2).

    Returns:
        ``metric`` (``resolved``: share of instances with a prediction; ``p_across`` and ``p_within``: shares of pairs
        with different predictions; ``delta_p``: their difference), ``value``, ``ci_low``, ``ci_high``.
    """
    across, within = shares(flags)
    resolved = np.asarray(flags).any(axis=1).reshape(-1, 4).mean(axis=1)
    weights = cluster_weights(len(across), draws, seed)
    found = []
    for metric, values in (
        ("resolved", resolved), ("p_across", across), ("p_within", within), ("delta_p", across - within),
    ):  # fmt: skip
        low, high = percentile_interval(weights @ values / len(values))
        found.append({"metric": metric, "value": values.mean(), "ci_low": low, "ci_high": high})
    return found


def book_rediscovery(*, c_gap: str, texts: list, facts: list, passages: list, outcomes: list, rediscovery: str) -> None:
    """Compare the passages that the rules take from books with those of C-GAP from the same books.

    ``facts`` are what is known of each book (JSON), ``passages`` the
    quadruples taken from each (TSV), ``outcomes`` what became of the pronouns of each (CSV). ``rediscovery`` gets a row
    for each original passage of C-GAP from these books: what became of it (CSV).

    Args:
        c_gap: The authors' quadruples (TSV).
        texts: The books.
    """
    official = read_c_gap(c_gap)
    official = official[official.role == ROLES[0]]
    columns = ["book", "id", "cause"]
    numbers = official.book.map(gutenberg_number)
    tables = [pd.DataFrame(columns=columns)]
    for text, fact, path, table in zip(texts, facts, passages, outcomes, strict=True):
        label = json.loads(Path(fact).read_text(encoding="utf-8"))["label"]
        number = gutenberg_number(label)
        theirs = official[numbers == number]
        if not number or theirs.empty:
            continue
        found = files.read_csv(table)
        taken = read_c_gap(path, labelled=False) if found.id.notna().any() else official.iloc[:0]
        book = files.read_text(text, "run the workflow again")
        tables.append(compare(theirs, taken[taken.role == ROLES[0]], found, book).assign(book=label))
    joined = pd.concat(tables, ignore_index=True)[columns]
    files.write_csv(rediscovery, joined)
    for cause, count in joined.cause.value_counts().items():
        log.info("%d of %d: %s", count, len(joined), cause)


def gutenberg_number(book: str) -> str:
    """Return the number of a book of Project Gutenberg, from its label; empty for other books.

    Examples:
        >>> [gutenberg_number(book) for book in ("pg514 Little Women (by L. M. Alcott)", "1342-0 Emma", "1984.epub")]
        ['514', '1342', '']
    """
    match = re.match(r"(?:pg)?(\d+)(?:-\d+)? ", book)
    return match[1] if match else ""


def letters(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits of a text in lower case, and the place of each in the text.

    Editions differ in quotation marks, dashes, stops and line ends.

    Examples:
        >>> letters("Mr. B—")
        ('mrb', [0, 1, 4])
    """
    # One sign for each place: the lower case of a few letters has two.
    kept = [(character.lower()[0], place) for place, character in enumerate(text) if character.isalnum()]
    return "".join(character for character, _ in kept), [place for _, place in kept]


def compare(official: pd.DataFrame, candidates: pd.DataFrame, outcomes: pd.DataFrame, text: str) -> pd.DataFrame:
    """Return what became of each original passage of C-GAP from one book.

    Args:
        official: Original instances from the book, as ``read_c_gap`` gives them.
        candidates: Original instances that were taken from it, likewise.
        outcomes: What became of its pronouns: ``start``, ``dropped``, ``id``.
        text: The book.

    Returns:
        ``id`` of C-GAP and ``cause``: one of :data:`CAUSES` or the step at which the pronoun fell away.
    """
    book, places = letters(text)
    at, known = outcomes.set_index("start"), candidates.set_index("id")
    causes = []
    for row in files.rows(official, index=False):
        passage, within = letters(row.text)
        begin = book.find(passage)
        if begin < 0:
            causes.append("other edition")
            continue
        start = places[begin + sum(place < row.pronoun_offset for place in within)]
        if start not in at.index:
            causes.append("no pronoun")
            continue
        outcome = at.loc[start]
        if isinstance(outcome.dropped, str):
            causes.append(outcome.dropped)
            continue
        found = known.loc[outcome.id]
        causes.append(_difference(row, found))
    return pd.DataFrame({"id": official.id.array, "cause": causes})


def _difference(row: Any, found: Any):
    if [letters(name)[0] for name in (row.a, row.b)] != [letters(name)[0] for name in (found.a, found.b)]:
        return "other names"
    passages = [letters(entry.text)[0] for entry in (row, found)]
    if passages[0] != passages[1]:
        return "other context"
    return "same" if _before(row) == _before(found) else "other names"


def _before(entry: Any):
    """Return how many letters stand before each annotated name."""
    places = letters(entry.text)[1]
    return [sum(place < offset for place in places) for offset in (entry.a_offset, entry.b_offset)]


if __name__ == "__main__":
    run_named()
