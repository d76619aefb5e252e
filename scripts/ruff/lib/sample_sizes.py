"""How many instances a sample has, and whether a configuration asks for more; known before any template is read."""

from scripts.core.errors import UserError

# Sixty occupations in three cases (section 3.1 of the paper).
TASKS = 180


def full_sample(n_sets):
    """Return the rows of a full sample of one seed and number of distractors: 2,160 with four pronoun sets.

    Each task sentence comes with every ordered pair of gold and distractor (section 3.2), or, without distractors, as
    often.

    Parameters
    ----------
    n_sets : int
        Pronoun sets of the run.
    """
    return TASKS * n_sets * (n_sets - 1)


def check(settings, n_sets):
    """Refuse sizes above the full sample.

    Parameters
    ----------
    settings : dict
        ``ruff`` of the configuration.
    n_sets : int

    Raises
    ------
    UserError
        Naming the key and the full sample.
    """
    most = full_sample(n_sets)
    for key, part in (
        ("ruff", settings),
        ("ruff.prompting", settings["prompting"]),
        ("ruff.prompting.chain_of_thought", settings["prompting"]["chain_of_thought"]),
    ):
        size = part["sample_size"]
        if size > most:
            raise UserError(
                f"{key}.sample_size is {size}, but with {n_sets} pronoun sets a full sample has {most} instances; "
                f"use at most {most}"
            )
