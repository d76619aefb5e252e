"""Sheets for annotators: sentences out as CSV, labels back in, and how far the annotators agree.

The blank sheet is the task. A completed sheet is accepted only if it has the rows and texts of the blank one, so that a
sheet of other instances cannot be read by mistake.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError, count_noun

ROW, ANNOTATOR = "Row", "Annotator"
MOST_PROBLEMS = 10
LABEL_COLUMNS = ("annotator", "item", "question", "label", "row")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class Question:
    """A column that annotators fill: with one of the options, or with a single word where there are none.

    An empty cell is refused, or read as ``default``.
    """

    column: str
    options: tuple[str, ...] = ()
    default: str = ""

    def parse(self, cell: str) -> str:
        """Return the label of a cell; raise ValueError with problem and remedy."""
        given = _simplify(cell)
        labels = {option.casefold(): option for option in self.options}
        allowed = f"one of {', '.join(self.options)}" if labels else "the one word that fills the blank"
        if not given and not self.default:
            raise ValueError(f"'{self.column}' is empty; enter {allowed}")
        if not given:
            return self.default
        if given not in labels and (labels or not _WORD.fullmatch(given)):
            raise ValueError(f"'{given[:100]}' is not an answer to '{self.column}'; enter {allowed}")
        return labels.get(given, given)


def write_sheet(path: str | Path, items: pd.DataFrame, questions: Sequence[Question], seed: int) -> None:
    """Write the blank sheet: items (the first column is ``Row``) in random order and a column per question."""
    # Spreadsheets run a cell that begins like a formula.
    safe = items.map(lambda cell: f"'{cell}" if str(cell).startswith(("=", "+", "-", "@")) else cell)
    table = safe.sample(frac=1, random_state=seed)
    files.write_csv(path, table.assign(**dict.fromkeys([question.column for question in questions], ""), Annotator=""))


def read_labels(
    sheet: str | Path, completed: Sequence[str], questions: Sequence[Question], *, partial: bool = False
) -> pd.DataFrame:
    """Return all labels of all completed sheets, with the columns :data:`LABEL_COLUMNS`.

    Args:
        sheet: The blank sheet.
        completed: CSV as spreadsheets save it. Each names one annotator in its column ``Annotator``.
        partial: Whether rows without any answer are left out. Otherwise they are refused.

    Raises:
        UserError: With the file, its rows and a remedy.
    """
    if not completed:
        raise UserError(f"{sheet}: no completed sheet is listed; add the files to the study's annotation.sheets")
    asked = files.read_sheet(sheet, ROW).set_index(ROW)
    asked = asked.drop(columns=[ANNOTATOR, *(question.column for question in questions)])
    known, tables = {}, []
    for path in completed:
        table = files.read_sheet(path, ROW)
        needed = [ROW, *asked, *(question.column for question in questions), ANNOTATOR]
        missing = [name for name in needed if name not in table]
        if missing:
            raise UserError(f"{path}, row 1: the column '{missing[0]}' is missing; copy it from {sheet}")
        name = _annotator(table[ANNOTATOR], path)
        if _simplify(name) in known:
            raise UserError(f"{path}: '{name}' also completed {known[_simplify(name)]}; list one sheet per annotator")
        known[_simplify(name)] = path
        tables.append(_labels(table, asked, questions, partial, path).assign(annotator=name))
    return pd.concat(tables, ignore_index=True)[list(LABEL_COLUMNS)]


def _simplify(text: str) -> str:
    """Return a text without invisible differences: Unicode forms, characters without width, blanks, capitals."""
    visible = "".join(letter for letter in unicodedata.normalize("NFKC", text) if unicodedata.category(letter) != "Cf")
    return " ".join(visible.split()).casefold()


def _annotator(cells: pd.Series, path: str) -> str:
    names = {_simplify(cell): cell.strip() for cell in cells if _simplify(cell)}
    if len(names) != 1:
        found = " and ".join(f"'{name}'" for name in names.values()) or "nobody"
        raise UserError(f"{path}: the column '{ANNOTATOR}' names {found}; enter the annotator's name in its first row")
    return next(iter(names.values()))


def _labels(
    table: pd.DataFrame, asked: pd.DataFrame, questions: Sequence[Question], partial: bool, path: str
) -> pd.DataFrame:
    problems, rows, seen = [], [], {}
    cells: Any
    for number, cells in table.iterrows():
        item = cells[ROW]
        if item not in asked.index:
            problems.append(f"row {number}: '{item[:100]}' is not in the blank sheet; restore the column {ROW}")
            continue
        if item in seen:
            problems.append(f"row {number}: repeats row {seen[item]}; remove one of them")
            continue
        seen[item] = number
        changed = [name for name in asked if " ".join(cells[name].split()) != " ".join(asked[name][item].split())]
        if changed:
            problems.append(f"row {number}: '{changed[0]}' differs from the blank sheet; restore the cell")
        if partial and not any(_simplify(cells[question.column]) for question in questions):
            continue
        for question in questions:
            try:
                rows.append((item, question.column, question.parse(cells[question.column]), number))
            except ValueError as error:
                problems.append(f"row {number}: {error}")
    missing = [item for item in asked.index if item not in seen]
    if missing and not partial:
        problems.append(f"{count_noun(len(missing), 'row')} missing, the first is '{missing[0]}'; restore all rows")
    if not rows and not problems:
        problems.append("no row is answered; complete the sheet or remove it from the list")
    if problems:
        more = [f"and {len(problems) - MOST_PROBLEMS} more"] if len(problems) > MOST_PROBLEMS else []
        raise UserError(f"{path}: " + "; ".join([*problems[:MOST_PROBLEMS], *more]))
    return pd.DataFrame(rows, columns=["item", "question", "label", "row"])


def agreement(labels: pd.DataFrame) -> pd.DataFrame:
    """Return how far annotators agree on each question, over the items that at least two of them labelled.

    Returns:
        ``question``, ``measure``, ``value``, ``annotators``, ``items``. The measures are ``agreed`` (the mean share of
        an item's labels that are its most frequent one: Counter-GAP's inter-annotator agreement, footnote 8) and
        ``alpha`` (Krippendorff's, nominal; missing if only one label occurs).
    """
    rows = []
    for question, table in labels.groupby("question", sort=False):
        counts = pd.crosstab(table["item"], table.label)
        counts = counts[counts.sum(axis=1) > 1]
        if counts.empty:
            continue
        several = (counts.sum() > 0).sum() > 1
        alpha = (
            krippendorff.alpha(value_counts=counts.to_numpy(), level_of_measurement="nominal") if several else np.nan
        )
        for measure, value in (("agreed", (counts.max(axis=1) / counts.sum(axis=1)).mean()), ("alpha", alpha)):
            rows.append((question, measure, value, table.annotator.nunique(), len(counts)))
    return pd.DataFrame(rows, columns=["question", "measure", "value", "annotators", "items"])
