"""What the choices change that the paper and the authors' code make differently (faithful and corrected)."""

import pandas as pd

from scripts.misgendered.lib.analyses.accuracy import pooled_models
from scripts.misgendered.lib.analyses.resampling import Resampled, matching
from scripts.misgendered.lib.labels import ALL


def choices(base, other, name, draws, seed):
    """Return how accuracies change when one choice is made otherwise, on the same instances.

    Parameters
    ----------
    base, other : DataFrame
        Predictions of the same instances and models, as chosen and otherwise.
    name : str
        What differs, such as ``capitals: faithful``.
    draws, seed : int
        Of the bootstrap over templates and names.

    Returns
    -------
    DataFrame
        ``choice`` (``name``), ``model`` (``all``: over the run's models), ``pronoun_type`` (``all`` as well),
        ``accuracy`` (as chosen), ``otherwise``, ``difference`` (otherwise minus as chosen) with ``ci_low`` and
        ``ci_high``, ``other_pick`` (share of instances with another form), ``n``.
    """
    keys = ["model", "instance_id", "shots", "draw"]
    rows = base.merge(other[[*keys, "picked", "correct"]], on=keys, suffixes=("", "_other"), validate="one_to_one")
    rows = rows.assign(moved=rows.picked != rows.picked_other)
    resampled = Resampled(rows[rows.shots == 0], draws, seed)
    made = []
    for model, members in pooled_models(resampled.table.model.unique(), ()).items():
        for pronoun_type in [ALL, *dict.fromkeys(resampled.table.pronoun_type)]:
            chosen = matching(resampled.table, model=members)
            if pronoun_type != ALL:
                chosen &= matching(resampled.table, pronoun_type=pronoun_type)
            difference, low, high = resampled.difference(chosen, chosen, ("correct_other", "correct"))
            made.append(
                {
                    "choice": name, "model": model, "pronoun_type": pronoun_type,
                    "accuracy": resampled.share(chosen), "otherwise": resampled.share(chosen, "correct_other"),
                    "difference": difference, "ci_low": low, "ci_high": high,
                    "other_pick": resampled.share(chosen, "moved"), "n": int(chosen.sum()),
                }
            )  # fmt: skip
    return pd.DataFrame(made)
