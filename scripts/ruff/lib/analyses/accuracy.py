"""Accuracies, overall and by factor. Sections and figures are those of Gautam et al. (2024)."""

import pandas as pd

from scripts.core.statistics import procedures
from scripts.ruff.lib.analyses.predictions import fidelity_rows

FACTORS = ("all", "pronoun", "case", "polarity")


COLUMNS = ["model", "setting", "seed", "n_distractors", "occupation", "case", "polarity", "pronoun", "correct"]
"""Columns of predictions that accuracies are made of."""


def _by_factor(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Count right answers by each factor and another column.

    Args:
        rows: Of :func:`fidelity_rows`.

    Returns:
        ``model``, ``n_distractors``, ``factor``, ``level``, ``column``, ``right``, ``n``, in the order of appearance.
    """
    # Numbers are grouped many times as fast as texts.
    coded, levels = {"correct": rows.correct.to_numpy()}, {}
    for name in ("model", "n_distractors", column, *FACTORS[1:]):
        coded[name], levels[name] = pd.factorize(rows[name])
    coded = pd.DataFrame(coded)
    parts = []
    for factor in FACTORS:
        names = ["model", "n_distractors", *([factor] if factor != "all" else []), column]
        counts = coded.groupby(names, sort=False).correct.agg(["sum", "size"]).reset_index()
        facts = {name: levels[name][counts[name].to_numpy()] for name in names}
        level = facts[factor].astype(object) if factor != "all" else "all"
        part = {"model": facts["model"], "n_distractors": facts["n_distractors"], "factor": factor, "level": level}
        parts.append(pd.DataFrame(part | {column: facts[column], "right": counts["sum"], "n": counts["size"]}))
    return pd.concat(parts, ignore_index=True)


def accuracy_by_seed(table: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies on each sample (section 4.3).

    Returns:
        ``model``, ``n_distractors``, ``factor``, ``level``, ``seed``, ``n`` (instances), ``accuracy``.
    """
    counts = _by_factor(fidelity_rows(table), "seed")
    return counts.assign(accuracy=counts.right / counts.n).drop(columns="right")


def accuracy(table: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return accuracies averaged over the samples (section 4.3; Figures 1, 5, 6 and 7).

    The interval is this project's addition: a bootstrap that resamples occupations, so that it speaks of occupations
    like these and not of these sentences alone. It belongs to the share over all samples together.

    Args:
        table: Predictions.
        draws, seed: Of the bootstrap.

    Returns:
        ``model``, ``n_distractors``, ``factor``, ``level``, ``n_seeds``, ``n`` (instances, all samples),
        ``n_occupations``, ``accuracy`` (mean over samples), ``sd`` (over samples, ddof 1; missing with one sample),
        ``ci_low``, ``ci_high`` (95 %).
    """
    keys = ["model", "n_distractors", "factor", "level"]
    by_seed = accuracy_by_seed(table)
    summary = by_seed.groupby(keys, sort=False).agg(
        n_seeds=("seed", "nunique"), n=("n", "sum"), accuracy=("accuracy", "mean"), sd=("accuracy", "std")
    )
    clusters = _by_factor(fidelity_rows(table), "occupation")
    intervals = {
        key: (len(part), *procedures.cluster_bootstrap(part.right, part.n, draws, seed))
        for key, part in clusters.groupby(keys, sort=False)
    }
    bounds = pd.DataFrame.from_dict(intervals, orient="index", columns=["n_occupations", "ci_low", "ci_high"])
    bounds.index = pd.MultiIndex.from_tuples(bounds.index, names=keys)
    columns = ["n_seeds", "n", "n_occupations", "accuracy", "sd", "ci_low", "ci_high"]
    return summary.join(bounds)[columns].reset_index()
