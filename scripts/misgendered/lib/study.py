"""What MISGENDERED fixes: forms, types of pronouns, classes of names, and how its sets are called.

Section 3.1 and Table 1 of the paper (Hossain, Dev and Singh 2023). The five forms go by the names of the authors'
files; ``templates/pronouns.tsv``, which all studies share, spells them out.
"""

from collections.abc import Iterable, Sequence

from scripts.core.data import options, templates
from scripts.core.errors import UserError

STUDY = "misgendered"

FORMS = {
    "nom": "nominative",
    "acc": "accusative",
    "pos_dep": "possessive",
    "pos_ind": "possessive_independent",
    "ref": "reflexive",
}
"""A form's name here to its column in ``templates/pronouns.tsv``."""

TYPES = templates.PRONOUN_TYPES
"""Binary (he, she), neutral (they) and neo (Table 1); the column ``type`` of ``templates/pronouns.tsv``."""

NAME_CLASSES = ("unisex", "female", "male")
DECLARATION_TYPES = ("explicit", "parenthetical")
WORDINGS = ("corrected", "faithful")
"""Declarations as the paper prints them, or as the authors' files have them
(:mod:`scripts.misgendered.lib.declarations`)."""


def other_wording(wording: str) -> str:
    """Return the other one of :data:`WORDINGS`."""
    return next(name for name in WORDINGS if name != wording)


PRONOUN_GROUPS = ("he", "she", "they", "thon", "e", "ae", "co", "vi", "xe", "ey", "ze")
"""The eleven groups of Table 1, in its order."""


def select_groups(pronouns: dict, names: Sequence[str]) -> dict[str, templates.PronounSet]:
    """Return the configured pronoun groups with the forms that the study uses.

    Two groups may share some forms, as *e* and *ey* share *em* and *emself*.

    Args:
        pronouns: As read by :func:`scripts.core.data.templates.read_pronouns`.
        names: ``misgendered.pronoun_sets`` of the configuration.

    Returns:
        Group to its forms, by the names in :data:`FORMS`, in the
            configured order.

    Raises:
        UserError: For fewer than two groups; otherwise as :func:`scripts.core.data.templates.select_pronoun_sets`.
    """
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


def declaration(kind: str, number: int) -> str:
    """Return the name of a way of declaring, such as ``explicit_31``.

    Args:
        kind: One of :data:`DECLARATION_TYPES`.
        number: A combination of forms in ``templates/misgendered/declarations.tsv``.
    """
    return f"{kind}_{number}"


def comparison_obstacle(groups: Iterable[str]) -> str:
    """Return why no model of this run can be compared with the study, or an empty string.

    Chance and every accuracy depend on the candidates, so a run with other pronoun groups is another experiment.
    """
    if set(groups) == set(PRONOUN_GROUPS):
        return ""
    return f"not in this run: a choice among exactly {', '.join(PRONOUN_GROUPS)}"


def chance(groups: dict[str, dict]) -> float:
    """Return the accuracy of a random pick, every form and group asked for equally often.

    Args:
        groups: As :func:`select_groups` returns them.
    """
    offers, gold = [], []
    for form in FORMS:
        for forms in groups.values():
            offers.append(list(options.candidate_forms(groups, form)))
            gold.append(forms[form])
    return options.chance(offers, gold)
