"""How figures, tables and numbers call forms, types of pronouns, declarations and classes of names, in their order."""

from collections.abc import Iterable, Mapping

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


def present(order: Mapping[str, str], values: Iterable[str]) -> dict[str, str]:
    """Return the entries of a dictionary whose keys are among ``values``, in its order.

    Examples:
        >>> present(TYPES, {"neo", "binary"})
        {'binary': 'Binary', 'neo': 'Neo-Pronouns'}
    """
    kept = set(values)
    return {key: label for key, label in order.items() if key in kept}
