"""Decide every instance under each normalisation of the scores; what that changes, how sure models are, and tokens."""

import pandas as pd

from scripts.core import files, model_outputs
from scripts.core.job import log, run
from scripts.ruff.lib.analyses import calibration as confidence
from scripts.ruff.lib.analyses import fertility as tokens
from scripts.ruff.lib.analyses import normalisation as analysis


def main(
    *,
    instances: str,
    scores: list,
    normalised_predictions: str,
    normalisation: str,
    rankings: str,
    calibration: str,
    calibration_bins: str,
    fertility: str,
    fertility_correlations: str,
    fertility_over_models: str,
    models: list,
    pronoun_sets: list,
    sizes: dict,
    draws: int,
    seed: int,
):
    """Write decisions (``normalised_predictions``, Parquet), and what follows from them (CSV).

    That is accuracies with what flips (``normalisation``) and orders of models (``rankings``); calibration errors
    (``calibration``) and what is in each bin (``calibration_bins``); tokens and accuracy of each form (``fertility``),
    and correlations in each model and over models. ``sizes`` says how many of the selected ``instances`` of each sample
    every model scores; ``draws`` and ``seed`` belong to bootstrap and permutations over occupations.
    """
    scores = [scores] if isinstance(scores, str) else scores
    selected = files.read_parquet(instances)
    parts = []
    for model, path in zip(models, scores, strict=True):
        scored = selected[selected.priority.isna() | (selected.priority < sizes[model])]
        part = analysis.decided(scored, model_outputs.read_scores(path, model, scored), model, pronoun_sets)
        log.info("%s: %d decisions, %d ties", model, len(part), int(part.tie.sum()))
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    files.write_parquet(normalised_predictions, table)
    frame = analysis.normalisations(table, draws, seed)
    files.write_csv(normalisation, frame)
    files.write_csv(rankings, analysis.rankings(frame))
    files.write_csv(calibration, confidence.summary(table, draws, seed))
    files.write_csv(calibration_bins, confidence.bins(table))
    cells = tokens.by_form(table)
    files.write_csv(fertility, cells)
    files.write_csv(fertility_correlations, tokens.correlations(cells))
    files.write_csv(fertility_over_models, tokens.over_models(cells))


if __name__ == "__main__":
    run(main)
