"""Names by the accuracy on neo-pronouns (section 4.2, Table 9)."""

import numpy as np
import pandas as pd

from scripts.misgendered.lib.analyses.by_model import ByModel
from scripts.misgendered.lib.analyses.resampling import NAME, TEMPLATE, Places, Resampled


def by_name(table, draws, seed, pronoun_type="neo"):
    """Return the accuracy on one type of pronouns for each name, over all models, without examples in the prompt.

    Parameters
    ----------
    table : DataFrame or str
        Predictions, or their file, of which one model is read at a time.
    draws, seed : int
        Of the bootstrap, which resamples templates: a name is the name that it is.
    pronoun_type : str

    Returns
    -------
    DataFrame
        ``name``, ``name_class``, ``accuracy``, ``ci_low``, ``ci_high``, ``n`` (instances), ``rank`` (from 1, the
        highest accuracy first; equal ones share the mean of their ranks), best first and equal names by the alphabet.
    """
    source = ByModel(table, [*TEMPLATE, *NAME, "pronoun_type", "correct"], shots=0)
    asked = ((model, rows[rows.pronoun_type == pronoun_type]) for model, rows in source)
    places = Places((rows for _, rows in asked), draws, seed)
    trials, right = np.zeros((2, len(places.templates), len(places.names)), dtype=int)
    for _, rows in source:
        resampled = Resampled(rows[rows.pronoun_type == pronoun_type], draws, seed, places)
        cells = resampled.cells(np.ones(len(resampled.table), dtype=bool))
        trials, right = trials + cells[0], right + cells[1]
    rows = []
    for code, name in enumerate(places.names.itertuples()):
        of_name = np.zeros_like(trials), np.zeros_like(right)
        of_name[0][:, code], of_name[1][:, code] = trials[:, code], right[:, code]
        n = int(trials[:, code].sum())
        low, high = places.interval(*of_name, fixed_names=True)
        rows.append((name.name, name.name_class, float(right[:, code].sum() / n), low, high, n))
    frame = pd.DataFrame(rows, columns=["name", "name_class", "accuracy", "ci_low", "ci_high", "n"])
    frame["rank"] = frame.accuracy.rank(ascending=False)
    return frame.sort_values(["accuracy", "name"], ascending=[False, True], ignore_index=True)


def ends(names, most):
    """Return the first and the last ``most`` rows of :func:`by_name`, fewer of either if they would overlap."""
    count = min(most, len(names) // 2)
    return names.head(count), names.tail(count).iloc[::-1]
