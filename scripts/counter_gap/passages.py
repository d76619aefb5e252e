"""Reading GAP's format: passages with a pronoun and two candidate names, alone (GAP) or in quadruples (C-GAP).

Both give one frame with a row for each instance: ``id``, ``quadruple``, ``role`` (:data:`ROLES`), ``text``,
``pronoun``, ``pronoun_offset``, ``a``, ``a_offset``, ``a_coref``, the same for ``b``, ``book``, ``gender`` (M or F, the
pronoun's), ``case``, ``row`` (its line in the file). Offsets count code points from 0. Outside quadruples
``quadruple`` is the instance's own id and ``role`` is ``original``.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

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
LABELS = {"TRUE": True, "FALSE": False}


def instance_id(quadruple: str, role: str) -> str:
    """Return the name of an instance of a quadruple."""
    return quadruple if role == ROLES[0] else f"{quadruple}-{role}"


def read_c_gap(path: str | Path, labelled: bool = True) -> pd.DataFrame:
    """Read C-GAP: tab-separated with double-quote quoting, four rows for each quadruple.

    Args:
        labelled: False: quadruples that nobody has labelled yet, whose labels are empty and missing in the table.

    Returns:
        As the module says.

    Raises:
        UserError: Naming every bad row: quoting, number of cells, labels, pronouns, offsets, and for quadruples the
            order of their rows, agreement of labels, genders and cases.
    """
    lines = _lines(path)
    rows, problems = [], []
    for row, line in enumerate(lines, 1):
        try:
            # Each line alone: a quote that is never closed must not swallow the rows after it.
            cells = next(csv.reader([line], delimiter="\t", strict=True), [])
        except csv.Error as error:
            problems.append(f"row {row}: broken quoting ({error})")
            cells = None
        rows.append((row, cells))
    return _frame(path, rows, COLUMNS, problems, quadruples=True, labelled=labelled)


def read_gap(path: str | Path) -> pd.DataFrame:
    """Read one of GAP's files: tab-separated without quoting, single instances; raises as :func:`read_c_gap`."""
    rows = [(row, line.split("\t")) for row, line in enumerate(_lines(path), 1)]
    return _frame(path, rows, GAP_COLUMNS, [], quadruples=False)


def _lines(path: str | Path):
    lines = files.read_text(path, "fetch it again").split("\n")
    while lines and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _frame(
    path: str | Path,
    rows: Sequence[tuple[int, list[str] | None]],
    columns: Sequence[str],
    problems: list[str],
    quadruples: bool,
    labelled: bool = True,
):
    if not rows or rows[0][1] is None or tuple(rows[0][1]) != tuple(columns):
        raise UserError(f"{path}, row 1: the header must be {', '.join(columns)}; fetch the file again")
    instances, numbers = [], []
    for row, cells in rows[1:]:
        if cells is None:
            continue
        if len(cells) != len(columns):
            problems.append(f"row {row}: {len(cells)} cells where the header has {len(columns)}")
            continue
        entry, complaints = _instance(dict(zip(columns, cells, strict=True)), labelled)
        problems += [f"row {row}: {complaint}" for complaint in complaints]
        instances.append(entry)
        numbers.append(row)
    # Broken rows shift what follows them, so quadruples are only looked at when every row is whole.
    if not problems:
        problems = _quadruple_problems(instances, numbers) if quadruples else _repetitions(instances, numbers)
    if problems:
        listed = "; ".join(sorted(problems, key=_row_number))
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        raise UserError(f"{path}: {count}: {listed}; correct these rows or fetch the file again")
    frame = pd.DataFrame(instances)
    if frame.empty:
        raise UserError(f"{path}: has no instance; fetch the file again")
    frame["row"] = numbers
    frame["quadruple"] = frame.id.str.replace(r"-(control|swap-[12])$", "", regex=True) if quadruples else frame.id
    frame["role"] = [ROLES[i % 4] for i in range(len(frame))] if quadruples else ROLES[0]
    frame["gender"] = frame.pronoun.str.lower().map(GENDERS)
    frame["case"] = cases(frame) if quadruples else frame.pronoun.str.lower().map(CASES).fillna("ambiguous")
    return frame


def unlabelled_problems(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what is wrong with four rows of C-GAP that have no labels yet, each a dict by column; empty if nothing."""
    checked = [_instance(row, labelled=False) for row in rows]
    problems = [problem for _, complaints in checked for problem in complaints]
    return problems or _quadruple_problems([entry for entry, _ in checked], [1, 2, 3, 4])


def _row_number(problem: str):
    return int(problem.removeprefix("row ").split(":")[0])


def cases(frame: pd.DataFrame) -> pd.Series:
    """Return each row's grammatical case: that of the masculine form in its quadruple."""
    lowered = frame.pronoun.str.lower()
    masculine = lowered.where(frame.gender == "M").groupby(frame.quadruple).transform("first")
    return masculine.map(CASES)


def _instance(cells: Mapping[str, Any], labelled: bool = True):
    """Return one instance and what is wrong with its row."""
    problems = []
    entry = {"id": cells["ID"], "text": cells["Text"]}
    for name, column in zip(SPANS, ("Pronoun", "A", "B"), strict=True):
        entry[name] = cells[column]
        offset = cells[f"{column}-offset"]
        if not offset.isdecimal():
            problems.append(f"'{offset}' is no offset of {column}")
            continue
        entry[f"{name}_offset"] = start = int(offset)
        if not cells[column] or cells["Text"][start : start + len(cells[column])] != cells[column]:
            problems.append(f"{column} '{cells[column]}' is not at its offset {start}")
    for name, column in (("a", "A-coref"), ("b", "B-coref")):
        if labelled and cells[column] not in LABELS:
            problems.append(f"{column} '{cells[column]}' is neither TRUE nor FALSE")
        if not labelled and cells[column]:
            problems.append(f"{column} '{cells[column]}' is a label where none was expected")
        entry[f"{name}_coref"] = LABELS.get(cells[column])
    if cells["A-coref"] == cells["B-coref"] == "TRUE":
        problems.append("both names are marked TRUE")
    if cells["Pronoun"].lower() not in GENDERS:
        problems.append(f"'{cells['Pronoun']}' is not one of {', '.join(GENDERS)}")
    entry["book"] = cells.get("Book", cells.get("URL"))
    if not entry["book"]:
        problems.append("the source is empty")
    return entry, problems


def _repetitions(instances: Iterable[Mapping[str, Any]], numbers: Iterable[int]):
    first, problems = {}, []
    for entry, row in zip(instances, numbers, strict=True):
        if entry["id"] in first:
            problems.append(f"row {row}: the ID '{entry['id']}' is already in row {first[entry['id']]}")
        first.setdefault(entry["id"], row)
    return problems


def _quadruple_problems(instances: Sequence[Mapping[str, Any]], numbers: Sequence[int]):
    problems = _repetitions(instances, numbers)
    for start in range(0, len(instances), 4):
        four, row = instances[start : start + 4], numbers[start]
        name = four[0]["id"]
        expected = [instance_id(name, role) for role in ROLES]
        if [entry["id"] for entry in four] != expected:
            ids = ", ".join(entry["id"] for entry in four)
            # What follows is out of step with its quadruples.
            return [*problems, f"row {row}: the IDs {ids} should be {', '.join(expected)}"]
        genders = [GENDERS[entry["pronoun"].lower()] for entry in four]
        if genders not in (["M", "M", "F", "F"], ["F", "F", "M", "M"]):
            problems.append(f"row {row}: the genders of quadruple '{name}' are {' '.join(genders)}, not two and two")
        else:
            forms = {entry["pronoun"].lower() for entry in four}
            if not any(forms <= pair for pair in ({"he", "she"}, {"him", "her"}, {"his", "her"}, {"his", "hers"})):
                problems.append(
                    f"row {row}: the pronouns of quadruple '{name}' differ in case ({', '.join(sorted(forms))})"
                )
        for entry, number in zip(four[1:], numbers[start + 1 : start + 4], strict=True):
            if (entry["a_coref"], entry["b_coref"]) != (four[0]["a_coref"], four[0]["b_coref"]):
                problems.append(f"row {number}: the labels differ from those of the original in row {row}")
    return problems
