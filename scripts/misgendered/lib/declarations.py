"""How pronouns are declared: which forms, and where they stand in a text (section 3.1 and Table 2 of the paper).

- ``explicit``: *Robin's pronouns are xe/xem.* before the sentences;
- ``parenthetical``: *Robin (xe/xem) ...* in them.

Two wordings. ``corrected`` is what the paper prints: an apostrophe, and the parenthesis behind the first mention of the
name. ``faithful`` is what the authors' files have: a stray slash before the apostrophe (*Robin/'s pronouns*), the
parenthesis behind every mention, and a blank at the end of one template.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.core.data.templates import read_tsv
from scripts.core.errors import UserError, did_you_mean
from scripts.misgendered.lib.study import DECLARATION_TYPES, FORMS
from scripts.misgendered.lib.study import declaration as name_of

NAME, DECLARED_SLOT = "{name}", "{declared}"
SOURCES = ("table", "assumed")


@dataclass(frozen=True)
class Declaration:
    """One way of declaring; ``number`` is the name of a combination of ``forms`` and begins with how many there are."""

    name: str
    kind: str
    number: int
    forms: tuple
    row: int


def read(path: str | Path) -> dict[int, tuple[tuple[str, ...], int]]:
    """Read the combinations of declared forms.

    Args:
        path: Columns ``number``, ``forms`` (separated by blanks, in the order in which they are declared), ``source``.

    Returns:
        Number to its forms and the row of the file.

    Raises:
        UserError: For an unknown form (with the nearest one), a form that is declared twice, a number that is not a
            whole number or does not begin with how many forms there are, a number or a combination that occurs twice,
            and an unknown source.
    """
    combinations = {}
    for row, cells in read_tsv(path, ("number", "forms", "source")):
        where = f"{path}, row {row}"
        forms = tuple(cells["forms"].split(" "))
        for form in forms:
            if form not in FORMS:
                hint = did_you_mean(form, FORMS) or f"; the forms are {', '.join(FORMS)}"
                raise UserError(f"{where}: the declaration names the unknown form '{form}'{hint}")
        repeated = next((form for i, form in enumerate(forms) if form in forms[:i]), None)
        if repeated:
            raise UserError(f"{where}: the form '{repeated}' is declared twice; remove one")
        number = cells["number"]
        if not (number.isdecimal() and number.isascii()) or number[:1] != str(len(forms)):
            raise UserError(
                f"{where}: the number '{number}' must be a whole number that begins with how many forms are declared, "
                f"{len(forms)}; correct it"
            )
        if int(number) in combinations:
            raise UserError(f"{where}: the number {number} occurs twice; remove or rename one")
        if cells["source"] not in SOURCES:
            raise UserError(f"{where}: the source '{cells['source']}' is unknown; use {' or '.join(SOURCES)}")
        same = next((n for n, (other, _) in combinations.items() if other == forms), None)
        if same is not None:
            raise UserError(f"{where}: declares the same forms as number {same}; remove one")
        combinations[int(number)] = (forms, row)
    if not combinations:
        raise UserError(f"{path}: has no combination of forms; add a row")
    return combinations


def select(combinations: dict, kinds: Sequence[str], numbers: Sequence[int], path: str | Path) -> list[Declaration]:
    """Return the declarations of a run.

    Args:
        combinations: As returned by :func:`read`.
        kinds: Some of :data:`~scripts.misgendered.lib.study.DECLARATION_TYPES`.
        path: Of the file, for messages.

    Returns:
        Types in the order of ``kinds``, in each the numbers as given.

    Raises:
        UserError: For a type or number that is unknown.
    """
    unknown = next((kind for kind in kinds if kind not in DECLARATION_TYPES), None)
    if unknown is not None:
        raise UserError(
            f"misgendered.declarations.types: '{unknown}' is unknown{did_you_mean(unknown, DECLARATION_TYPES)}"
        )
    for number in numbers:
        if number not in combinations:
            known = ", ".join(map(str, combinations))
            raise UserError(f"misgendered.declarations.numbers: {path} has no number {number}; it has {known}")
    return [
        Declaration(name_of(kind, number), kind, number, *combinations[number]) for kind in kinds for number in numbers
    ]


def declared_forms(declaration: Declaration, forms: dict[str, str]) -> str:
    """Return what a group's declaration says, such as ``xe/xem``.

    Args:
        forms: The group's forms by name.
    """
    return "/".join(forms[form] for form in declaration.forms)


def pattern(kind: str, text: str, wording: str) -> str:
    """Return a template with its declaration: a text with :data:`NAME` and :data:`DECLARED_SLOT`.

    Args:
        kind: ``explicit`` or ``parenthetical``.
        text: The template, which mentions the name.
        wording: ``corrected`` or ``faithful``.
    """
    faithful = wording == "faithful"
    text = text if faithful else text.strip()
    if kind == "explicit":
        return f"{NAME}{'/' if faithful else ''}'s pronouns are {DECLARED_SLOT}. {text}"
    return text.replace(NAME, f"{NAME} ({DECLARED_SLOT})", -1 if faithful else 1)
