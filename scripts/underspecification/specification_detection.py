"""Detect underspecified sentences with the task specification metric (Method 2, Section 5)."""

from scripts.core import files
from scripts.core.job import run
from scripts.underspecification.lib.analyses import detection, overwriting
from scripts.underspecification.lib.analyses.masses import read_masses


def main(
    *,
    masses: list,
    metric: str,
    specification_detection: str,
    roc: str,
    orders: str,
    independence: str,
    threshold: float,
    folds: int,
    draws: int,
    seed: int,
):
    """Write the ``metric`` of each sentence, rates, areas and ``roc`` curves, rates over file ``orders``, and how the
    change over dates goes with the level (``independence``) as CSV."""
    frame = read_masses(masses)
    frame = frame[frame.evaluation_set != "mgc"]
    values = detection.specification_metric(frame[~frame.debris])
    files.write_csv(metric, values)
    files.write_csv(specification_detection, detection.evaluate(values, folds, draws, seed, threshold))
    files.write_csv(roc, detection.roc_curves(values))
    files.write_csv(independence, detection.independence(values))
    files.write_csv(orders, overwriting.rates_over_orders(overwriting.candidates(frame), threshold))


if __name__ == "__main__":
    run(main)
