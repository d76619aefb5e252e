"""The flags that the study's authors released for C-GAP, with facts about its passages, in one file without texts.

A row of the file is a quadruple. ``right`` is the name that the pronoun stands for, ``mark`` what directly follows the
pronoun in all four instances and ``words`` the distance of the right name (:func:`facts_of_texts`). A system's column,
such as ``BERT-base, n-CDA``, has a character for each instance, in the order of ``passages.ROLES``: which names the
system put into the pronoun's cluster, ``a``, ``b``, both (``x``) or neither (``-``).
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data.coreference import split_words
from scripts.core.data.templates import read_frame
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run_named
from scripts.counter_gap import study
from scripts.counter_gap.passages import LABELS, OTHER, ROLES, instance_id, read_c_gap

SPLITTING = ".,`\"'()-/*"
"""Marks at which the released conversion starts a new token. A pronoun directly before one gets a span that ends with
the mark (:mod:`scripts.counter_gap.predictions`), which no system predicts: all released flags of such quadruples are
FALSE."""
SOURCES = ("gutenberg", "bookcorpus")
MARKS = ("splitting", "other", "none")
FACTS = ("quadruple", "gender", "case", "source", "right", "mark", "words")
SYSTEMS = {
    f"{system}, {debiasing}": (system, debiasing) for debiasing in study.RELEASED for system in study.SYSTEMS.values()
}
"""Columns of flags to system and debiasing method."""
COLUMNS = (*FACTS, *SYSTEMS)
_PREDICTED = {"a": (True, False), "b": (False, True), "x": (True, True), "-": (False, False)}
LEVELS = {
    "gender": ("M", "F"),
    "case": ("nominative", "accusative", "possessive"),
    "source": SOURCES,
    "right": ("a", "b", "neither"),
    "mark": MARKS,
}
_HEAD = (
    "# Flags that the authors of Counter-GAP (Xie et al. 2023) released under the MIT licence, and facts about their",
    "# passages; made by the rule counter_gap_released_flags. released_flags.md says where they come from.",
)


def released_flags(*, c_gap: str, released: list, compact: str, systems: list) -> None:
    """Put the flags that the authors released, and facts about their passages, into one file without texts.

    Write ``compact`` (TSV) from C-GAP and the files of flags. ``systems`` says whose flags each file of ``released``
    holds, in the same order, by ``model`` and ``debiasing``. The copy that the project ships is
    ``templates/counter_gap/released_flags.tsv``.
    """
    passages = read_c_gap(c_gap)
    flags = {
        (facts["model"], facts["debiasing"]): read_output(path, passages)
        for path, facts in zip(released, systems, strict=True)
    }
    write_flags(compact, passages, flags)
    log.info("%d instances, %d outputs of systems", len(passages), len(flags))


def read_output(path: str | Path, instances: pd.DataFrame) -> pd.DataFrame:
    """Return ``id``, ``a_pred`` and ``b_pred`` of a released output, a row for each of ``instances``."""
    rows = read_frame(path, ("ID", "A-coref", "B-coref"), levels=dict.fromkeys(("A-coref", "B-coref"), LABELS))
    if list(rows.ID) != list(instances.id):
        raise UserError(f"{path}: its IDs are not those of the instances; fetch the file again")
    flags = {"id": rows.ID, "a_pred": rows["A-coref"].map(LABELS), "b_pred": rows["B-coref"].map(LABELS)}
    return pd.DataFrame(flags).reset_index(drop=True)


def write_flags(path: str | Path, instances: pd.DataFrame, flags: dict[tuple[str, str], pd.DataFrame]) -> None:
    """Write the file from C-GAP's instances, and each system's ``a_pred`` and ``b_pred`` of them in their order."""
    facts = facts_of_texts(instances)
    originals = instances.iloc[:: len(ROLES)].reset_index(drop=True)
    table = originals[["quadruple", "gender", "case"]].assign(
        source=facts.source,
        right=["a" if row.a_coref else "b" if row.b_coref else "neither" for row in originals.itertuples()],
        mark=facts.mark,
        words=[f"{words:.2f}" if words == words else "" for words in facts.words],
    )
    letters = {predicted: letter for letter, predicted in _PREDICTED.items()}
    for column, key in SYSTEMS.items():
        codes = [letters[pair] for pair in zip(flags[key].a_pred, flags[key].b_pred, strict=True)]
        table[column] = ["".join(codes[start : start + len(ROLES)]) for start in range(0, len(codes), len(ROLES))]
    lines = ["\t".join(cells) for cells in (COLUMNS, *table[list(COLUMNS)].itertuples(index=False, name=None))]
    files.write_text(path, "\n".join((*_HEAD, *lines)) + "\n")


def read_instances(path: str | Path) -> pd.DataFrame:
    """Read what the analysis needs of C-GAP's instances.

    Returns:
        ``id``, ``quadruple``, ``role``, ``gender``, ``case``, ``a_coref``, ``b_coref``, ``source``, ``mark``, ``words``
        (of the quadruple) and ``row`` (line in the file); as of :mod:`scripts.counter_gap.passages`, without
        texts, names and offsets.
    """
    quadruples = _read_file(path).reset_index(names="row")
    rows = quadruples.loc[quadruples.index.repeat(len(ROLES))].reset_index(drop=True)
    rows["role"] = [*ROLES] * len(quadruples)
    return pd.DataFrame(
        {
            "id": [instance_id(name, role) for name, role in zip(rows.quadruple, rows.role, strict=True)],
            "quadruple": rows.quadruple,
            "role": rows.role,
            "gender": rows.gender.where(rows.role.isin(ROLES[:2]), rows.gender.map(OTHER)),
            "case": rows.case,
            "a_coref": rows.right == "a",
            "b_coref": rows.right == "b",
            "source": rows.source,
            "mark": rows["mark"],
            "words": pd.to_numeric(rows.words),
            "row": rows.row,
        }
    )


def read_flags(path: str | Path) -> dict[tuple[str, str], pd.DataFrame]:
    """Return ``id``, ``a_pred``, ``b_pred`` of all instances by system and debiasing method."""
    rows = _read_file(path)
    ids = [instance_id(name, role) for name in rows.quadruple for role in ROLES]
    flags = {}
    for column, key in SYSTEMS.items():
        predicted = [_PREDICTED[letter] for four in rows[column] for letter in four]
        flags[key] = pd.DataFrame(predicted, columns=["a_pred", "b_pred"]).assign(id=ids)[["id", "a_pred", "b_pred"]]
    return flags


def _read_file(path: str | Path) -> pd.DataFrame:
    """Return the rows of the file by their line."""
    rows = read_frame(path, COLUMNS, key="quadruple", levels=LEVELS, optional=["words"])
    for name in SYSTEMS:
        for row, cell in rows[name][~rows[name].str.fullmatch("[abx-]{4}")].items():
            raise UserError(f"{path}, row {row}: '{cell}' of {name} is not four of a, b, x and -; restore the file")
    return rows


def facts_of_texts(instances: pd.DataFrame) -> pd.DataFrame:
    """Return what the factors need of the texts of quadruples.

    Returns:
        A row for each quadruple, in order: ``source`` (of :data:`SOURCES` by the form of the book's name, ``own``
        otherwise), ``mark`` (:data:`MARKS`: a splitting mark directly follows the pronoun in all four, a mark or letter
        does, or not) and ``words`` (tokens between the right name and the pronoun, mean over the four; missing without
        a right name).
    """
    ends = instances.pronoun_offset + instances.pronoun.str.len()
    follows = [text[end : end + 1] for text, end in zip(instances.text, ends, strict=True)]
    splitting = np.array([bool(mark) and mark in SPLITTING for mark in follows]).reshape(-1, 4).all(1)
    glued = np.array([bool(mark.strip()) for mark in follows]).reshape(-1, 4).all(1)
    words = np.array([_words(row) for row in instances.itertuples(index=False)]).reshape(-1, 4).mean(1)
    sources = [_source(book) for book in instances.book.iloc[::4]]
    return pd.DataFrame({"source": sources, "mark": np.select([splitting, glued], MARKS[:2], MARKS[2]), "words": words})


def _source(book: str):
    if book.endswith(".epub"):
        return "bookcorpus"
    return "gutenberg" if book.removeprefix("pg")[:1].isdecimal() else "own"


def _words(row: Any):
    """Return the number of tokens between the right name and the pronoun; NaN without a right name."""
    if not (row.a_coref or row.b_coref):
        return np.nan
    name, offset = (row.a, row.a_offset) if row.a_coref else (row.b, row.b_offset)
    (start, word), (later, _) = sorted([(offset, name), (row.pronoun_offset, row.pronoun)])
    return float(sum(start + len(word) <= s and e <= later for s, e in split_words(row.text)))


if __name__ == "__main__":
    run_named()
