"""Does the sum of a candidate's losses choose otherwise than their mean? Not in the study, which takes the mean.

The mean favours candidates of many tokens: of a whole text they add tokens that are easy to predict from the ones
before.
"""

import pandas as pd

from scripts.misgendered.lib.analyses.accuracy import pooled_models
from scripts.misgendered.lib.analyses.resampling import Resampled, matching
from scripts.misgendered.lib.labels import ALL


def reductions(table, draws, seed):
    """Return accuracies by mean and by sum, without examples in the prompt.

    Parameters
    ----------
    table : DataFrame
        Predictions.
    draws, seed : int
        Of the bootstrap over templates and names.

    Returns
    -------
    DataFrame
        ``model`` (``all``: over the run's models), ``pronoun_type`` (``all`` as well), ``accuracy_mean``,
        ``accuracy_sum``, ``difference`` (sum minus mean) with ``ci_low`` and ``ci_high``, ``other_pick`` (share of
        instances with another form), ``n``.
    """
    rows = table[table.shots == 0]
    resampled = Resampled(rows.assign(other=rows.picked != rows.picked_sum), draws, seed)
    made = []
    for model, members in pooled_models(rows.model.unique(), ()).items():
        for pronoun_type in [ALL, *dict.fromkeys(rows.pronoun_type)]:
            chosen = matching(resampled.table, model=members)
            if pronoun_type != ALL:
                chosen &= matching(resampled.table, pronoun_type=pronoun_type)
            difference, low, high = resampled.difference(chosen, chosen, ("correct_sum", "correct"))
            made.append(
                {
                    "model": model, "pronoun_type": pronoun_type, "accuracy_mean": resampled.share(chosen),
                    "accuracy_sum": resampled.share(chosen, "correct_sum"), "difference": difference, "ci_low": low,
                    "ci_high": high, "other_pick": resampled.share(chosen, "other"), "n": int(chosen.sum()),
                }
            )  # fmt: skip
    return pd.DataFrame(made)
