"""The human baseline of RUFF (section 3.3): annotators' accuracy at filling the blank, or the study's."""

from collections.abc import Sequence

import pandas as pd

HUMAN_QUESTION = {"Pronoun": ()}


def accuracy_by_annotator(labels: pd.DataFrame, gold: pd.Series) -> pd.DataFrame:
    """Return ``annotator``, ``n``, ``right``, ``accuracy`` and Wilson's interval ``ci_low``, ``ci_high``.

    Args:
        labels: From :func:`scripts.core.data.annotation.read_labels`.
        gold: The right pronoun by instance.
    """
    # The rules import this module, and scipy takes a second.
    from scripts.core.statistics import procedures

    right = (labels.label == labels["item"].map(gold).str.lower()).groupby(labels.annotator, sort=False)
    rows = [
        (name, len(part), part.sum(), part.mean(), *procedures.wilson(part.sum(), len(part))) for name, part in right
    ]
    return pd.DataFrame(rows, columns=["annotator", "n", "right", "accuracy", "ci_low", "ci_high"])


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
