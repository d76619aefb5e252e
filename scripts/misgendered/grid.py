"""Templates by names, over which accuracies have their intervals: both are resampled, because instances share both.

Every instance is one template with one name, and both come again in many instances. The bootstrap draws templates
(within their form) and names (within their class) apart from each other, and an instance counts as often as its
template was drawn times its name (Owen 2007). Pronoun groups, declarations and models are the study's own and stay as
they are. All quantities of one grid share their samples, so the difference of two of them is a paired one.

*Cells* are an array of shape (counts, templates, names): first how many instances each template has with each name,
then at how many of them the pick is right.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from scripts.core.statistics import procedures
from scripts.misgendered.study import NAME, TEMPLATE


class Grid:
    """Templates and names, and how often each is drawn in each bootstrap sample.

    Args:
        tables: Predictions: the templates and names of all of them.
    """

    def __init__(self, tables: Iterable[pd.DataFrame], draws: int, seed: int):
        templates, names = [], []
        for table in tables:
            templates.append(table[TEMPLATE].drop_duplicates())
            names.append(table[NAME].drop_duplicates())
        self.templates, self.names = (
            pd.MultiIndex.from_frame(pd.concat(parts).astype(object).drop_duplicates().sort_values(columns))
            for parts, columns in ((templates, TEMPLATE), (names, NAME))
        )
        self.row_weights = procedures.resampling_weights(self.templates.get_level_values(0), draws, seed)
        self.column_weights = procedures.resampling_weights(self.names.get_level_values(0), draws, seed + 1)

    def places(self, table: pd.DataFrame) -> np.ndarray:
        """Return the number of each row's pair of a template and a name. Shape (rows,), of int."""
        return _numbers(table, TEMPLATE, self.templates) * len(self.names) + _numbers(table, NAME, self.names)

    def count(self, places: ArrayLike, *weights: ArrayLike | None) -> np.ndarray:
        """Return the sums of weights of rows at these places, as cells; a weight that is None counts rows."""
        shape = len(self.templates), len(self.names)
        return np.array([np.bincount(places, of, shape[0] * shape[1]).reshape(shape) for of in weights])

    def samples(self, cells: np.ndarray, fixed_names: bool = False) -> np.ndarray:
        """Return the share of right picks in every bootstrap sample; all NaN with one template and one name.

        Args:
            fixed_names: Resample templates alone, for a quantity of one name.

        Returns:
            Shape (draws,), of float.
        """
        trials, right = cells[:2].astype(float)
        rows, columns = np.flatnonzero(trials.any(axis=1)), np.flatnonzero(trials.any(axis=0))
        if len(rows) < 2 and len(columns) < 2:
            return np.full(len(self.row_weights), np.nan)
        here, weights = np.ix_(rows, columns), self.column_weights[:, columns]
        return procedures.crossed_shares(
            right[here], trials[here], self.row_weights[:, rows], np.ones_like(weights) if fixed_names else weights
        )

    def interval(self, cells: np.ndarray, fixed_names: bool = False) -> tuple[float, float]:
        """Return the ends of the 95 % interval of the share of right picks.

        Where all picks are right, or none is, samples agree. The interval is then Wilson's, of as many trials as there
        are templates or names, whichever are fewer, as :func:`scripts.core.statistics.procedures.cluster_bootstrap` has
        it of one kind of cluster.
        """
        (trials, right), clusters = cells[:2].sum(axis=(1, 2)), fewest(cells)
        if clusters and right in (0, trials):
            return procedures.wilson_interval(clusters if right else 0, clusters)
        return procedures.bootstrap_interval(share(cells), self.samples(cells, fixed_names), clusters, least=0.0)

    def difference(self, first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
        """Return the ends of the 95 % interval of the first share minus the second."""
        samples = self.samples(first) - self.samples(second)
        return procedures.bootstrap_interval(share(first) - share(second), samples, fewest(first[:1] + second[:1]))


def share(cells: np.ndarray) -> float:
    """Return the share of instances with the right pick."""
    return float(cells[1].sum() / cells[0].sum())


def fewest(cells: np.ndarray) -> int:
    """Return how many templates or names there are, whichever are fewer but more than one; 0 with one of either."""
    kinds = [int(cells[0].any(axis=axis).sum()) for axis in (1, 0)]
    return min((count for count in kinds if count > 1), default=0)


def _numbers(table: pd.DataFrame, columns: Sequence[str], known: pd.MultiIndex) -> np.ndarray:
    """Return the number of each row's combination of columns among known ones."""
    groups = table.groupby(list(columns), observed=True, sort=False)
    number = groups.ngroup().to_numpy()
    first = np.unique(number, return_index=True)[1]
    return known.get_indexer(pd.MultiIndex.from_frame(table[list(columns)].iloc[first].astype(object)))[number]
