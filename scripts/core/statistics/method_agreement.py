"""How far two answers to the same instances agree, such as a scored and a written one, or those of two models."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from scripts.core.statistics import procedures

MEASURES = ("agreement", "kappa", "matthews")


def agreement(
    first: Sequence | np.ndarray | pd.Series,
    second: Sequence | np.ndarray | pd.Series,
    counts: ArrayLike | None = None,
) -> dict:
    r"""Return how far two answers agree, also beyond what chance would give.

    With :math:`p_o` the share of instances with the same answer and :math:`p_e` what it would be if both answered
    independently with the frequencies that they have, kappa is :math:`(p_o - p_e) / (1 - p_e)` (Cohen 1960). With
    :math:`C_{kl}` the number of instances that the first calls :math:`k` and the second :math:`l`, :math:`c` of them
    the same, :math:`s` all of them, and :math:`t_k`, :math:`p_k` how often either says :math:`k`, the Matthews
    correlation is

    .. math:: (cs - \sum_k p_k t_k) / \sqrt{(s^2 - \sum_k p_k^2)(s^2 - \sum_k t_k^2)}

    (Gorodkin 2004; with two answers that of Matthews 1975, which is Pearson's correlation of the two).

    Args:
        first, second: Answers to the same instances; any values that can be compared.
        counts: How often each pair of answers occurs, where it is not once.

    Returns:
        ``n``, ``agreement``, ``kappa``, ``matthews``. Kappa is NaN where both always say the same one thing, the
        Matthews correlation where either always says one thing, and all are without instances.

    Raises:
        ValueError: If there are not as many answers on either side, or one is missing.
    """
    table = confusion(first, second, counts=counts)
    return {"n": int(table.sum())} | {name: float(value) for name, value in _measures(table).items()}


def compare_answers(first: Sequence, second: Sequence, clusters: Sequence, draws: int, seed: int) -> dict:
    """Return how far two answers agree (:func:`agreement`), with 95 % bootstrap intervals over clusters.

    Args:
        first, second: Answers to the same instances.
        clusters: What each instance belongs to, such as a template; clusters are drawn with replacement.

    Returns:
        As :func:`agreement`, and ``<measure>_low`` and ``<measure>_high``, which are missing for fewer than two
        clusters and where the measure does not vary. Samples of clusters in which a measure is not defined are left
        out.
    """
    codes, names = pd.factorize(np.asarray(clusters), sort=True)
    tables = confusion(first, second, codes, len(names))
    made = {"n": int(tables.sum())} | {name: float(value) for name, value in _measures(tables.sum(axis=0)).items()}
    ends = dict.fromkeys(MEASURES, (np.nan, np.nan))
    if len(names) > 1:
        weights = procedures.cluster_weights(len(names), draws, seed)
        samples = _measures(np.tensordot(weights, tables, axes=1))
        ends = {name: procedures.percentile_interval(samples[name]) for name in MEASURES}
    return made | {f"{name}_{end}": ends[name][place] for name in MEASURES for place, end in enumerate(("low", "high"))}


def _measures(tables: np.ndarray) -> dict[str, np.ndarray]:
    """Return every measure of a table of counts, or of each of several, shape (..., answers, answers)."""
    tables = np.asarray(tables, dtype=float)
    total = tables.sum(axis=(-2, -1))
    same = np.trace(tables, axis1=-2, axis2=-1)
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    both = (rows * columns).sum(axis=-1)
    spread = (total**2 - (rows**2).sum(axis=-1)) * (total**2 - (columns**2).sum(axis=-1))
    # Differences of whole numbers, so that what is 0 is so without rounding.
    return {
        "agreement": _share(same, total),
        "kappa": _share(same * total - both, total**2 - both),
        "matthews": _share(same * total - both, np.sqrt(spread)),
    }


def _share(part: ArrayLike, whole: ArrayLike) -> np.ndarray:
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0)


def confusion(
    first: Sequence | np.ndarray | pd.Series,
    second: Sequence | np.ndarray | pd.Series,
    clusters: np.ndarray | None = None,
    n_clusters: int = 1,
    counts: ArrayLike | None = None,
) -> np.ndarray:
    """Return how often the first says one thing and the second another.

    Args:
        clusters: The number of each instance's cluster, from 0; with them there is a table for each of ``n_clusters``.
            Of int.
        counts: As for :func:`agreement`.

    Returns:
        Rows are those of the first, columns those of the second, in one order for both. Shape (answers, answers) or
        (clusters, answers, answers).

    Raises:
        ValueError: If there are not as many answers on either side, or one is missing.
    """
    if len(first) != len(second):
        raise ValueError(f"there are {len(first)} answers on one side and {len(second)} on the other")
    answers = [np.asarray(side, dtype=object) for side in (first, second)]
    codes, names = pd.factorize(np.concatenate(answers))
    if (codes < 0).any():
        raise ValueError("an answer is missing; leave its instance out on both sides")
    rows, columns = codes[: len(first)], codes[len(first) :]
    size = len(names)
    place = rows * size + columns
    if clusters is None:
        return np.bincount(place, weights=counts, minlength=size**2).reshape(size, size)
    place = np.asarray(clusters) * size**2 + place
    return np.bincount(place, weights=counts, minlength=n_clusters * size**2).reshape(n_clusters, size, size)
