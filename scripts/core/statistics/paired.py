"""Two models, or two ways to read one, on the same items: their difference, its test, and what a sample can show.

Items of one cluster, such as a template, are alike; clusters are independent of each other.
"""

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from scripts.core.statistics import procedures

Labels = Sequence | np.ndarray | pd.Series

EXACT_PAIRS = 14
"""Up to this many clusters with a difference all sign flips are counted out, which are at most 16,384."""

PAIR_COLUMNS = [
    "model_a", "model_b", "n", "n_clusters", "difference", "ci_low", "ci_high", "p", "discordant", "detectable",
]  # fmt: skip
PLANNED_DIFFERENCES = (2, 5, 10)
"""Differences of accuracies in percentage points for which the number of items is planned."""
PLAN_COLUMNS = [
    "n", "n_clusters", "accuracy", "correlation", "detectable", "detectable_pair", "discordant",
    *(f"needed_{effect}" for effect in PLANNED_DIFFERENCES),
]  # fmt: skip


def cluster_names(table: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Return the name of each row's cluster: the values of the columns, with blanks between."""
    return functools.reduce(lambda left, right: left + " " + right, (table[name].astype(str) for name in columns))


def cluster_sums(first: ArrayLike, second: ArrayLike, clusters: Labels) -> tuple[np.ndarray, ...]:
    """Return the sum of the differences ``first - second`` and the number of items of each cluster.

    Args:
        first, second: Shape (items,), of bool or float.
        clusters: Shape (items,).

    Returns:
        Shape (clusters,), of float.

    Raises:
        ValueError: If the three have different lengths.
    """
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not len(first) == len(second) == len(clusters):
        raise ValueError(f"there are {len(first)} and {len(second)} outcomes and {len(clusters)} clusters of items")
    codes, names = pd.factorize(np.asarray(clusters), sort=True)
    count = len(names)
    return np.bincount(codes, weights=first - second, minlength=count), np.bincount(codes, minlength=count) * 1.0


def comparison(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Labels,
    draws: int,
    seed: int,
    alpha: float = 0.05,
    power: float = 0.8,
) -> dict:
    """Compare two outcomes of the same items.

    Args:
        first, second: Such as whether each of two models is right. Shape (items,), of bool or float.
        clusters: Shape (items,).
        draws: Of the bootstrap and of the permutation test.
        alpha, power: Of the minimum detectable effect.

    Returns:
        ``n``, ``n_clusters``, ``difference`` (mean of first minus second), ``ci_low`` and ``ci_high`` (95 %, bootstrap
        over clusters), ``p`` (:func:`sign_flip_p`), ``discordant`` (share of items whose outcomes differ) and
        ``detectable`` (:func:`detectable_difference`).
    """
    sums, sizes = cluster_sums(first, second, clusters)
    total = sizes.sum()
    low, high = procedures.cluster_bootstrap(sums, sizes, draws, seed, share=False)
    unequal = np.asarray(first, dtype=float) != np.asarray(second, dtype=float)
    return {
        "n": int(total),
        "n_clusters": len(sums),
        "difference": float(sums.sum() / total) if total else np.nan,
        "ci_low": low,
        "ci_high": high,
        "p": sign_flip_p(sums, draws, seed),
        "discordant": float(unequal.mean()) if total else np.nan,
        "detectable": detectable_difference(standard_error(sums, sizes), len(sums), alpha, power),
    }


def every_pair(outcomes: pd.DataFrame, clusters: Labels, draws: int, seed: int) -> pd.DataFrame:
    """Compare each pair of models on the items that both have.

    Args:
        outcomes: A row for each item and a column for each model, such as whether it is right; missing where it has no
            outcome.
        clusters: Shape (items,).

    Returns:
        :data:`PAIR_COLUMNS`: a row for each pair, with what :func:`comparison` gives of the first minus the second, and
        ``p_holm``, p after Holm's correction over the pairs. No rows with one model.
    """
    values = outcomes.to_numpy(dtype=float)
    codes = pd.factorize(np.asarray(clusters), sort=True)[0]
    rows = []
    for a, b in itertools.combinations(range(values.shape[1]), 2):
        both = ~np.isnan(values[:, a]) & ~np.isnan(values[:, b])
        made = comparison(values[both, a], values[both, b], codes[both], draws, seed)
        rows.append({"model_a": outcomes.columns[a], "model_b": outcomes.columns[b]} | made)
    frame = pd.DataFrame(rows, columns=PAIR_COLUMNS)
    return frame.assign(p_holm=procedures.holm(frame.p.to_numpy(dtype=float)))


def model_pairs(
    by_model: Iterable[tuple[Any, pd.DataFrame]],
    keys: Sequence[str],
    factor: str,
    clusters: Sequence[str],
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """Compare each pair of models on the instances that both have, over all levels of a factor and at each of them.

    Args:
        by_model: Each model with its predictions: ``keys`` and ``correct``.
        keys: What tells instances apart, with the ``factor`` and the columns ``clusters``.
        clusters: What names the cluster of an instance.
        draws, seed: Of bootstrap and permutations, over clusters.

    Returns:
        The factor (``all`` first) and what :func:`every_pair` gives.
    """
    models: list[str] = []
    wide: pd.DataFrame | None = None
    for model, rows in by_model:
        models.append(model)
        rows = rows[[*keys, "correct"]].astype({"correct": float}).rename(columns={"correct": model})
        if wide is None:
            wide = rows
        elif wide[keys].equals(rows[keys]):
            wide[model] = rows[model].to_numpy()
        else:
            wide = wide.merge(rows, on=keys, how="outer", validate="one_to_one")
    assert wide is not None, "there is a model"
    parts = []
    for level, part in levels(wide, factor):
        made = every_pair(part[models], cluster_names(part, clusters), draws, seed)
        made.insert(0, factor, level)
        parts.append(made)
    return pd.concat(parts, ignore_index=True)


def power(by_model: Iterable[tuple[Any, pd.DataFrame]], factor: str, clusters: Sequence[str]) -> pd.DataFrame:
    """Return how small a difference a sample like each model's can show; arguments as for :func:`model_pairs`.

    Returns:
        ``model``, the factor (``all`` first) and what :func:`plan_sample` gives.
    """
    return pd.DataFrame(
        {"model": model, factor: level} | plan_sample(part.correct, cluster_names(part, clusters))
        for model, rows in by_model
        for level, part in levels(rows, factor)
    )


def levels(table: pd.DataFrame, factor: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield ``all`` and each level of a factor with its rows: numbers by size, words in the order of appearance."""
    yield "all", table
    for level, part in table.groupby(factor, sort=pd.api.types.is_numeric_dtype(table[factor]), observed=True):
        yield str(level), part


def plan_sample(right: np.ndarray | pd.Series, clusters: Labels) -> dict:
    """Return how small a difference a sample like this can show, and how many items a given difference needs.

    The other model of a comparison is taken to be as often right, on items of which the first one's outcomes say
    nothing. One that errs on the same items needs fewer, and :func:`every_pair` has what a difference of two known
    models can be.

    Args:
        right: Of one model. Shape (items,), of bool.
        clusters: Shape (items,).

    Returns:
        :data:`PLAN_COLUMNS`: ``n``, ``n_clusters``, ``accuracy``, ``correlation`` (:func:`correlation_within`),
        ``detectable`` (:func:`detectable_difference`: the smallest difference of the accuracy from a fixed number, such
        as chance, that is found with 80 % power at 5 %), ``detectable_pair`` (from another model's accuracy on the same
        items), ``discordant`` (:math:`2 a (1 - a)` with the accuracy :math:`a`) and ``needed_<difference>`` in
        percentage points (:func:`items_needed`, as many in each cluster as here) for each of
        :data:`PLANNED_DIFFERENCES`.
    """
    right = np.asarray(right, dtype=float)
    sums, sizes = cluster_sums(right, np.zeros(len(right)), clusters)
    error, accuracy = standard_error(sums, sizes), float(right.mean())
    correlation = correlation_within(right, clusters)
    discordant = 2 * accuracy * (1 - accuracy)
    alike = {"per_cluster": len(right) / len(sizes), "correlation": float(np.nan_to_num(correlation))}
    row = {
        "n": len(right), "n_clusters": len(sizes), "accuracy": accuracy, "correlation": correlation,
        "detectable": detectable_difference(error, len(sizes)),
        "detectable_pair": detectable_difference(np.sqrt(2) * error, len(sizes)),
        "discordant": discordant,
    }  # fmt: skip
    return row | {
        f"needed_{effect}": items_needed(effect / 100, max(effect / 100, discordant), **alike)
        for effect in PLANNED_DIFFERENCES
    }  # fmt: skip


def sign_flip_p(sums: ArrayLike, draws: int, seed: int) -> float:
    r"""Return the two-sided p value of a sign-flip permutation test over clusters (Fisher 1935; Winkler et al. 2014).

    If the two outcomes could be exchanged within any cluster, each cluster's sum of differences :math:`S_c` is as
    probable as :math:`-S_c`. p is the share of sign patterns with
    :math:`|\sum_c \pm S_c| \ge |\sum_c S_c|`: of all patterns with up to :data:`EXACT_PAIRS` clusters that differ,
    otherwise of ``draws`` random ones and the observed one (Phipson and Smyth 2010).

    Args:
        sums: Shape (clusters,), of float.

    Returns:
        1 where no cluster differs; NaN without clusters.
    """
    sums = np.asarray(sums, dtype=float)
    if not len(sums):
        return np.nan
    moved = sums[sums != 0]
    if not len(moved):
        return 1.0
    # Sums of flipped signs that equal the observed one but for rounding count as equal.
    observed = abs(moved.sum()) - procedures.ROUNDING * np.abs(moved).sum()
    if len(moved) <= EXACT_PAIRS:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=len(moved))))
        return float((np.abs(signs @ moved) >= observed).mean())
    signs = np.random.default_rng(seed).choice((1.0, -1.0), size=(draws, len(moved)))
    return float((1 + (np.abs(signs @ moved) >= observed).sum()) / (1 + draws))


def standard_error(sums: np.ndarray, sizes: np.ndarray) -> float:
    r"""Return the standard error of a mean difference over items of clusters (Liang and Zeger 1986, as a ratio).

    :math:`\sqrt{\frac{C}{C - 1} \sum_c (S_c - n_c \bar d)^2} \, / \, n` with :math:`C` clusters of :math:`n_c` items,
    sums :math:`S_c` and the mean :math:`\bar d = \sum_c S_c / n`.

    Args:
        sums, sizes: Shape (clusters,), of float.

    Returns:
        NaN for fewer than two clusters.
    """
    sums, sizes = np.asarray(sums, dtype=float), np.asarray(sizes, dtype=float)
    count, total = len(sums), sizes.sum()
    if count < 2:
        return np.nan
    residuals = sums - sizes * sums.sum() / total
    return float(np.sqrt(count / (count - 1) * (residuals**2).sum()) / total)


def detectable_difference(error: float, clusters: int, alpha: float = 0.05, power: float = 0.8) -> float:
    r"""Return the smallest true difference that a two-sided test of a sample like this finds with the given power.

    :math:`(t_{1 - \alpha/2} + t_{\text{power}}) \cdot \mathrm{SE}` with quantiles of Student's t with :math:`C - 1`
    degrees of freedom (Bloom 1995): 2.8 standard errors for many clusters at the defaults.

    Args:
        error: Standard error of the difference (:func:`standard_error`).

    Returns:
        NaN for fewer than two clusters, or without any variation, from which nothing follows.
    """
    if clusters < 2 or not error > 0:
        return np.nan
    quantiles = scipy.stats.t(clusters - 1).ppf([1 - alpha / 2, power])
    return float(quantiles.sum() * error)


def correlation_within(values: np.ndarray, clusters: Labels) -> float:
    r"""Return the correlation of two items of one cluster (Fisher's analysis of variance; Donner 1986).

    :math:`\rho = (M_B - M_W) / (M_B + (n_0 - 1) M_W)` with the mean squares between clusters and within, and
    :math:`n_0 = (n - \sum_c n_c^2 / n) / (C - 1)`; 0 where that is negative.

    Args:
        values: Shape (items,), of bool or float.
        clusters: Shape (items,).

    Returns:
        NaN for fewer than two clusters, with one item in each, or for values that do not vary.
    """
    values = np.asarray(values, dtype=float)
    codes, names = pd.factorize(np.asarray(clusters), sort=True)
    sizes = np.bincount(codes, minlength=len(names))
    if len(names) < 2 or len(values) == len(names) or not procedures.has_variation(values, 1):
        return np.nan
    means = np.bincount(codes, weights=values) / sizes
    between = (sizes * (means - values.mean()) ** 2).sum() / (len(names) - 1)
    within = ((values - means[codes]) ** 2).sum() / (len(values) - len(names))
    typical = (len(values) - (sizes**2).sum() / len(values)) / (len(names) - 1)
    return float(max(0, (between - within) / (between + (typical - 1) * within)))


def items_needed(
    effect: float,
    discordant: float,
    per_cluster: float = 1,
    correlation: float = 0.0,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int:
    r"""Return how many items a planned comparison of two models needs.

    :math:`n = (z_{1 - \alpha/2} + z_{\text{power}})^2 \, (q - \delta^2) \, (1 + (m - 1)\rho) \, / \, \delta^2` with the
    difference of accuracies :math:`\delta`, the share :math:`q` of items on which one model alone is right (Connor
    1987), :math:`m` items of each template and the correlation :math:`\rho` of differences within one (Kish 1965).

    Args:
        effect: The difference of accuracies that is to be found, above 0.
        discordant: At least ``effect``, at most 1.
        per_cluster: Items of each cluster, 1 or more.
        correlation: Between 0 and 1.

    Raises:
        ValueError: For values outside these bounds.
    """
    if not 0 < effect <= discordant <= 1:
        raise ValueError(f"a difference of {effect} needs a share of discordant items from {effect} to 1")
    if per_cluster < 1 or not 0 <= correlation <= 1:
        raise ValueError("a cluster has one item or more, and a correlation within clusters is between 0 and 1")
    quantiles = scipy.stats.norm.ppf([1 - alpha / 2, power]).sum()
    inflation = 1 + (per_cluster - 1) * correlation
    return int(np.ceil(quantiles**2 * (discordant - effect**2) * inflation / effect**2))
