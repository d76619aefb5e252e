"""Is a model right as often as it is sure of its pick? Not in the study."""

import pandas as pd

from scripts.core import calibration
from scripts.ruff.lib.analyses.normalisation import levels


def bins(table: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and confidence in each bin of confidence.

    Args:
        table: From :func:`scripts.ruff.lib.analyses.normalisation.decided`, of all models.

    Returns:
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


def summary(table: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return how far confidences miss the accuracy.

    Args:
        table: As for :func:`bins`.
        draws, seed: Of the bootstrap over occupations.

    Returns:
        ``model``, ``normalisation``, ``factor``, ``level``, ``n``, ``accuracy``, ``confidence`` (mean),
        ``overconfidence`` (their difference), ``ece`` (expected calibration error) with ``ci_low`` and ``ci_high`` (95
        %) and ``ece_by_chance`` (:func:`scripts.core.calibration.error_if_calibrated`).
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
