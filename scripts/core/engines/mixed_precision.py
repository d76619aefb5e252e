"""Half precision where it decides as float32 does, float32 everywhere else.

Options are compared, and the best one is the model's decision. Half precision changes scores by a little, and decisions
only where two options are close. So a job scores everything in half precision and, once more in float32, every instance
whose best two options are closer than a bound:

* Instances spread evenly over the job (:data:`CALIBRATION`, or all if there are fewer) are scored in both precisions.
* How far half precision moves the options of an instance against each other is the range, over its options, of the
  difference between the two scores: no distance between two of its options changes by more.
* The bound is :data:`SAFETY` times the largest such range. Where the best two options are further apart, half precision
  can change the decision only if it moves them by more than the bound.
* Every instance that is scored again is another observation. One that moved by more than the bound shows that the bound
  was too small: the job starts again with one that counts it (what was computed before is kept).

Instances whose half-precision scores are not finite are scored again, too. Nothing is proved of an instance that is not
scored again. What share of them may move by more than the largest range seen follows from their number alone
(:func:`exceeding_share`): 1.2 % of 256. The bound is twice that range; of 1,440 instances that were all scored in both
precisions, two moved by more. Such an instance changes its decision only if its options are no further apart than it
moved. A study that needs more than decisions has to be run in float32.
"""

import contextlib
from collections.abc import Iterator, Sequence, Set

import numpy as np
import pandas as pd
import torch

CALIBRATION = 256
"""Instances that are scored in both precisions before the rest."""

SAFETY = 2.0
"""The bound in largest ranges."""


def exceeding_share(observed: int) -> float:
    """Return what share of a job's instances may move by more than any of those observed, with 95 % confidence.

    The share p for which all of so many instances drawn at random stay within the rest with a probability of 5 %:
    (1 - p)^n = .05, a tolerance bound without an assumption on how far instances move (Wilks 1941).

    Args:
        observed: At least 1.
    """
    return 1 - 0.05 ** (1 / observed)


class HalfWeights:
    """Copies in half precision of a float32 model's weights, which can take their places.

    Copies take half as much memory as the weights. Only parameters have any: what a model computes from (frequencies of
    rotations, tables of positions) is kept in float32 by libraries that load half-precision weights, too.

    Args:
        model: In float32.
        precision: One of "bfloat16", "float16".
    """

    def __init__(self, model: torch.nn.Module, precision: str):
        dtype = getattr(torch, precision)
        self.precision = precision
        self.pairs = [
            (parameter, parameter.data, parameter.data.to(dtype))
            for parameter in model.parameters()
            if parameter.dtype == torch.float32
        ]

    @contextlib.contextmanager
    def used(self) -> Iterator[None]:
        """Let the model compute in half precision inside the block."""
        try:
            for parameter, _, half in self.pairs:
                parameter.data = half
            yield
        finally:
            for parameter, wide, _ in self.pairs:
                parameter.data = wide


def calibration_rows(chosen: np.ndarray) -> np.ndarray:
    """Return which of the chosen rows of a file calibrate, evenly spread over them.

    Args:
        chosen: Shape (rows,), of bool.

    Returns:
        :data:`CALIBRATION` of the chosen rows, or all if there are fewer. Shape (rows,), of bool.
    """
    places = np.flatnonzero(chosen)
    sample = np.zeros_like(chosen)
    sample[places[np.linspace(0, len(places) - 1, min(CALIBRATION, len(places))).round().astype(int)]] = True
    return sample


class Bound:
    """How close the best two options of an instance may be before half precision could confuse them.

    Args:
        columns: The columns of a table of scores by which options are compared.

    Attributes:
        largest (dict of str to float): For each column, the largest range seen, in nats.
        nats (dict of str to float): The bounds; of infinity, until they are set: everything is close.
    """

    def __init__(self, columns: Sequence[str]):
        self.columns = tuple(columns)
        self.largest = dict.fromkeys(self.columns, 0.0)
        self.observed = dict.fromkeys(self.columns, 0)
        self.nats = dict.fromkeys(self.columns, np.inf)

    def observe(self, half: pd.DataFrame, wide: pd.DataFrame) -> None:
        """Take account of instances that were scored in both precisions.

        Args:
            half, wide: Tables of the same instances and options in the same order, in half precision and in float32,
                with the column ``instance_id``. Instances whose half-precision scores are not finite say nothing.
        """
        for column in self.columns:
            moved = half[column] - wide[column]
            by_instance = moved.where(np.isfinite(moved)).groupby(half.instance_id, sort=False)
            ranges = (by_instance.max() - by_instance.min())[by_instance.size() == by_instance.count()]
            self.largest[column] = max(self.largest[column], ranges.max() if len(ranges) else 0.0)
            self.observed[column] += len(ranges)

    def set(self) -> None:
        """Set the bounds by what was observed; where that is less than half a calibration, everything stays close."""
        enough = {column for column, count in self.observed.items() if count >= CALIBRATION // 2}
        self.nats = {
            column: SAFETY * largest if column in enough else np.inf for column, largest in self.largest.items()
        }

    @property
    def too_small(self) -> bool:
        """Whether an instance moved by more than a bound."""
        return any(self.largest[column] > self.nats[column] for column in self.columns)

    def close(self, half: pd.DataFrame) -> Set[str]:
        """Return the instances that have to be scored in float32: those that are close in any of the columns.

        Args:
            half: A table of whole instances, scored in half precision.

        Returns:
            Ids of instances whose best two options differ by no more than the bound, or have no finite scores.
        """
        codes, names = pd.factorize(half.instance_id)
        close = np.zeros(len(names), dtype=bool)
        for column in self.columns:
            values = half[column].to_numpy()
            order = np.lexsort((-values, codes))
            first = np.flatnonzero(np.diff(codes[order], prepend=-1))
            # An instance with one option has no second.
            second = first[np.diff(np.append(first, len(order))) > 1]
            best, other = values[order[second]], values[order[second + 1]]
            close[codes[order[second[~(best - other > self.nats[column])]]]] = True
            close[codes[~np.isfinite(values)]] = True
        return set(names[close])
