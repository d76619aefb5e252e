"""The quantities that RUFF's findings compare, looked up in the estimates of one template set.

``acc(m, k, p)`` is the accuracy of model m with k distractors on pronoun set p, or over all sets; distraction and bias
are shares of the unambiguous errors. What the run lacks is :class:`MissingEvidence`.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data.estimate_rows import PROBABILITY, PROMPTED
from scripts.core.paper import estimates, published
from scripts.core.paper.estimates import Estimate, compare_by_test, compare_shares, is_within, require_decided
from scripts.core.paper.finding_verdicts import Comparison, MissingEvidence
from scripts.core.paper.formats import p_text
from scripts.core.statistics.ratios import POOLED
from scripts.ruff import study
from scripts.ruff.study import PRONOUN_SETS

COUNTS = range(6)
MILLION, BILLION = 1e6, 1e9


@dataclass(frozen=True)
class Results:
    """A run's estimates on one template set, and the study's models.

    Args:
        models: From :func:`study_models`.
        printed: Item, row and column to the printed number.
        estimates: The rows of the template set.
        tests: The same of ``pronoun_tests.csv``.
        excluded: Models of the run that must not be looked at (demonstration models).
        obstacle: Why no model of the run can be compared with the study, or empty.
    """

    models: pd.DataFrame
    printed: dict
    estimates: pd.DataFrame
    tests: pd.DataFrame
    excluded: frozenset = frozenset()
    obstacle: str = ""

    @cached_property
    def encoders(self) -> list[str]:
        return self.models[self.models.groups.str.contains("likelihood encoder")].model.tolist()

    @cached_property
    def decoders(self) -> list[str]:
        return self.models[self.models.groups.str.contains("likelihood decoder")].model.tolist()

    @cached_property
    def everyone(self) -> list[str]:
        return [*self.encoders, *self.decoders]

    @cached_property
    def families(self) -> dict[Any, list[str]]:
        """Families of scored models, each from its smallest to its largest model."""
        scored = self.models[self.models.model.isin(self.everyone)].sort_values("parameters", kind="stable")
        return {family: members.model.tolist() for family, members in scored.groupby("family", sort=False)}

    @cached_property
    def neighbours(self) -> list[tuple[str, str]]:
        """Pairs of neighbouring sizes in a family, the smaller first."""
        return [pair for names in self.families.values() for pair in pairwise(names)]

    @cached_property
    def _facts(self) -> dict[Any, dict]:
        return self.models.set_index("model")[["label", "parameters"]].to_dict("index")

    def label(self, model: str) -> str:
        """Return a model's name in the study."""
        return self._facts[model]["label"]

    def size(self, model: str) -> float:
        """Return a model's number of parameters as the study gives it."""
        return self._facts[model]["parameters"]

    @cached_property
    def cells(self) -> dict[tuple, dict]:
        """Rows by metric, model, number of distractors, pronoun set and what is preferred; of prompted models none."""
        rows = self.estimates[self.estimates.scoring == PROBABILITY]
        rows = study.pick(rows, list(rows.metric.unique()), n_distractors=..., pronoun=..., preferred=...)
        keys = ["metric", "model", "n_distractors", "pronoun", "preferred"]
        return dict(zip(zip(*(rows[key] for key in keys), strict=True), rows.to_dict("records"), strict=True))

    @cached_property
    def _tests(self) -> dict[tuple, dict]:
        rows = self.tests.to_dict("records")
        return {(row["model"], row["pronoun_a"], row["pronoun_b"]): row for row in rows}

    @cached_property
    def _prompts(self) -> dict[tuple, np.ndarray]:
        rows = self.estimates[self.estimates.scoring == PROMPTED]
        rows = rows[(rows.metric == "accuracy") & (rows.prompt != "") & ~rows.prompt.str.contains("|", regex=False)]
        keys = ["model", "n_distractors", "method", "answer"]
        return {key: part.to_numpy() for key, part in rows.groupby(keys, sort=False).value}

    @cached_property
    def _present(self) -> dict[Any, set[str]]:
        present = {metric: set(rows) for metric, rows in self.estimates.groupby(["scoring", "metric"]).model}
        return present | {"tests": set(self.tests.model)}

    def present(self, models: Iterable[str]) -> int:
        """Return how many of ``models`` the run has."""
        return len(set(models) & self._present.get((PROBABILITY, "accuracy"), set()) - self.excluded)

    def need(self, models: Iterable[str], metric: str = "accuracy", scoring: str = PROBABILITY) -> None:
        """Raise :class:`MissingEvidence` with all of ``models`` that the run does not have."""
        if self.obstacle:
            raise MissingEvidence(self.obstacle.removeprefix("not in this run: "))
        present = self._present.get("tests" if metric == "tests" else (scoring, metric), ())
        absent = [self.label(m) for m in models if m in self.excluded or m not in present]
        if absent:
            raise MissingEvidence(*absent)

    def cell(
        self, metric: str, model: str, words: str, k: int | None = None, pronoun: str = "", preferred: str = ""
    ) -> dict:
        """Return a row of a scored model; ``words`` say what is missing where there is none."""
        self.need([model], metric)
        row = self.cells.get((metric, model, "" if k is None else str(k), pronoun, preferred))
        if row is None:
            raise MissingEvidence(words)
        return row

    def acc(self, model: str, k: int, pronoun: str = "") -> Estimate:
        """Return an accuracy with its interval."""
        words = count_distractors(k)
        row = self.cell("accuracy", model, f"{pronoun} with {words}" if pronoun else words, k, pronoun)
        return Estimate(float(row["value"]), row["low"], row["high"], int(row["below"]), int(row["clusters"]))

    def mean_acc(self, models: Collection[str], k: int, pronoun: str = "") -> Estimate:
        """Return the mean accuracy over models, all of which the run must have."""
        self.need(models)
        return estimates.mean([self.acc(m, k, pronoun) for m in models])

    def is_better_with(self, model: str, k: int, other: int, text: str) -> tuple[Comparison | None, str]:
        """Return whether a model is more accurate with ``k`` distractors than with ``other``, with the text.

        It is not if it is right on all instances of a pronoun set, or on none, with both, like one that always picks
        the same set: then no occupation differs.
        """
        by_set = [
            [self.cells.get(("accuracy", model, str(n), p, ""), {}).get("value") for p in PRONOUN_SETS]
            for n in (k, other)
        ]
        first, second = self.acc(model, k), self.acc(model, other)
        if by_set[0] == by_set[1] and set(by_set[0]) <= {0, 1}:
            return require_decided(estimates.none_differs(first.clusters or first.n), text, first.n)
        return is_greater(first, second, text)

    def picks(self, model: str, pronoun: str) -> tuple[int, int]:
        """Return how often a model picks a set without context, and of how many task sentences."""
        row = self.cell("picked", model, f"{pronoun} without context", preferred=pronoun)
        return int(row["above"]), int(row["below"])

    def share(self, model: str, k: int, kind: str) -> Estimate:
        """Return the share of a kind of error; NaN if the model makes no unambiguous error.

        The interval is that of the errors of one sample, as if they were independent.
        """
        row = self.cell(kind, model, f"errors with {count_distractors(k)}", k)
        return estimates.share(float(row["value"]), row["below"] // max(row["samples"], 1))

    def explained(self, model: str, k: int) -> Estimate:
        """Return the share of distraction and bias together, what the other errors leave."""
        rest = self.share(model, k, "other")
        return Estimate(1 - rest.value, 1 - rest.high, 1 - rest.low, rest.n)

    def mean_share(self, model: str, kind: str) -> Estimate:
        """Return the share of a kind of error, averaged over one to five distractors where it is defined."""
        shares = [share for k in COUNTS[1:] if not np.isnan((share := self.share(model, k, kind)).value)]
        return estimates.mean(shares) if shares else estimates.share(np.nan, 0)

    def _test(self, model: str, a: str, b: str) -> tuple[float, int]:
        if model == POOLED:
            self.need(self.everyone, "tests")
            if self._present["tests"] - {POOLED, *self.everyone, *self.excluded}:
                raise MissingEvidence("a test over the study's models alone")
        else:
            self.need([model], "tests")
        row = self._tests.get((model, a, b)) or self._tests.get((model, b, a))
        if row is None:
            raise MissingEvidence(f"a test of {a} against {b}")
        return row["p"], int(min(row["n_a"], row["n_b"]))

    def better(self, a: str, b: str, model: str = POOLED) -> tuple[Comparison, str, int]:
        """Compare two pronoun sets without distractors by Welch's test: is ``a`` easier for a model, or for all?

        Returns:
            The comparison, its text and how many occupations the smaller sample has.
        """
        p, n = self._test(model, a, b)
        if model == POOLED:
            first, second = (self.mean_acc(self.everyone, 0, pronoun).value for pronoun in (a, b))
        else:
            first, second = (self.acc(model, 0, pronoun).value for pronoun in (a, b))
        said = f"p {p_text(p, smallest=0.001, decimals=3)}" if not np.isnan(p) else "no test"
        outcome = compare_by_test(p if first != second else np.nan, first > second)
        return outcome, f"{a} {first:.3f}, {b} {second:.3f}, {said}", n

    def prompted(self, model: str, k: int, method: str = study.VANILLA, answer: str = study.FINAL) -> np.ndarray:
        """Return the accuracies of a prompted model with each prompt."""
        self.need([model], scoring=PROMPTED)
        if (model, str(k), method, answer) not in self._prompts:
            raise MissingEvidence(f"{method} prompting with {count_distractors(k)}")
        return self._prompts[model, str(k), method, answer]

    def near(self, estimate: Estimate, key: tuple[str, str, str], allowed: float, name: str) -> tuple[Comparison, str]:
        """Return whether a value is a printed one, within rounding and ``allowed``, with the text.

        It is if its interval lies within these bounds, and it is not if the interval lies outside them.
        """
        printed = self.printed[key]
        allowed = allowed + published.half_unit(printed) + 1e-9
        text = f"{name} {estimate.text(3 if allowed < 1 else 1)}, published {printed}"
        return is_within(estimate, float(printed) - allowed, float(printed) + allowed, text)


def is_greater(first: Estimate, second: Estimate, text: str) -> tuple[Comparison | None, str]:
    """Return whether one share is above another, with the text; None where one of them is not defined."""
    if np.isnan(first.value + second.value):
        return None, ""
    return require_decided(compare_shares(first, second), text, min(first.n, second.n))


def count_distractors(k: int) -> str:
    """Return a number of distractors in words."""
    return f"{k} distractor{'' if k == 1 else 's'}"


def study_models(models: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the study's models with their sizes.

    Args:
        models, numbers: From :func:`scripts.core.paper.published.read_models` and ``read_published``.

    Returns:
        ``models`` with ``parameters`` (float), those of the study's Table 2.
    """
    units = {"million parameters": MILLION, "billion parameters": BILLION}
    rows = numbers[(numbers.item == "ruff_model_parameters") & (numbers.source == "Table 2")]
    sizes = {row.row: float(row.value) * units[row.unit] for row in files.rows(rows)}
    return models.assign(parameters=models.row.map(sizes))


def printed_numbers(numbers: pd.DataFrame) -> dict:
    """Return item, row and column of each published number to its text; of numbers printed twice the last."""
    return {(row.item, row.row, row.column): row.value for row in numbers.itertuples()}
