"""Reading GAP's format: passages with a pronoun and two candidate names, alone (GAP) or in quadruples (C-GAP).

Both give one frame with a row for each instance: ``id``, ``quadruple``, ``role`` (:data:`ROLES`), ``text``,
``pronoun``, ``pronoun_offset``, ``a``, ``a_offset``, ``a_coref``, the same for ``b``, ``book``, ``gender`` (M or F, the
pronoun's), ``case``, ``row`` (its line in the file). Offsets count code points from 0. Outside quadruples
``quadruple`` is the instance's own id and ``role`` is ``original``.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core.errors import UserError

PLACES = {"original": "abxy", "control": "bayx", "swap-1": "xyab", "swap-2": "yxba"}
"""The names that stand in the places of the candidates a and b and of the others, x and y, in each instance of a
quadruple (Section 2.2); the first two instances have the original gender."""
ROLES = tuple(PLACES)
SPANS = ("pronoun", "a", "b")
GENDERS = {
    **dict.fromkeys(("he", "him", "his"), "M"),
    **dict.fromkeys(("she", "her", "hers"), "F"),
}
OTHER = {"M": "F", "F": "M"}
# "her" is the accusative and the possessive; within a quadruple the masculine form tells which.
CASES = {"he": "nominative", "she": "nominative", "him": "accusative", "his": "possessive", "hers": "possessive"}
GAP_COLUMNS = (
    "ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref", "URL"
)  # fmt: skip
COLUMNS = (*GAP_COLUMNS[:-1], "Book")
NAMED = {column.lower().replace("-", "_"): column for column in COLUMNS}
"""C-GAP's columns, by the names of instances; GAP has the same, and the source is a URL."""
LABELS = {"TRUE": True, "FALSE": False}
Rows = Mapping[Any, Mapping[Any, Any]]
"""Cells by row and column."""


def instance_id(quadruple: str, role: str) -> str:
    """Return the name of an instance of a quadruple."""
    return quadruple if role == ROLES[0] else f"{quadruple}-{role}"


def read_c_gap(path: str | Path, labelled: bool = True) -> pd.DataFrame:
    """Read C-GAP: tab-separated with double-quote quoting, four rows for each quadruple.

    ``labelled`` is False for quadruples that nobody has labelled yet, whose labels are empty and missing in the table.
    A UserError names every bad row: labels, pronouns, offsets, and for quadruples the order of their rows, agreement of
    labels, genders and cases.
    """
    frame = _read(path, COLUMNS, csv.QUOTE_MINIMAL, lambda rows: quadruple_problems(rows, labelled))
    frame["quadruple"] = frame.id.str.replace(r"-(control|swap-[12])$", "", regex=True)
    frame["role"] = [*ROLES] * (len(frame) // 4)
    frame["gender"] = frame.pronoun.str.lower().map(GENDERS)
    return frame.assign(case=cases(frame))


def read_gap(path: str | Path) -> pd.DataFrame:
    """Read one of GAP's files: tab-separated without quoting, single instances; raises as :func:`read_c_gap`."""
    frame = _read(path, GAP_COLUMNS, csv.QUOTE_NONE, _row_problems)
    lowered = frame.pronoun.str.lower()
    case = lowered.map(CASES).fillna("ambiguous")
    return frame.assign(quadruple=frame.id, role=ROLES[0], gender=lowered.map(GENDERS), case=case)


def _read(path: str | Path, columns: Sequence[str], quoting: Any, check: Callable[[Rows], list[str]]) -> pd.DataFrame:
    try:
        table = pd.read_csv(
            path, sep="\t", dtype=str, keep_default_na=False, quoting=quoting, skip_blank_lines=False
        ).fillna("")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({str(error).strip()}); fetch the file again") from error
    if list(table) != list(columns) or table.empty:
        raise UserError(f"{path}: needs the columns {', '.join(columns)} and an instance; fetch the file again")
    table.index = pd.RangeIndex(2, len(table) + 2)
    problems = check(table.to_dict("index"))
    if problems:
        raise UserError(f"{path}: {'; '.join(problems)}; correct these rows or fetch the file again")
    frame = table.set_axis([*NAMED], axis=1).rename_axis("row").reset_index()
    frame = frame.astype({f"{span}_offset": int for span in SPANS})
    last = {name: frame.pop(name).map(LABELS) for name in ("a_coref", "b_coref")}
    return frame.assign(**last, book=frame.pop("book"), row=frame.pop("row"))


def cases(frame: pd.DataFrame) -> pd.Series:
    """Return each row's grammatical case: that of the masculine form in its quadruple."""
    lowered = frame.pronoun.str.lower()
    masculine = lowered.where(frame.gender == "M").groupby(frame.quadruple).transform("first")
    return masculine.map(CASES)


def quadruple_problems(rows: Rows, labelled: bool = True) -> list[str]:
    """Return what is wrong with rows of C-GAP, each a dict by column; empty if nothing."""
    problems = _row_problems(rows, labelled)
    entries = list(rows.items())
    for start in range(0, 0 if problems else len(entries), 4):
        numbers, four = zip(*entries[start : start + 4], strict=True)
        row, ids = numbers[0], [cells["ID"] for cells in four]
        expected = [instance_id(ids[0], role) for role in ROLES]
        if ids != expected:
            # What follows is out of step with its quadruples.
            return [*problems, f"row {row}: the IDs {', '.join(ids)} should be {', '.join(expected)}"]
        forms = [cells["Pronoun"].lower() for cells in four]
        genders = [GENDERS[form] for form in forms]
        if genders not in (["M", "M", "F", "F"], ["F", "F", "M", "M"]):
            problems.append(f"row {row}: the genders of quadruple '{ids[0]}' are {' '.join(genders)}, not two and two")
        elif not any({*forms} <= pair for pair in ({"he", "she"}, {"him", "her"}, {"his", "her"}, {"his", "hers"})):
            problems.append(f"row {row}: the pronouns of quadruple '{ids[0]}' differ in case ({', '.join(forms)})")
        if len({(cells["A-coref"], cells["B-coref"]) for cells in four}) > 1:
            problems.append(f"row {row}: the labels of quadruple '{ids[0]}' differ")
    return problems


def _row_problems(rows: Rows, labelled: bool = True) -> list[str]:
    first, problems = {}, []
    for row, cells in rows.items():
        found = []
        if any("\n" in cell for cell in cells.values()):
            # It has swallowed the rows after it.
            found.append("a quote is not closed")
        for column in ("Pronoun", "A", "B"):
            word, offset = cells[column], cells[f"{column}-offset"]
            if not word or not offset.isdecimal() or cells["Text"][int(offset) :][: len(word)] != word:
                found.append(f"{column} '{word}' is not at its offset {offset}")
        for column in ("A-coref", "B-coref"):
            if cells[column] not in (LABELS if labelled else {""}):
                found.append(f"{column} '{cells[column]}' is not {'TRUE or FALSE' if labelled else 'empty'}")
        if cells["A-coref"] == cells["B-coref"] == "TRUE":
            found.append("both names are marked TRUE")
        if cells["Pronoun"].lower() not in GENDERS:
            found.append(f"'{cells['Pronoun']}' is not one of {', '.join(GENDERS)}")
        if not cells.get("Book", cells.get("URL")):
            found.append("the source is empty")
        if first.setdefault(cells["ID"], row) != row:
            found.append(f"the ID '{cells['ID']}' is already in row {first[cells['ID']]}")
        problems += [f"row {row}: {problem}" for problem in found]
    return problems
