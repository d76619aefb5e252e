"""Names by the accuracy on neo-pronouns (section 4.2, Table 9)."""

import numpy as np
import pandas as pd

from scripts.misgendered.lib.analyses.resampling import Resampled


def by_name(table, draws, seed, pronoun_type="neo"):
    """Return the accuracy on one type of pronouns for each name, over all models, without examples in the prompt.

    Parameters
    ----------
    table : DataFrame
        Predictions.
    draws, seed : int
        Of the bootstrap, which resamples templates: a name is the name that it is.
    pronoun_type : str

    Returns
    -------
    DataFrame
        ``name``, ``name_class``, ``accuracy``, ``ci_low``, ``ci_high``, ``n`` (instances), ``rank`` (from 1, the
        highest accuracy first; equal ones share the mean of their ranks), best first and equal names by the alphabet.
    """
    chosen = table[(table.shots == 0) & (table.pronoun_type == pronoun_type)]
    resampled = Resampled(chosen, draws, seed)
    codes = resampled.columns
    rows = []
    for code in np.unique(codes):
        of_name = codes == code
        first = resampled.table.iloc[int(of_name.argmax())]
        low, high = resampled.interval(of_name, fixed_names=True)
        rows.append((first["name"], first.name_class, resampled.share(of_name), low, high, int(of_name.sum())))
    frame = pd.DataFrame(rows, columns=["name", "name_class", "accuracy", "ci_low", "ci_high", "n"])
    frame["rank"] = frame.accuracy.rank(ascending=False)
    return frame.sort_values(["accuracy", "name"], ascending=[False, True], ignore_index=True)


def ends(names, most):
    """Return the first and the last ``most`` rows of :func:`by_name`, fewer of either if they would overlap."""
    count = min(most, len(names) // 2)
    return names.head(count), names.tail(count).iloc[::-1]
