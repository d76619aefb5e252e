"""Decide every instance under each normalisation of the losses; what that changes, and how sure models are."""

import pandas as pd

from scripts.core import files, model_outputs
from scripts.core.job import log, run
from scripts.misgendered.lib.analyses import calibration as confidence
from scripts.misgendered.lib.analyses import normalisation as analysis


def main(
    *,
    instances: str,
    scores: list,
    normalisation: str,
    calibration: str,
    calibration_bins: str,
    models: list,
    wording: str,
    labels: str,
    capitals: str,
    draws: int,
    seed: int,
):
    """Write accuracies with what flips (``normalisation``), calibration errors and what is in each bin (CSV).

    Decisions are counted model by model and not kept: there can be sixty million. ``scores`` has a file for each of
    ``models``, of the ``instances`` without examples, which count in the ``wording`` of the run; ``labels`` and
    ``capitals`` say which losses are compared. ``draws`` and ``seed`` belong to the bootstrap over templates and names
    and to permutations over templates.
    """
    scores = [scores] if isinstance(scores, str) else scores
    selected = files.read_parquet(instances)
    cells, pairs, confidences = [], [], []
    for model, path in zip(models, scores, strict=True):
        read = model_outputs.read_scores(path, model, selected)
        table = analysis.decided(selected[selected.wording == wording], read, model, labels, capitals)
        log.info("%s: %d decisions, %d ties", model, len(table), int(table.tie.sum()))
        of_model, of_picks = analysis.counted(table)
        cells.append(of_model)
        pairs.append(of_picks)
        confidences.append(confidence.counted(table))
    cells, pairs, confidences = (pd.concat(parts, ignore_index=True) for parts in (cells, pairs, confidences))
    files.write_csv(normalisation, analysis.normalisations(cells, pairs, draws, seed))
    files.write_csv(calibration, confidence.summary(confidences, draws, seed))
    files.write_csv(calibration_bins, confidence.bins(confidences))


if __name__ == "__main__":
    run(main)
