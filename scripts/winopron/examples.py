"""The sentences that the tables of examples show (Figures 1, 2 and 4 of the paper), and how they are typeset."""

import re
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core.data.templates import read_tsv
from scripts.core.errors import UserError
from scripts.core.paper import latex
from scripts.core.paper.tables import blank_repeats
from scripts.winopron.templates import PRONOUN

COLUMNS = ["part", "label", "before", "pronoun", "after", "means"]
"""``part`` is the head that a sentence stands under; a sentence is ``before``, ``pronoun`` and ``after``; ``means`` is
the person meant."""
PROBLEM_COLUMNS = ("problem", "occupation", "case", "answer", "double")
FAULTY, HERE = "faulty", "here"
LETTERS = "abcdefghijklmnop"
WIDTHS = (0.27, 0.1, 0.5)
"""Columns of the tables, in parts of a column of the page."""


def typeset_sentences(frame: pd.DataFrame) -> str:
    """Return sentences as a LaTeX table: the person meant is bold, the pronoun in italics, two blanks are marked."""
    cells = {
        "Part": blank_repeats(frame.part),
        " ": frame.label,
        "Sentence": pd.Series([_sentence(row) for row in frame.itertuples()], dtype=object),
    }
    return latex.wrapped_table(pd.DataFrame(cells), WIDTHS)


def _sentence(row: Any):
    person = re.compile(rf"\b{re.escape(latex.escape(row.means))}\b")
    before = person.sub(lambda found: rf"\textbf{{{found[0]}}}", latex.escape(row.before))
    before = before.replace("  ", r"\textvisiblespace{}\textvisiblespace{}")
    return latex.Raw(rf"{before}\textit{{{latex.escape(row.pronoun)}}}{latex.escape(row.after)}")


def read_problems(path: str | Path) -> list[dict]:
    """Return the made-up sentences with the problems of Winogender Schemas (section 3.1), in the order of the file."""
    rows = []
    for row, cells in read_tsv(path, PROBLEM_COLUMNS):
        if cells["double"].count(PRONOUN) != 1:
            raise UserError(f"{path}, row {row}: the sentence needs the slot {PRONOUN} once; correct it")
        rows.append(cells)
    return rows


def tabulate_problems(faulty: list[dict], instances: pd.DataFrame) -> pd.DataFrame:
    """Return faulty sentences beside the templates of the same people and case (Figure 1): labels say which is which.

    Sentences have *they* as their pronoun if the run has it, else its last set.
    """
    shown = next((name for name in instances.pronoun_set if name.startswith("they/")), instances.pronoun_set.iloc[-1])
    right = instances[instances.pronoun_set == shown].set_index(["occupation", "case", "answer"])
    rows = []
    for part in dict.fromkeys(cells["problem"] for cells in faulty):
        same = [cells for cells in faulty if cells["problem"] == part]
        for label in (FAULTY, HERE):
            for cells in same:
                row = right.loc[tuple(cells[key] for key in ("occupation", "case", "answer"))]
                means = row[cells["answer"]] if cells["answer"] == "participant" else cells["occupation"]
                before, _, after = cells["double"].partition(PRONOUN)
                parts = (before, row.pronoun, after) if label == FAULTY else _parts(row)
                rows.append((part, label, *parts, means))
    return pd.DataFrame(rows, columns=COLUMNS)


def tabulate_schemas(instances: pd.DataFrame) -> pd.DataFrame:
    """Return a pair of templates with all pronouns (Figure 2): the first in the possessive."""
    rows = []
    for number, (_, same) in enumerate(_first_pair(instances).groupby("ending")):
        row = same.iloc[0]
        before, _, after = _parts(row)
        forms = " / ".join(dict.fromkeys(same.pronoun))
        rows.append((_people(row), f"({LETTERS[number]})", before, forms, after, getattr(row, row.answer)))
    return pd.DataFrame(rows, columns=COLUMNS)


def tabulate_groups(instances: pd.DataFrame) -> pd.DataFrame:
    """Return sentences whose answers have to be right together (Figure 4).

    The first template in the possessive with all pronoun sets, and both endings with the last of them.
    """
    pair = _first_pair(instances)
    one = pair[pair.ending == 1]
    both = pair[pair.pronoun_set == one.pronoun_set.iloc[-1]]
    rows = [
        (part, f"({LETTERS[number]})", *_parts(row), getattr(row, row.answer))
        for part, of_part in (("Pronoun consistency", one), ("Disambiguation consistency", both))
        for number, row in enumerate(of_part.itertuples())
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _first_pair(instances: pd.DataFrame):
    possessive = instances[instances["case"] == "possessive"]
    return possessive[possessive.template_pair == possessive.template_pair.iloc[0]]


def _parts(row: Any):
    end = row.pronoun_offset + len(row.pronoun)
    return row.text[: row.pronoun_offset], row.pronoun, row.text[end:]


def _people(row: Any):
    return f"{row.occupation.capitalize()} and {row.participant}"
