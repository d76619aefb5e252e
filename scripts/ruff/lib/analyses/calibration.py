"""Is a model right as often as it is sure of its pick? Not in the study."""

import pandas as pd

from scripts.core import calibration
from scripts.ruff.lib.analyses.normalisation import levels


def bins(table):
    """Return accuracy and confidence in each bin of confidence.

    Parameters
    ----------
    table : DataFrame
        From :func:`scripts.ruff.lib.analyses.normalisation.decided`, of all models.

    Returns
    -------
    DataFrame
        ``model``, ``normalisation``, ``factor``, ``level`` and the columns of
        :func:`scripts.core.calibration.reliability`, without empty bins.
    """
    parts = [
        calibration.reliability(part.confidence, part.correct).assign(**cell)
        for cell, part in _cells(table)
    ]  # fmt: skip
    frame = pd.concat(parts, ignore_index=True)
    names = ["model", "normalisation", "factor", "level"]
    return frame.loc[frame.n > 0, [*names, *(name for name in frame if name not in names)]].reset_index(drop=True)


def summary(table, draws, seed):
    """Return how far confidences miss the accuracy.

    Parameters
    ----------
    table : DataFrame
        As for :func:`bins`.
    draws, seed : int
        Of the bootstrap over occupations.

    Returns
    -------
    DataFrame
        ``model``, ``normalisation``, ``factor``, ``level``, ``n``, ``accuracy``, ``confidence`` (mean),
        ``overconfidence`` (their difference), ``ece`` (expected calibration error) with ``ci_low`` and ``ci_high``
        (95 %) and ``ece_by_chance`` (:func:`scripts.core.calibration.error_if_calibrated`).
    """
    rows = []
    for cell, part in _cells(table):
        low, high = calibration.error_interval(part.confidence, part.correct, part.occupation, draws, seed)
        rows.append(
            cell
            | {
                "n": len(part), "accuracy": float(part.correct.mean()), "confidence": float(part.confidence.mean()),
                "overconfidence": calibration.overconfidence(part.confidence, part.correct),
                "ece": calibration.expected_error(part.confidence, part.correct), "ci_low": low, "ci_high": high,
                "ece_by_chance": calibration.error_if_calibrated(part.confidence),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _cells(table):
    for (model, name), of_both in table.groupby(["model", "normalisation"], sort=False):
        for cell, part in levels(of_both):
            yield {"model": model, "normalisation": name} | cell, part
