"""Turn the scores of all models into predictions."""

from scripts.core import files, model_outputs
from scripts.core.job import log, run
from scripts.ruff.lib.analyses import predictions as analysis


def main(*, instances: str, scores: list, predictions: str, models: list, pronoun_sets: list, sizes: dict):
    """Write ``predictions`` (Parquet) from the selected ``instances`` and one ``scores`` file for each model.

    ``sizes`` says how many instances of each sample every model scores.
    """
    scores = [scores] if isinstance(scores, str) else scores
    table = files.read_parquet(instances)
    with files.append_parquet(predictions) as append:
        for model, path in zip(models, scores, strict=True):
            scored = table[table.priority.isna() | (table.priority < sizes[model])]
            part = analysis.predictions(scored, model_outputs.read_scores(path, model, scored), model, pronoun_sets)
            log.info("%s: %d instances, %d ties", model, len(part), int(part.tie.sum()))
            append(part)


if __name__ == "__main__":
    run(main)
