"""From a passage to a quadruple, and on to a labelled, balanced set in C-GAP's columns (Xie et al. 2023, Section 2)."""

import csv
import hashlib
import io
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from scripts.core import files
from scripts.core.coreference_systems import augmentation
from scripts.core.errors import UserError, count_noun
from scripts.counter_gap.lib.book_names import SOCIAL, Token, is_possessive
from scripts.counter_gap.lib.instances import COLUMNS, LABELS, PLACES, ROLES

VOWELS = "aeiouAEIOU"


class Passage(NamedTuple):
    """A context in which everything is where it is.

    Attributes:
        tokens: Of all sentences, in order.
        gaps: What stands before each token.
        spots: Mentions: first token to the last one and which of a, b, x and y is named there.
        names: a, b, x and y to names.
        target: The pronoun's token.
        a, b: The first tokens of the candidates' annotated mentions.
    """

    tokens: tuple
    gaps: tuple
    spots: dict[int, tuple[int, str]]
    names: dict[str, str]
    target: int
    a: int
    b: int


def swapped_word(token: Token, words: dict[str, str], following: Token | None = None) -> str:
    """Return the word of the other gender for a token; the word itself if it has none.

    Returns:
        *her* becomes *his* before what is possessed and *him* elsewhere, *his* becomes *her* or *hers*. Verbs (*to
        miss*, *to master*) are no gendered words. Capitals stay: of the first letter, or of all.
    """
    word = token.word
    plain = word.lower()
    if token.tag.startswith("VB"):
        return word
    possesses = is_possessive(token, following)
    if plain == "his" and not possesses:
        other = "hers"
    else:
        other = augmentation.swap_word(plain, "PRP$" if possesses else "PRP", words, {})
    if other == plain:
        return word
    if len(word) > 1 and word.isupper():
        return other.upper()
    return other[0].upper() + other[1:] if word[0].isupper() else other


def loose_title(token: Token) -> bool:
    """Tell whether a token is a title of address; outside a name it cannot change its gender by itself."""
    return token.word.lower().removesuffix(".") in SOCIAL and not token.tag.startswith("VB")


def instance(passage: Passage, role: str, words: dict[str, str]) -> dict:
    """Return one instance of a quadruple.

    Returns:
        ``text``, and for ``pronoun``, ``a`` and ``b`` the word or name and its offset in the text, from 0.
    """
    names = {place: passage.names[key] for place, key in zip("abxy", PLACES[role], strict=True)}
    swaps = role.startswith("swap")
    # The candidate of the first place keeps its place, whoever stands there.
    where = {passage.target: "pronoun", passage.a: "a", passage.b: "b"}
    parts, spots, length, at = [], {}, 0, 0
    name = None
    while at < len(passage.tokens):
        token, gap = passage.tokens[at], passage.gaps[at]
        start = at
        if at in passage.spots:
            last, place = passage.spots[at]
            word = name = names[place]
            at = last + 1
        else:
            word = _word(passage, at, words, swaps)
            if name is not None and token.tag == "POS" and not gap:
                word = possessive(token.word, name)
            elif token.word.lower() in ("a", "an"):
                word = _article(token.word, passage, at, names, words, swaps)
            name = None
            at += 1
        length += len(gap)
        if start in where:
            spots[where[start]] = (word, length)
        parts += [gap, word]
        length += len(word)
    return {
        "text": "".join(parts),
        **{key: spots[key][0] for key in ("pronoun", "a", "b")},
        **{f"{key}_offset": spots[key][1] for key in ("pronoun", "a", "b")},
    }


def _word(passage: Passage, at: int, words: dict[str, str], swaps: bool):
    """Return what stands for the word at a place that is in no name."""
    token = passage.tokens[at]
    following = passage.tokens[at + 1] if at + 1 < len(passage.tokens) else None
    return swapped_word(token, words, following) if swaps else token.word


def possessive(ending: str, name: str) -> str:
    """Return the possessive ending of a name where another name had ``ending``.

    Examples:
        >>> possessive("'", "Tom"), possessive("’s", "James"), possessive("'", "James")
        ("'s", '’s', "'")
    """
    return f"{ending}s" if ending in ("'", "’") and not name.endswith("s") else ending


def _article(article: str, passage: Passage, at: int, names: dict[str, str], words: dict[str, str], swaps: bool):
    """Return *a* or *an* as what follows wants it, if that has changed its first letter."""
    following = at + 1
    if following >= len(passage.tokens):
        return article
    old = passage.tokens[following].word
    new = names[passage.spots[following][1]] if following in passage.spots else _word(passage, following, words, swaps)
    if new == old or (new[0] in VOWELS) == (old[0] in VOWELS):
        return article
    other = "an" if new[0] in VOWELS else "a"
    return other.capitalize() if article[0].isupper() else other


def quadruple(passage: Passage, words: dict[str, str]) -> dict[str, dict]:
    """Return the four instances of a passage by role, in the order of :data:`PLACES`."""
    return {role: instance(passage, role, words) for role in PLACES}


def rows_of(four: dict[str, dict], identifier: str, book: str) -> list[dict[str, str]]:
    """Return the rows of a quadruple, by column and without labels."""
    about = {"a_coref": None, "b_coref": None, "book": book}
    return cells(
        {"id": identifier if role == ROLES[0] else f"{identifier}-{role}", **entry, **about}
        for role, entry in four.items()
    )


def cells(rows: Iterable[Mapping[Any, Any]]) -> list[dict[str, str]]:
    """Return instances as rows in C-GAP's columns; a label that is None is empty."""
    words = {label: word for word, label in LABELS.items()}
    named = {column: "id" if column == "ID" else column.lower().replace("-", "_") for column in COLUMNS}
    return [
        {column: words.get(row[key], "") if key.endswith("coref") else str(row[key]) for column, key in named.items()}
        for row in rows
    ]


def identifier(book: str, original: Mapping[str, Any]) -> str:
    """Return the name of a quadruple: a digest of book, text and place, which no other book of a run changes."""
    where = f"{book}\0{original['text']}\0{original['pronoun_offset']}"
    return f"b{hashlib.sha256(where.encode()).hexdigest()[:12]}"


def write_rows(path: str | Path, rows: Iterable[Mapping[Any, Any]]) -> None:
    """Write rows in C-GAP's columns as its authors do (tabs, double quotes where they are needed), atomically."""
    written = io.StringIO()
    writer = csv.DictWriter(written, COLUMNS, delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    files.write_text(path, written.getvalue())


def label_quadruples(candidates: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Return the accepted candidates with their labels (``ID``, ``A-coref``, ``B-coref``) in a_coref and b_coref."""
    unknown = set(labels.ID) - set(candidates.id)
    if unknown:
        raise UserError(
            f"{count_noun(len(unknown), 'label')} of instances that are no candidates, the first is '{min(unknown)}'; "
            "label the candidates of this run"
        )
    kept = candidates[candidates.id.isin(labels.ID)].reset_index(drop=True)
    flags = labels.set_index("ID").loc[kept.id] == "TRUE"
    return kept.assign(a_coref=flags["A-coref"].to_numpy(), b_coref=flags["B-coref"].to_numpy())


def balance_genders(instances: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return as many quadruples of either original gender, the rest left out at random (Section 2.3).

    Returns:
        In their order.
    """
    originals = instances[instances.role == ROLES[0]]
    groups = {gender: list(originals.quadruple[originals.gender == gender]) for gender in ("M", "F")}
    size = min(map(len, groups.values()))
    drawn = random.Random(seed)
    kept = {name for names in groups.values() for name in drawn.sample(names, size)}
    return instances[instances.quadruple.isin(kept)].reset_index(drop=True)


def funnel_totals(funnel: pd.DataFrame) -> pd.DataFrame:
    """Return the funnel over all books.

    Returns:
        ``step``, ``left``, ``dropped`` and ``share`` (of the pronouns before the step), in the order of the steps.
    """
    left = funnel.groupby("step", sort=False).left.sum()
    before = left.shift(fill_value=left.iloc[0])
    share = (before - left) / before.where(before > 0)
    return pd.DataFrame(
        {"step": left.index, "left": left.array, "dropped": (before - left).array, "share": share.array}
    )


def card(
    books: list[dict], funnel: pd.DataFrame, steps: dict[str, str], parser: dict[str, str], counts: dict[str, int],
    seed: int,
) -> str:  # fmt: skip
    """Return the data card of a set (Markdown)."""
    public = [book for book in books if book["gutenberg"]]
    private = len(books) - len(public)
    lines = [
        "# Quadruples from books",
        "",
        "Made by the steps of Counter-GAP (Xie et al. 2023, Sections 2.1 to 2.3), in its columns.",
        "",
        f"- Quadruples: {counts['quadruples']:,}, four instances each, half of them with a masculine original.",
        f"- Candidates: {counts['candidates']:,}; accepted by annotators: {counts['accepted']:,}. The larger group was "
        f"cut to the size of the other at random (seed {seed}).",
        "- Labels: the majority of annotators for each instance; quadruples whose four labels differ, that contradict "
        "common knowledge or name real people are no part of it (labels.csv).",
        f"- Parser: {', '.join(f'{name} {version}' for name, version in sorted(parser.items()))}. Genders of first "
        "names: gender-guesser 0.4.0, default setting.",
        "",
        "## Books",
        "",
        "| book | words | encoding | SHA-256 of the file |",
        "| --- | --- | --- | --- |",
        *(f"| {book['label']} | {book['words']:,} | {book['encoding']} | `{book['sha256']}` |" for book in books),
        "",
        "## Funnel",
        "",
        "| step | left | dropped |",
        "| --- | --- | --- |",
        *(f"| {steps[row.step]} | {row.left:,} | {row.dropped:,} |" for row in files.rows(funnel)),
        "",
        "## Licence",
        "",
    ]
    if public:
        lines.append(
            f"{count_noun(len(public), 'book')} of Project Gutenberg, in the public domain in the United States; "
            "elsewhere look up the law."
        )
    if private:
        lines.append(
            f"{count_noun(private, 'book')} from files of this machine: the texts of the set are theirs. Publish the "
            "set only if their licence allows it."
        )
    return "\n".join(lines) + "\n"
