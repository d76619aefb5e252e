"""Intervals of accuracies: templates and names are resampled, not instances, because instances share both.

Every instance is one template with one name, and both come again in many instances. The bootstrap draws templates
(within their form) and names (within their class) apart from each other, and an instance counts as often as its
template was drawn times its name (Owen 2007). Pronoun groups, declarations and models are the study's own and stay as
they are.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.statistics import procedures
from scripts.misgendered.lib.labels import ALL, STUDY

TEMPLATE, NAME = ["form", "template_index"], ["name_class", "name"]
"""Columns that say which template and which name a row has, its stratum first."""


class BootstrapFrame:
    """Templates and names, and how often each is drawn in each bootstrap sample.

    Args:
        tables: Predictions: the templates and names of all of them.
    """

    def __init__(self, tables: Iterable[pd.DataFrame], draws: int, seed: int):
        templates, names = [], []
        for table in tables:
            templates.append(_combinations(table, TEMPLATE)[0])
            names.append(_combinations(table, NAME)[0])
        self.templates, self.names = (
            pd.concat(parts).drop_duplicates().sort_values(columns, ignore_index=True)
            for parts, columns in ((templates, TEMPLATE), (names, NAME))
        )
        self.row_weights = procedures.resampling_weights(self.templates.form, draws, seed)
        self.column_weights = procedures.resampling_weights(self.names.name_class, draws, seed + 1)

    @property
    def shape(self) -> tuple[int, int]:
        """How many templates and names there are."""
        return len(self.templates), len(self.names)

    def cells(self, table: pd.DataFrame) -> np.ndarray:
        """Return the number of each row's pair of a template and a name. Shape (rows,), of int."""
        rows, columns = _codes(table, TEMPLATE, self.templates), _codes(table, NAME, self.names)
        return rows.astype(np.int64) * len(self.names) + columns

    def samples(self, trials: np.ndarray, right: np.ndarray, fixed_names: bool = False) -> np.ndarray:
        """Return the share of successes in every bootstrap sample; all NaN with one template and one name.

        Args:
            trials, right: Shape (templates, names), of int.
            fixed_names: Resample templates alone, for a quantity of single names.

        Returns:
            Shape (draws,), of float.
        """
        rows, columns = np.flatnonzero(trials.any(axis=1)), np.flatnonzero(trials.any(axis=0))
        if len(rows) < 2 and (len(columns) < 2 or fixed_names):
            return np.full(len(self.row_weights), np.nan)
        inner = np.ix_(rows, columns)
        column_weights = self.column_weights[:, columns]
        return procedures.crossed_shares(
            right[inner].astype(float),
            trials[inner].astype(float),
            self.row_weights[:, rows],
            np.ones_like(column_weights) if fixed_names else column_weights,
        )

    def interval(self, trials: np.ndarray, right: np.ndarray, fixed_names: bool = False) -> tuple[float, float]:
        """Return the ends of the 95 % interval of the share of successes.

        Where all trials succeed, or none, samples agree. The interval is then Wilson's, of as many trials as there are
        templates or names, whichever are fewer, as :func:`scripts.core.statistics.procedures.cluster_bootstrap` has it
        of one kind of cluster.
        """
        successes, clusters = right.sum(), fewest(trials, fixed_names)
        if clusters and successes in (0, trials.sum()):
            return procedures.wilson(clusters if successes else 0, clusters)
        samples = self.samples(trials, right, fixed_names)
        return procedures.bootstrap_interval(successes / trials.sum(), samples, clusters, least=0.0)


def fewest(trials: np.ndarray, fixed_names: bool = False) -> int:
    """Return how many templates or names are resampled, whichever are fewer; 0 with one of either.

    Args:
        trials: Shape (templates, names).
        fixed_names: As :meth:`BootstrapFrame.samples` takes it.
    """
    kinds = [int(trials.any(axis=axis).sum()) for axis in ((1,) if fixed_names else (1, 0))]
    return min((count for count in kinds if count > 1), default=0)


class PooledShares:
    """Shares with intervals, of single models and of several, whose cells add up as one model comes after the other."""

    def __init__(self, places: BootstrapFrame):
        self.places, self.sums, self.values = places, {}, {}

    def add(self, key: Hashable, trials: np.ndarray, right: np.ndarray, last: bool = False) -> None:
        """Add cells to a share; with ``last`` nothing more comes, and only its value is kept."""
        before = self.sums.pop(key, None)
        if before is not None:
            trials, right = before[0] + trials, before[1] + right
        self.sums[key] = trials, right
        if last:
            self.values[key] = self.finished(key)
            del self.sums[key]

    def finished(self, key: Hashable) -> dict[str, float]:
        """Return ``accuracy``, ``ci_low``, ``ci_high`` and ``n`` of a share, nothing if it has no rows."""
        if key in self.sums:
            trials, right = self.sums[key]
            low, high = self.places.interval(trials, right)
            n = int(trials.sum())
            return {"accuracy": float(right.sum() / n), "ci_low": low, "ci_high": high, "n": n}
        return self.values.get(key, {})


class PooledDifferences:
    """Differences of two shares with intervals, of single models and of several, as :class:`PooledShares` of one."""

    def __init__(self, places: BootstrapFrame):
        self.places, self.sums = places, {}

    def add(
        self, key: tuple[str, ...], first: Iterable[np.ndarray], second: Iterable[np.ndarray], moved: int = 0
    ) -> None:
        """Add cells (trials and successes) to either share, and rows that are counted besides."""
        parts = [*first, *second, moved]
        before = self.sums.get(key)
        self.sums[key] = parts if before is None else [old + new for old, new in zip(before, parts, strict=True)]

    def finished(self, key: tuple[str, ...]) -> dict[str, float]:
        """Return both shares, their difference with the ends of its 95 % interval, and counts."""
        trials_a, right_a, trials_b, right_b, moved = self.sums[key]
        n_first, n_second = int(trials_a.sum()), int(trials_b.sum())
        first = float(right_a.sum() / n_first) if n_first else np.nan
        second = float(right_b.sum() / n_second) if n_second else np.nan
        samples = self.places.samples(trials_a, right_a) - self.places.samples(trials_b, right_b)
        low, high = procedures.bootstrap_interval(first - second, samples, fewest(trials_a + trials_b))
        return {
            "first": first, "second": second, "difference": first - second, "ci_low": low, "ci_high": high,
            "n_first": n_first, "n_second": n_second, "moved": moved,
        }  # fmt: skip

    def ordered(self, models: Iterable[str]) -> Iterator[tuple[tuple[str, ...], dict[str, float]]]:
        """Yield keys, which start with a model, and what :meth:`finished` returns, model by model.

        What comes behind the model has the order of its first appearance.
        """
        behind = list(dict.fromkeys(key[1:] for key in self.sums))
        for model in models:
            for rest in behind:
                if (model, *rest) in self.sums:
                    yield (model, *rest), self.finished((model, *rest))


def pooled_models(models: Iterable[str], study_models: Collection[str] = ()) -> dict[str, list[str]]:
    """Return what a row's ``model`` can be, and the models behind it: each one, ``all``, and ``study`` if complete."""
    named = {model: [model] for model in models} | {ALL: list(models)}
    complete = bool(study_models) and set(study_models) <= set(models)
    return named | ({STUDY: list(study_models)} if complete else {})


def by_type(table: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    """Yield ``all`` and each type of pronouns, in the order of appearance, with which rows have it."""
    yield ALL, np.ones(len(table), dtype=bool)
    for pronoun_type in dict.fromkeys(table.pronoun_type):
        yield pronoun_type, rows_at(table, pronoun_type=pronoun_type)


class ResampledPredictions:
    """Predictions with the bootstrap samples of their templates and names.

    Args:
        table: Predictions, of one set of templates.
        places: Templates and names of which those of ``table`` are some; otherwise those of ``table``.

    Notes:
        All quantities of one object share their samples, so the difference of two of them is a paired one.
    """

    def __init__(self, table: pd.DataFrame, draws: int, seed: int, places: BootstrapFrame | None = None):
        self.table = table.reset_index(drop=True)
        self.places = places or BootstrapFrame([self.table], draws, seed)
        self.place = self.places.cells(self.table)

    def share(self, chosen: np.ndarray, value: str = "correct") -> float:
        """Return the share of rows at which ``value`` is true; NaN without rows.

        Args:
            chosen: Shape (rows,), of bool.
            value: A column.
        """
        return float(self.table[value].to_numpy(dtype=bool)[chosen].mean()) if chosen.any() else np.nan

    def samples(self, chosen: np.ndarray, value: str = "correct") -> np.ndarray:
        """Return that share in every bootstrap sample; all NaN with one template and one name.

        Returns:
            Shape (draws,), of float.
        """
        trials, right = self.cells(chosen, value)
        return self.places.samples(trials, right)

    def cells(self, chosen: np.ndarray, value: str = "correct") -> tuple[np.ndarray, ...]:
        """Return how many rows each template has with each name, and at how many of them ``value`` is true.

        Returns:
            Shape (templates, names), of int.
        """
        place, shape = self.place[chosen], self.places.shape
        right = place[self.table[value].to_numpy(dtype=bool)[chosen]]
        return tuple(np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape) for cell in (place, right))


def _combinations(table: pd.DataFrame, columns: Sequence[str]):
    """Return the distinct combinations of two columns, sorted, and the number of each row's combination among them."""
    (first, names), (second, others) = (_numbered(table[column]) for column in columns)
    place = first * len(others) + second
    present = np.bincount(place, minlength=len(names) * len(others)) > 0
    at, under = np.divmod(np.flatnonzero(present), max(1, len(others)))
    frame = pd.DataFrame({columns[0]: names[at], columns[1]: others[under]})
    return frame, (np.cumsum(present) - 1).astype(np.int32)[place]


def _numbered(column: pd.Series):
    """Return a column as numbers of its sorted values, and the values."""
    if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.categories.is_monotonic_increasing:
        return column.cat.codes.to_numpy(dtype=np.int32), column.cat.categories.to_numpy()
    codes, values = pd.factorize(np.asarray(column), sort=True)
    return codes.astype(np.int32), np.asarray(values)


def _codes(table: pd.DataFrame, columns: Sequence[str], combinations: pd.DataFrame):
    """Return the number of each row's combination of ``columns`` among known ones."""
    there, number = _combinations(table, columns)
    known = pd.MultiIndex.from_frame(combinations).get_indexer(pd.MultiIndex.from_frame(there))
    return known.astype(np.int32)[number]


def rows_at(table: pd.DataFrame, **levels: Any) -> np.ndarray:
    """Return which rows of a frame have the given values; a value may be a collection of values.

    Returns:
        Shape (rows,), of bool.
    """
    chosen = np.ones(len(table), dtype=bool)
    for column, level in levels.items():
        several = level if isinstance(level, (list, tuple, set, frozenset, pd.Index)) else [level]
        chosen &= table[column].isin(several).to_numpy()
    return chosen
