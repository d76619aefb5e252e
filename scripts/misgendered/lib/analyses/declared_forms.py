"""Is a model right only on forms that the declaration showed it? Not in the study.

Nominative and accusative are declared always. Each of the other forms is declared in three of the six combinations, so
that declared and undeclared are compared within the same form.
"""

import pandas as pd

from scripts.misgendered.lib.analyses.accuracy import pooled_models
from scripts.misgendered.lib.analyses.resampling import Resampled, matching
from scripts.misgendered.lib.labels import ALL

SOMETIMES = ("ref", "pos_dep", "pos_ind")
"""The forms that some combinations leave out."""


def declared_forms(table, draws, seed):
    """Return accuracies on forms that are declared and on the same forms where they are not.

    Parameters
    ----------
    table : DataFrame
        Predictions.
    draws, seed : int
        Of the bootstrap over templates and names.

    Returns
    -------
    DataFrame
        ``model`` (``all``: over the run's models), ``pronoun_type``, ``form`` (``all``: the three that are not always
        declared), ``declared`` and ``undeclared`` (accuracies), ``difference`` with ``ci_low`` and ``ci_high``,
        ``n_declared``, ``n_undeclared``.
    """
    rows = table[(table.shots == 0) & table.form.isin(SOMETIMES)]
    resampled = Resampled(rows, draws, seed)
    made = []
    for model, members in pooled_models(rows.model.unique(), ()).items():
        for pronoun_type in dict.fromkeys(rows.pronoun_type):
            for form in [ALL, *SOMETIMES]:
                chosen = matching(resampled.table, model=members, pronoun_type=pronoun_type)
                if form != ALL:
                    chosen &= matching(resampled.table, form=form)
                shown = resampled.table.declared.to_numpy()
                first, second = chosen & shown, chosen & ~shown
                difference, low, high = resampled.difference(first, second)
                made.append(
                    {
                        "model": model, "pronoun_type": pronoun_type, "form": form,
                        "declared": resampled.share(first), "undeclared": resampled.share(second),
                        "difference": difference, "ci_low": low, "ci_high": high,
                        "n_declared": int(first.sum()), "n_undeclared": int(second.sum()),
                    }
                )  # fmt: skip
    return pd.DataFrame(made)
