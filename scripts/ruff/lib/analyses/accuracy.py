"""Accuracies, overall and by factor. Sections and figures are those of Gautam et al. (2024)."""

import pandas as pd

from scripts.core import statistics
from scripts.ruff.lib.analyses.rows import fidelity_rows

FACTORS = ("all", "pronoun", "case", "polarity")


def _with_factors(rows):
    """Repeat the rows once for each factor, with the factor's name and level in two columns."""
    parts = []
    for factor in FACTORS:
        level = "all" if factor == "all" else rows[factor]
        parts.append(rows.assign(factor=factor, level=level))
    return pd.concat(parts, ignore_index=True)


def accuracy_by_seed(table):
    """Return accuracies on each sample (section 4.3).

    Returns
    -------
    DataFrame
        ``model``, ``n_distractors``, ``factor``, ``level``, ``seed``, ``n`` (instances), ``accuracy``.
    """
    keys = ["model", "n_distractors", "factor", "level", "seed"]
    rows = _with_factors(fidelity_rows(table))
    return rows.groupby(keys, sort=False).correct.agg(n="size", accuracy="mean").reset_index()


def accuracy(table, draws, seed):
    """Return accuracies averaged over the samples (section 4.3; Figures 1, 5, 6 and 7).

    The interval is this project's addition: a bootstrap that resamples occupations, so that it speaks of occupations
    like these and not of these sentences alone. It belongs to the share over all samples together.

    Parameters
    ----------
    table : DataFrame
        Predictions.
    draws, seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        ``model``, ``n_distractors``, ``factor``, ``level``, ``n_seeds``, ``n`` (instances, all samples), ``accuracy``
        (mean over samples), ``sd`` (over samples, ddof 1; missing with one sample), ``ci_low``, ``ci_high`` (95 %).
    """
    keys = ["model", "n_distractors", "factor", "level"]
    by_seed = accuracy_by_seed(table)
    summary = by_seed.groupby(keys, sort=False).agg(
        n_seeds=("seed", "nunique"), n=("n", "sum"), accuracy=("accuracy", "mean"), sd=("accuracy", "std")
    )
    rows = _with_factors(fidelity_rows(table))
    clusters = rows.groupby([*keys, "occupation"], sort=False).correct.agg(["sum", "count"])
    intervals = {
        key: statistics.cluster_bootstrap(part["sum"], part["count"], draws, seed)
        for key, part in clusters.groupby(level=keys, sort=False)
    }
    bounds = pd.DataFrame.from_dict(intervals, orient="index", columns=["ci_low", "ci_high"])
    bounds.index = pd.MultiIndex.from_tuples(bounds.index, names=keys)
    return summary.join(bounds).reset_index()
