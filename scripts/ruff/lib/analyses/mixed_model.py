"""A mixed model of correctness, beside the tests of the study, which average over items. Not in the study."""

from scripts.core import mixed_effects

LEAST_MODELS = 5
"""Models from which on their effect is random; fewer say little about a variance, and have coefficients instead."""
CASES = ("nominative", "accusative", "possessive")


def mixed_model(predictions, pronoun_sets, seed):
    """Fit correctness on distractors, pronoun set and case, with random effects of occupation, task sentence and model.

    Parameters
    ----------
    predictions : DataFrame
        Of all models.
    pronoun_sets : sequence of str
        The first one is the reference.
    seed : int
        Of the starting values.

    Returns
    -------
    DataFrame
        As :func:`scripts.core.mixed_effects.table` returns it: fixed factors ``n_distractors`` (reference: the fewest),
        ``pronoun`` and ``case``; random ones ``occupation``, ``sentence`` (the task sentence) and ``model``, which is
        fixed with fewer than :data:`LEAST_MODELS`.
    """
    rows = predictions[predictions.setting == "fidelity"]
    rows = rows.assign(
        n_distractors=rows.n_distractors.astype(int), correct=rows.correct.astype(bool),
        sentence=rows.occupation.astype(str) + " " + rows.task_index.astype(str) + " " + rows["case"].astype(str),
    )  # fmt: skip
    fixed = {"n_distractors": sorted(set(rows.n_distractors)), "pronoun": list(pronoun_sets), "case": CASES}
    random = ["occupation", "sentence"]
    if rows.model.nunique() >= LEAST_MODELS:
        random.append("model")
    else:
        fixed["model"] = list(dict.fromkeys(rows.model))
    return mixed_effects.table(rows, fixed, random, seed, right="correct")
