"""Slopes over dates and places (Method 1) and the detection of unspecified sentences (Method 2) of every model."""

import pandas as pd

from scripts.core import files
from scripts.core.workflow.job import log, run_named
from scripts.underspecification import correlation, detection, study
from scripts.underspecification.probabilities import read_probabilities

COLUMNS = [*study.IDENTITY, "label", *study.FACTORS, "metric", "value", "low", "high", "n", "clusters", "chance"]
"""``n`` counts sentences, ``clusters`` what intervals resample: sentences (Method 1) or occupations (Method 2)."""
MOST_DATES = 2
"""Metrics of sentences are written for up to so many dates at either end, as Table 2 has them; estimates are of all."""


def estimates(
    *,
    probabilities: list,
    estimates: str,
    curves: str,
    metrics: str,
    threshold: float,
    folds: int,
    draws: int,
    seed: int,
) -> None:
    """Estimate all metrics; write the means and lines behind the slopes, and the metric of every sentence.

    ``probabilities`` has a file for each model of the run and each release; ``folds`` are those of the threshold's
    cross-validation.
    """
    measured, means, moves = [], [], []
    for path in probabilities:
        frame = study.identify(read_probabilities(path))
        sentences, others = frame[frame.evaluation_set == "mgc"], frame[frame.evaluation_set != "mgc"]
        if len(sentences):
            means.append(correlation.fit_curves(sentences, draws, seed))
            measured.append(correlation.estimate_slopes(sentences, draws, seed))
        if len(others):
            moved = detection.specification_metric(others)
            moves.append(moved[moved.dates <= MOST_DATES])
            measured.append(detection.evaluate_detection(moved, folds, draws, seed, threshold))
            measured.append(detection.correlate_level_and_change(moved))
        log.info("%s: %d probabilities", path, len(frame))
    table = pd.concat([part for part in measured if len(part)], ignore_index=True).reindex(columns=COLUMNS)
    files.write_csv(estimates, table.astype({"dates": "Int64"}))
    files.write_csv(curves, pd.concat(means, ignore_index=True))
    files.write_csv(metrics, pd.concat(moves, ignore_index=True))


if __name__ == "__main__":
    run_named()
