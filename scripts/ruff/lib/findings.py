"""The study's findings, each as a function from a run's tidy tables to checks.

A comparison of accuracies holds or fails where their 95 % intervals (bootstrap over occupations) do not overlap;
between pronoun sets of a model Welch's test decides, between picks of one model the exact sign test. Shares of errors
have the exact binomial interval of the unambiguous errors of one sample. What these do not decide is undecided. A mean
over models has the widest interval that those of its models allow, since all answer about the same occupations.

Symbols as in the docstrings: ``acc(m, k, p)`` is the accuracy of model m with k distractors on pronoun set p, or over
all sets; distraction and bias are shares of the unambiguous errors. Sections and figures are those of Gautam et al.
(2024). Numbers that the study prints are looked up in ``paper/published/ruff.csv``.
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
from scripts.core.paper import estimates, published
from scripts.core.paper.estimates import (
    Estimate,
    at_least,
    compare_all,
    compare_by_test,
    compare_shares,
    compare_values,
    is_within,
    require_decided,
)
from scripts.core.paper.finding_verdicts import Check, Comparison, Finding, MissingEvidence, check
from scripts.core.paper.formats import p_text, with_sign
from scripts.core.statistics import procedures
from scripts.ruff.lib.study import PRONOUN_SETS, SENTENCES

COUNTS = range(6)
CHANCE = 0.25
DRAWS = 2000
SIGNIFICANT = "a significant test"
"""What a comparison lacks whose test does not decide it."""
NEAR = 0.02
"""Allowed distance of an accuracy from a printed one, as in the mapping of published numbers."""
NEAR_ONE_SET = 0.04
NEAR_ZERO = 0.05
MILLION, BILLION = 1e6, 1e9


@dataclass(frozen=True)
class Run:
    """A run's tables on one template set, and the study's models.

    Args:
        models: From :func:`study_models`.
        printed: Item, row and column to the printed number.
        tables: ``accuracy``, ``context_free``, ``pronoun_tests``, ``error_types``; ``prompted_accuracy`` where models
            were prompted: ``model``, ``method`` (``vanilla`` or a kind of chain of thought), ``answer`` (``final``,
            ``chain``), ``prompt``, ``n_distractors``, ``accuracy``.
        excluded: Models of the run that must not be looked at (demonstration models).
        obstacle: Why no model of the run can be compared with the study, or empty.
    """

    models: pd.DataFrame
    printed: dict
    tables: dict
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
    def _labels(self):
        return self.models.set_index("model").label

    @cached_property
    def _parameters(self):
        return self.models.set_index("model").parameters

    def label(self, model: str) -> str:
        """Return a model's name in the study."""
        return self._labels[model]

    def size(self, model: str) -> float:
        """Return a model's number of parameters as the study gives it."""
        return self._parameters[model]

    @cached_property
    def _cells(self):
        keys = {
            "accuracy": ["model", "n_distractors", "factor", "level"],
            "context_free": ["model", "pronoun"],
            "pronoun_tests": ["model", "pronoun_a", "pronoun_b"],
            "error_types": ["model", "n_distractors", "error_type"],
        }
        return {
            name: self.tables[name].set_index(key).to_dict("index") for name, key in keys.items() if name in self.tables
        }

    @cached_property
    def _present(self):
        return {name: set(table.model) for name, table in self.tables.items() if "model" in table}

    def present(self, models: Iterable[str]) -> int:
        """Return how many of ``models`` the run has."""
        return len(set(models) & self._present.get("accuracy", set()) - self.excluded)

    def need(self, models: Iterable[str], table: str = "accuracy") -> None:
        """Raise :class:`MissingEvidence` with all of ``models`` that the run does not have."""
        if self.obstacle:
            raise MissingEvidence(self.obstacle.removeprefix("not in this run: "))
        present = self._present.get(table, ())
        absent = [self.label(m) for m in models if m in self.excluded or m not in present]
        if absent:
            raise MissingEvidence(*absent)

    def _cell(self, table: str, model: str, key: tuple, words: str):
        self.need([model], table)
        if (model, *key) not in self._cells[table]:
            raise MissingEvidence(words)
        return self._cells[table][(model, *key)]

    def acc(self, model: str, k: int, pronoun: str | None = None) -> Estimate:
        """Return an accuracy with its interval."""
        factor = ("all", "all") if pronoun is None else ("pronoun", pronoun)
        words = _distractors(k) if pronoun is None else f"{pronoun} with {_distractors(k)}"
        row = self._cell("accuracy", model, (k, *factor), words)
        return Estimate(float(row["accuracy"]), row["ci_low"], row["ci_high"], int(row["n"]), int(row["n_occupations"]))

    def is_better_with(self, model: str, k: int, other: int, text: str) -> tuple[Comparison, str]:
        """Return whether a model is more accurate with ``k`` distractors than with ``other``, with the text.

        It is not if it is right on all instances of a pronoun set, or on none, with both, like one that always picks
        the same set: then no occupation differs.
        """
        cells = self._cells["accuracy"]
        by_set = [[cells.get((model, n, "pronoun", p), {}).get("accuracy") for p in PRONOUN_SETS] for n in (k, other)]
        first, second = self.acc(model, k), self.acc(model, other)
        if by_set[0] == by_set[1] and set(by_set[0]) <= {0, 1}:
            return require_decided(estimates.none_differs(first.clusters or first.n), text, first.n)
        return is_greater(first, second, text)

    def mean_acc(self, models: Collection[str], k: int, pronoun: str | None = None) -> Estimate:
        """Return the mean accuracy over models, all of which the run must have."""
        self.need(models)
        return estimates.mean([self.acc(m, k, pronoun) for m in models])

    def picks(self, model: str, pronoun: str) -> tuple[int, int]:
        """Return how often a model picks a set without context, and of how many task sentences."""
        row = self._cell("context_free", model, (pronoun,), f"{pronoun} without context")
        return int(row["count"]), int(row["n_templates"])

    def share(self, model: str, k: int, kind: str) -> Estimate:
        """Return the share of an error type; NaN if the model makes no unambiguous error."""
        row = self._cell("error_types", model, (k, kind), f"errors with {_distractors(k)}")
        return estimates.share(float(row["share"]), row["n_unambiguous"] // max(row["n_seeds"], 1))

    def explained(self, model: str, k: int) -> Estimate:
        """Return the share of distraction and bias together, what the other errors leave."""
        rest = self.share(model, k, "other")
        return Estimate(1 - rest.value, 1 - rest.high, 1 - rest.low, rest.n)

    def mean_share(self, model: str, kind: str) -> Estimate:
        """Return the share of an error type, averaged over one to five distractors where it is defined."""
        shares = [share for k in COUNTS[1:] if not np.isnan((share := self.share(model, k, kind)).value)]
        return estimates.mean(shares) if shares else estimates.share(np.nan, 0)

    def test(self, model: str, a: str, b: str) -> tuple[float, int]:
        """Return Welch's test between two pronoun sets without distractors; ``model`` may be ``all``.

        Returns:
            The p value and how many occupations the smaller sample has.
        """
        if model == "all":
            self.need(self.everyone, "pronoun_tests")
            others = set(self.tables["pronoun_tests"].model) - {"all", *self.everyone, *self.excluded}
            if others:
                raise MissingEvidence("a test over the study's models alone")
        else:
            self.need([model], "pronoun_tests")
        cells = self._cells["pronoun_tests"]
        for pair in ((a, b), (b, a)):
            if (model, *pair) in cells:
                row = cells[(model, *pair)]
                return row["p"], int(min(row["n_a"], row["n_b"]))
        raise MissingEvidence(f"a test of {a} against {b}")

    def better(self, model: str, a: str, b: str) -> tuple[Comparison, str, int]:
        """Compare a model on two pronoun sets by Welch's test: is it better on ``a`` than on ``b``?

        Returns:
            The comparison, its text and how many occupations were compared.
        """
        p, n = self.test(model, a, b)
        if model == "all":
            first, second = (self.mean_acc(self.everyone, 0, pronoun).value for pronoun in (a, b))
        else:
            first, second = (self.acc(model, 0, pronoun).value for pronoun in (a, b))
        said = f"p {p_text(p, smallest=0.001, decimals=3)}" if not np.isnan(p) else "no test"
        outcome = compare_by_test(p if first != second else np.nan, first > second)
        return outcome, f"{a} {first:.3f}, {b} {second:.3f}, {said}", n

    def prompted(self, model: str, k: int, method: str = "vanilla", answer: str = "final") -> np.ndarray:
        """Return the accuracies of a prompted model with each prompt."""
        self.need([model], "prompted_accuracy")
        if (model, k, method, answer) not in self._prompts:
            raise MissingEvidence(f"{method} prompting with {_distractors(k)}")
        return self._prompts[model, k, method, answer]

    @cached_property
    def _prompts(self):
        rows = self.tables["prompted_accuracy"].groupby(["model", "n_distractors", "method", "answer"], sort=False)
        return {key: part.to_numpy() for key, part in rows.accuracy}

    def near(self, estimate: Estimate, key: tuple[str, str, str], allowed: float, name: str) -> tuple[Comparison, str]:
        """Return whether a value is a printed one, within rounding and ``allowed``, with the text.

        It is if its interval lies within these bounds, and it is not if the interval lies outside them.
        """
        printed = self.printed[key]
        allowed = allowed + published.half_unit(printed) + 1e-9
        text = f"{name} {estimate.text(3 if allowed < 1 else 1)}, published {printed}"
        return is_within(estimate, float(printed) - allowed, float(printed) + allowed, text)


def is_greater(first: Estimate, second: Estimate, text: str) -> tuple[Comparison, str]:
    """Return whether one share is above another, with the text."""
    return require_decided(compare_shares(first, second), text, min(first.n, second.n))


def _distractors(k: int):
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


def _sign_test(p: float):
    return f"sign test: p {p_text(p, smallest=0.001, decimals=3)}"


def without_context(run: Run) -> list[Check]:
    """For each model, he is picked more often than she, and she more often than they and xe, by the sign test.

    The sentences about an occupation can all have the same pick for its sake, so that as many count as one.
    """

    def more(model: str, a: str, b: str):
        (first, n), (second, _) = run.picks(model, a), run.picks(model, b)
        p = procedures.sign_test(first / SENTENCES, second / SENTENCES)
        text = f"{run.label(model)}: {a} {first}, {b} {second} of {n} ({_sign_test(p)})"
        return require_decided(compare_by_test(p, first > second), text, n, SIGNIFICANT)

    return [
        check(more, model, *pair) for model in run.everyone for pair in (("he", "she"), ("she", "they"), ("she", "xe"))
    ]


def encoders_are_balanced(run: Run) -> list[Check]:
    """The mean entropy of context-free picks is greater over encoders than over decoders, by Welch's test."""

    def entropy(model: str):
        counts = np.array([run.picks(model, pronoun)[0] for pronoun in PRONOUN_SETS])
        shares = counts[counts > 0] / counts.sum()
        return -float(np.sum(shares * np.log2(shares)))

    def one():
        run.need(run.everyone, "context_free")
        encoders, decoders = ([entropy(m) for m in names] for names in (run.encoders, run.decoders))
        p = procedures.welch(encoders, decoders)[2]
        said = f"Welch's test over models: p {p_text(p, smallest=0.001, decimals=3)}" if not np.isnan(p) else "no test"
        first, second = np.mean(encoders), np.mean(decoders)
        text = f"mean entropy {first:.2f} bits (encoders), {second:.2f} bits (decoders), {said}"
        return require_decided(compare_by_test(p, first > second), text, len(run.everyone), SIGNIFICANT)

    return [check(one)]


def above_chance_below_people(run: Run) -> list[Check]:
    """Without distractors every accuracy is between chance and one; MosaicBERT has the highest, as printed."""

    def inner(model: str):
        value = run.acc(model, 0)
        return is_within(value, CHANCE, 1, f"{run.label(model)}: {value.text()}")

    def best():
        run.need(run.everyone)
        values = {model: run.acc(model, 0) for model in run.everyone}
        ranked = sorted(run.everyone, key=lambda model: -values[model].value)
        outcome = compare_all(
            compare_values(values["mosaicbert"], values[m]) for m in run.everyone if m != "mosaicbert"
        )
        text = f"highest: {', '.join(f'{run.label(m)} {values[m].text()}' for m in ranked[:2])}"
        return require_decided(outcome, text, values[ranked[0]].n)

    def value():
        return run.near(
            run.acc("mosaicbert", 0), ("ruff_accuracy", "MosaicBERT | 0 | all", "accuracy"), NEAR, "MosaicBERT"
        )

    return [*(check(inner, model) for model in run.everyone), check(best), check(value)]


def grows_with_size(run: Run) -> list[Check]:
    """Size and accuracy without distractors go together in each family but ALBERT-v2, whose order is mixed.

    The interval of Spearman's rho is that of accuracies drawn from normal distributions as wide as their intervals,
    which those of few occupations are not.
    """

    def correlated(family: str):
        names = run.families[family]
        run.need(names)
        sizes, values = [run.size(m) for m in names], [run.acc(m, 0) for m in names]
        means, spread = np.array([[v.value, (v.high - v.low) / 2 / scipy.stats.norm.ppf(0.975)] for v in values]).T
        rho = procedures.spearman(sizes, means)
        low = high = np.nan
        rhos = np.full(1, np.nan)
        if not np.isnan([rho, *spread]).any():
            drawn = np.random.default_rng(1).normal(means, spread, (DRAWS, len(means)))
            ranks = scipy.stats.rankdata(drawn, axis=1) - (len(sizes) + 1) / 2
            by_size = scipy.stats.rankdata(sizes) - (len(sizes) + 1) / 2
            rhos = ranks @ by_size / np.sqrt((ranks**2).sum(axis=1) * (by_size @ by_size))
            low, high = np.quantile(rhos, [0.025, 0.975])
        found = Estimate(rho, float(low), float(high), min(v.n for v in values))
        outcome = estimates.of_samples(rhos, estimates.fewest(values))
        return require_decided(outcome, f"{family}: rho {found.text(2)}", found.n, estimates.BOUND)

    def mixed(family: str):
        names = run.families[family]
        run.need(names)
        values = [run.acc(m, 0) for m in names]
        rising = compare_all(compare_values(b, a) for a, b in pairwise(values))
        text = f"{family}: {', '.join(v.text() for v in values)}"
        return require_decided(~rising, text, min(v.n for v in values))

    growing = [check(correlated, family) for family in ("BERT", "RoBERTa", "OPT", "Pythia", "Llama-2")]
    return [*growing, check(mixed, "ALBERT-v2")]


def order_of_pronouns(run: Run) -> list[Check]:
    """Over models he is above she, and she above they and xe, each significantly by Welch's test."""

    def step(a: str, b: str):
        outcome, text, n = run.better("all", a, b)
        return require_decided(outcome, text, n, SIGNIFICANT)

    return [check(step, a, b) for a, b in (("he", "she"), ("she", "they"), ("she", "xe"))]


def encoders_prefer_xe(run: Run) -> list[Check]:
    """At least five of the nine encoders are better on xe than on they by Welch's test, BERT-large among them."""

    def most():
        run.need(run.encoders)
        tests = [run.better(model, "xe", "they") for model in run.encoders]
        found = [outcome for outcome, _, _ in tests]
        outcomes = [comparison.outcome for comparison in found]
        text = f"{outcomes.count(True)} of {len(tests)} encoders better on xe, {outcomes.count(False)} on they"
        least = at_least(len(tests) // 2 + 1, found)
        return require_decided(least, f"{text} (Welch's tests)", min(n for _, _, n in tests), SIGNIFICANT)

    def large():
        outcome, text, n = run.better("bert-large", "xe", "they")
        return require_decided(outcome, f"BERT-large: {text}", n, SIGNIFICANT)

    return [check(most), check(large)]


def small_decoders_fail_on_xe(run: Run) -> list[Check]:
    """OPT and Pythia models under 2.7 billion parameters are below chance on xe; three Pythia models near zero."""
    small = [m for family in ("OPT", "Pythia") for m in run.families[family] if run.size(m) < 2.7 * BILLION]

    def below(model: str, limit: float):
        value = run.acc(model, 0, "xe")
        return is_within(value, -1, limit, f"{run.label(model)}: {value.text()}")

    tiny = ("pythia-14m", "pythia-70m", "pythia-160m")
    return [*(check(below, m, CHANCE) for m in small), *(check(below, m, NEAR_ZERO) for m in tiny)]


def large_decoders_prefer_xe(run: Run) -> list[Check]:
    """Decoders of 6.7 billion parameters and more are significantly better on xe; Llama-2-13B as printed."""

    def better(model: str):
        outcome, text, n = run.better(model, "xe", "they")
        return require_decided(outcome, f"{run.label(model)}: {text}", n, SIGNIFICANT)

    def value():
        key = ("ruff_accuracy", "Llama-13B | 0 | xe/xem/xyr", "accuracy")
        return run.near(run.acc("llama-2-13b", 0, "xe"), key, NEAR_ONE_SET, "Llama-2-13B")

    return [*(check(better, m) for m in run.decoders if run.size(m) >= 6.7 * BILLION), check(value)]


def distractors_hurt(run: Run) -> list[Check]:
    """Every model is less accurate with any number of distractors than without."""

    def lower(model: str, k: int):
        none, some = run.acc(model, 0), run.acc(model, k)
        return run.is_better_with(model, 0, k, f"{run.label(model)}: {none.text()} without, {some.text()} with {k}")

    return [check(lower, model, k) for model in run.everyone for k in COUNTS[1:]]


def one_distractor_costs(run: Run) -> list[Check]:
    """The mean loss to the first distractor over the scored models is the printed one."""

    def one():
        loss = run.mean_acc(run.everyone, 0) - run.mean_acc(run.everyone, 1)
        key = ("ruff_accuracy_drop", "mean over models | 0 to 1 distractor | all", "accuracy drop")
        return run.near(loss * 100, key, 100 * NEAR, f"points over {len(run.everyone)} scored models:")

    return [check(one)]


def decoders_keep_falling(run: Run) -> list[Check]:
    """Each further distractor lowers every decoder's accuracy."""

    def falls(model: str, k: int):
        before, after = run.acc(model, k), run.acc(model, k + 1)
        text = f"{run.label(model)}: {before.text()} with {k}, {after.text()} with {k + 1}"
        return run.is_better_with(model, k, k + 1, text)

    return [check(falls, model, k) for model in run.decoders for k in COUNTS[:-1]]


def encoders_recover(run: Run) -> list[Check]:
    """Every encoder is worst with exactly one distractor and stays under its accuracy without any."""

    def worst(model: str, k: int):
        one, other = run.acc(model, 1), run.acc(model, k)
        return run.is_better_with(model, k, 1, f"{run.label(model)}: {one.text()} with 1, {other.text()} with {k}")

    def partly(model: str, k: int):
        none, other = run.acc(model, 0), run.acc(model, k)
        return run.is_better_with(model, 0, k, f"{run.label(model)}: {none.text()} without, {other.text()} with {k}")

    lowest = [check(worst, model, k) for model in run.encoders for k in COUNTS if k != 1]
    return [*lowest, *(check(partly, model, k) for model in run.encoders for k in COUNTS[2:])]


def larger_is_better_with_distractors(run: Run) -> list[Check]:
    """With five distractors the larger of two neighbouring sizes is the better one in more than half of the pairs."""

    def one():
        run.need(run.everyone)
        outcomes = {(a, b): compare_values(run.acc(b, 5), run.acc(a, 5)) for a, b in run.neighbours}
        least, found = len(outcomes) // 2 + 1, [above.outcome for above in outcomes.values()]
        wrong = ", ".join(
            f"{run.label(b)} under {run.label(a)}" for (a, b), above in outcomes.items() if above.outcome is False
        )
        text = f"{found.count(True)} of {len(found)} pairs, {found.count(None)} with intervals that overlap"
        n = min(run.acc(m, 5).n for m in run.everyone)
        return require_decided(at_least(least, outcomes.values()), text + (f", but {wrong}" if wrong else ""), n)

    return [check(one)]


def encoders_match_large_decoders(run: Run) -> list[Check]:
    """RoBERTa-base is above OPT-125M and OPT-66B, and each encoder above the mean decoder of about its size."""

    def above(model: str):
        ours, other = run.acc("roberta-base", 0), run.acc(model, 0)
        return is_greater(ours, other, f"RoBERTa-base {ours.text()}, {run.label(model)} {other.text()}")

    def above_its_size(model: str):
        similar = [d for d in run.decoders if 0.5 <= run.size(d) / run.size(model) <= 2]
        ours, other = run.acc(model, 0), run.mean_acc(similar, 0)
        text = f"{run.label(model)} {ours.text()}, mean of decoders of about its size {other.text()}"
        return is_greater(ours, other, text)

    named = [check(above, model) for model in ("opt-125m", "opt-66b")]
    return [*named, *(check(above_its_size, model) for model in run.encoders)]


def encoders_lead_with_distractors(run: Run) -> list[Check]:
    """With five distractors every encoder is above every decoder."""

    def above(encoder: str, decoder: str):
        ours, other = run.acc(encoder, 5), run.acc(decoder, 5)
        return is_greater(ours, other, f"{run.label(encoder)} {ours.text()}, {run.label(decoder)} {other.text()}")

    return [check(above, encoder, decoder) for encoder in run.encoders for decoder in run.decoders]


def distraction_and_bias_explain(run: Run) -> list[Check]:
    """Distraction and bias together are between the two printed shares of unambiguous errors, for every model."""
    item, row = "ruff_explained_error_share", "all models | unambiguous errors | distraction or bias"
    ends = [run.printed[(item, row, end)] for end in ("lowest", "highest")]
    # The study prints whole percents: what rounds to an end is inside.
    low, high = (float(text) / 100 for text in ends)
    half = published.half_unit(ends[0]) / 100

    def inside(model: str, k: int):
        total = run.explained(model, k)
        if np.isnan(total.value):
            return None, ""
        return is_within(total, low - half, high + half, f"{run.label(model)} with {k}: {total.text()}")

    return [check(inside, model, k) for model in run.everyone for k in COUNTS[1:]]


def decoders_are_distracted(run: Run) -> list[Check]:
    """In decoders distraction never falls with a further distractor and stays under the printed level."""
    key = ("ruff_distraction_error_share", "decoder-only | unambiguous errors | distraction", "saturation level")
    level = float(run.printed[key]) / 100

    def rises(model: str, k: int):
        before, after = (run.share(model, n, "distraction") for n in (k, k + 1))
        if np.isnan(before.value + after.value):
            return None, ""
        return is_greater(after, before, f"{run.label(model)}: {before.text()} with {k}, {after.text()} with {k + 1}")

    def under(model: str, k: int):
        value = run.share(model, k, "distraction")
        if np.isnan(value.value):
            return None, ""
        return is_within(value, -1, level, f"{run.label(model)} with {k}: {value.text()}")

    rising = [check(rises, model, k) for model in run.decoders for k in COUNTS[1:-1]]
    return [*rising, *(check(under, model, k) for model in run.decoders for k in COUNTS[1:])]


def encoders_turn_to_bias(run: Run) -> list[Check]:
    """In encoders distraction falls and bias rises from one to five distractors; in BERT-large bias leads from two."""

    def moves(model: str, kind: str, sign: int):
        first, last = (run.share(model, k, kind) for k in (1, 5))
        if np.isnan(first.value + last.value):
            return None, ""
        text = f"{run.label(model)}: {kind} {first.text()} with 1, {last.text()} with 5"
        return is_greater(last * sign, first * sign, text)

    def leads(k: int):
        bias, distraction = (run.share("bert-large", k, kind) for kind in ("bias", "distraction"))
        if np.isnan(bias.value + distraction.value):
            return None, ""
        return is_greater(
            bias, distraction, f"BERT-large with {k}: bias {bias.text()}, distraction {distraction.text()}"
        )

    moving = [check(moves, m, *way) for m in run.encoders for way in (("distraction", -1), ("bias", 1))]
    return [*moving, *(check(leads, k) for k in COUNTS[2:])]


def larger_is_more_distracted(run: Run) -> list[Check]:
    """Of two neighbouring sizes the larger has more distraction and less bias; in BERT it is the other way round."""

    def moves(small: str, large: str, kind: str, sign: int):
        first, second = (run.mean_share(m, kind) for m in (small, large))
        if np.isnan(first.value + second.value):
            return None, ""
        text = f"{kind}: {run.label(small)} {first.text()}, {run.label(large)} {second.text()}"
        return is_greater(second * sign, first * sign, text)

    checks = []
    for small, large in run.neighbours:
        reversed_family = small in run.families["BERT"]
        for kind, sign in (("distraction", 1), ("bias", -1)):
            checks.append(check(moves, small, large, kind, -sign if reversed_family else sign))
    return checks


CHAINS = ("kojima", "zhou")
"""The two kinds of chain of thought, by the authors of their prompts."""


def prompting_shows_the_same(run: Run) -> list[Check]:
    """Prompted models fall with distractors and stay under scored ones; chain of thought does not help FLAN-T5-xxl.

    Prompts are the units of paired t-tests (of sign tests where all differences agree): one prompt's accuracies are
    compared with each other, or with the end of the scored accuracy's interval. Deviations over prompts are compared by
    Levene's test. Chains without distractors are near vanilla prompts if two one-sided tests say so.
    """
    chat = [(f"llama-2-{size}-chat", f"llama-2-{size}") for size in ("7b", "13b", "70b")]
    flan = run.models[run.models.family == "FLAN-T5"].model.tolist()

    def below(ours: np.ndarray, low: np.ndarray | float, high: np.ndarray | float):
        """Compare prompts: do they lie below ``low``, or else above ``high``? Return the text of the test too."""
        for right, limit in ((True, low), (False, high)):
            other = np.broadcast_to(limit, ours.shape)
            if (ours.mean() < other.mean()) == right and ours.mean() != other.mean():
                differences, p = ours - other, 2 * 0.5 ** len(ours)
                if procedures.has_variation(differences, 1.0):
                    t = differences.mean() / differences.std(ddof=1) * np.sqrt(len(ours))
                    p = 2 * scipy.special.stdtr(len(ours) - 1, -abs(t))
                return compare_by_test(p, right), f"paired test over prompts: p {p_text(p, smallest=0.001, decimals=3)}"
        return Comparison(), "no test"

    def under(prompted: str, scored: str, k: int):
        ours, other = run.prompted(prompted, k), run.acc(scored, k)
        outcome, test = below(ours, other.low, other.high)
        text = f"{run.label(prompted)} {ours.mean():.3f}, {run.label(scored)} {other.text()} with {k}, {test}"
        return require_decided(outcome, text, len(ours), SIGNIFICANT)

    def falls(model: str, k: int):
        before, after = (run.prompted(model, n) for n in (k, k + 1))
        outcome, test = below(after, before, before)
        text = f"{run.label(model)}: {before.mean():.3f} with {k}, {after.mean():.3f} with {k + 1}, {test}"
        return require_decided(outcome, text, len(after), SIGNIFICANT)

    def worse(method: str, k: int):
        plain, chain = run.prompted("flan-t5-xxl", k), run.prompted("flan-t5-xxl", k, method)
        lower, test = below(chain, plain, plain)
        spread = scipy.stats.levene(chain, plain).pvalue
        text = (
            f"{method} with {k}: {chain.mean():.3f} ± {chain.std():.3f}, vanilla {plain.mean():.3f} ± {plain.std():.3f}"
            f", {test}, Levene's test of the deviations: p {p_text(spread, smallest=0.001, decimals=3)}"
        )
        wider = compare_by_test(spread, chain.std() > plain.std())
        return require_decided(compare_all([lower, wider]), text, len(chain), SIGNIFICANT)

    def read_from_chain(method: str, k: int):
        plain, chain = run.prompted("flan-t5-xxl", k), run.prompted("flan-t5-xxl", k, method, "chain")
        difference = chain.mean() - plain.mean()
        text = f"{method} with {k}, answer from the chain: {with_sign(difference, 3)} against vanilla"
        if k == 0:
            under, over = (below(chain, plain + end, plain + end)[0] for end in (NEAR, -NEAR))
            near = Comparison(max(under.right, over.wrong), min(under.wrong, over.right))
            return require_decided(near, text, len(chain), estimates.BOUND)
        outcome, test = below(chain, plain, plain)
        return require_decided(outcome, f"{text}, {test}", len(chain), SIGNIFICANT)

    return [
        *(check(under, prompted, scored, k) for prompted, scored in chat for k in COUNTS),
        *(check(falls, model, k) for model in flan for k in COUNTS[:-1]),
        *(check(compare, method, k) for compare in (worse, read_from_chain) for method in CHAINS for k in COUNTS),
    ]


_LISTED = (
    ("Section 5, Appendix G", "Without context every model prefers he most often, then she; they and xe least",
     without_context),
    ("Appendix G", "Without context encoders spread their predictions more evenly than decoders",
     encoders_are_balanced),
    ("Section 6, Figure 5", "With an introduction every model is between chance and people; MosaicBERT is best",
     above_chance_below_people),
    ("Section 6", "Without distractors accuracy grows with size in every family but ALBERT-v2", grows_with_size),
    ("Section 6, Figure 6", "He is easiest, she next, they and xe hardest; each step is significant",
     order_of_pronouns),
    ("Section 6", "Most encoders are better on xe than on they", encoders_prefer_xe),
    ("Section 6", "OPT and Pythia under 2.7B are below chance on xe, the smallest Pythia near zero",
     small_decoders_fail_on_xe),
    ("Section 6", "Decoders of 6.7B and more are significantly better on xe than on they", large_decoders_prefer_xe),
    ("Section 7, Figure 7", "Distractors lower the accuracy of every model", distractors_hurt),
    ("Abstract", "One distractor costs 34 points on average", one_distractor_costs),
    ("Section 7, Figure 7", "Decoders get worse with every further distractor", decoders_keep_falling),
    ("Section 7, Figure 7", "Encoders are worst with one distractor and recover in part", encoders_recover),
    ("Section 7", "With five distractors larger models of a family are better as a rule",
     larger_is_better_with_distractors),
    ("Section 7, Figure 8", "Without distractors encoders match or beat much larger decoders",
     encoders_match_large_decoders),
    ("Section 7, Figure 8", "With five distractors every encoder is ahead of every decoder",
     encoders_lead_with_distractors),
    ("Section 8", "Distraction and bias explain 74 to 93 percent of the unambiguous errors",
     distraction_and_bias_explain),
    ("Section 8, Figure 9", "In decoders distraction grows with every distractor and stays under 85 percent",
     decoders_are_distracted),
    ("Section 8, Figure 9", "In encoders distraction falls and bias rises with distractors", encoders_turn_to_bias),
    ("Section 8", "Larger models are more distracted and less biased; BERT is the exception",
     larger_is_more_distracted),
    ("Appendix H", "Prompted models decline in the same way, and chain of thought does not help",
     prompting_shows_the_same),
)  # fmt: skip

ONE_MODEL = frozenset({1, 9, 11, 12, 16, 17})
"""Findings that say something of each model by itself."""
FINDINGS = tuple(Finding(number, *listed) for number, listed in enumerate(_LISTED, start=1))
