"""The quadruples that this project wrote: a row for each, with slots, from which its four instances are built.

Slots: ``{a}`` and ``{b}`` are the candidate names, ``{x}`` and ``{y}`` the two of the other gender;
``{target:<case>}`` is the pronoun to resolve, once; ``{same:…}`` and ``{other:…}`` are further words about people of
the candidates' and of the other gender, a grammatical case for a pronoun or ``masculine/feminine`` for any word.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core.data.templates import CASES, FORMS, read_frame
from scripts.core.errors import UserError
from scripts.counter_gap.passages import GENDERS, OTHER, PLACES, ROLES, cases, instance_id

COLUMNS = ("id", "gender", "right", "a", "b", "x", "y", "text")
SETS = {"M": "he", "F": "she"}
_NAMES = ("a", "b", "x", "y")


def read_quadruples(path: str | Path, pronouns: Mapping[str, dict]) -> pd.DataFrame:
    """Return the instances of the project's quadruples (:mod:`scripts.counter_gap.passages` has the columns).

    ``pronouns`` are pronoun sets, at least ``he`` and ``she``, to their forms. A UserError names bad rows.
    """
    levels = {"gender": SETS, "right": ("a", "b", "neither")}
    frame = read_frame(path, COLUMNS, key="id", levels=levels)
    rows = list(zip(frame.index, frame.to_dict("records"), strict=True))
    problems = [f"row {row}: {problem}" for row, cells in rows for problem in _problems(cells)]
    if problems:
        raise UserError(f"{path}: {'; '.join(problems)}; correct these rows")
    made = pd.DataFrame([{**_instance(cells, role, pronouns), "row": row} for row, cells in rows for role in ROLES])
    made["gender"] = made.pronoun.str.lower().map(GENDERS)
    return made.assign(case=cases(made))


def _problems(cells: Mapping[Any, str]) -> Iterator[str]:
    text, names = cells["text"], [cells[name] for name in _NAMES]
    slots, literal = re.findall(r"\{([^{}]*)\}", text), re.sub(r"\{[^{}]*\}", " ", text)
    gendered = {*GENDERS, "himself", "herself"}.intersection(re.findall(r"\w+", literal.lower()))
    if len(set(names)) < 4:
        yield "four different names are needed"
    yield from (f"the slot '{{{slot}}}' is unknown" for slot in slots if not _is_known(slot))
    yield from (f"the slot '{{{name}}}' is missing" for name in _NAMES if name not in slots)
    if sum(slot.startswith("target:") for slot in slots) != 1:
        yield "one slot {target:…} is needed"
    if "{a}" in text and "{b}" in text and text.index("{a}") > text.index("{b}"):
        yield "{a} must come before {b}"
    yield from (f"'{word}' must be a slot" for word in sorted(gendered))
    outside = [name for name in names if re.search(rf"\b{re.escape(name)}\b", literal)]
    yield from (f"the name '{name}' is outside its slot" for name in outside)
    if "{" in literal or "}" in literal:
        yield "a brace is not closed"


def _is_known(slot: str):
    kind, _, what = slot.partition(":")
    if kind == "target":
        return what in CASES
    if kind in ("same", "other"):
        return what in FORMS or re.fullmatch(r"\w+/\w+", what) is not None
    return slot in _NAMES


def _instance(cells: Mapping[Any, str], role: str, pronouns: Mapping[str, dict]):
    names = {slot: cells[place] for slot, place in zip(_NAMES, PLACES[role], strict=True)}
    candidates_gender = cells["gender"] if role in ROLES[:2] else OTHER[cells["gender"]]
    parts, offsets, length = [], {}, 0
    for literal, slot in re.findall(r"([^{]*)(?:\{([^}]*)\})?", cells["text"]):
        word = _filled(slot, names, candidates_gender, pronouns)
        key = slot.partition(":")[0]
        # The first mention of a name is the annotated one.
        offsets.setdefault(key, length + len(literal))
        if key == "target":
            names[key] = word
        parts += [literal, word]
        length += len(literal) + len(word)
    return {
        "id": instance_id(cells["id"], role),
        "text": "".join(parts),
        "pronoun": names["target"],
        "pronoun_offset": offsets["target"],
        "a": names["a"],
        "a_offset": offsets["a"],
        "b": names["b"],
        "b_offset": offsets["b"],
        "a_coref": cells["right"] == "a",
        "b_coref": cells["right"] == "b",
        "book": "own",
        "quadruple": cells["id"],
        "role": role,
    }


def _filled(slot: str, names: Mapping[str, str], candidates_gender: str, pronouns: Mapping[str, dict]):
    if not slot:
        return ""
    kind, _, what = slot.partition(":")
    if kind in names:
        return names[kind]
    gender = OTHER[candidates_gender] if kind == "other" else candidates_gender
    if "/" in what:
        return what.split("/")[gender == "F"]
    return pronouns[SETS[gender]][what]
