"""Reading GAP's format: passages with a pronoun and two candidate names, alone (GAP) or in quadruples (C-GAP).

Both give one frame with a row for each instance: ``id``, ``quadruple``, ``role`` (:data:`ROLES`), ``text``,
``pronoun``, ``pronoun_offset``, ``a``, ``a_offset``, ``a_coref``, the same for ``b``, ``book``, ``gender`` (M or F, the
pronoun's), ``case``, ``row`` (its line in the file). Offsets count code points from 0. Outside quadruples
``quadruple`` is the instance's own id and ``role`` is ``original``.
"""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
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

    ``labelled`` is False for quadruples that nobody has labelled yet, whose labels are empty and missing in the table.
    A UserError names every bad row: quoting, number of cells, labels, pronouns, offsets, and for quadruples the order
    of their rows, agreement of labels, genders and cases.
    """
    # Each line alone: a quote that is never closed must not swallow the rows after it.
    instances = _instances(
        path, COLUMNS, lambda line: next(csv.reader([line], delimiter="\t", strict=True), []), labelled
    )
    _refuse(path, _quadruple_problems(instances))
    frame = _frame(instances)
    frame["quadruple"] = frame.id.str.replace(r"-(control|swap-[12])$", "", regex=True)
    frame["role"] = [*ROLES] * (len(frame) // 4)
    frame["gender"] = frame.pronoun.str.lower().map(GENDERS)
    return frame.assign(case=cases(frame))


def read_gap(path: str | Path) -> pd.DataFrame:
    """Read one of GAP's files: tab-separated without quoting, single instances; raises as :func:`read_c_gap`."""
    instances = _instances(path, GAP_COLUMNS, lambda line: line.split("\t"))
    _refuse(path, _repetitions(instances))
    frame = _frame(instances)
    lowered = frame.pronoun.str.lower()
    case = lowered.map(CASES).fillna("ambiguous")
    return frame.assign(quadruple=frame.id, role=ROLES[0], gender=lowered.map(GENDERS), case=case)


def _instances(
    path: str | Path, columns: Sequence[str], split: Callable[[str], list[str]], labelled: bool = True
) -> dict[int, dict[str, Any]]:
    """Return the instances of a file by their row; every row is whole."""
    header, *lines = [
        line.removesuffix("\r") for line in files.read_text(path, "fetch it again").rstrip("\n").split("\n")
    ]
    if header != "\t".join(columns):
        raise UserError(f"{path}, row 1: the header must be {', '.join(columns)}; fetch the file again")
    instances, problems = {}, []
    for row, line in enumerate(lines, 2):
        try:
            cells = split(line)
        except csv.Error as error:
            problems.append(f"row {row}: broken quoting ({error})")
            continue
        if len(cells) != len(columns):
            problems.append(f"row {row}: {len(cells)} cells where the header has {len(columns)}")
            continue
        instances[row], complaints = _instance(dict(zip(columns, cells, strict=True)), labelled)
        problems += [f"row {row}: {complaint}" for complaint in complaints]
    # Broken rows shift what follows them, so quadruples are only looked at when every row is whole.
    _refuse(path, problems)
    if not instances:
        raise UserError(f"{path}: has no instance; fetch the file again")
    return instances


def _refuse(path: str | Path, problems: Sequence[str]) -> None:
    if problems:
        raise UserError(f"{path}: {'; '.join(problems)}; correct these rows or fetch the file again")


def _frame(instances: Mapping[int, dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame([*instances.values()]).assign(row=[*instances])


def unlabelled_problems(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what is wrong with four rows of C-GAP that have no labels yet, each a dict by column; empty if nothing."""
    checked = [_instance(row, labelled=False) for row in rows]
    problems = [problem for _, complaints in checked for problem in complaints]
    return problems or _quadruple_problems(dict(enumerate([entry for entry, _ in checked], 1)))


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


def _repetitions(instances: Mapping[int, Mapping[str, Any]]):
    first, problems = {}, []
    for row, entry in instances.items():
        if first.setdefault(entry["id"], row) != row:
            problems.append(f"row {row}: the ID '{entry['id']}' is already in row {first[entry['id']]}")
    return problems


def _quadruple_problems(instances: Mapping[int, Mapping[str, Any]]):
    problems, entries = _repetitions(instances), list(instances.items())
    for start in range(0, len(entries), 4):
        numbers, four = zip(*entries[start : start + 4], strict=True)
        row, name = numbers[0], four[0]["id"]
        expected = [instance_id(name, role) for role in ROLES]
        if [entry["id"] for entry in four] != expected:
            ids = ", ".join(entry["id"] for entry in four)
            # What follows is out of step with its quadruples.
            return [*problems, f"row {row}: the IDs {ids} should be {', '.join(expected)}"]
        genders = [GENDERS[entry["pronoun"].lower()] for entry in four]
        forms = {entry["pronoun"].lower() for entry in four}
        if genders not in (["M", "M", "F", "F"], ["F", "F", "M", "M"]):
            problems.append(f"row {row}: the genders of quadruple '{name}' are {' '.join(genders)}, not two and two")
        elif not any(forms <= pair for pair in ({"he", "she"}, {"him", "her"}, {"his", "her"}, {"his", "hers"})):
            problems.append(
                f"row {row}: the pronouns of quadruple '{name}' differ in case ({', '.join(sorted(forms))})"
            )
        problems += [
            f"row {number}: the labels differ from those of the original in row {row}"
            for number, entry in zip(numbers[1:], four[1:], strict=True)
            if (entry["a_coref"], entry["b_coref"]) != (four[0]["a_coref"], four[0]["b_coref"])
        ]
    return problems
