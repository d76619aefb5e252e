"""Is a model right as often as it is sure? Confidences of choices among options, and how far they miss the accuracy."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from scripts.core.errors import UserError
from scripts.core.statistics import procedures

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
        values: Scores under one normalisation (:func:`scripts.core.statistics.normalisation.normalise_scores`), with
            the index of ``scores``. Of float.

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


def bin_sums(confidence: ArrayLike, correct: ArrayLike, keys: pd.DataFrame) -> pd.DataFrame:
    r"""Return confidences and outcomes summed in each bin of confidence.

    Bin :math:`m` of :math:`M` holds confidences in :math:`((m - 1) / M, m / M]` (Guo et al. 2017, section 2).

    Args:
        confidence: Above 0, at most 1. Shape (instances,), of float.
        correct: Shape (instances,), of bool.
        keys: What instances share that are summed together, such as their ``cluster``.

    Returns:
        The columns of ``keys``, ``bin`` (from 1), ``n``, ``confidence``, ``correct`` (sums) and ``variance`` (the sum
        of :math:`p (1 - p)`).
    """
    confidence, correct, place = _placed(confidence, correct)
    parts = {"n": 1, "confidence": confidence, "correct": correct, "variance": confidence * (1 - confidence)}
    return keys.assign(bin=place + 1, **parts).groupby([*keys, "bin"], sort=False).sum().reset_index()


def reliability(cells: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and mean confidence of the choices in each bin of confidence.

    Args:
        cells: From :func:`bin_sums`.

    Returns:
        A row for each bin: ``bin`` (from 1), ``low``, ``high``, ``n``, ``confidence`` and ``accuracy``, which are
        missing for an empty bin.
    """
    total = cells.groupby("bin")[["n", "confidence", "correct"]].sum().reindex(range(1, BINS + 1), fill_value=0)
    filled = total.n.where(total.n > 0).to_numpy(dtype=float)
    return pd.DataFrame(
        {
            "bin": np.arange(1, BINS + 1), "low": np.arange(BINS) / BINS, "high": np.arange(1, BINS + 1) / BINS,
            "n": total.n.to_numpy(), "confidence": total.confidence.to_numpy() / filled,
            "accuracy": total.correct.to_numpy() / filled,
        }
    )  # fmt: skip


def errors(cells: pd.DataFrame, draws: int, seed: int) -> dict:
    r"""Return how far confidences miss the accuracy.

    - ``overconfidence`` is mean confidence minus accuracy: above zero where a model is surer than it is right. It has a
      sign and no bias in small samples, but misses errors that cancel.
    - ``ece`` is the expected calibration error (Naeini et al. 2015; Guo et al. 2017, equation 3),
      :math:`\sum_m \frac{n_m}{n} |\mathrm{acc}_m - \mathrm{conf}_m|` over the bins of :func:`reliability`. It is never
      negative, and above zero in finite samples also where confidences are right.
    - ``ci_low`` and ``ci_high`` are its 95 % percentile bootstrap interval. Clusters, such as templates, are drawn with
      replacement, because instances of one are alike (Efron and Tibshirani 1993). Drawing adds to the scatter within
      bins, of which the error takes absolute values, so that the interval leans to higher errors in small samples.
    - ``ece_by_chance`` is the error by chance alone. If outcomes were drawn from the confidences :math:`p_i` themselves
      (Bröcker and Smith 2007), the sum of :math:`\text{correct}_i - p_i` in a bin would have the mean 0 and the
      variance :math:`\sum_i p_i (1 - p_i)`, and the mean absolute value of a normal variable is
      :math:`\sqrt{2 / \pi}` standard deviations, so that the error is about
      :math:`\frac{1}{n} \sum_m \sqrt{\frac{2}{\pi} \sum_{i \in m} p_i (1 - p_i)}`. An error of this size says nothing
      against the confidences. Outcomes count as independent: where those of a cluster go together, chance alone gives
      more.

    Args:
        cells: From :func:`bin_sums`, with the column ``cluster``; at least one.
        draws, seed: Of the bootstrap.

    Returns:
        ``n``, ``accuracy``, ``confidence`` (mean), ``overconfidence``, ``ece``, ``ci_low``, ``ci_high`` (NaN for fewer
        than two clusters), ``ece_by_chance``.
    """
    codes, names = pd.factorize(cells.cluster, sort=True)
    shape = (len(names), BINS)
    place = codes * BINS + cells.bin.to_numpy() - 1
    gaps, sizes = (
        np.bincount(place, weights=values, minlength=len(names) * BINS).reshape(shape)
        for values in (cells.correct - cells.confidence, cells.n)
    )
    variances = np.bincount(cells.bin.to_numpy() - 1, weights=cells.variance, minlength=BINS)
    low, high = np.nan, np.nan
    if len(names) > 1:
        weights = procedures.cluster_weights(len(names), draws, seed)
        drawn = np.abs(weights @ gaps).sum(axis=1) / (weights @ sizes.sum(axis=1))
        low, high = procedures.percentile_interval(drawn)
    total = cells.n.sum()
    accuracy, confidence = float(cells.correct.sum() / total), float(cells.confidence.sum() / total)
    return {
        "n": int(total), "accuracy": accuracy, "confidence": confidence, "overconfidence": confidence - accuracy,
        "ece": float(np.abs(gaps.sum(axis=0)).sum() / total), "ci_low": low, "ci_high": high,
        "ece_by_chance": float(np.sqrt(2 / np.pi * variances).sum() / total),
    }  # fmt: skip


def _placed(confidence: ArrayLike, correct: ArrayLike):
    confidence, correct = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    if len(confidence) != len(correct):
        raise ValueError(f"there are {len(confidence)} confidences and {len(correct)} outcomes")
    if not ((confidence > 0) & (confidence <= 1)).all():
        raise ValueError("a confidence is above 0 and at most 1")
    # What division leaves above a bin's upper end by rounding still belongs to it.
    place = np.ceil(confidence * BINS - 1e-9).astype(int) - 1
    return confidence, correct, np.clip(place, 0, BINS - 1)
