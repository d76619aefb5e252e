"""Is a model right as often as it is sure? Confidences of choices among options, and how far they miss the accuracy."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from scripts.core import statistics
from scripts.core.errors import UserError

BINS = 10
"""Bins of equal width between 0 and 1."""


def confidences(scores: pd.DataFrame, values: pd.Series) -> pd.Series:
    r"""Return the confidence of each instance's choice: the largest share in a softmax over the scores of its options.

    With :math:`v_o` the score of an option, the confidence is :math:`\max_o \exp(v_o) / \sum_{o'} \exp(v_{o'})`. Of
    sums of log-probabilities of texts this is the probability of the chosen text among the texts that the options make.
    A mean over :math:`n` tokens is the same at the temperature :math:`n`, so that such confidences are low by
    construction and depend on the length of the text.

    Args:
        scores: ``instance_id`` of each option's row.
        values: Scores under one normalisation (:func:`scripts.core.normalisation.normalised`), with the index of
            ``scores``. Of float.

    Returns:
        Indexed by ``instance_id``; between one over the number of options and 1. Of float.

    Raises:
        UserError: If a score is not finite.
    """
    if not np.isfinite(values).all():
        raise UserError("a score is not finite, so that no confidence follows; delete the score file and run again")
    best = values.groupby(scores.instance_id.to_numpy()).transform("max")
    relative = np.exp(values - best)
    return 1 / relative.groupby(scores.instance_id.to_numpy()).sum()


def reliability(confidence: np.ndarray, correct: np.ndarray, bins: int = BINS) -> pd.DataFrame:
    r"""Return accuracy and mean confidence of the choices in each bin of confidence.

    Bin :math:`m` of :math:`M` holds confidences in :math:`((m - 1) / M, m / M]` (Guo et al. 2017, section 2).

    Args:
        confidence: Above 0, at most 1. Shape (instances,), of float.
        correct: Shape (instances,), of bool.

    Returns:
        A row for each bin: ``bin`` (from 1), ``low``, ``high``, ``n``, ``confidence`` and ``accuracy``, which are
        missing for an empty bin.
    """
    confidence, correct, place = _placed(confidence, correct, bins)
    n = np.bincount(place, minlength=bins)
    filled = np.where(n > 0, n, np.nan)
    return pd.DataFrame(
        {
            "bin": np.arange(1, bins + 1),
            "low": np.arange(bins) / bins,
            "high": np.arange(1, bins + 1) / bins,
            "n": n,
            "confidence": np.bincount(place, weights=confidence, minlength=bins) / filled,
            "accuracy": np.bincount(place, weights=correct, minlength=bins) / filled,
        }
    )


def expected_error(confidence, correct, bins=BINS) -> float:
    r"""Return the expected calibration error (Naeini et al. 2015; Guo et al. 2017, equation 3).

    :math:`\mathrm{ECE} = \sum_m \frac{n_m}{n} |\mathrm{acc}_m - \mathrm{conf}_m|` over the bins of :func:`reliability`.
    It is never negative, and above zero in finite samples also where confidences are right
    (:func:`error_if_calibrated`).

    Returns:
        NaN without instances.
    """
    if not len(confidence):
        return np.nan
    table = reliability(confidence, correct, bins)
    return float((table.n * (table.accuracy - table.confidence).abs()).sum() / table.n.sum())


def error_interval(
    confidence: np.ndarray,
    correct: np.ndarray,
    clusters: Sequence,
    draws: int,
    seed: int,
    bins: int = BINS,
    level: float = 0.95,
) -> tuple[float, ...]:
    """Return a percentile bootstrap interval of the expected calibration error, resampling clusters.

    Clusters, such as templates, are drawn with replacement, because instances of one are alike (Efron and Tibshirani
    1993). Drawing adds to the scatter within bins, of which the error takes absolute values, so that the interval leans
    to higher errors in small samples.

    Args:
        confidence: Shape (instances,), of float.
        correct: Shape (instances,), of bool.
        clusters: Shape (instances,).

    Returns:
        Lower and upper end; NaN for fewer than two clusters.
    """
    confidence, correct, place = _placed(confidence, correct, bins)
    names, codes = np.unique(np.asarray(clusters).astype(str), return_inverse=True)
    cells = codes * bins + place
    gaps = np.bincount(cells, weights=correct - confidence, minlength=len(names) * bins).reshape(len(names), bins)
    return _interval_of_gaps(gaps, np.bincount(codes, minlength=len(names)), draws, seed, level)


def error_if_calibrated(confidence: np.ndarray, bins: int = BINS) -> float:
    r"""Return the expected calibration error by chance alone: of choices that are right as often as they are sure.

    If outcomes were drawn from the confidences :math:`p_i` themselves (Bröcker and Smith 2007), the sum of
    :math:`\text{correct}_i - p_i` in a bin would have the mean 0 and the variance :math:`\sum_i p_i (1 - p_i)`, and the
    mean absolute value of a normal variable is :math:`\sqrt{2 / \pi}` standard deviations, so that the error is about
    :math:`\frac{1}{n} \sum_m \sqrt{\frac{2}{\pi} \sum_{i \in m} p_i (1 - p_i)}`. An error of this size says
    nothing against the confidences. Outcomes count as independent: where those of a template go together, chance alone
    gives more.

    Args:
        confidence: Shape (instances,), of float.

    Returns:
        NaN without instances.
    """
    if not len(confidence):
        return np.nan
    confidence, _, place = _placed(confidence, confidence, bins)
    variances = np.bincount(place, weights=confidence * (1 - confidence), minlength=bins)
    return float(np.sqrt(2 / np.pi * variances).sum() / len(confidence))


def sums(confidence: np.ndarray, correct: np.ndarray, keys: pd.DataFrame, bins: int = BINS) -> pd.DataFrame:
    """Return confidences and outcomes summed in each bin, for samples too large to be kept.

    Args:
        confidence, correct: Shape (instances,).
        keys: What instances share that are summed together; one of its columns has the clusters.

    Returns:
        The columns of ``keys``, ``bin`` (from 1), ``n``, ``confidence``, ``correct`` (sums) and ``variance`` (the sum
        of :math:`p (1 - p)`).
    """
    confidence, correct, place = _placed(confidence, correct, bins)
    parts = {"n": 1, "confidence": confidence, "correct": correct, "variance": confidence * (1 - confidence)}
    return keys.assign(bin=place + 1, **parts).groupby([*keys, "bin"], sort=False).sum().reset_index()


def reliability_of_sums(cells, bins=BINS):
    """Return :func:`reliability` from :func:`sums`."""
    total = cells.groupby("bin")[["n", "confidence", "correct"]].sum().reindex(range(1, bins + 1), fill_value=0)
    filled = total.n.where(total.n > 0).to_numpy(dtype=float)
    return pd.DataFrame(
        {
            "bin": np.arange(1, bins + 1), "low": np.arange(bins) / bins, "high": np.arange(1, bins + 1) / bins,
            "n": total.n.to_numpy(), "confidence": total.confidence.to_numpy() / filled,
            "accuracy": total.correct.to_numpy() / filled,
        }
    )  # fmt: skip


def errors_of_sums(cells, clusters, draws, seed, bins=BINS) -> dict:
    """Return errors of calibration from :func:`sums`, with an interval over the clusters in the column ``clusters``.

    Returns:
        ``n``, ``accuracy``, ``confidence`` (mean), ``overconfidence``, ``ece`` (:func:`expected_error`), ``ci_low``,
        ``ci_high`` (:func:`error_interval`) and ``ece_by_chance`` (:func:`error_if_calibrated`).
    """
    codes, names = pd.factorize(cells[clusters], sort=True)
    shape = (len(names), bins)
    place = codes * bins + cells.bin.to_numpy() - 1
    gaps, sizes = (
        np.bincount(place, weights=values, minlength=len(names) * bins).reshape(shape)
        for values in (cells.correct - cells.confidence, cells.n)
    )
    variances = np.bincount(cells.bin.to_numpy() - 1, weights=cells.variance, minlength=bins)
    total = cells.n.sum()
    low, high = _interval_of_gaps(gaps, sizes.sum(axis=1), draws, seed)
    accuracy, confidence = float(cells.correct.sum() / total), float(cells.confidence.sum() / total)
    return {
        "n": int(total), "accuracy": accuracy, "confidence": confidence, "overconfidence": confidence - accuracy,
        "ece": float(np.abs(gaps.sum(axis=0)).sum() / total), "ci_low": low, "ci_high": high,
        "ece_by_chance": float(np.sqrt(2 / np.pi * variances).sum() / total),
    }  # fmt: skip


def _interval_of_gaps(gaps, sizes, draws, seed, level=0.95):
    """Return the interval of an expected calibration error from sums of gaps, shape (clusters, bins)."""
    if len(sizes) < 2:
        return np.nan, np.nan
    weights = statistics.resampling_weights(np.zeros(len(sizes), dtype=int), draws, seed)
    errors = np.abs(weights @ gaps).sum(axis=1) / (weights @ sizes)
    return statistics.percentile_interval(errors, level)


def overconfidence(confidence, correct):
    """Return mean confidence minus accuracy: above zero where a model is surer than it is right; NaN without instances.

    Unlike the expected calibration error it has a sign and no bias in small samples, but misses errors that cancel.
    """
    return float(np.mean(confidence) - np.mean(correct)) if len(confidence) else np.nan


def _placed(confidence, correct, bins):
    confidence, correct = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    if len(confidence) != len(correct):
        raise ValueError(f"there are {len(confidence)} confidences and {len(correct)} outcomes")
    if not ((confidence > 0) & (confidence <= 1)).all():
        raise ValueError("a confidence is above 0 and at most 1")
    # What division leaves above a bin's upper end by rounding still belongs to it.
    place = np.ceil(confidence * bins - 1e-9).astype(int) - 1
    return confidence, correct, np.clip(place, 0, bins - 1)
