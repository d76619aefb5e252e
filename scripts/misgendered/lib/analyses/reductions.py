"""Does the sum of a candidate's losses choose otherwise than their mean? Not in the study, which takes the mean.

The mean favours candidates of many tokens: of a whole text they add tokens that are easy to predict from the ones
before.
"""

import pandas as pd

from scripts.misgendered.lib.analyses.by_model import ByModel
from scripts.misgendered.lib.analyses.resampling import NAME, TEMPLATE, Differences, Places, Resampled, by_type
from scripts.misgendered.lib.labels import ALL


def reductions(table, draws, seed):
    """Return accuracies by mean and by sum, without examples in the prompt.

    Parameters
    ----------
    table : DataFrame or str
        Predictions, or their file, of which one model is read at a time.
    draws, seed : int
        Of the bootstrap over templates and names.

    Returns
    -------
    DataFrame
        ``model`` (``all``: over the run's models), ``pronoun_type`` (``all`` as well), ``accuracy_mean``,
        ``accuracy_sum``, ``difference`` (sum minus mean) with ``ci_low`` and ``ci_high``, ``other_pick`` (share of
        instances with another form), ``n``.
    """
    read = ["pronoun_type", "picked", "picked_sum", "correct", "correct_sum"]
    source = ByModel(table, [*TEMPLATE, *NAME, *read], shots=0)
    made = Differences(Places((rows for _, rows in source), draws, seed))
    for model, rows in source:
        other = rows.picked.astype(object) != rows.picked_sum.astype(object)
        resampled = Resampled(rows.assign(other=other), draws, seed, made.places)
        for pronoun_type, chosen in by_type(resampled.table):
            parts = resampled.cells(chosen, "correct_sum"), resampled.cells(chosen)
            for name in (model, ALL):
                made.add((name, pronoun_type), *parts, moved=int(other.to_numpy()[chosen].sum()))
    rows = []
    for (model, pronoun_type), value in made.ordered([*source.models, ALL]):
        rows.append(
            {
                "model": model, "pronoun_type": pronoun_type, "accuracy_mean": value["second"],
                "accuracy_sum": value["first"], "difference": value["difference"], "ci_low": value["ci_low"],
                "ci_high": value["ci_high"], "other_pick": value["moved"] / value["n_first"], "n": value["n_first"],
            }
        )  # fmt: skip
    return pd.DataFrame(rows)
