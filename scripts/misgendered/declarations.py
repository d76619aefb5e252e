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

from scripts.core.data.templates import read_frame
from scripts.core.errors import UserError, did_you_mean
from scripts.misgendered import study

NAME, DECLARED_SLOT = "{name}", "{declared}"
SOURCES = ("table", "assumed")
Combinations = dict[int, tuple[tuple[str, ...], int]]
"""Number of a combination to its forms, in the order in which they are declared, and the row of the file."""


@dataclass(frozen=True)
class Declaration:
    """One way of declaring; ``number`` is the name of a combination of ``forms`` and begins with how many there are."""

    kind: str
    number: int
    forms: tuple
    row: int

    @property
    def name(self) -> str:
        """Its name, such as ``explicit_31``."""
        return study.name_declaration(self.kind, self.number)


def read_combinations(path: str | Path) -> Combinations:
    """Read the combinations of declared forms: columns ``number``, ``forms`` (separated by blanks), ``source``."""
    combinations: Combinations = {}
    rows = read_frame(path, ("number", "forms", "source"), key="number", levels={"source": SOURCES})
    for row, number, forms in zip(rows.index, rows.number, rows.forms.str.split(" ").map(tuple), strict=True):
        same = next((known for known, (others, _) in combinations.items() if others == forms), None)
        unknown = next((form for form in forms if form not in study.FORMS), None)
        if unknown is not None:
            hint = did_you_mean(unknown, study.FORMS) or f"; the forms are {', '.join(study.FORMS)}"
            problem = f"the declaration names the unknown form '{unknown}'{hint}"
        elif len(set(forms)) < len(forms):
            problem = "a form is declared twice; remove one"
        elif not (number.isdecimal() and number.isascii()) or number[:1] != str(len(forms)):
            problem = (
                f"the number '{number}' must be a whole number that begins with how many forms are declared, "
                f"{len(forms)}; correct it"
            )
        elif same is not None:
            problem = f"declares the same forms as number {same}; remove one"
        else:
            combinations[int(number)] = (forms, row)
            continue
        raise UserError(f"{path}, row {row}: {problem}")
    return combinations


def select_declarations(
    combinations: Combinations, kinds: Sequence[str], numbers: Sequence[int], path: str | Path
) -> list:
    """Return the declarations of a run: types in the order of ``kinds``, in each the numbers as given."""
    for number in numbers:
        if number not in combinations:
            known = ", ".join(map(str, combinations))
            raise UserError(f"misgendered.declarations.numbers: {path} has no number {number}; it has {known}")
    return [Declaration(kind, number, *combinations[number]) for kind in kinds for number in numbers]


def declared_forms(declaration: Declaration, forms: dict[str, str]) -> str:
    """Return what the declaration of a group with these forms says, such as ``xe/xem``."""
    return "/".join(forms[form] for form in declaration.forms)


def add_declaration(kind: str, text: str, wording: str) -> str:
    """Return a template, which mentions the name, with its declaration: a text with both slots of this module."""
    faithful = wording == "faithful"
    text = text if faithful else text.strip()
    if kind == "explicit":
        return f"{NAME}{'/' if faithful else ''}'s pronouns are {DECLARED_SLOT}. {text}"
    return text.replace(NAME, f"{NAME} ({DECLARED_SLOT})", -1 if faithful else 1)
