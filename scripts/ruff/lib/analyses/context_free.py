"""What models pick without any context. Sections and figures are those of Gautam et al. (2024)."""

import pandas as pd

COLUMNS = ["model", "setting", "prediction"]
"""Columns of predictions that are counted."""


def context_free_counts(table, pronoun_sets):
    """Count each model's context-free predictions (section 5, Figures 4 and 10).

    Returns
    -------
    DataFrame
        ``model``, ``pronoun``, ``n_templates``, ``count`` and ``share``; every set has a row, also with count 0.
    """
    free = table[table.setting == "context_free"]
    models = list(dict.fromkeys(free.model))
    counts = free.groupby(["model", "prediction"]).size()
    rows = []
    for model in models:
        total = int((free.model == model).sum())
        for pronoun in pronoun_sets:
            count = int(counts.get((model, pronoun), 0))
            rows.append((model, pronoun, total, count, count / total))
    return pd.DataFrame(rows, columns=["model", "pronoun", "n_templates", "count", "share"])
