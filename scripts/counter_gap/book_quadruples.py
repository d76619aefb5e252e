"""From a passage to a quadruple, and on to a labelled, balanced set in C-GAP's columns (Xie et al. 2023, Section 2)."""

import hashlib
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from scripts.core import files
from scripts.core.coreference_systems import augmentation
from scripts.core.errors import count_noun
from scripts.counter_gap.book_names import SOCIAL, Token, is_possessive
from scripts.counter_gap.passages import COLUMNS, NAMED, PLACES, ROLES, instance_id

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


def make_instance(passage: Passage, role: str, words: dict[str, str]) -> dict[str, Any]:
    """Return one instance of a quadruple.

    Returns:
        ``text``, and for ``pronoun``, ``a`` and ``b`` the word or name and its offset in the text, from 0.
    """
    names = {place: passage.names[key] for place, key in zip("abxy", PLACES[role], strict=True)}
    tokens, places, written, at = passage.tokens, [], [], 0
    while at < len(tokens):
        places.append(at)
        last, name = passage.spots.get(at, (at, None))
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        swapped = swapped_word(tokens[at], words, following) if role.startswith("swap") else tokens[at].word
        written.append(names[name] if name else swapped)
        at = last + 1
    # The candidate of the first place keeps its place, whoever stands there.
    where = {passage.target: "pronoun", passage.a: "a", passage.b: "b"}
    text, spots = "", {}
    for n, (at, word) in enumerate(zip(places, written, strict=True)):
        token, gap = tokens[at], passage.gaps[at]
        if n and places[n - 1] in passage.spots and token.tag == "POS" and not gap:
            word = possessive_ending(token.word, written[n - 1])
        elif token.word.lower() in ("a", "an") and at not in passage.spots and n + 1 < len(places):
            word = choose_article(token.word, tokens[at + 1].word, written[n + 1])
        if at in where:
            spots |= {where[at]: word, f"{where[at]}_offset": len(text + gap)}
        text += gap + word
    return {"text": text} | spots


def possessive_ending(ending: str, name: str) -> str:
    """Return the possessive ending of a name where another name had ``ending``.

    Examples:
        >>> possessive_ending("'", "Tom"), possessive_ending("’s", "James"), possessive_ending("'", "James")
        ("'s", '’s', "'")
    """
    return f"{ending}s" if ending in ("'", "’") and not name.endswith("s") else ending


def choose_article(given: str, old: str, new: str) -> str:
    """Return *a* or *an* as the word behind it wants it, if that has changed its first letter.

    Examples:
        >>> choose_article("A", "king", "empress"), choose_article("an", "hour", "hour")
        ('An', 'an')
    """
    if (new[0] in VOWELS) == (old[0] in VOWELS):
        return given
    other = "an" if new[0] in VOWELS else "a"
    return other.capitalize() if given[0].isupper() else other


def rows_of(four: dict[str, dict], identifier: str, book: str) -> list[dict[str, str]]:
    """Return the rows of a quadruple, by column and without labels."""
    rows = []
    for role, entry in four.items():
        known = entry | {"id": instance_id(identifier, role), "book": book}
        rows.append({column: str(known.get(name, "")) for name, column in NAMED.items()})
    return rows


def name_quadruple(book: str, original: Mapping[str, Any]) -> str:
    """Return the name of a quadruple: a digest of book, text and place, which no other book of a run changes."""
    where = f"{book}\0{original['text']}\0{original['pronoun_offset']}"
    return f"b{hashlib.sha256(where.encode()).hexdigest()[:12]}"


def write_rows(path: str | Path, rows: pd.DataFrame | list[dict[str, str]]) -> None:
    """Write rows in C-GAP's columns as its authors do (tabs, double quotes where they are needed), atomically."""
    table = pd.DataFrame(rows, columns=[*COLUMNS])
    files.write_text(path, table.to_csv(sep="\t", index=False, lineterminator="\n"))


def label_quadruples(candidates: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Return the accepted candidates with their labels (``ID``, ``A-coref``, ``B-coref``), TRUE or FALSE as these."""
    flags = labels.set_index("ID").set_axis(["a_coref", "b_coref"], axis=1)
    kept = candidates[candidates.id.isin(flags.index)].drop(columns=list(flags))
    return kept.join(flags, on="id").reset_index(drop=True)


def balance_genders(instances: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return as many quadruples of either original gender, in their order; the rest is left out at random (2.3)."""
    originals = instances[instances.role == ROLES[0]]
    groups = {gender: list(originals.quadruple[originals.gender == gender]) for gender in ("M", "F")}
    size = min(map(len, groups.values()))
    drawn = random.Random(seed)
    kept = {name for names in groups.values() for name in drawn.sample(names, size)}
    return instances[instances.quadruple.isin(kept)].reset_index(drop=True)


def funnel_totals(funnel: pd.DataFrame) -> pd.DataFrame:
    """Return the funnel over all books: ``step``, ``left``, ``dropped`` and ``share`` (of the pronouns before it)."""
    left = funnel.groupby("step", sort=False, as_index=False).left.sum()
    before = left.left.shift(fill_value=left.left.iloc[0])
    return left.assign(dropped=before - left.left, share=(before - left.left) / before.where(before > 0))


def render_card(
    books: list[dict], funnel: pd.DataFrame, steps: dict[str, str], parser: dict[str, str], counts: dict[str, int],
    seed: int,
) -> str:  # fmt: skip
    """Return the data card of a set (Markdown)."""
    public = sum(book["gutenberg"] for book in books)
    versions = ", ".join(f"{name} {version}" for name, version in sorted(parser.items()))
    rows = [f"| {book['label']} | {book['words']:,} | {book['encoding']} | `{book['sha256']}` |" for book in books]
    dropped = [f"| {steps[row.step]} | {row.left:,} | {row.dropped:,} |" for row in files.iterate_rows(funnel)]
    licences = {
        " of Project Gutenberg, in the public domain in the United States; elsewhere look up the law.": public,
        " from files of this machine: the texts of the set are theirs. Publish the set only if their licence allows "
        "it.": len(books) - public,
    }
    licence = "\n".join(count_noun(count, "book") + said for said, count in licences.items() if count)
    return f"""\
# Quadruples from books

Made by the steps of Counter-GAP (Xie et al. 2023, Sections 2.1 to 2.3), in its columns.

- Quadruples: {counts["quadruples"]:,}, four instances each, half of them with a masculine original.
- Candidates: {counts["candidates"]:,}; accepted by annotators: {counts["accepted"]:,}. The larger group was cut to \
the size of the other at random (seed {seed}).
- Labels: the majority of annotators for each instance; quadruples whose four labels differ, that contradict common \
knowledge or name real people are no part of it (labels.csv).
- Parser: {versions}. Genders of first names: gender-guesser 0.4.0, default setting.

## Books

| book | words | encoding | SHA-256 of the file |
| --- | --- | --- | --- |
{chr(10).join(rows)}

## Funnel

| step | left | dropped |
| --- | --- | --- |
{chr(10).join(dropped)}

## Licence

{licence}
"""
