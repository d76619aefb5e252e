"""Tabulate accuracies on all sets of templates by everything that the study splits them by."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.published import read_models
from scripts.misgendered.lib.analyses import accuracy as analysis


def main(*, predictions: list, study_models: str, accuracy: str, template_sets: list, draws: int, seed: int):
    """Write ``accuracy`` (CSV) from one file of predictions for each of ``template_sets``.

    ``draws`` and ``seed`` belong to the bootstrap over templates and names; ``study_models`` lists the models of the
    study, whose mean has rows of its own if the run has them all.
    """
    known = list(read_models(study_models).model)
    parts = [
        analysis.accuracy(path, name, draws, seed, known) for name, path in zip(template_sets, predictions, strict=True)
    ]
    files.write_csv(accuracy, pd.concat(parts, ignore_index=True))


if __name__ == "__main__":
    run(main)
