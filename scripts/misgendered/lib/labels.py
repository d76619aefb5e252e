"""How figures, tables and numbers call forms, types of pronouns, declarations and classes of names, in their order."""

from collections.abc import Iterable, Mapping
from typing import Any

FORMS = {
    "nom": "Nominative",
    "acc": "Accusative",
    "ref": "Reflexive",
    "pos_dep": "Pos-Dependent",
    "pos_ind": "Pos-Independent",
}
"""Pronoun forms in the order of Table 8."""
SHORT = {"nom": "Nom.", "acc": "Acc.", "pos_dep": "Pos. Dep.", "pos_ind": "Pos. Ind.", "ref": "Ref."}
"""Pronoun forms as heads of columns, in the order of Table 1."""
TYPES = {"binary": "Binary", "neutral": "Neutral", "neo": "Neo-Pronouns"}
DECLARATION_TYPES = {"explicit": "Explicit", "parenthetical": "Parenthetical"}
NAME_CLASSES = {"female": "Female", "male": "Male", "unisex": "Unisex"}
"""In the order of Table 10."""
ALL = "all"
"""Stands in a column that was pooled."""
STUDY = "study"
"""Stands for the mean over all models of the study, where the run has them all."""
EFFECTS = {
    "pronoun_type": TYPES,
    "form": FORMS,
    "declaration_type": DECLARATION_TYPES,
    "declaration_number": {count: f"{count} forms declared" for count in "2345"},
}
"""Levels of the mixed model's factors to their labels."""
RANDOM = {"template": "Templates (SD)", "name": "Names (SD)", "model": "Models (SD)"}


def effect(row: Any, models: dict[str, dict]) -> str:
    """Return the label of an effect of the mixed model."""
    if row.kind == "random":
        return RANDOM[row.factor]
    if row.factor == "intercept":
        return "Intercept"
    if row.factor == "model":
        return models[row.level]["label"]
    return EFFECTS[row.factor][str(row.level).removesuffix(".0")]


def present(order: Mapping[str, str], values: Iterable[str]) -> dict[str, str]:
    """Return the entries of a dictionary whose keys are among ``values``, in its order.

    Examples:
        >>> present(TYPES, {"neo", "binary"})
        {'binary': 'Binary', 'neo': 'Neo-Pronouns'}
    """
    kept = set(values)
    return {key: label for key, label in order.items() if key in kept}
