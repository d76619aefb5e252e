"""Tests between pronoun sets. Sections and figures are those of Gautam et al. (2024)."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from scripts.core.statistics import procedures
from scripts.core.statistics.ratios import POOLED

PAIRS = ["model", "pronoun_a", "pronoun_b"]
WELCH = ["n_a", "n_b", "mean_a", "mean_b", "difference", "t", "df", "p"]
UNTESTED = (np.nan, np.nan, np.nan)
PAIRED = ["n_pairs", "difference_paired", "t_paired", "df_paired", "p_paired"]


def compare_sets(
    units: pd.Series, pronoun_sets: Sequence[str], alpha: float, least: int = 0, pooled: Sequence[str] | None = None
) -> pd.DataFrame:
    """Compare the accuracies on every pair of pronoun sets without distractors (section 6, Figure 6).

    The paper names Welch's t-test at 0.05 but not the unit of observation. Here it is the occupation: its accuracy
    over all samples and cases, averaged over models for the rows of no model. Welch's test takes the two sets'
    accuracies as independent samples, but both are about the same occupations; the paired t-test beside it compares
    the sets within each occupation that has both. Holm's correction is over the pairs of sets of one model, for each
    test by itself. The paired test and the correction are additions.

    Where neither set's accuracies vary, p is that of Fisher's exact test in place of Welch's, and where the differences
    of all occupations are equal, that of the sign test in place of the paired one; t and df are missing then. No test
    is made of fewer occupations than two, or than ``least``.

    Args:
        units: Accuracies by model, pronoun set and occupation (the index).
        alpha: Significance level.
        least: Occupations that a test needs (:func:`scripts.core.statistics.procedures.smallest_sample`).
        pooled: Models of the rows of no model (:func:`scripts.ruff.study.pooled_models`); otherwise all.

    Returns:
        ``model`` (empty: over models), ``n_distractors``, ``pronoun`` (both sets), ``metric``; ``pronoun_a``,
        ``pronoun_b``; of Welch's test ``n_a``, ``n_b`` (occupations), ``mean_a``, ``mean_b``, ``difference``, ``t``,
        ``df``, ``p``, ``p_holm``, ``significant``, ``significant_holm``; of the paired test ``n_pairs`` (occupations
        with both sets), over these ``difference_paired`` (mean), ``t_paired``, ``df_paired``, ``p_paired``, and
        ``p_paired_holm``, ``significant_paired``, ``significant_paired_holm``; ``needed`` is ``least``; ``n_models``
        says of how many models the accuracies are.
    """
    models = list(units.index.unique("model"))
    pooled = [name for name in models if pooled is None or name in pooled]
    over = units[units.index.get_level_values("model").isin(pooled)]
    over = over.groupby(level=["pronoun", "occupation"], sort=False).mean()
    results = []
    for model in [POOLED, *models]:
        scores = over if model == POOLED else units.loc[model]
        present = [p for p in pronoun_sets if p in scores.index.get_level_values("pronoun")]
        pairs = []
        for a, b in combinations(present, 2):
            x, y = scores.loc[a], scores.loc[b]
            both = pd.concat([x, y], axis=1, join="inner", keys=["x", "y"])
            welch = _welch(x, y) if min(len(x), len(y)) >= max(least, 2) else UNTESTED
            paired = _paired(both.x, both.y) if len(both) >= max(least, 2) else UNTESTED
            means = (x.mean(), y.mean(), _difference(x.mean(), y.mean()))
            within = (len(both), _difference(both.x.mean(), both.y.mean()))
            pairs.append((model, a, b, len(x), len(y), *means, *welch, *within, *paired))
        frame = pd.DataFrame(pairs, columns=[*PAIRS, *WELCH, *PAIRED])
        tests = [
            frame[columns].assign(
                **{
                    f"{columns[-1]}_holm": (adjusted := procedures.holm(frame[columns[-1]])),
                    f"significant{suffix}": frame[columns[-1]] < alpha,
                    f"significant{suffix}_holm": adjusted < alpha,
                }
            )
            for columns, suffix in ((WELCH, ""), (PAIRED, "_paired"))
        ]
        n_models = len(pooled) if model == POOLED else 1
        results.append(pd.concat([frame[PAIRS], *tests], axis=1).assign(needed=least, n_models=n_models))
    table = pd.concat(results, ignore_index=True)
    names = table.pronoun_a + "|" + table.pronoun_b
    return table.assign(n_distractors="0", pronoun=names, metric="difference")


def _welch(x: pd.Series, y: pd.Series):
    t, df, p = procedures.welch_test(x, y)
    return t, df, procedures.compare_constants(x, y) if np.isnan(p) else p


def _paired(x: pd.Series, y: pd.Series):
    t, df, p = procedures.paired_t_test(x.to_numpy(), y.to_numpy())
    if np.isnan(p):
        differences = [_difference(*pair) for pair in zip(x, y, strict=True)]
        p = procedures.sign_test(sum(d > 0 for d in differences), sum(d < 0 for d in differences))
    return t, df, p


def _difference(a: float, b: float):
    """Return ``a - b``, which is zero where accuracies differ by rounding alone: the text says which set is ahead."""
    return a - b if np.isnan(a - b) or procedures.has_variation([a, b], 1.0) else 0.0
