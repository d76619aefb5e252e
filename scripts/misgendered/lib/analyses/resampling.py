"""Intervals of accuracies: templates and names are resampled, not instances, because instances share both.

Every instance is one template with one name, and both come again in many instances. The bootstrap draws templates
(within their form) and names (within their class) apart from each other, and an instance counts as often as its
template was drawn times its name (Owen 2007). Pronoun groups, declarations and models are the study's own and stay as
they are.
"""

import numpy as np
import pandas as pd

from scripts.core import statistics


class Resampled:
    """Predictions with the bootstrap samples of their templates and names.

    Parameters
    ----------
    table : DataFrame
        Predictions, of one set of templates.
    draws, seed : int

    Notes
    -----
    All quantities of one object share their samples, so the difference of two of them is a paired one.
    """

    def __init__(self, table, draws, seed):
        self.table = table.reset_index(drop=True)
        self.rows, templates = _coded(self.table, ["form", "template_index"])
        self.columns, names = _coded(self.table, ["name_class", "name"])
        self.row_weights = statistics.resampling_weights(templates.form, draws, seed)
        self.column_weights = statistics.resampling_weights(names.name_class, draws, seed + 1)

    def share(self, chosen, value="correct"):
        """Return the share of rows at which ``value`` is true; NaN without rows.

        Parameters
        ----------
        chosen : array of bool, shape (rows,)
        value : str
            A column.
        """
        return float(self.table[value].to_numpy(dtype=float)[chosen].mean()) if chosen.any() else np.nan

    def samples(self, chosen, value="correct", fixed_names=False):
        """Return that share in every bootstrap sample; all NaN with one template and one name.

        ``fixed_names``: resample templates alone, for a quantity of single names.

        Returns
        -------
        array of float, shape (draws,)
        """
        rows, row_codes = np.unique(self.rows[chosen], return_inverse=True)
        columns, column_codes = np.unique(self.columns[chosen], return_inverse=True)
        if len(rows) < 2 and (len(columns) < 2 or fixed_names):
            return np.full(len(self.row_weights), np.nan)
        shape = (len(rows), len(columns))
        place = row_codes * shape[1] + column_codes
        values = self.table[value].to_numpy(dtype=float)[chosen]
        trials = np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape).astype(float)
        right = np.bincount(place, weights=values, minlength=shape[0] * shape[1]).reshape(shape)
        column_weights = self.column_weights[:, columns]
        return statistics.crossed_shares(
            right, trials, self.row_weights[:, rows], np.ones_like(column_weights) if fixed_names else column_weights
        )

    def interval(self, chosen, value="correct", fixed_names=False):
        """Return the ends of the 95 % interval of :meth:`share`."""
        return statistics.percentile_interval(self.samples(chosen, value, fixed_names))

    def difference(self, first, second, values=("correct", "correct")):
        """Return the share of ``first`` minus that of ``second``, with the ends of its 95 % interval."""
        value = self.share(first, values[0]) - self.share(second, values[1])
        samples = self.samples(first, values[0]) - self.samples(second, values[1])
        return value, *statistics.percentile_interval(samples)


def _coded(table, columns):
    """Return the number of each row's combination of ``columns``, and the combinations."""
    combinations = table[columns].drop_duplicates().sort_values(columns, ignore_index=True)
    codes = table[columns].merge(combinations.reset_index(names="code"), on=columns, how="left", validate="many_to_one")
    return codes.code.to_numpy(), combinations


def matching(table, **levels):
    """Return which rows of a frame have the given values; a value may be a collection of values.

    Returns
    -------
    array of bool, shape (rows,)
    """
    chosen = np.ones(len(table), dtype=bool)
    for column, level in levels.items():
        several = level if isinstance(level, (list, tuple, set, frozenset, pd.Index)) else [level]
        chosen &= table[column].isin(several).to_numpy()
    return chosen
