"""Sheets for annotators: sentences out as CSV, labels back in, and how far the annotators agree.

The blank sheet is the task. A completed sheet is accepted only if it has the rows and texts of the blank one, so that a
sheet of other instances cannot be read by mistake.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import sheets
from scripts.core.errors import UserError, count_noun

ROW, ANNOTATOR = "Row", "Annotator"
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def write_sheet(path: str | Path, items: pd.DataFrame, questions: Mapping[str, Sequence[str]], seed: int) -> None:
    """Write the blank sheet: items (the first column is ``Row``) in random order and a column per question."""
    # Spreadsheets run a cell that begins like a formula.
    safe = items.map(lambda cell: f"'{cell}" if str(cell).startswith(("=", "+", "-", "@")) else cell)
    files.write_csv(path, safe.sample(frac=1, random_state=seed).assign(**dict.fromkeys([*questions, ANNOTATOR], "")))


def read_labels(
    sheet: str | Path, completed: Sequence[str], questions: Mapping[str, Sequence[str]], *, partial: bool = False
) -> pd.DataFrame:
    """Return the labels of completed sheets: ``annotator``, ``item``, ``question``, ``label``, ``row``.

    Args:
        sheet: The blank sheet.
        completed: CSV as spreadsheets save it. Each names one annotator in its column ``Annotator``.
        questions: Columns to their answers; any word is one where there are none. Empty is a *no* where that is one,
            and otherwise refused.
        partial: Whether rows without any answer are left out. Otherwise they are refused.

    Raises:
        UserError: With the file, its rows and a remedy.
    """
    if not completed:
        raise UserError(f"{sheet}: no completed sheet is listed; add the files to the study's annotation.sheets")
    asked = sheets.read_sheet(sheet, ROW).set_index(ROW)
    asked = asked.drop(columns=[ANNOTATOR, *questions])
    known, labels = {}, []
    for path in completed:
        table = sheets.read_sheet(path, ROW)
        for name in [ROW, *asked, *questions, ANNOTATOR]:
            if name not in table:
                raise UserError(f"{path}, row 1: the column '{name}' is missing; copy it from {sheet}")
        names = {_simplify(cell): cell.strip() for cell in table[ANNOTATOR] if _simplify(cell)}
        if len(names) != 1:
            found = " and ".join(f"'{name}'" for name in names.values()) or "nobody"
            raise UserError(f"{path}: the column '{ANNOTATOR}' names {found}; enter one name in its first row")
        ((name, annotator),) = names.items()
        if name in known:
            raise UserError(f"{path}: '{annotator}' also completed {known[name]}; list one sheet per annotator")
        known[name] = path
        labels += [(annotator, *label) for label in _labels(table, asked, questions, partial, path)]
    return pd.DataFrame(labels, columns=["annotator", "item", "question", "label", "row"])


def _simplify(text: str) -> str:
    """Return a text without invisible differences: Unicode forms, characters without width, blanks, capitals."""
    visible = "".join(letter for letter in unicodedata.normalize("NFKC", text) if unicodedata.category(letter) != "Cf")
    return " ".join(visible.split()).casefold()


def _labels(
    table: pd.DataFrame, asked: pd.DataFrame, questions: Mapping[str, Sequence[str]], partial: bool, path: str
) -> list[tuple]:
    """Return item, question, label and row of each answer of a sheet."""
    problems, labels, seen = [], [], {}
    for number, cells in table.iterrows():
        item = cells[ROW]
        try:
            if item not in asked.index:
                raise ValueError(f"'{item[:100]}' is not in the blank sheet; restore the column {ROW}")
            if seen.setdefault(item, number) != number:
                raise ValueError(f"repeats row {seen[item]}; remove one of them")
            for name in asked:
                if cells[str(name)].split() != str(asked.at[item, name]).split():
                    raise ValueError(f"'{name}' differs from the blank sheet; restore the cell")
            if not partial or any(_simplify(cells[name]) for name in questions):
                labels += [(item, name, _label(cells[name], name, questions[name]), number) for name in questions]
        except ValueError as error:
            problems.append(f"row {number}: {error}")
    missing = [item for item in asked.index if item not in seen]
    if missing and not partial:
        problems.append(f"{count_noun(len(missing), 'row')} missing, the first is '{missing[0]}'; restore all rows")
    if not labels and not problems:
        problems.append("no row is answered; complete the sheet or remove it from the list")
    if problems:
        more = f" (and {count_noun(len(problems) - 1, 'other problem')})" if len(problems) > 1 else ""
        raise UserError(f"{path}: {problems[0]}{more}")
    return labels


def _label(cell: str, question: str, options: Sequence[str]) -> str:
    given, labels = _simplify(cell), {label.casefold(): label for label in options}
    if not given and "no" in labels:
        return "no"
    if given in labels or (not labels and _WORD.fullmatch(given)):
        return labels.get(given, given)
    said = f"'{given[:100]}' is not an answer to '{question}'" if given else f"'{question}' is empty"
    allowed = f"one of {', '.join(options)}" if options else "the one word that fills the blank"
    raise ValueError(f"{said}; enter {allowed}")


def measure_agreement(labels: pd.DataFrame) -> pd.DataFrame:
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
        alpha = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal") if several else np.nan
        for measure, value in (("agreed", (counts.max(axis=1) / counts.sum(axis=1)).mean()), ("alpha", alpha)):
            rows.append((question, measure, value, table.annotator.nunique(), len(counts)))
    return pd.DataFrame(rows, columns=["question", "measure", "value", "annotators", "items"])
