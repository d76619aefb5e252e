"""Systems of known accuracy on made-up sentences about many pairs of people."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from scripts.winopron import instances
from tests.winopron import make

PEOPLE = {f"worker{chr(97 + number)}": f"person{chr(97 + number)}" for number in range(12)}
OTHER = {"occupation": "participant", "participant": "occupation"}
USUAL = {
    "templates": "replica", "entities": "double", "model": "m", "kind": "system", "scoring": "clusters",
    "reading": "corrected", "prompt": "", "variant": "",
}  # fmt: skip


def sentences(folder, entities="double"):
    """Return instances about twelve pairs of people."""
    return instances.build(make.read(folder, occupations=PEOPLE), entities, make.PRONOUNS)


def answered(frame: pd.DataFrame, choose: Callable, **facts: str) -> pd.DataFrame:
    """Return answers as estimates take them: ``choose`` gives the prediction for a row of instances, or None."""
    predictions = pd.Series([choose(row) for row in frame.itertuples()], frame.index, dtype=object)
    return frame.assign(**USUAL | facts, prediction=predictions, right=predictions == frame.answer)


def answers(frame: pd.DataFrame, accuracy: Callable, seed: int = 1, **facts: str) -> pd.DataFrame:
    """Return answers that are right with a probability, the ``accuracy`` of a row."""
    drawn = iter(np.random.default_rng(seed).random(len(frame)))
    return answered(frame, lambda row: row.answer if next(drawn) < accuracy(row) else OTHER[row.answer], **facts)
