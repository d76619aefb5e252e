"""Texts about all studies: what a study's template looks up in the summary, with interval, n and link.

Demonstration models and heuristic baselines are left out where the run has anything else.
"""

from collections.abc import Collection
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import HEURISTIC, IDENTITY
from scripts.core.paper import formats, latex, sections
from scripts.core.paper.estimates import Estimate, compare_with_bound

FILE = "overview.csv"
"""The table of the rows that these texts use."""


def subject_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a study that its results are about: no heuristics, and demonstrations only if all are."""
    ran = frame[frame.kind != HEURISTIC]
    real = ran[~ran.demonstration]
    return real if len(real) else ran


def of_models(frame: pd.DataFrame, models: Collection[str]) -> pd.DataFrame:
    """Return the rows of a card's models, none of which is left out as a demonstration."""
    return frame[frame.model.isin(list(models))].assign(demonstration=False)


class Front:
    """The look-ups of one study; ``entries`` collects the numbers that were printed, and ``used`` their rows."""

    def __init__(self, key: str, frame: pd.DataFrame, chances: dict[str, float]):
        self.key, self.chances = key, chances
        self.frame = subject_rows(frame[frame.study == key])
        self.entries: dict[str, dict] = {}
        self.used: list[int] = []

    @property
    def parts(self) -> list[str]:
        """The parts of the study with rows, in their order."""
        return list(dict.fromkeys(self.frame.part))

    @property
    def demonstration(self) -> bool:
        """Whether there is nothing but demonstration models."""
        return bool(len(self.frame)) and bool(self.frame.demonstration.all())

    def rows(
        self, metric: str, *, part: str = "", scoring: str | None = None, debiasing: str = "", **levels: Any
    ) -> pd.DataFrame:
        """Return the rows of a metric; factors that are not named are pooled."""
        chosen = self.frame[(self.frame.debiasing == debiasing) & ((self.frame.part == part) | (not part))]
        if scoring is not None:
            chosen = chosen[chosen.scoring == scoring]
        return estimate_rows.rows_at(chosen, metric=metric, **levels)

    def estimate(self, metric: str, style: str = "percent", **chosen: Any) -> latex.Raw:
        """Return an estimate as text; of several models the lowest and the highest; empty if there is none."""
        rows = self.rows(metric, **chosen).dropna(subset=["value"]).sort_values("value", kind="stable")
        if rows.empty:
            return latex.Raw("")
        if len(rows) == 1:
            return self._number(rows.index[0], rows.iloc[0], style)
        ends = [
            self._number(place, rows.loc[place], style, _called(rows.loc[place]))
            for place in (rows.index[0], rows.index[-1])
        ]
        return latex.Raw(" to ".join(ends))

    def estimate_at(self, place: Any, style: str = "percent", sized: bool = False) -> latex.Raw:
        """Return the estimate of a row of the summary as text, without its n unless ``sized``."""
        return self._number(place, self.frame.loc[place], style, sized=sized)

    def print_half_width(self, place: Any) -> latex.Raw:
        """Return half the width of the interval of a row of the summary, in percentage points."""
        row = self.frame.loc[place]
        return self._add(
            place, formats.format_percent((row.high - row.low) / 2, 1), (row.high - row.low) / 2, ["half-width"]
        )

    def against(self, metric: str, **chosen: Any) -> latex.Raw:
        """Return whether values are above or below chance, in words; empty without any row or chance.

        An interval over few units is judged as for findings (:func:`scripts.core.paper.estimates.compare_with_bound`).
        """
        rows = self.rows(metric, **chosen)
        chance = self.chances.get(metric)
        if rows.empty or chance is None:
            return latex.Raw("")
        level = f"chance ({formats.format_percent(chance, 0)}%)"
        found = [_against(row, chance) for row in files.iterate_rows(rows)]
        above, below = found.count(True), found.count(False)
        words = "above" if above else "below" if below else "not distinguishable from"
        text = f"{words} {level}"
        if len(rows) > 1:
            count = above or below
            some = f"{count} of {len(rows)}" if count else "any of them"
            text += f" for {'all of them' if count == len(rows) else some}"
        if above and below:
            text += f" and below it for {below}"
        return latex.Raw(latex.escape(text))

    def levels(self, metric: str, factor: str, **chosen: Any) -> list[str]:
        """Return the levels of a factor that the metric has rows for, in their order."""
        if factor not in self.frame:
            return []
        known = self.frame[(self.frame.metric == metric) & (self.frame[factor] != "")][factor]
        return [level for level in dict.fromkeys(known) if len(self.rows(metric, **chosen, **{factor: level}))]

    def scorings(self, metric: str, **chosen: Any) -> list[str]:
        """Return how outputs became decisions in the rows of the metric, in their order."""
        return list(dict.fromkeys(self.rows(metric, **chosen).scoring))

    def differing(self, metric: str, limit: float, **chosen: Any) -> int:
        """Return for how many models or systems the interval leaves a limit out."""
        rows = self.rows(metric, **chosen)
        return int(((rows.low > limit) | (rows.high < limit)).sum())

    def counted(self, metric: str, **chosen: Any) -> int:
        """Return how many models or systems have the metric."""
        return len(self.rows(metric, **chosen))

    def names(self, **chosen: str) -> latex.Raw:
        """Return the models and systems of the headlines, or how many there are if they are many."""
        rows = self.frame[self.frame.headline]
        for column, level in chosen.items():
            rows = rows[rows[column] == level]
        labels = list(dict.fromkeys(rows.label))
        return sections.list_words(labels) if len(labels) <= 3 else latex.Raw(f"{len(labels)} models")

    def _number(self, place: Any, row: pd.Series, style: str, whose: str = "", sized: bool = True) -> latex.Raw:
        text = formats.format_estimate(row.value, row.low, row.high, row.n, row.n_unit, style, whose, sized)
        return self._add(place, text, row.value, [*(["named"] if whose else []), *([] if sized else ["value"])])

    def _add(self, place: Any, text: str, value: float, ending: list[str]) -> latex.Raw:
        """Return what is printed of a row of the summary, and keep it under an id made of its factors and an ending."""
        row = self.frame.loc[place]
        factors = [name for name in estimate_rows.factor_columns(row.index) if (self.frame[name] != "").any()]
        # A factor that is empty is pooled, which tells the row from others.
        keys = [*(name for name in (*IDENTITY[1:], "metric") if row[name]), *factors]
        identifier = ".".join([self.key, *(str(row[name]) for name in keys if row[name]), *ending])
        cell = {"study": self.key} | {name: str(row[name]) for name in keys}
        self.entries[identifier] = {"value": value, "text": text, "source": FILE, "cell": cell}
        self.used.append(place)
        return latex.Raw(latex.escape(sections.print_number({"id": "paper", "numbers": self.entries}, identifier)))


def _against(row: Any, chance: float) -> bool | None:
    estimate = Estimate(row.value, row.low, row.high, int(row.n), int(row.n))
    return compare_with_bound(estimate, chance).outcome


def _called(row: pd.Series) -> str:
    """Return whose an estimate of several is; the sentence itself says how it was debiased and scored."""
    asked = row.get(estimate_rows.PROMPT_FACTOR)
    return f"{row.label}, prompt {asked}" if asked else row.label
