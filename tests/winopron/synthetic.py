"""Systems of known accuracy on made-up sentences about many pairs of people."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from scripts.winopron.lib import instances
from scripts.winopron.lib.analyses import performance
from tests.winopron import make

PEOPLE = {f"worker{chr(97 + number)}": f"person{chr(97 + number)}" for number in range(12)}
OTHER = {"occupation": "participant", "participant": "occupation"}


def sentences(folder, entities="double"):
    """Return instances about twelve pairs of people."""
    return instances.build(make.read(folder, occupations=PEOPLE), entities, make.PRONOUNS)


def answers(frame: pd.DataFrame, accuracy: Callable, seed: int = 1):
    """Return answers that are right with a probability.

    Args:
        frame: Instances.
        accuracy: Of a row of ``frame``.
    """
    drawn = np.random.default_rng(seed).random(len(frame))
    right = [chance < accuracy(row) for chance, row in zip(drawn, frame.itertuples(), strict=True)]
    predicted = [row.answer if good else OTHER[row.answer] for good, row in zip(right, frame.itertuples(), strict=True)]
    table = pd.DataFrame({"instance_id": frame.instance_id, "prediction": pd.Series(predicted, dtype=object)})
    return performance.join_instances(table, frame)
