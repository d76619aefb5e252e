"""Numbers that a section's text looks up in estimates: each is printed, kept with those of its part, and linked."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scripts.core.paper import sections
from scripts.core.paper.formats import MISSING_MARK, format_interval, format_number
from scripts.core.paper.numbers import make_entry
from scripts.core.statistics import ratios


class Numbers:
    """What a template looks up in some estimates of a part of the paper.

    Args:
        part: With ``id`` and ``numbers`` (:func:`scripts.core.paper.sections.make_context`); what is printed is added.
        estimates: The rows, with the label of each as ``system``.
        identity, factors: Columns that tell rows apart; factors that are not named are pooled.
        source: The file's name.
        factor: What values are printed in: 100, percent; 1, shares as they are.
    """

    def __init__(
        self,
        part: dict,
        estimates: pd.DataFrame,
        identity: Sequence[str],
        factors: Sequence[str],
        source: str,
        factor: float = 100,
    ):
        self.part, self.estimates, self.source, self.factor = part, estimates, source, factor
        self.keys, self.factors = [*identity, *factors], factors

    def rows(self, metric: str, **levels: Any) -> pd.DataFrame:
        """Return the rows of a metric that have a value."""
        return ratios.select_rows(self.estimates, self.factors, metric=metric, **levels).dropna(subset=["value"])

    def lowest(self, metric: str, **levels: Any) -> pd.Series:
        """Return the row with the lowest value of a metric."""
        rows = self.rows(metric, **levels)
        return rows.iloc[rows.value.argmin()]

    def highest(self, metric: str, **levels: Any) -> pd.Series:
        """Return the row with the highest value of a metric."""
        rows = self.rows(metric, **levels)
        return rows.iloc[rows.value.argmax()]

    def value(self, row: pd.Series, decimals: int = 1, signed: bool = False) -> str:
        """Return the value of a row, a difference with its sign."""
        return self._print(row, "value", row.value, format_number(self.factor * row.value, decimals, signed))

    def plain(self, row: pd.Series, decimals: int = 3) -> str:
        """Return the value of a row as it is."""
        return self._print(row, "value", row.value, format_number(row.value, decimals))

    def ends(self, row: pd.Series, decimals: int = 1) -> str:
        """Return both ends of its interval."""
        text = format_interval(self.factor * row.low, self.factor * row.high, decimals)
        text = text.replace(MISSING_MARK, "no interval")
        return self._print(row, "interval", text, text)

    def count(self, row: pd.Series) -> str:
        """Return how many a row's value is a share of."""
        return self._print(row, "below", int(row.below), format_number(row.below, 0))

    def _print(self, row: pd.Series, column: str, value: Any, text: str) -> str:
        cell = {
            name: row[name] for name in (*self.keys, "metric") if not (isinstance(row[name], float) or row[name] == "")
        }
        # Where numbers of several parts stand, their ids begin with the part.
        name = ".".join(
            [row.metric, *(level for key, level in cell.items() if key not in ("templates", "part", "metric")), column]
        )
        self.part["numbers"][name] = make_entry(value, text, self.source, **cell)
        return sections.print_number(self.part, name)
