"""Accuracy against model size. Sections and figures are those of Gautam et al. (2024)."""

import pandas as pd


def scaling(summary, models):
    """Return accuracies against model size at the fewest and the most distractors (section 7, Figure 8).

    Parameters
    ----------
    summary : DataFrame
        As returned by :func:`accuracy`.
    models : dict
        Model name to its ``family``, ``architecture`` and ``parameters``.

    Returns
    -------
    DataFrame
        ``model``, ``family``, ``architecture``, ``parameters``, ``n_distractors``, ``n``, ``accuracy``, ``ci_low``,
        ``ci_high``.
    """
    overall = summary[summary.factor == "all"]
    ends = sorted({overall.n_distractors.min(), overall.n_distractors.max()})
    overall = overall[overall.n_distractors.isin(ends)]
    facts = pd.DataFrame.from_dict(models, orient="index")[["family", "architecture", "parameters"]]
    table = overall.join(facts, on="model")
    columns = ["model", "family", "architecture", "parameters", "n_distractors", "n", "accuracy", "ci_low", "ci_high"]
    return table[columns].sort_values(["n_distractors", "parameters"], kind="stable").reset_index(drop=True)
