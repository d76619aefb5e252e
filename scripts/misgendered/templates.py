"""MISGENDERED's templates: this project's file and the authors' files, read and checked.

A template is a text about one person: ``{name}`` stands for the person's name wherever it is mentioned, and the slot
``___`` for the pronoun that is asked for (``{pronoun}`` in this project's file, ``{mask_token}`` in the authors').
Whether a sentence of this project's shows by its syntax which form the slot wants is a test of the file
(``tests/misgendered/test_templates.py``).
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.core.data.options import SLOT
from scripts.core.data.templates import raise_first, read_tsv
from scripts.core.errors import UserError, did_you_mean
from scripts.core.files import read_text
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
    """Read this project's templates: columns ``template`` (its number, which stays when others go), ``form``, ``text``.

    Raises:
        UserError: For the first problem, naming file and row.
    """
    rows = []
    for row, cells in read_tsv(path, ("template", "form", "text")):
        where, number = f"{path}, row {row}", cells["template"]
        if not (number.isdecimal() and number.isascii() and len(number) < 5):
            raise UserError(f"{where}: the template's number '{number}' must be a whole number; correct it")
        if SLOT in cells["text"]:
            raise UserError(f"{where}: the template holds {SLOT}; write {PRONOUN} for the slot")
        rows.append(Template(int(number), cells["form"], cells["text"].replace(PRONOUN, SLOT), row, where))
    return _checked(Templates("replica", rows, str(path)))


def read_official(path: str | Path, released: dict[tuple[str, int], str]) -> Templates:
    """Read the authors' templates.

    Args:
        path: ``templates.csv``.
        released: Type and number of a declaration to the path of its file.

    Returns:
        With texts as they are released, but for the stray declaration that three rows carry.

    Raises:
        UserError: If a file is not what the authors released.
    """
    rows = []
    for row, cells in _csv_rows(path):
        text = cells["template"].replace(_STRAY, "").replace(MASK, SLOT)
        rows.append(Template(row - 2, cells["form"], text, row, f"{path}, row {row}"))
    texts = {key: _released(file, rows) for key, file in released.items()}
    return _checked(Templates("official", rows, str(path), texts))


def _released(path: str | Path, rows: Sequence[Template]):
    texts = []
    for row, cells in _csv_rows(path):
        # The forms that are declared stand beside one another; which they are is known from the file's name.
        texts.append(re.sub(r"\{\w+\}(?:/\{\w+\})+", DECLARED_SLOT, cells["template"]).replace(MASK, SLOT))
        same = row - 2 < len(rows) and cells["form"] == rows[row - 2].form
        if not same or texts[-1].count(SLOT) != 1 or DECLARED_SLOT not in texts[-1]:
            raise UserError(
                f"{path}, row {row}: not a template of the authors' with its declaration; fetch the file again"
            )
    if len(texts) != len(rows):
        raise UserError(f"{path}: has {len(texts)} templates where templates.csv has {len(rows)}; fetch it again")
    return texts


def _csv_rows(path: str | Path):
    reader = csv.DictReader(io.StringIO(read_text(path, "fetch it again"), newline=""))
    rows = list(enumerate(reader, start=2))
    if not rows or not {"template", "form"} <= rows[0][1].keys():
        raise UserError(f"{path}: has no columns template and form; fetch it again")
    return rows


def _checked(templates: Templates) -> Templates:
    """Return templates that instances can be made from; refuse others. No message quotes a template."""
    problems, numbers, texts = [], {}, {}
    for template in templates.rows:
        where, slots = template.where, template.text.count(SLOT)
        if template.form not in FORMS:
            hint = did_you_mean(template.form, FORMS) or f"; the forms are {', '.join(FORMS)}"
            problems.append(f"{where}: the form '{template.form}' is unknown{hint}")
        if slots != 1:
            problems.append(f"{where}: a template has {PRONOUN} exactly once, this one {slots} times; write one slot")
        elif NAME not in template.text.partition(SLOT)[0]:
            problems.append(f"{where}: {NAME} must stand before the slot; name the person first")
        if re.search(r"[{}]", template.text.replace(NAME, "")):
            problems.append(f"{where}: braces stand for {NAME} and {PRONOUN} alone; remove the others")
        if numbers.setdefault(template.index, where) != where:
            problems.append(f"{where}: the template's number {template.index} is in {numbers[template.index]} already")
        if texts.setdefault(template.text, where) != where:
            problems.append(f"{where}: repeats the template of {texts[template.text]}; write another one")
    present = {template.form for template in templates.rows}
    problems += [
        f"{templates.file}: has no template of the form {form}; add one" for form in FORMS if form not in present
    ]
    raise_first(problems)
    return templates


def sentence_initial(text: str) -> bool:
    """Tell whether the slot of a text begins a sentence (as :func:`scripts.core.data.options.fill` sees it)."""
    before = text.partition(SLOT)[0].rstrip()
    return not before or before.endswith((".", "!", "?"))
