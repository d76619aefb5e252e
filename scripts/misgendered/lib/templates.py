"""MISGENDERED's templates: this project's file and the authors' files, read and checked.

A template is a text about one person: ``{name}`` stands for the person's name wherever it is mentioned, and the slot
``___`` for the pronoun that is asked for (``{pronoun}`` in this project's file, ``{mask_token}`` in the authors').
"""

import csv
import io
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.core.data.options import SLOT
from scripts.core.data.templates import AGREEING, GENDERED, WORD, raise_first, read_tsv, word_set
from scripts.core.errors import UserError, did_you_mean
from scripts.core.files import read_text
from scripts.misgendered.lib.declarations import DECLARED_SLOT, NAME
from scripts.misgendered.lib.study import FORMS

PRONOUN, MASK = "{pronoun}", "{mask_token}"
# A declaration that three rows of templates.csv carry, and none of the files with declarations.
_STRAY = " ({nom}/{acc})"


OTHER_PRONOUNS = word_set("it its itself themselves they them their theirs one's hir hirs hirself")
_BE = word_set("is was will would must may might could")
_BEFORE_INDEPENDENT = word_set("is was be of")
_AFTER_OBJECT = word_set(
    "about above across after again against along around as at because before behind below beside between by down",
    "during for from how if in inside into near now of off on out over past since soon than that through to today",
    "tomorrow tonight towards twice under until up what when where whether which while who why with without yesterday",
    "and but or",
)


@dataclass(frozen=True)
class Template:
    """One template; ``text`` has :data:`~scripts.misgendered.lib.declarations.NAME` and the slot ``___``."""

    index: int
    form: str
    text: str
    row: int
    where: str


@dataclass(frozen=True)
class Templates:
    """A template set; ``released`` are the authors' texts with declarations, if any, by type and number."""

    name: str
    rows: list
    file: str
    released: dict = field(default_factory=dict)


def read_replica(path: str | Path, pronouns: dict | None = None) -> Templates:
    """Read and check this project's templates.

    Args:
        path: Columns ``template`` (its number, which stays when others go), ``form``, ``text``.
        pronouns: Pronoun sets whose forms must not stand in a template.

    Raises:
        UserError: For the first problem of :func:`check`.
    """
    rows = []
    for row, cells in read_tsv(path, ("template", "form", "text")):
        where = f"{path}, row {row}"
        if not (cells["template"].isdecimal() and cells["template"].isascii() and len(cells["template"]) < 5):
            raise UserError(f"{where}: the template's number '{cells['template']}' must be a whole number; correct it")
        _refuse_loose_slot(cells["text"], where)
        text = cells["text"].replace(PRONOUN, SLOT)
        rows.append(Template(int(cells["template"]), cells["form"], text, row, where))
    templates = Templates("replica", rows, str(path))
    raise_first(check(templates, pronouns))
    return templates


def _refuse_loose_slot(text: str, where: str):
    if SLOT in text:
        raise UserError(f"{where}: the template holds {SLOT}; write {PRONOUN} for the slot")


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
    templates = Templates("official", rows, str(path), {key: _released(file, rows) for key, file in released.items()})
    raise_first(blocking_problems(templates))
    return templates


def _released(path: str | Path, rows: Sequence[Template]):
    texts = []
    for row, cells in _csv_rows(path):
        # The forms that are declared stand beside one another; which they are is known from the file's name.
        texts.append(re.sub(r"\{\w+\}(?:/\{\w+\})+", DECLARED_SLOT, cells["template"]).replace(MASK, SLOT))
        same = row - 2 < len(rows) and cells["form"] == rows[row - 2].form
        if not same or texts[-1].count(SLOT) != 1 or re.findall(r"\{.*?\}", texts[-1].replace(NAME, "")) == []:
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


def check(templates: Templates, pronouns: dict | None = None) -> list[str]:
    """Check what a program can see of this project's templates.

    Each has one slot and a name before it, no other third-person pronoun and no gendered noun, agrees with every
    pronoun group, and shows by its syntax which form the slot wants: a nominative is followed by a verb in the past or
    behind a modal verb; an accusative by no noun, and its sentence has no name before it that would bind it; a
    dependent possessive by its noun, an independent one by none; a reflexive has the name before it in its sentence.

    Args:
        pronouns: Pronoun sets (:func:`scripts.core.data.templates.read_pronouns`).

    Returns:
        One line for each problem: file, row and remedy. No line quotes a template.
    """
    problems = blocking_problems(templates)
    if problems:
        return problems
    forms = OTHER_PRONOUNS | {form for sets in (pronouns or {}).values() for form in sets.values()}
    first = {}
    for template in templates.rows:
        problems += [f"{template.where}: {problem}" for problem in _problems(template, forms)]
        if template.text in first:
            problems.append(f"{template.where}: repeats the template of {first[template.text]}; write another one")
        first.setdefault(template.text, template.where)
    return problems


def blocking_problems(templates: Templates) -> list[str]:
    """Return only the problems that keep instances from being made, in the form of :func:`check`."""
    problems, seen = [], {}
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
        if template.index in seen:
            problems.append(f"{where}: the template's number {template.index} is in {seen[template.index]} already")
        seen.setdefault(template.index, where)
    present = {template.form for template in templates.rows}
    problems += [
        f"{templates.file}: has no template of the form {form}; add one" for form in FORMS if form not in present
    ]
    return problems


def _problems(template: Template, forms: Collection[str]):
    before, _, after = template.text.partition(SLOT)
    words = [word.lower() for word in WORD.findall(template.text.replace(NAME, " ").replace(SLOT, " "))]
    problems = [f"holds the pronoun '{word}'; the slot is the only one" for word in words if word in forms]
    problems += [f"holds the gendered noun '{word}'; write another one" for word in words if word in GENDERED]
    sentence = re.split(r"[.!?]\s", before)[-1]
    following = WORD.match(after.lstrip(" ")) if after.startswith(" ") else None
    following = following.group().lower() if following else ""
    preceding = (WORD.findall(sentence) or [""])[-1].lower()
    named = NAME in sentence
    if template.form == "nom":
        if not following or following in AGREEING or (following.endswith("s") and following not in ("was", "as")):
            problems.append("after a nominative slot comes a verb in the past or a modal verb, which no number changes")
    elif template.form == "acc":
        if following and following not in _AFTER_OBJECT:
            problems.append("after an accusative slot comes no noun, which would make *her* possessive; end the phrase")
        if named:
            problems.append("the name stands before the accusative slot in its sentence and would bind it; move it")
        if not sentence.strip():
            problems.append("an accusative slot is an object; put a verb or a preposition before it")
    elif template.form == "pos_dep":
        if not following or following in _BE | _AFTER_OBJECT:
            problems.append("after a dependent possessive slot comes its noun; add one")
    elif template.form == "pos_ind":
        if following and following not in _BE:
            problems.append("after an independent possessive slot comes no noun; end the phrase")
        if sentence.strip() and preceding not in _BEFORE_INDEPENDENT:
            problems.append("an independent possessive slot begins its sentence or stands behind a form of to be or of")
    elif not named:
        problems.append("the name must stand before a reflexive slot in its sentence, so that it is bound; add it")
    return problems


def sentence_initial(text: str) -> bool:
    """Tell whether the slot of a text begins a sentence (as :func:`scripts.core.data.options.fill` sees it)."""
    before = text.partition(SLOT)[0].rstrip()
    return not before or before.endswith((".", "!", "?"))
