"""Tests between pronoun sets. Sections and figures are those of Gautam et al. (2024)."""

from itertools import combinations

import pandas as pd

from scripts.core import statistics
from scripts.ruff.fidelity.rows import fidelity_rows


def pronoun_tests(table, pronoun_sets, alpha):
    """Compare the accuracies on every pair of pronoun sets without distractors (section 6, Figure 6).

    The paper names Welch's t-test at 0.05 but not the unit of observation. Here it is the occupation: its accuracy
    over all samples and cases, averaged over models for the rows called ``all``. Holm's correction over the pairs of
    one model is an addition. A pair is undefined, and not significant, where neither set's accuracies vary.

    Returns
    -------
    DataFrame
        ``model``, ``pronoun_a``, ``pronoun_b``, ``n_a``, ``n_b`` (occupations), ``mean_a``, ``mean_b``,
        ``difference``, ``t``, ``df``, ``p``, ``p_holm``, ``significant``, ``significant_holm``.
    """
    rows = fidelity_rows(table)
    rows = rows[rows.n_distractors == 0]
    units = rows.groupby(["model", "pronoun", "occupation"], sort=False).correct.mean()
    pooled = units.groupby(level=["pronoun", "occupation"], sort=False).mean()
    results = []
    for model in ["all", *dict.fromkeys(rows.model)]:
        own = pooled if model == "all" else units.loc[model]
        present = [p for p in pronoun_sets if p in own.index.get_level_values("pronoun")]
        pairs = []
        for a, b in combinations(present, 2):
            x, y = own.loc[a].to_numpy(), own.loc[b].to_numpy()
            t, df, p = statistics.welch(x, y)
            pairs.append((model, a, b, len(x), len(y), x.mean(), y.mean(), x.mean() - y.mean(), t, df, p))
        adjusted = statistics.holm([pair[-1] for pair in pairs])
        results += [
            (*pair, q, bool(pair[-1] < alpha), bool(q < alpha)) for pair, q in zip(pairs, adjusted, strict=True)
        ]
    columns = [
        "model",
        "pronoun_a",
        "pronoun_b",
        "n_a",
        "n_b",
        "mean_a",
        "mean_b",
        "difference",
        "t",
        "df",
        "p",
        "p_holm",
        "significant",
        "significant_holm",
    ]
    return pd.DataFrame(results, columns=columns)
