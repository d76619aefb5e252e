"""The human baseline of RUFF (section 3.3): annotators' accuracy at filling the blank, or the study's."""

from collections.abc import Sequence

import pandas as pd

from scripts.core import files
from scripts.core.data import annotation
from scripts.core.workflow.job import run_named

HUMAN_QUESTION = {"Pronoun": ()}


def human_accuracy(*, samples: list, sheet: str, completed: list, answers: str, agreement: str, accuracy: str) -> None:
    """Read the annotators' completed sheets: every answer, agreement, and accuracy by annotator (section 3.3; CSV).

    The blank ``sheet`` was drawn from ``samples``, which have the right pronouns; ``completed`` are copies of it.
    """
    labels = annotation.read_labels(sheet, completed, HUMAN_QUESTION)
    gold = pd.concat([files.read_parquet(path, ["instance_id", "gold"]) for path in samples])
    files.write_csv(answers, labels)
    files.write_csv(agreement, annotation.measure_agreement(labels))
    files.write_csv(accuracy, accuracy_by_annotator(labels, gold.set_index("instance_id").gold))


def accuracy_by_annotator(labels: pd.DataFrame, gold: pd.Series) -> pd.DataFrame:
    """Return ``annotator``, ``n``, ``right``, ``accuracy`` and Wilson's interval; ``gold`` is the answer by item."""
    # The rules import this module, and scipy takes a second.
    from scripts.core.statistics import procedures

    right = (labels.label == labels["item"].map(gold).str.lower()).groupby(labels.annotator, sort=False)
    rows = [
        (name, len(part), part.sum(), part.mean(), *procedures.wilson_interval(part.sum(), len(part)))
        for name, part in right
    ]
    return pd.DataFrame(rows, columns=["annotator", "n", "right", "accuracy", "low", "high"])


def human_baseline(paths: Sequence[str], published: float) -> float | dict:
    """Return the human baseline as :func:`scripts.core.paper.plotting.human_line` takes it.

    Args:
        paths: The accuracy of this run's annotators (:func:`accuracy_by_annotator`), of which all answers are pooled;
            empty without annotators. Snakemake asks again if the file is not made yet.
        published: The study's accuracy.
    """
    if not paths:
        return published
    # A file that is not made yet is a FileNotFoundError here, as Snakemake expects.
    table = pd.read_csv(paths[0])
    return {"accuracy": float(table.right.sum() / table.n.sum()), "label": "human, this run"}


if __name__ == "__main__":
    run_named()
