"""What a run must have in common with the study before their numbers are compared."""

PRONOUN_SETS = ("he", "she", "they", "xe")
"""The four sets that every model of the study chooses among."""


def obstacle(pronoun_sets):
    """Return why no model of this run can be compared with the study, or an empty string.

    Chance and every accuracy depend on the options, so a run with other pronoun sets is another experiment.
    """
    if set(pronoun_sets) == set(PRONOUN_SETS):
        return ""
    return f"not in this run: a choice among exactly {', '.join(PRONOUN_SETS)}"


def demonstration(models):
    """Return the names of the run's demonstration models, which stand for no model of a study."""
    return {name for name, facts in models.items() if facts["demonstration"]}
