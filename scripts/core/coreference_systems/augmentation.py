"""Counterfactual data augmentation of coreference corpora, as in Counter-GAP (Xie et al. 2023, Section 4, Appendix A).

A corpus is followed by a copy of every document in which gendered words are swapped; clusters stay as they are.
Personal names become placeholders in anonymisation-based augmentation (a-CDA), and names of the other gender in
name-based augmentation (n-CDA), by a matching of masculine with feminine names.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core import files
from scripts.core.coreference_systems.first_names import Name
from scripts.core.data.templates import read_tsv
from scripts.core.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from scripts.core.coreference_systems.documents import AnnotatedDocument

METHODS = ("acda", "ncda")

# The study's files, by their paths in config/upstream.tsv.
PUBLISHED_WORDS = tuple(
    f"counter_gap/cda/{name}.txt"
    for name in ("generalized_swaps", "extra_gendered_words", "second_extra_gendered_words")
)
PUBLISHED_NAMES = "counter_gap/cda/nam_map.txt"
# Ends the name of an augmented copy.
COPY = "_a"
# Tags of the Penn Treebank: a personal pronoun that is no possessive, a proper noun in the singular.
PERSONAL, NAME = "PRP", "NNP"

# Gendered words that lists of first names have too.
RANKS = {"king", "queen", "prince", "princess", "duke", "duchess", "baron", "baroness"}
# Of titles before a name, those whose counterpart is another one than that of the word alone.
TITLES = {"lady": "lord", "lord": "lady", "sir": "dame", "dame": "sir", "madam": "mr.", "madame": "monsieur"}


def read_words(path: str | Path) -> dict[str, str]:
    """Read a list of gendered words in this project's layout: ``word``, ``counterpart`` and ``ways``.

    Args:
        path: ``ways`` is ``both`` where the counterpart is swapped for the word as well, else ``one``.

    Returns:
        By word, in lower case.

    Raises:
        UserError: If a cell is empty, ``ways`` is neither of the two, or a word has two counterparts.
    """
    swaps = {}
    for row, cells in read_tsv(path, ("word", "counterpart", "ways")):
        where = f"{path}, row {row}"
        word, counterpart, ways = cells["word"], cells["counterpart"], cells["ways"]
        if ways not in ("both", "one"):
            raise UserError(
                f"{where}: '{ways}' is not a direction of swapping; use both or one"
                f"{did_you_mean(ways, ['both', 'one'])}"
            )
        pairs = [(word, counterpart)] + ([(counterpart, word)] if ways == "both" else [])
        for first, second in pairs:
            if not first or not second or first != first.lower() or re.search(r"\s", first + second):
                raise UserError(f"{where}: '{first}' and '{second}' must be single words in lower case; correct them")
            if swaps.setdefault(first, second) != second:
                raise UserError(f"{where}: '{first}' is swapped for '{swaps[first]}' already; remove one")
    return swaps


def read_published_words(generalised: str | Path, extra: str | Path, second_extra: str | Path) -> dict[str, str]:
    """Read the study's three lists of gendered words (Zhao et al. 2018, and additions), by word in lower case.

    The first is read one way, as it is listed, the others both ways; of two counterparts of a word the later one holds.
    Of a counterpart of several words only the first is taken: a corpus has one word a row, and in the study's the
    others move to the columns behind it.
    """
    swaps = {}
    for path, both in ((generalised, False), (extra, True), (second_extra, True)):
        for row, cells in _rows(path):
            if len(cells) != 2 or not all(cells):
                raise UserError(f"{path}, row {row}: a word, a tab and its counterpart were expected; fetch it again")
            first, second = cells
            swaps[first] = second.split()[0]
            if both:
                swaps[second] = first.split()[0]
    return swaps


def _rows(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file as cells without the spaces around them, with their numbers; empty ones are left out."""
    text = files.read_text(path, "fetch it again")
    for row, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield row, [cell.strip() for cell in line.split("\t")]


def read_name_map(path: str | Path) -> dict[str, str]:
    """Read a table of names and those that they are swapped for, such as the study's ``cda/nam_map.txt``.

    Raises:
        UserError: If a row has not two cells, or a name is listed twice.
    """
    swaps = {}
    for row, cells in _rows(path):
        if len(cells) != 2 or not all(cells):
            raise UserError(f"{path}, row {row}: a name, a tab and another name were expected; make the file again")
        if cells[0] in swaps:
            raise UserError(f"{path}, row {row}: the name '{cells[0]}' is listed twice; make the file again")
        swaps[cells[0]] = cells[1]
    return swaps


def number_placeholders(names: Iterable[Name]) -> dict[str, str]:
    """Return the placeholder of each name: ``E0``, ``E1``, ... in the order of the list, the same in all documents.

    The study numbers all names of its list, those of either gender too, in an order that its code leaves to chance.
    """
    return {name.name: f"E{number}" for number, name in enumerate(names)}


def swap_word(word: str, tag: str, words: dict[str, str], names: dict[str, str]) -> str:
    """Return what stands for a word in an augmented copy, as in the study's code: itself if neither list has it.

    Args:
        tag: The word's part of speech (Penn Treebank). *her* is *him* as a personal pronoun, else *his*.
        words: Gendered words in lower case.
        names: Looked up with the letters' case, for proper nouns only, and before ``words``.
    """
    other = _counterpart(word, tag, words, names)
    if other is None:
        return word
    return other[0].upper() + other[1:] if word[0].isupper() else other


def swap_in_context(before: str, word: str, tag: str, after: tuple[str, str], words: dict, names: dict) -> str:
    """Return the same with what the study's lists break mended.

    A rank is no first name (*Queen Anna*), a title before a name has its own counterpart (*Lady* and *Lord*), a
    predicative *his* becomes *hers*, and a word in capitals stays in capitals.

    Args:
        before: The word before; empty at the start of a sentence.
        word: As for :func:`swap_word`.
        tag: Its part of speech.
        after: The word that follows and its part of speech; empty at the end of a sentence.
        words: As for :func:`swap_word`.
        names: As for :func:`swap_word`.

    Returns:
        The word's counterpart, or the word itself.
    """
    lower, (next_word, next_tag) = word.lower(), after
    titled = next_tag == NAME and word[0].isupper()
    if lower in RANKS and (titled or next_word == "of" or before.lower() in ("a", "the")):
        names = {}
    shouted = len(word) > 1 and word.isupper()
    known = word.capitalize() if shouted and word not in names else word
    if titled and lower in TITLES:
        other = TITLES[lower]
    elif lower == "his" and (tag == PERSONAL or not _begins_noun_phrase(next_word, next_tag)):
        other = "hers"
    else:
        other = _counterpart(known, tag, words, names)
    if other is None:
        return word
    if shouted:
        return other.upper()
    return other[0].upper() + other[1:] if word[0].isupper() else other


def _begins_noun_phrase(word: str, tag: str) -> bool:
    """Whether a possessive before this word is a determiner; *and* and *or* join it to another one (*his or her*)."""
    return tag[:2] in ("NN", "JJ", "CD", "RB", "PR", "DT", "PD", "FW") or tag in ("VBG", "VBN", "``") or word in (
        "and", "or", "/"
    )  # fmt: skip


def _counterpart(word: str, tag: str, words: Mapping[str, str], names: Mapping[str, str]) -> str | None:
    kind = _kind(word, tag, words, names)
    if kind == "her":
        return "him" if tag == PERSONAL else "his"
    # A corpus has one word a row; the study's files move the others to the columns behind it.
    return names[word].split()[0] if kind == "name" else words.get(word.lower())


def _kind(word: str, tag: str, words: Mapping[str, str], names: Mapping[str, str]) -> str | None:
    """Return what a word is swapped as: a name, *her*, another word, or None."""
    if tag == NAME and word in names:
        return "name"
    if word.lower() == "her":
        return "her"
    return "word" if word.lower() in words else None


def count_swaps(documents: Iterable[Any], words: Mapping[str, str], names: Mapping[str, str]) -> dict[str, int]:
    """Return how many words :func:`swap_word` swaps in documents with tags: ``all``, of these ``her`` and ``names``."""
    kinds = Counter(
        _kind(word, tag, words, names)
        for document in documents
        for word, tag in zip(document.words, document.tags, strict=True)
    )
    return {"all": kinds.total() - kinds[None], "her": kinds["her"], "names": kinds["name"]}


def augment(
    documents: "Sequence[AnnotatedDocument]", words: dict[str, str], names: dict[str, str], column: str = "faithful"
) -> "list[AnnotatedDocument]":
    """Return documents with tags, followed by a counterfactual copy of each, whose name ends with :data:`COPY`.

    Args:
        column: ``faithful``: words are swapped as in the study's code (:func:`swap_word`); ``corrected``: in context
            (:func:`swap_in_context`).
    """
    copies = [make_counterfactual(document, words, names, column) for document in documents]
    taken = {document.name for document in documents} & {copy.name for copy in copies}
    if taken:
        raise UserError(f"the document '{min(taken)}' has the name of a counterfactual copy; augment the corpus once")
    return [*documents, *copies]


def make_counterfactual(
    document: "AnnotatedDocument", words: dict[str, str], names: dict[str, str], column: str = "faithful"
) -> "AnnotatedDocument":
    """Return the counterfactual copy of a document; see :func:`augment`."""
    if document.tags is None:
        raise UserError(f"the document '{document.name}' has no parts of speech; name files of OntoNotes with them")
    identifier, separator, part = document.name.partition("; part ")
    swaps = []
    for start, end in document.sentences:
        sentence = list(zip(document.words[start:end], document.tags[start:end], strict=True))
        if column == "faithful":
            swaps += [swap_word(word, tag, words, names) for word, tag in sentence]
        else:
            before, after = ["", *(word for word, _ in sentence)], [*sentence[1:], ("", "")]
            swaps += [swap_in_context(before[i], *sentence[i], after[i], words, names) for i in range(end - start)]
    return replace(document, name=f"{identifier}{COPY}{separator}{part}", words=tuple(swaps))
