"""Reading GAP's format: passages with a pronoun and two candidate names, alone (GAP) or in quadruples (C-GAP).

Both give one frame with a row for each instance: ``id``, ``quadruple``, ``role`` (:data:`ROLES`), ``text``,
``pronoun``, ``pronoun_offset``, ``a``, ``a_offset``, ``a_coref``, the same for ``b``, ``book``, ``gender`` (M or F, the
pronoun's), ``case``, ``row`` (its line in the file). Offsets count code points from 0. Outside quadruples
``quadruple`` is the instance's own id and ``role`` is ``original``.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from scripts.core import files
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


def instance_id(quadruple: str, role: str) -> str:
    """Return the name of an instance of a quadruple."""
    return quadruple if role == ROLES[0] else f"{quadruple}-{role}"


def read_c_gap(path: str | Path, labelled: bool = True) -> pd.DataFrame:
    """Read C-GAP: tab-separated with double-quote quoting, four rows for each quadruple.

    ``labelled`` is False for quadruples that nobody has labelled yet, whose labels are empty and missing in the table.
    A UserError names every bad row: quoting, number of cells, labels, pronouns, offsets, and for quadruples the order
    of their rows, agreement of labels, genders and cases.
    """
    # Each line alone: a quote that is never closed must not swallow the rows after it.
    rows = _read_rows(path, COLUMNS, lambda line: next(csv.reader([line], delimiter="\t", strict=True), []), labelled)
    _refuse(path, _quadruple_problems(rows))
    frame = _make_frame(rows)
    frame["quadruple"] = frame.id.str.replace(r"-(control|swap-[12])$", "", regex=True)
    frame["role"] = [*ROLES] * (len(frame) // 4)
    frame["gender"] = frame.pronoun.str.lower().map(GENDERS)
    return frame.assign(case=cases(frame))


def read_gap(path: str | Path) -> pd.DataFrame:
    """Read one of GAP's files: tab-separated without quoting, single instances; raises as :func:`read_c_gap`."""
    rows = _read_rows(path, GAP_COLUMNS, lambda line: line.split("\t"))
    _refuse(path, _repetitions(rows))
    frame = _make_frame(rows)
    lowered = frame.pronoun.str.lower()
    case = lowered.map(CASES).fillna("ambiguous")
    return frame.assign(quadruple=frame.id, role=ROLES[0], gender=lowered.map(GENDERS), case=case)


def _read_rows(
    path: str | Path, columns: Sequence[str], split: Callable[[str], list[str]], labelled: bool = True
) -> dict[int, dict[str, str]]:
    """Return the cells of each instance of a file by their row; every row is whole."""
    header, *lines = [
        line.removesuffix("\r") for line in files.read_text(path, "fetch it again").rstrip("\n").split("\n")
    ]
    if header != "\t".join(columns):
        raise UserError(f"{path}, row 1: the header must be {', '.join(columns)}; fetch the file again")
    rows, problems = {}, []
    for row, line in enumerate(lines, 2):
        try:
            cells = split(line)
        except csv.Error as error:
            problems.append(f"row {row}: broken quoting ({error})")
            continue
        if len(cells) != len(columns):
            problems.append(f"row {row}: {len(cells)} cells where the header has {len(columns)}")
            continue
        rows[row] = dict(zip(columns, cells, strict=True))
        problems += [f"row {row}: {problem}" for problem in _row_problems(rows[row], labelled)]
    # Broken rows shift what follows them, so quadruples are only looked at when every row is whole.
    _refuse(path, problems)
    if not rows:
        raise UserError(f"{path}: has no instance; fetch the file again")
    return rows


def _refuse(path: str | Path, problems: Sequence[str]) -> None:
    if problems:
        raise UserError(f"{path}: {'; '.join(problems)}; correct these rows or fetch the file again")


def _make_frame(rows: Mapping[int, Mapping[str, str]]) -> pd.DataFrame:
    frame = pd.DataFrame([*rows.values()]).set_axis([*NAMED], axis=1)
    last = {name: frame.pop(name).map(LABELS) for name in ("a_coref", "b_coref")} | {"book": frame.pop("book")}
    return frame.astype({f"{span}_offset": int for span in SPANS}).assign(**last, row=[*rows])


def unlabelled_problems(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Return what is wrong with four rows of C-GAP that have no labels yet, each a dict by column; empty if nothing."""
    problems = [problem for row in rows for problem in _row_problems(row, labelled=False)]
    return problems or _quadruple_problems(dict(enumerate(rows, 1)))


def cases(frame: pd.DataFrame) -> pd.Series:
    """Return each row's grammatical case: that of the masculine form in its quadruple."""
    lowered = frame.pronoun.str.lower()
    masculine = lowered.where(frame.gender == "M").groupby(frame.quadruple).transform("first")
    return masculine.map(CASES)


def _row_problems(cells: Mapping[str, str], labelled: bool = True) -> list[str]:
    problems = []
    for column in ("Pronoun", "A", "B"):
        word, offset = cells[column], cells[f"{column}-offset"]
        if not offset.isdecimal():
            problems.append(f"'{offset}' is no offset of {column}")
        elif not word or cells["Text"][int(offset) :][: len(word)] != word:
            problems.append(f"{column} '{word}' is not at its offset {offset}")
    for column in ("A-coref", "B-coref"):
        if labelled and cells[column] not in LABELS:
            problems.append(f"{column} '{cells[column]}' is neither TRUE nor FALSE")
        if not labelled and cells[column]:
            problems.append(f"{column} '{cells[column]}' is a label where none was expected")
    if cells["A-coref"] == cells["B-coref"] == "TRUE":
        problems.append("both names are marked TRUE")
    if cells["Pronoun"].lower() not in GENDERS:
        problems.append(f"'{cells['Pronoun']}' is not one of {', '.join(GENDERS)}")
    if not cells.get("Book", cells.get("URL")):
        problems.append("the source is empty")
    return problems


def _repetitions(rows: Mapping[int, Mapping[str, str]]) -> list[str]:
    first, problems = {}, []
    for row, cells in rows.items():
        if first.setdefault(cells["ID"], row) != row:
            problems.append(f"row {row}: the ID '{cells['ID']}' is already in row {first[cells['ID']]}")
    return problems


def _quadruple_problems(rows: Mapping[int, Mapping[str, str]]) -> list[str]:
    problems, entries = _repetitions(rows), list(rows.items())
    for start in range(0, len(entries), 4):
        numbers, four = zip(*entries[start : start + 4], strict=True)
        row, ids = numbers[0], [cells["ID"] for cells in four]
        expected = [instance_id(ids[0], role) for role in ROLES]
        if ids != expected:
            # What follows is out of step with its quadruples.
            return [*problems, f"row {row}: the IDs {', '.join(ids)} should be {', '.join(expected)}"]
        pronouns = [cells["Pronoun"].lower() for cells in four]
        genders = [GENDERS[pronoun] for pronoun in pronouns]
        if genders not in (["M", "M", "F", "F"], ["F", "F", "M", "M"]):
            problems.append(f"row {row}: the genders of quadruple '{ids[0]}' are {' '.join(genders)}, not two and two")
        elif not any({*pronouns} <= pair for pair in ({"he", "she"}, {"him", "her"}, {"his", "her"}, {"his", "hers"})):
            forms = ", ".join(sorted({*pronouns}))
            problems.append(f"row {row}: the pronouns of quadruple '{ids[0]}' differ in case ({forms})")
        labels = [(cells["A-coref"], cells["B-coref"]) for cells in four]
        problems += [
            f"row {number}: the labels differ from those of the original in row {row}"
            for number, given in zip(numbers, labels, strict=True)
            if given != labels[0]
        ]
    return problems
