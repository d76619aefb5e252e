"""MISGENDERED's templates: this project's file and the authors' files, read and checked.

A template is a text about one person: ``{name}`` stands for the person's name wherever it is mentioned, and the slot
``___`` for the pronoun that is asked for (``{pronoun}`` in this project's file, ``{mask_token}`` in the authors').
Whether a sentence of this project's shows by its syntax which form the slot wants is a test of the file
(``tests/misgendered/test_templates.py``).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data.options import SLOT
from scripts.core.data.templates import raise_first, read_frame
from scripts.core.errors import UserError
from scripts.misgendered.declarations import DECLARED_SLOT, NAME
from scripts.misgendered.study import FORMS

PRONOUN, MASK = "{pronoun}", "{mask_token}"
# A declaration that three rows of templates.csv carry, and none of the files with declarations.
_STRAY = " ({nom}/{acc})"


@dataclass(frozen=True)
class Template:
    """One template; ``text`` has the slots for names (``declarations.NAME``) and the pronoun (``___``)."""

    index: int
    form: str
    text: str
    row: int
    where: str


@dataclass(frozen=True)
class Templates:
    """A template set; ``released`` are the authors' texts with declarations, if any, by type and number."""

    name: str
    rows: list[Template]
    file: str
    released: dict = field(default_factory=dict)


def read_replica(path: str | Path) -> Templates:
    """Read this project's templates: columns ``template`` (its number, kept when others go), ``form``, ``text``."""
    frame, rows = read_frame(path, ("template", "form", "text"), key="template", levels={"form": FORMS}), []
    for row, number, form, text in frame.itertuples(name=None):
        where = f"{path}, row {row}"
        if not re.fullmatch("[0-9]{1,4}", number):
            raise UserError(f"{where}: the template's number '{number}' must be a whole number; correct it")
        if SLOT in text:
            raise UserError(f"{where}: the template holds {SLOT}; write {PRONOUN} for the slot")
        rows.append(Template(int(number), form, text.replace(PRONOUN, SLOT), row, where))
    return _checked(Templates("replica", rows, str(path)))


def read_official(path: str | Path, released: dict[tuple[str, int], str]) -> Templates:
    """Read the authors' ``templates.csv``, without the stray declaration that three rows carry.

    ``released`` is type and number of a declaration to the path of its file.
    """
    frame = _read_csv(path)
    bare = frame.template.str.replace(_STRAY, "", regex=False).str.replace(MASK, SLOT, regex=False)
    rows = [
        Template(number, form, text, number + 2, f"{path}, row {number + 2}")
        for number, (form, text) in enumerate(zip(frame.form, bare, strict=True))
    ]
    texts = {key: _released(file, rows) for key, file in released.items()}
    return _checked(Templates("official", rows, str(path), texts))


def _released(path: str | Path, rows: Sequence[Template]):
    frame = _read_csv(path)
    if len(frame) != len(rows):
        raise UserError(f"{path}: has {len(frame)} templates where templates.csv has {len(rows)}; fetch it again")
    # The forms that are declared stand one after the other; which they are is known from the file's name.
    texts = frame.template.str.replace(r"\{\w+\}(?:/\{\w+\})+", DECLARED_SLOT, regex=True)
    texts = texts.str.replace(MASK, SLOT, regex=False)
    whole = (frame.form == [row.form for row in rows]) & (texts.str.count(SLOT) == 1)
    whole &= texts.str.contains(DECLARED_SLOT, regex=False)
    if not whole.all():
        row = int(whole.argmin()) + 2
        raise UserError(f"{path}, row {row}: not a template of the authors' with its declaration; fetch the file again")
    return texts.tolist()


def _read_csv(path: str | Path) -> pd.DataFrame:
    """Return a file of the authors with the columns ``template`` and ``form``."""
    frame = files.read_csv(path, dtype=str).fillna("")
    if not {"template", "form"} <= set(frame) or not set(frame.form) <= set(FORMS):
        raise UserError(f"{path}: has no columns template and form with the five forms; fetch it again")
    return frame


def _checked(templates: Templates) -> Templates:
    """Return templates that instances can be made from; refuse others. No message quotes a template."""
    problems, texts = [], {}
    for template in templates.rows:
        where, slots = template.where, template.text.count(SLOT)
        if slots != 1:
            problems.append(f"{where}: a template has {PRONOUN} exactly once, this one {slots} times; write one slot")
        elif NAME not in template.text.partition(SLOT)[0]:
            problems.append(f"{where}: {NAME} must stand before the slot; name the person first")
        if re.search(r"[{}]", template.text.replace(NAME, "")):
            problems.append(f"{where}: braces stand for {NAME} and {PRONOUN} alone; remove the others")
        if texts.setdefault(template.text, where) != where:
            problems.append(f"{where}: repeats the template of {texts[template.text]}; write another one")
    present = {template.form for template in templates.rows}
    problems += [
        f"{templates.file}: has no template of the form {form}; add one" for form in FORMS if form not in present
    ]
    raise_first(problems)
    return templates


def sentence_initial(text: str) -> bool:
    """Tell whether the slot of a text begins a sentence (as :func:`scripts.core.data.options.fill_slot` sees it)."""
    before = text.partition(SLOT)[0].rstrip()
    return not before or before.endswith((".", "!", "?"))
