"""Is a model right only on forms that the declaration showed it? Not in the study.

Nominative and accusative are declared always. Each of the other forms is declared in three of the six combinations, so
that declared and undeclared are compared within the same form.
"""

import pandas as pd

from scripts.misgendered.lib.analyses.by_model import ByModel
from scripts.misgendered.lib.analyses.resampling import NAME, TEMPLATE, Differences, Places, Resampled, matching
from scripts.misgendered.lib.labels import ALL
from scripts.misgendered.lib.study import SOMETIMES_DECLARED


def declared_forms(table, draws, seed):
    """Return accuracies on forms that are declared and on the same forms where they are not.

    Parameters
    ----------
    table : DataFrame or str
        Predictions, or their file, of which one model is read at a time.
    draws, seed : int
        Of the bootstrap over templates and names.

    Returns
    -------
    DataFrame
        ``model`` (``all``: over the run's models), ``pronoun_type``, ``form`` (``all``: the three that are not always
        declared), ``declared`` and ``undeclared`` (accuracies), ``difference`` with ``ci_low`` and ``ci_high``,
        ``n_declared``, ``n_undeclared``.
    """
    source = ByModel(table, [*TEMPLATE, *NAME, "pronoun_type", "declared", "correct"], shots=0)
    asked = ((model, rows[rows.form.isin(SOMETIMES_DECLARED)]) for model, rows in source)
    made = Differences(Places((rows for _, rows in asked), draws, seed))
    for model, rows in source:
        resampled = Resampled(rows[rows.form.isin(SOMETIMES_DECLARED)], draws, seed, made.places)
        shown = resampled.table.declared.to_numpy()
        for pronoun_type in dict.fromkeys(resampled.table.pronoun_type):
            for form in [ALL, *SOMETIMES_DECLARED]:
                chosen = matching(resampled.table, pronoun_type=pronoun_type)
                if form != ALL:
                    chosen &= matching(resampled.table, form=form)
                parts = resampled.cells(chosen & shown), resampled.cells(chosen & ~shown)
                for name in (model, ALL):
                    made.add((name, pronoun_type, form), *parts)
    return pd.DataFrame(
        {
            "model": model, "pronoun_type": pronoun_type, "form": form, "declared": value["first"],
            "undeclared": value["second"], "difference": value["difference"], "ci_low": value["ci_low"],
            "ci_high": value["ci_high"], "n_declared": value["n_first"], "n_undeclared": value["n_second"],
        }
        for (model, pronoun_type, form), value in made.ordered([*source.models, ALL])
    )  # fmt: skip
