"""How many instances of a sample are scored and prompted, checked before any template is read."""

from scripts.core.errors import UserError, nearest
from scripts.core.templates import CASES

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


def of_models(size, models):
    """Return how many instances of each sample every model scores.

    Parameters
    ----------
    size : int or dict of str to int
        ``ruff.sample_size``: for all models, or for each model that has its own, and for the others as ``default``; 0
        leaves a model out.
    models : iterable of str
        The models of the run.

    Returns
    -------
    dict of str to int
        Without the models that are left out.

    Raises
    ------
    UserError
        If all are.
    """
    own = size if isinstance(size, dict) else {"default": size}
    sizes = {model: own.get(model, own["default"]) for model in models}
    if sizes and not any(sizes.values()):
        raise UserError(
            f"ruff.sample_size leaves out every model of the run ({', '.join(sizes)}); give one a sample, or name "
            "studies without ruff"
        )
    return {model: number for model, number in sizes.items() if number}


def uneven(sizes):
    """Return the models whose samples have one case more often than another, as three cases do not divide their size.

    Parameters
    ----------
    sizes : dict of str to int
        From :func:`of_models`.
    """
    return [model for model, size in sizes.items() if size % len(CASES)]


def check(settings, n_sets, known):
    """Refuse sizes above the full sample, and those in which one pronoun set would be right more often than another.

    Parameters
    ----------
    settings : dict
        ``ruff`` of the configuration.
    n_sets : int
    known : collection of str
        Every model of the registry.

    Raises
    ------
    UserError
        Naming the key, and the full sample or the sizes that are possible; for a size of a model that is not in the
        registry, the nearest that is.
    """
    most, size = full_sample(n_sets), settings["sample_size"]
    sizes = {"ruff.sample_size": size}
    if isinstance(size, dict):
        for model in size:
            if model != "default" and model not in known:
                raise UserError(
                    f"ruff.sample_size: '{model}' is not in config/models.yaml{nearest(model, known) or '; remove it'}"
                )
        sizes = {f"ruff.sample_size.{model}": number for model, number in size.items()}
    prompting = settings["prompting"]
    if prompting["models"]:
        sizes["ruff.prompting.sample_size"] = prompting["sample_size"]
    if prompting["chain_of_thought"]["models"]:
        sizes["ruff.prompting.chain_of_thought.sample_size"] = prompting["chain_of_thought"]["sample_size"]
    for key, number in sizes.items():
        if number > most:
            raise UserError(
                f"{key} is {number}, but with {n_sets} pronoun sets a full sample has {most} instances; "
                f"use at most {most}"
            )
        if number % n_sets:
            raise UserError(
                f"{key} is {number}, which {n_sets} pronoun sets do not divide, so that one would be right more often "
                f"than another; use a multiple of {n_sets}"
            )
