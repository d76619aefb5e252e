"""How many texts the evaluation sets of a run have, known before any of them is made."""

from scripts.underspecification.lib.instances import COREFERENTS, GENDERED, PARTICIPANTS

SENTENCES = 60
"""MGC's sentences before dates and places: ten verb phrases with six life stages (Appendix D)."""
OCCUPATIONS = {"winogender": 60, "simplified": 48}
"""In the authors' files as in this project's."""
DATES, PLACES = 30, 20
"""Of MGC; Winogender has as many dates."""


def text_counts(evaluation_set, sample, outer_dates, prompts):
    """Return how many texts a set has at most, by method.

    Parameters
    ----------
    evaluation_set : {"mgc", "winogender", "simplified"}
    sample : dict of str to int
        ``dates`` and ``places`` of MGC, ``occupations`` of the others.
    outer_dates : int
        Dates at either end of Winogender's range.
    prompts : sequence of str
        Prompts that wrap each sentence for models that continue texts.

    Returns
    -------
    dict of str to int
        ``mask``: sentences with a mask, ``generate``: prompts to continue.
    """
    if evaluation_set == "mgc":
        instances = SENTENCES * (min(sample["dates"], DATES) + min(sample["places"], PLACES))
    else:
        kinds = len(PARTICIPANTS) * len(COREFERENTS) if evaluation_set == "winogender" else len(GENDERED) + 1
        instances = min(sample["occupations"], OCCUPATIONS[evaluation_set]) * kinds * min(2 * outer_dates, DATES)
    return {"mask": instances, "generate": instances * len(prompts)}
