"""Differences within a system and between systems on the same sentences: pairs of people are resampled together."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from scripts.core.statistics import procedures

if TYPE_CHECKING:
    import pandas as pd


class PairSamples:
    """Bootstrap samples of the pairs of people of one template set.

    Args:
        pairs: All pairs of people.

    Notes:
        All quantities of one object share their samples, so the difference of two of them is a paired one.
    """

    def __init__(self, pairs: Iterable[str], draws: int, seed: int):
        self.pairs = list(dict.fromkeys(pairs))
        self.weights = procedures.cluster_weights(len(self.pairs), draws, seed)

    def ratio(self, above: "pd.Series", below: "pd.Series") -> tuple[float, np.ndarray]:
        """Return a quantity that is one sum over another, and its bootstrap samples.

        Args:
            above, below: By pair of people; a pair that is not there has nothing.

        Returns:
            The value and its samples; NaN where the lower sum is zero.
        """
        sums = [part.reindex(self.pairs, fill_value=0).to_numpy(dtype=float) for part in (above, below)]
        with np.errstate(invalid="ignore", divide="ignore"):
            samples = (self.weights @ sums[0]) / (self.weights @ sums[1])
        value = sums[0].sum() / sums[1].sum() if sums[1].sum() else np.nan
        return float(value), samples
