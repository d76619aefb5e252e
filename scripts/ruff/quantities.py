"""The quantities that RUFF's findings compare, looked up in the estimates of one template set, and comparisons of them.

``acc(m, k, p)`` is the accuracy of model m with k distractors on pronoun set p, or over all sets; distraction and bias
are shares of the unambiguous errors. What the run lacks is :class:`MissingEvidence`. Comparisons return what
:func:`scripts.core.paper.finding_verdicts.evaluate_check` takes.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import scipy

from scripts.core import files
from scripts.core.data import options
from scripts.core.data.estimate_rows import PROBABILITY, PROMPTED
from scripts.core.paper import estimates, published
from scripts.core.paper.estimates import Estimate, compare_by_test, compare_shares, is_within, require_decided
from scripts.core.paper.finding_verdicts import Comparison, MissingEvidence
from scripts.core.paper.formats import p_text
from scripts.core.statistics import procedures
from scripts.core.statistics.ratios import POOLED
from scripts.ruff import study
from scripts.ruff.study import PRONOUN_SETS

COUNTS = range(6)
SIGNIFICANT = "a significant test"
"""What a comparison lacks whose test does not decide it."""
NEAR = 0.02
"""Allowed distance of an accuracy from a printed one, as in the mapping of published numbers."""
DRAWS = 2000
"""Of accuracies, for the interval of a rank correlation."""


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
    def _cells(self) -> dict[tuple, dict]:
        """Rows by metric, model, number of distractors, pronoun set and what is preferred; of prompted models none."""
        rows = self.estimates[self.estimates.scoring == PROBABILITY]
        rows = study.select_rows(rows, list(rows.metric.unique()), n_distractors=..., pronoun=..., preferred=...)
        keys = ["metric", "model", "n_distractors", "pronoun", "preferred"]
        return {tuple(row[key] for key in keys): row for row in rows.to_dict("records")}

    @cached_property
    def _tests(self) -> dict[tuple, dict]:
        """Rows by model and both pronoun sets, whichever comes first."""
        sides = (("pronoun_a", "pronoun_b"), ("pronoun_b", "pronoun_a"))
        return {(row["model"], row[a], row[b]): row for row in self.tests.to_dict("records") for a, b in sides}

    @cached_property
    def _prompts(self) -> dict[tuple, np.ndarray]:
        """Accuracies with each prompt by model, number of distractors, method and where the answer was read."""
        rows = self.estimates[self.estimates.scoring == PROMPTED]
        rows = rows[(rows.metric == "accuracy") & (rows.prompt != "")]
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

    def _cell(self, metric: str, model: str, words: str, k: int | str, pronoun: str = "", preferred: str = ""):
        """Return a row of a scored model; ``words`` say what is missing where there is none."""
        self.need([model], metric)
        row = self._cells.get((metric, model, str(k), pronoun, preferred))
        if row is None:
            raise MissingEvidence(words)
        return row

    def acc(self, model: str, k: int, pronoun: str = "") -> Estimate:
        """Return an accuracy with its interval."""
        words = count_distractors(k)
        row = self._cell("accuracy", model, f"{pronoun} with {words}" if pronoun else words, k, pronoun)
        return Estimate(float(row["value"]), row["low"], row["high"], int(row["below"]), int(row["clusters"]))

    def mean_acc(self, models: Collection[str], k: int, pronoun: str = "") -> Estimate:
        """Return the mean accuracy over models, all of which the run must have."""
        self.need(models)
        return estimates.mean_estimate([self.acc(m, k, pronoun) for m in models])

    def picks(self, model: str, pronoun: str) -> tuple[int, int]:
        """Return how often a model picks a set without context, and of how many task sentences."""
        row = self._cell("picked", model, f"{pronoun} without context", "", preferred=pronoun)
        return int(row["above"]), int(row["below"])

    def share(self, model: str, k: int, kind: str) -> Estimate:
        """Return the share of a kind of error; NaN if the model makes no unambiguous error.

        The interval is that of the errors of one sample, as if they were independent.
        """
        row = self._cell(kind, model, f"errors with {count_distractors(k)}", k)
        return estimates.estimate_share(float(row["value"]), row["below"] // max(row["samples"], 1))

    def explained(self, model: str, k: int) -> Estimate:
        """Return the share of distraction and bias together, what the other errors leave."""
        rest = self.share(model, k, "other")
        return Estimate(1 - rest.value, 1 - rest.high, 1 - rest.low, rest.n)

    def mean_share(self, model: str, kind: str) -> Estimate:
        """Return the share of a kind of error, averaged over one to five distractors where it is defined."""
        shares = [share for k in COUNTS[1:] if not np.isnan((share := self.share(model, k, kind)).value)]
        return estimates.mean_estimate(shares) if shares else estimates.estimate_share(np.nan, 0)

    def prompted(self, model: str, k: int, method: str = study.VANILLA, answer: str = study.FINAL) -> np.ndarray:
        """Return the accuracies of a prompted model with each prompt."""
        self.need([model], scoring=PROMPTED)
        if (model, str(k), method, answer) not in self._prompts:
            raise MissingEvidence(f"{method} prompting with {count_distractors(k)}")
        return self._prompts[model, str(k), method, answer]

    def compare_sets(self, a: str, b: str, model: str = POOLED) -> tuple[Comparison, str, int]:
        """Compare two pronoun sets without distractors by Welch's test: is ``a`` easier for a model, or for all?

        Returns:
            The comparison, its text and how many occupations the smaller sample has.
        """
        self.need([model] if model else self.everyone, "tests")
        if model == POOLED and self._present["tests"] - {POOLED, *self.everyone, *self.excluded}:
            raise MissingEvidence("a test over the study's models alone")
        test = self._tests.get((model, a, b))
        if test is None:
            raise MissingEvidence(f"a test of {a} against {b}")
        first, second = (
            (self.acc(model, 0, pronoun) if model else self.mean_acc(self.everyone, 0, pronoun)).value
            for pronoun in (a, b)
        )
        outcome = compare_by_test(test["p"] if first != second else np.nan, first > second)
        text = f"{a} {first:.3f}, {b} {second:.3f}, {describe_test(test['p'])}"
        return outcome, text, int(min(test["n_a"], test["n_b"]))

    # What follows compares, and says the numbers.

    def prefers(self, a: str, b: str, model: str = POOLED) -> tuple[Comparison | None, str]:
        """Return whether Welch's test decides that one pronoun set is easier than another, for a model or over all."""
        outcome, text, n = self.compare_sets(a, b, model)
        return require_decided(outcome, f"{self.label(model)}: {text}" if model else text, n, SIGNIFICANT)

    def lies_within(self, model: str, low: float, high: float, pronoun: str = "") -> tuple[Comparison | None, str]:
        """Return whether a model's accuracy without distractors lies between two bounds."""
        return is_between(self.acc(model, 0, pronoun), low, high, self.label(model))

    def is_ahead(self, model: str, other: str, k: int) -> tuple[Comparison | None, str]:
        """Return whether a model is more accurate than another with ``k`` distractors."""
        ours, theirs = self.acc(model, k), self.acc(other, k)
        return is_greater(ours, theirs, f"{self.label(model)} {ours.text()}, {self.label(other)} {theirs.text()}")

    def falls(self, model: str, k: int, before: int = 0) -> tuple[Comparison | None, str]:
        """Return whether a model is less accurate with ``k`` distractors than with ``before``.

        It is not if it is right on all instances of a pronoun set, or on none, with both, like one that always picks
        the same set: then no occupation differs.
        """
        first, second = self.acc(model, before), self.acc(model, k)
        text = f"{self.label(model)}: {first.text()} with {before}, {second.text()} with {k}"
        keys = [[("accuracy", model, str(n), p, "") for p in PRONOUN_SETS] for n in (before, k)]
        by_set, of_other = ([self._cells.get(key, {}).get("value") for key in of_count] for of_count in keys)
        if by_set == of_other and set(by_set) <= {0, 1}:
            return require_decided(estimates.none_differs(first.clusters or first.n), text, first.n)
        return is_greater(first, second, text)

    def is_printed(self, model: str, pronoun: str, row: str, allowed: float) -> tuple[Comparison, str]:
        """Return whether a model's accuracy without distractors is the one that the study prints in ``row``."""
        return self.near(self.acc(model, 0, pronoun), ("ruff_accuracy", row, "accuracy"), allowed, self.label(model))

    def near(self, estimate: Estimate, key: tuple[str, str, str], allowed: float, name: str) -> tuple[Comparison, str]:
        """Return whether a value is a printed one, within rounding and ``allowed``, with the text.

        It is if its interval lies within these bounds, and it is not if the interval lies outside them.
        """
        printed = self.printed[key]
        allowed = allowed + published.half_unit(printed) + 1e-9
        text = f"{name} {estimate.text(3 if allowed < 1 else 1)}, published {printed}"
        return is_within(estimate, float(printed) - allowed, float(printed) + allowed, text)

    def grows_with_size(self, family: str) -> tuple[Comparison, str]:
        """Return whether size and accuracy without distractors go together in a family, by Spearman's rho.

        Its interval is that of accuracies drawn from normal distributions as wide as their intervals, which those of
        few occupations are not.
        """
        names = self.families[family]
        self.need(names)
        sizes, values = [self.size(m) for m in names], [self.acc(m, 0) for m in names]
        means, spread = np.array([[v.value, (v.high - v.low) / 2 / estimates.Z] for v in values]).T
        rho, rhos = procedures.spearman(sizes, means), np.full(1, np.nan)
        if not np.isnan([rho, *spread]).any():
            drawn = np.random.default_rng(1).normal(means, spread, (DRAWS, len(means)))
            ranks, by_size = (scipy.stats.rankdata(of, axis=-1) - (len(sizes) + 1) / 2 for of in (drawn, sizes))
            rhos = ranks @ by_size / np.sqrt((ranks**2).sum(axis=1) * (by_size @ by_size))
        low, high = np.quantile(rhos, [0.025, 0.975])
        found = Estimate(rho, float(low), float(high), min(v.n for v in values))
        outcome = estimates.of_samples(rhos, estimates.fewest_clusters(values))
        return require_decided(outcome, f"{family}: rho {found.text(2)}", found.n, estimates.BOUND)


def is_between(value: Estimate, low: float, high: float, name: str) -> tuple[Comparison | None, str]:
    """Return whether a value lies between two bounds, with the text; None where it is not defined."""
    return (None, "") if np.isnan(value.value) else is_within(value, low, high, f"{name}: {value.text()}")


def compare_prompts(ours: np.ndarray, low: np.ndarray | float, high: np.ndarray | float) -> tuple[Comparison, str]:
    """Compare accuracies with prompts: do they lie below ``low``, or else above ``high``? Return the test's text too.

    The test is a paired t-test, or the sign test where all differences agree.
    """
    for right, limit in ((True, low), (False, high)):
        other = np.broadcast_to(limit, ours.shape)
        if (ours.mean() < other.mean()) == right and ours.mean() != other.mean():
            differences, p = ours - other, 2 * 0.5 ** len(ours)
            if procedures.has_variation(differences, 1.0):
                t = differences.mean() / differences.std(ddof=1) * np.sqrt(len(ours))
                p = 2 * scipy.special.stdtr(len(ours) - 1, -abs(t))
            return compare_by_test(p, right), describe_test(p, "paired test over prompts:")
    return Comparison(), "no test"


def is_greater(first: Estimate, second: Estimate, text: str) -> tuple[Comparison | None, str]:
    """Return whether one share is above another, with the text; None where one of them is not defined."""
    if np.isnan(first.value + second.value):
        return None, ""
    return require_decided(compare_shares(first, second), text, min(first.n, second.n))


def describe_test(p: float, test: str = "") -> str:
    """Return what a test says: its name and p, or that there is none."""
    return f"{test} p {p_text(p, smallest=0.001, decimals=3)}".lstrip() if not np.isnan(p) else "no test"


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
    units = {"million parameters": 1e6, "billion parameters": 1e9}
    rows = numbers[(numbers.item == "ruff_model_parameters") & (numbers.source == "Table 2")]
    sizes = {row.row: float(row.value) * units[row.unit] for row in files.iterate_rows(rows)}
    return models.assign(parameters=models.row.map(sizes))


def printed_numbers(numbers: pd.DataFrame) -> dict:
    """Return item, row and column of each published number to its text; of numbers printed twice the last."""
    return {(row.item, row.row, row.column): row.value for row in numbers.itertuples()}


def read_results(
    models: pd.DataFrame, listed: pd.DataFrame, estimates: str, pronoun_tests: str, template_sets: list[str],
    pronoun_sets: list[str], excluded: Collection[str] = (),
) -> dict[str, Results]:  # fmt: skip
    """Return the results of each template set; ``listed`` are the study's numbers."""
    printed, obstacle = printed_numbers(listed), options.other_choice(pronoun_sets, PRONOUN_SETS)
    results = {}
    for name in template_sets:
        rows, tests = (study.read_table(path, name) for path in (estimates, pronoun_tests))
        results[name] = Results(models, printed, rows, tests, frozenset(excluded), obstacle)
    return results
