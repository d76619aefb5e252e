"""What MISGENDERED calls forms, pronouns, names, declarations and template sets, and the columns its tables share.

Section 3.1 and Table 1 of the paper (Hossain, Dev and Singh 2023). The five forms go by the names of the authors'
files; ``templates/pronouns.tsv``, which all studies share, spells them out.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core.data import estimate_rows, templates
from scripts.core.data.estimate_rows import MODEL, PROBABILITY
from scripts.core.errors import UserError
from scripts.core.statistics import ratios

STUDY = "misgendered"
FORMS = {
    "nom": "nominative",
    "acc": "accusative",
    "pos_dep": "possessive",
    "pos_ind": "possessive_independent",
    "ref": "reflexive",
}
"""A form's name here to its column in ``templates/pronouns.tsv``."""
FORM_LABELS = {
    "nom": "Nominative",
    "acc": "Accusative",
    "ref": "Reflexive",
    "pos_dep": "Pos-Dependent",
    "pos_ind": "Pos-Independent",
}
"""Forms in the order of Table 8."""
SHORT = {"nom": "Nom.", "acc": "Acc.", "pos_dep": "Pos. Dep.", "pos_ind": "Pos. Ind.", "ref": "Ref."}
"""Forms as heads of columns, in the order of Table 1."""
TYPES = {"binary": "Binary", "neutral": "Neutral", "neo": "Neopronouns"}
"""He and she, they, and all others (Table 1); the column ``type`` of ``templates/pronouns.tsv``."""
NAME_CLASSES = ("unisex", "female", "male")
CLASS_LABELS = {"female": "Female", "male": "Male", "unisex": "Unisex"}
"""In the order of Table 10."""
DECLARATION_TYPES = {"explicit": "Explicit", "parenthetical": "Parenthetical"}
RELEASED_FILES = {"explicit": "explicit_template", "parenthetical": "parenth_template"}
"""How names of the authors' files with declarations begin; the number of the combination follows."""
WORDINGS = ("corrected", "faithful")
"""Declarations as the paper prints them, or as the authors' files have them."""
FEW = 3
"""Up to this many models have panels and columns of their own; of more the mean is shown."""
PRONOUN_GROUPS = ("he", "she", "they", "thon", "e", "ae", "co", "vi", "xe", "ey", "ze")
"""The eleven groups of Table 1, in its order."""

IDENTITY = ["templates", "model", "kind", "scoring", "wording"]
"""Whose picks, and in which wording. An empty ``model`` stands for the mean over all models of the run, several in one
for theirs."""
FACTORS = [
    "shots", "draw", "declaration_type", "declaration_number", "pronoun_type", "group", "form", "name_class", "name",
]  # fmt: skip
"""Factors of estimates, empty where they are pooled. ``shots`` is never pooled; a group has its type as well;
``declaration_number`` are the combinations of as many forms, such as ``31|32``."""
TEMPLATE, NAME = ["form", "template_index"], ["name_class", "name"]
"""Columns that say which template and which name a row has, its stratum first."""


def add_identity(table: pd.DataFrame, part: str, wording: str) -> pd.DataFrame:
    """Return a table about models with the :data:`IDENTITY` of its rows; they are of a set of templates."""
    table = table.assign(templates=part, kind=MODEL, scoring=PROBABILITY, wording=wording)
    return table[[*IDENTITY, *(name for name in table if name not in IDENTITY)]]


def read_table(path: str | Path) -> pd.DataFrame:
    """Return a table of results; words stay words, and an empty one is one."""
    return estimate_rows.read_table(path, [*IDENTITY, *FACTORS])


def estimates_by(table: pd.DataFrame, *factors: str, **levels: Any) -> pd.DataFrame:
    """Return the estimates without examples in which ``factors`` have levels, or ``levels``, and all others are pooled.

    A group has its type as well.
    """
    factors = (*factors, "pronoun_type") if "group" in factors else factors
    table = ratios.select_rows(table, FACTORS, **{"shots": "0"} | dict.fromkeys(factors, ...) | levels)
    return table[(table[list(factors)] != "").all(axis=1)]


def by_examples(table: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies of models that read examples by their number and the type of pronouns.

    Without examples they are of the declaration that examples use. ``draws`` and ``sd``: how often examples were drawn,
    and the standard deviation over these draws (ddof 1; missing with one draw).
    """
    table = table[(table.model != ratios.POOLED) & ~table.model.str.contains("|", regex=False)]
    keys = ["model", "shots", "pronoun_type"]
    behind, draws = (
        estimates_by(table, *factors, shots=...) for factors in (["pronoun_type"], ["draw", "pronoun_type"])
    )
    over = draws.groupby(keys).value.agg(draws="size", sd="std").reset_index()
    behind = behind[behind.shots != "0"].merge(over, on=keys, validate="one_to_one")
    base = estimates_by(table, "declaration_number", "pronoun_type", declaration_type="explicit").assign(draws=1)
    base = base[base.declaration_number.map(forms_declared) == len(FORMS)]
    rows = pd.concat([base, behind], ignore_index=True)
    number = {"shots": lambda shots: shots.astype(int)}
    return rows.sort_values(keys, key=lambda column: number.get(str(column.name), lambda of: of)(column), kind="stable")


def forms_declared(number: int | str) -> int:
    """Return how many forms a combination declares: its number begins with that.

    Examples:
        >>> forms_declared(31), forms_declared("41|42")
        (3, 4)
    """
    return int(str(number)[0])


def other_wording(wording: str) -> str:
    """Return the other one of :data:`WORDINGS`."""
    return next(name for name in WORDINGS if name != wording)


def name_declaration(kind: str, number: int) -> str:
    """Return the name of a way of declaring: ``explicit`` and the combination of forms 31 are ``explicit_31``."""
    return f"{kind}_{number}"


def select_groups(pronouns: dict, names: Sequence[str]) -> dict[str, templates.PronounSet]:
    """Return the configured pronoun groups with their forms by the names in :data:`FORMS`; groups may share some."""
    try:
        selected = templates.select_pronoun_sets(pronouns, names, shared=True)
    except UserError as error:
        raise UserError(f"misgendered.{error}") from error
    if len(selected) < 2:
        raise UserError("misgendered.pronoun_sets: at least two pronoun groups are needed to choose among; add one")
    return {
        group: templates.PronounSet({form: forms[column] for form, column in FORMS.items()}, forms.type)
        for group, forms in selected.items()
    }


def levels_in(order: Mapping[str, str], values: Iterable[str]) -> dict[str, str]:
    """Return the entries of a dictionary whose keys are among ``values``, in its order.

    Examples:
        >>> levels_in(TYPES, {"neo", "binary"})
        {'binary': 'Binary', 'neo': 'Neopronouns'}
    """
    kept = set(values)
    return {key: label for key, label in order.items() if key in kept}
