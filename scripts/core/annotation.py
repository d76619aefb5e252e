"""Sheets in which people judge sentences, and what comes back (WinoPron, Appendix C).

A study says what is asked in a table of *items*: ``item_id``, ``group`` (what is accepted together, such as an
instance), ``sentence``, ``question`` and ``expected`` (its right answer). Annotators get all items in one random order,
without the right answers, and fill in two columns. Nobody reorders rows, but a sheet that was sorted is read all the
same: rows are found by their id.
"""

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError, counted

ITEM_COLUMNS = ("item_id", "group", "sentence", "question", "expected")
SHEET_COLUMNS = ("Row", "Sentence", "Question", "Grammatical?", "Answer")
GRAMMATICAL = ("grammatical", "ungrammatical", "not sure")
ANSWERS = ("yes", "no", "not sure")
OPTIONS = {"Grammatical?": GRAMMATICAL, "Answer": ANSWERS}
"""The task columns and what may stand in them."""


def sheet(items, seed):
    """Return the empty sheet for annotators.

    Parameters
    ----------
    items : DataFrame
        :data:`ITEM_COLUMNS`.
    seed : int
        Of the order of the rows, the same for all annotators.

    Returns
    -------
    DataFrame of str
        :data:`SHEET_COLUMNS`; ``Row`` is the item's id.

    Raises
    ------
    UserError
        If an id occurs twice or a right answer is not one that annotators can give.
    """
    _check_items(items)
    mixed = items.iloc[np.random.default_rng(seed).permutation(len(items))].reset_index(drop=True)
    return pd.DataFrame(
        {"Row": mixed.item_id, "Sentence": mixed.sentence, "Question": mixed.question, "Grammatical?": "", "Answer": ""}
    )[list(SHEET_COLUMNS)]


def _check_items(items):
    if items.item_id.duplicated().any():
        raise UserError(f"the item '{items.item_id[items.item_id.duplicated()].iloc[0]}' occurs twice; rename one")
    for item in items.itertuples():
        if item.expected not in ANSWERS[:2]:
            raise UserError(f"the item '{item.item_id}' expects '{item.expected}'; the right answer is yes or no")


def read(path, items):
    """Read a sheet that an annotator filled in.

    Parameters
    ----------
    path : str or Path
        CSV with :data:`SHEET_COLUMNS`, in any order of columns and rows.
    items : DataFrame
        Those that the sheet was made from.

    Returns
    -------
    DataFrame
        ``item_id``, ``grammatical``, ``answer``, ``row`` (the line in the sheet), in the order of ``items``.

    Raises
    ------
    UserError
        Naming every bad row: an unknown or repeated id, another sentence or question than was asked, a cell without an
        answer or with one that is not among the options, and items that are missing.
    """
    table = files.read_csv(path, dtype=str).fillna("")
    missing = [name for name in SHEET_COLUMNS if name not in table]
    if missing:
        raise UserError(f"{path}, row 1: the column '{missing[0]}' is missing; restore it")
    known = {item.item_id: item for item in items.itertuples()}
    problems, rows = [], {}
    for number, cells in enumerate(table[list(SHEET_COLUMNS)].to_dict("records"), 2):
        item = known.get(cells["Row"])
        if item is None:
            problems.append(f"row {number}: the id '{cells['Row'][:100]}' was not asked about; restore it")
            continue
        if item.item_id in rows:
            problems.append(f"row {number}: the id '{item.item_id}' is in row {rows[item.item_id]['row']}; remove one")
            continue
        if (cells["Sentence"], cells["Question"]) != (item.sentence, item.question):
            problems.append(f"row {number}: sentence or question differ from what was asked; restore them")
        for column, options in OPTIONS.items():
            if cells[column].strip().lower() not in options:
                given = f"'{cells[column][:100]}' is no answer" if cells[column].strip() else "has no answer"
                problems.append(f"row {number}: {given} in '{column}'; enter one of {', '.join(options)}")
        rows[item.item_id] = {
            "item_id": item.item_id,
            "grammatical": cells["Grammatical?"].strip().lower(),
            "answer": cells["Answer"].strip().lower(),
            "row": number,
        }
    absent = [name for name in known if name not in rows]
    if absent:
        problems.append(f"{counted(len(absent), 'row')} missing, the first is '{absent[0]}'; restore all rows")
    if problems:
        raise UserError(f"{path}: {counted(len(problems), 'problem')}: {'; '.join(problems)}")
    return pd.DataFrame([rows[name] for name in known])


def judged(items, sheets):
    """Return every judgement beside what was expected.

    Parameters
    ----------
    items : DataFrame
    sheets : dict of str to DataFrame
        Annotator to what :func:`read` returned.

    Returns
    -------
    DataFrame
        ``annotator``, :data:`ITEM_COLUMNS`, ``grammatical``, ``answer``, ``row``, ``right``.
    """
    tables = [items.merge(table, on="item_id").assign(annotator=name) for name, table in sheets.items()]
    table = pd.concat(tables, ignore_index=True)
    table["right"] = table.answer == table.expected
    return table[["annotator", *ITEM_COLUMNS, "grammatical", "answer", "row", "right"]]


def rejected(judgements):
    """Return the rows that an annotator rejected: not grammatical, or answered otherwise than expected.

    Returns
    -------
    DataFrame
        Rows of :func:`judged` with a column ``reason``; those with two reasons come once.
    """
    sentence = np.where(judgements.grammatical != GRAMMATICAL[0], judgements.grammatical, "")
    answer = np.where(judgements.right, "", judgements.answer + " where " + judgements.expected + " is expected")
    reasons = [
        "; ".join(
            filter(None, (f"grammatical: {said}" if said == "not sure" else said, f"answer: {other}" if other else ""))
        )
        for said, other in zip(sentence, answer, strict=True)
    ]
    table = judgements.assign(reason=reasons)
    return table[table.reason != ""].reset_index(drop=True)


def agreement(judgements):
    """Return how far annotators accept the sentences and agree with each other.

    Returns
    -------
    DataFrame
        ``measure``, ``annotator`` (empty where it is about all), ``value``. For each annotator ``grammatical`` (share
        of items) and ``right`` (share of groups all of whose questions are answered as expected: the paper's unique,
        correct coreferences). For two annotators or more, of both columns, ``same`` (share of items on which all say
        the same) and ``kappa`` (Fleiss 1971); kappa is missing where everybody always said the same one thing.
    """
    rows = []
    for annotator, table in judgements.groupby("annotator", sort=False):
        rows.append(("grammatical", annotator, (table.grammatical == GRAMMATICAL[0]).mean()))
        rows.append(("right", annotator, table.groupby("group", sort=False).right.all().mean()))
    if judgements.annotator.nunique() > 1:
        for column in ("grammatical", "answer"):
            wide = judgements.pivot(index="item_id", columns="annotator", values=column)
            rows.append((f"{column}_same", "", (wide.nunique(axis=1) == 1).mean()))
            rows.append((f"{column}_kappa", "", _kappa(wide.to_numpy())))
    return pd.DataFrame(rows, columns=["measure", "annotator", "value"])


def _kappa(said):
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    counts, categories = aggregate_raters(said)
    return float(fleiss_kappa(counts, method="fleiss")) if len(categories) > 1 else np.nan
