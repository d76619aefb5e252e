"""Reading the study's files in templates/; every error names file, row and remedy."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from scripts.core.data.templates import read_frame
from scripts.core.errors import UserError

GENDERS = ("female", "male", "neutral")
"""The word groups of the study."""
GROUPS = (*GENDERS, "neo")
"""Those that a word list may have; neopronouns are beyond the study."""
SLOTS = ("nominative", "accusative", "possessive")
WINOGENDER_COLUMNS = ("occupation", "stem", "professional", "participant", "simplified")
DATE_COLUMNS = ("range", "first", "last", "dates")
PROMPT_COLUMNS = ("prompt", "blank", "text")
OCCUPATION_COLUMNS = ("occupation", "participant")
PROMPT_SLOT = "{sentence}"

_SLOT = re.compile(r"\{(\w+)\}")
_GENDERED = re.compile(
    r"\b(he|him|his|himself|she|her|hers|herself|they|them|their|theirs|themselves|themself|"
    r"man|men|woman|women|male|female|boy|girl|mother|father|wife|husband|sister|brother|son|daughter)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Prompt:
    """How a sentence is put to a model that continues texts: ``blank`` stands for the pronoun."""

    blank: str
    text: str

    def wrap(self, sentence: str) -> str:
        """Return the prompt for a sentence whose pronoun is the blank already."""
        return self.text.replace(PROMPT_SLOT, sentence)


def read_words(path: str | Path) -> dict[str, list[str]]:
    """Return the words of each group (columns ``group``, ``word``), at least of :data:`GENDERS`, in file order."""
    frame = read_frame(path, ("group", "word"), key="word", levels={"group": GROUPS})
    for row, word in frame.word.items():
        if word != "".join(str(word).lower().split()):
            _refuse(path, row, f"'{word}' must be one lower-case word; tokens are compared in lower case")
    groups = {str(group): list(words) for group, words in frame.groupby("group", sort=False).word}
    if missing := [group for group in GENDERS if group not in groups]:
        raise UserError(f"{path}: the group '{missing[0]}' has no word; add a row")
    return groups


def read_verbs(path: str | Path) -> list[dict]:
    """Return the verb phrases (columns ``verb``, ``form``, ``phrase``) with their lines (``verb_row``)."""
    frame = read_frame(path, ("verb", "form", "phrase"), key="phrase")
    return frame.rename_axis("verb_row").reset_index().to_dict("records")


def read_life_stages(path: str | Path) -> dict[str, int]:
    """Return the life stages (column ``life_stage``) with their lines."""
    return _lines(read_frame(path, ("life_stage",), key="life_stage").life_stage)


def read_places(path: str | Path) -> dict[str, int]:
    """Return the places in order (columns ``position`` from 1, ``place``, ``end``: bottom or top), with their lines."""
    frame = read_frame(path, ("position", "place", "end"), key="place", levels={"end": ("bottom", "top")})
    for expected, (row, position) in enumerate(frame.position.items(), 1):
        if position != str(expected):
            _refuse(path, row, f"position '{position}' should be {expected}; keep the order")
    return _lines(frame.place)


def read_dates(path: str | Path) -> dict[str, list[int]]:
    """Return the years of each range (columns ``range``, ``first``, ``last``, ``dates``: how many), evenly spaced.

    Fractions of years are cut off, as in the authors' code.
    """
    ranges = {}
    for row, cells in read_frame(path, DATE_COLUMNS, key="range").iterrows():
        if wrong := [name for name in DATE_COLUMNS[1:] if not cells[name].isdecimal()]:
            _refuse(path, row, f"{wrong[0]} '{cells[wrong[0]]}' is not a whole number; write digits only")
        first, last, count = (int(cells[name]) for name in DATE_COLUMNS[1:])
        if not (first < last and 2 <= count <= last - first + 1):
            _refuse(path, row, f"{count} dates from {first} to {last} are not possible; correct one of the three")
        ranges[cells["range"]] = np.linspace(first, last, count).astype(int).tolist()
    return ranges


def read_prompts(path: str | Path) -> dict[str, Prompt]:
    r"""Return the prompts by their ids (columns ``prompt``, ``blank``, ``text``; ``\n`` in a text starts a line)."""
    frame = read_frame(path, PROMPT_COLUMNS, key="prompt")
    for row in frame.index[frame.text.str.count(re.escape(PROMPT_SLOT)) != 1]:
        _refuse(path, row, f"a prompt must hold {PROMPT_SLOT} exactly once; correct it")
    texts = frame.text.str.replace(r"\n", "\n", regex=False)
    return {name: Prompt(*cells) for name, *cells in zip(frame.prompt, frame.blank, texts, strict=True)}


def _refuse(path: str | Path, row: Any, problem: str) -> NoReturn:
    raise UserError(f"{path}, row {row}: {problem}")


def _lines(column: pd.Series) -> dict[str, int]:
    return dict(zip(column, column.index, strict=True))


def read_schemas(path: str | Path, participants: dict) -> list[dict]:
    """Return the project's own pairs in the manner of Winogender, with the ``other`` person and the ``row``.

    ``stem`` begins both sentences of a pair; ``professional`` and ``participant`` end them so that the pronoun means
    the one or the other; ``simplified`` is a sentence about the professional alone, or empty.
    """
    frame = read_frame(
        path, WINOGENDER_COLUMNS, key="occupation", levels={"occupation": participants}, optional=("simplified",)
    )
    if missing := [name for name in participants if name not in set(frame.occupation)]:
        raise UserError(f"{path}: no row for the occupation '{missing[0]}'; add one")
    for row, cells in frame.iterrows():
        stem, professional, participant, simplified = (_SLOT.findall(cells[name]) for name in WINOGENDER_COLUMNS[1:])
        if not cells.stem.startswith("The {occupation} "):
            _refuse(path, row, "the stem must begin with 'The {occupation}'")
        if sorted(stem) != ["occupation", "participant"]:
            _refuse(path, row, "the stem must hold {occupation} and {participant} once each, and no other slot")
        if professional != participant or [*professional][1:] or not set(professional) & set(SLOTS):
            _refuse(path, row, f"both ends must hold the same slot once: {', '.join(f'{{{slot}}}' for slot in SLOTS)}")
        if cells.professional == cells.participant:
            _refuse(path, row, "the two ends are the same; write another one about the participant")
        if cells.simplified and simplified != ["occupation", *professional]:
            _refuse(path, row, "the simplified sentence must hold {occupation} and then the pronoun of the ends")
        for name in WINOGENDER_COLUMNS[1:]:
            if given := _GENDERED.search(_SLOT.sub("", cells[name])):
                _refuse(path, row, f"'{given.group()}' in '{name}' is a pronoun or gives a gender away; reword it")
    return frame.assign(other=frame.occupation.map(participants), row=frame.index).to_dict("records")
