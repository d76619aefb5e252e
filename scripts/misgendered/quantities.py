"""The quantities that findings compare, each with bootstrap samples over templates and names, and their comparisons.

A comparison that does not tell says about how large a sample would have to be.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy

from scripts.core import files
from scripts.core.paper import estimates
from scripts.core.paper.checks import Sampled
from scripts.core.paper.finding_verdicts import Check, Comparison, MissingEvidence, evaluate_check
from scripts.core.paper.formats import format_interval, format_number
from scripts.core.statistics import procedures
from scripts.misgendered import study
from scripts.misgendered.corpora import document_sums
from scripts.misgendered.grid import Grid, share
from scripts.misgendered.predictions import by_model
from scripts.misgendered.study import FORM_LABELS, NAME, TEMPLATE, TYPES, forms_declared
from scripts.misgendered.tables import rank_names

COLUMNS = [*TEMPLATE, *NAME, "declaration_type", "declaration_number", "pronoun_type", "group", "correct"]
"""Columns of predictions that the findings ask for."""


class Results:
    """The predictions of one set of templates as the findings ask for them.

    Args:
        table: Predictions of models that stand for those of the study (:data:`COLUMNS`, ``model``, ``shots``).
        study_models: ``model``, ``label``, ``family``, ``parameters`` of all models of the study.
        names: Estimates of the accuracy on neopronouns by name (:func:`scripts.misgendered.tables.rank_names`).
        documents: ``corpus``, ``group``, ``documents`` (:func:`scripts.misgendered.corpora.document_sums`).
    """

    def __init__(
        self, table: pd.DataFrame, study_models: pd.DataFrame, names: pd.DataFrame, documents: pd.DataFrame, draws: int,
        seed: int,
    ):  # fmt: skip
        numbers = {number: forms_declared(number) for number in table.declaration_number.unique()}
        self.table = table.reset_index(drop=True).assign(declared=table.declaration_number.map(numbers).to_numpy())
        # Without rows nothing is asked of it.
        self.grid: Any = Grid([self.table], draws, seed) if len(table) else None
        self.places = self.grid.places(self.table) if len(table) else np.empty(0, dtype=int)
        self.models = study_models.set_index("model")
        self.there = set(self.table.model.unique())
        self.names, self.documents = names, documents

    @property
    def templates(self) -> int:
        """How many templates are resampled."""
        return len(self.grid.templates)

    def share(self, models: Iterable[str] | None = None, shots: int = 0, **levels: Any) -> Sampled:
        """Return an accuracy of some models together, or of all of the study.

        Raises:
            MissingEvidence: If the run lacks a model, or has no such rows.
        """
        wanted = list(self.models.index) if models is None else list(models)
        lacking = [m for m in wanted if m not in self.there]
        if lacking:
            raise MissingEvidence(*(self.models.label.get(m, m) for m in lacking))
        chosen = (self.table.model.isin(wanted) & (self.table.shots == shots)).to_numpy()
        for column, level in levels.items():
            chosen = chosen & (self.table[column] == level).to_numpy()
        if not chosen.any():
            what = ", ".join(f"{value}" for value in levels.values())
            raise MissingEvidence(f"{what} with {shots} examples" if shots else what)
        cells = self.grid.count(self.places[chosen], None, self.table.correct.to_numpy(dtype=bool)[chosen])
        return Sampled(share(cells), self.grid.samples(cells), self.templates)

    def size(self, shots: int = 0) -> int:
        """Return how many instances each model has."""
        rows = self.table[self.table.shots == shots]
        return int(rows.groupby("model", observed=True).size().max())

    def family(self, name: str) -> list[str]:
        """Return the models of a family, the smallest first."""
        return list(self.models[self.models.family == name].sort_values("parameters").index)

    def gain(self, family: str, kind: str) -> Sampled:
        """Return by how much the largest model of a family is better than the smallest on a type of pronouns."""
        models = self.family(family)
        smallest, largest = (self.share(pronoun_type=kind, models=[models[place]]) for place in (0, -1))
        return largest - smallest

    def size_correlation(self, family: str, kind: str) -> Sampled:
        """Return the rank correlation of size and accuracy within a family."""
        shares = [self.share(pronoun_type=kind, models=[model]) for model in self.family(family)]
        sizes, samples = np.arange(len(shares)), np.array([share.samples for share in shares]).T
        value = procedures.spearman(sizes, np.array([share.value for share in shares]))
        return Sampled(value, rank_correlations(np.broadcast_to(sizes, samples.shape), samples), self.templates, -1.0)


def read_results(
    template_sets: list[str], predictions: list[str], measured: str, counts: str, models: list[str],
    known: pd.DataFrame, draws: int, seed: int,
) -> dict[str, Results]:  # fmt: skip
    """Return the results of each set of templates (:class:`Results`), of which ``predictions`` has one file.

    ``measured`` and ``counts`` are the files of estimates and of counts of documents; predictions of ``models`` stand
    for those of the study, whose models are ``known``.
    """
    rows, documents = study.read_table(measured), document_sums(files.read_csv(counts))
    found = {}
    for name, path in zip(template_sets, predictions, strict=True):
        nothing = pd.DataFrame(columns=["model", "shots", *COLUMNS])
        parts = [part.astype({"model": object}) for _, _, part in by_model(path, COLUMNS, models=models)]
        table = pd.concat(parts, ignore_index=True) if parts else nothing
        found[name] = Results(table, known, rank_names(rows[rows.templates == name]), documents, draws, seed)
    return found


def rank_correlations(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Spearman's rank correlation of each two rows; NaN where one of them does not vary."""
    ranks = [scipy.stats.rankdata(rows, axis=1) - (rows.shape[1] + 1) / 2 for rows in (first, second)]
    below = np.sqrt(np.prod([(rows**2).sum(axis=1) for rows in ranks], axis=0))
    return np.divide((ranks[0] * ranks[1]).sum(axis=1), below, out=np.full(len(below), np.nan), where=below > 0)


def points(value: float, signed: bool = False) -> str:
    """Return an accuracy or a difference in points."""
    return format_number(100 * value, 1, signed)


def ends(low: float, high: float) -> str:
    """Return an interval in points."""
    return format_interval(100 * low, 100 * high, 1)


def needed_instances(size: int, value: float, low: float, high: float) -> str:
    """Return about how many instances would decide whether a quantity is zero, if it is what it is here.

    The width of an interval shrinks with the square root of the sample.

    Examples:
        >>> needed_instances(500, 0.02, -0.02, 0.06)
        'about 2,000 instances'
    """
    reach = (high - low) / 2
    if not math.isfinite(reach) or not value:
        return "more instances"
    wanted = size * (reach / abs(value)) ** 2
    digits = max(0, int(math.log10(wanted)) - 1)
    return f"about {math.ceil(wanted / 10**digits) * 10**digits:,} instances"


def settle(found: Comparison, said: str, wanted: str = "more instances") -> tuple[Comparison, str]:
    """Return a comparison with its text; :class:`MissingEvidence` with what is ``wanted`` if it tells nothing."""
    if found.outcome is None:
        raise MissingEvidence(f"{wanted} for {said}", p=found.wrong)
    return found, said


def sign(results: Results, found: Sampled, text: str, expected: int = 1, shots: int = 0) -> tuple[Comparison, str]:
    """Compare a difference with zero; ``expected`` is the sign that the finding says it has."""
    difference = estimates.from_samples(found.value, found.samples, results.templates)
    compared = estimates.compare_with_bound(difference, 0)
    return settle(
        compared if expected > 0 else ~compared,
        f"{text} ({ends(difference.low, difference.high)})",
        needed_instances(results.size(shots), found.value, difference.low, difference.high),
    )


def greater(
    results: Results, first: Mapping[str, Any], second: Mapping[str, Any], names: Sequence[str], shots: int = 0
) -> Check:
    """Check that one accuracy is above another; ``first`` and ``second`` are levels."""

    def test() -> tuple[Comparison, str]:
        a, b = results.share(**first), results.share(**second)
        return sign(results, a - b, f"{names[0]} {points(a.value)}, {names[1]} {points(b.value)}", shots=shots)

    return evaluate_check(test)


def similar(results: Results, shares: Mapping[str, Sampled], bound: float) -> tuple[Comparison, str]:
    """Compare whether accuracies differ by less than ``bound`` from each other.

    Two one-sided tests at 5 % for every pair: the 90% interval of each difference must lie within the bound. All of
    them must, so nothing is corrected. It fails if one difference lies beyond the bound at 5 % after Bonferroni.
    """
    differences = {(a, b): shares[a] - shares[b] for a, b in itertools.combinations(shares, 2)}
    (first, second), far = max(differences.items(), key=lambda item: abs(item[1].value))
    largest = estimates.from_samples(far.value, far.samples, results.templates, level=0.9)
    said = (
        f"{first} {points(shares[first].value)}, {second} {points(shares[second].value)}; 90% interval of the "
        f"difference {ends(largest.low, largest.high)}, bound {points(bound)}"
    )
    inside = [
        estimates.compare_with_limits(estimates.from_samples(d.value, d.samples, results.templates), -bound, bound)
        for d in differences.values()
    ]
    # One-sided tests at 5 % have half of the two-sided p value.
    found = Comparison(max(c.right for c in inside) / 2, min(1.0, len(inside) * min(c.wrong for c in inside)))
    return settle(found, said, needed_instances(results.size(), bound - abs(far.value), largest.low, largest.high))


STEP = 0.0005
"""Half of the last printed digit as a share: what falls by less is not seen to fall."""


def does_not_fall(results: Results, levels: Mapping[str, Mapping[str, Any]]) -> tuple[Comparison, str]:
    """Compare whether the second of two accuracies is not below the first by more than :data:`STEP`."""
    (first, a), (second, b) = ((name, results.share(**level)) for name, level in levels.items())
    change = b - a
    rise = estimates.from_samples(change.value, change.samples, results.templates)
    text = f"{first} {points(a.value)}, {second} {points(b.value)} ({ends(rise.low, rise.high)})"
    found = Comparison(estimates.compare_with_bound(rise, -STEP).right, estimates.compare_with_bound(rise, 0).wrong)
    return settle(found, text, needed_instances(results.size(), change.value + STEP, rise.low, rise.high))


def larger_change(results: Results, changes: Mapping[str, Sampled]) -> tuple[Comparison, str]:
    """Compare whether the first of two changes is the larger one, of whichever signs they are.

    It is if their sum and their difference have its sign.
    """
    a, b = changes.values()
    apart, together = (
        estimates.compare_with_bound(estimates.from_samples(value, samples, results.templates, -2.0, 2.0), 0)
        for value, samples in ((a.value - b.value, a.samples - b.samples), (a.value + b.value, a.samples + b.samples))
    )
    found = Comparison(
        min(max(apart.right, together.right), max(apart.wrong, together.wrong)),
        min(max(apart.right, together.wrong), max(apart.wrong, together.right)),
    )
    said = ", ".join(f"{name} {points(change.value, signed=True)}" for name, change in changes.items())
    return settle(found, f"from the smallest to the largest: {said}")


def correlation(results: Results, found: Sampled, text: str, expected: int) -> tuple[Comparison, str]:
    """Compare a correlation with zero; ``expected`` is the sign that the finding says it has."""
    low, high = procedures.bootstrap_interval(found.value, found.samples, results.templates)
    said = f"{text} {format_number(found.value, 2, signed=True)}"
    compared = estimates.of_samples(found.samples, results.templates)
    if compared.outcome is None:
        raise MissingEvidence(
            f"more instances for {said} ({format_interval(low, high, 2, signed=True)})", p=compared.wrong
        )
    return compared if expected > 0 else ~compared, said


def compare_place(better: list[Comparison], place: int) -> Comparison:
    """Compare a rank with ``place``, from 1 for the best: so many others are better and no more."""

    def count(others: int, comparisons: list[Comparison]) -> float:
        sure = 0.0 if not others else 1.0
        return estimates.at_least(others, comparisons).right if 0 < others <= len(comparisons) else sure

    worse, after = [~comparison for comparison in better], len(better) + 1 - place
    return Comparison(
        max(count(place - 1, better), count(after, worse)), min(count(place, better), count(after + 1, worse))
    )


def rank(results: Results, kind: str, form: str, place: int) -> tuple[Comparison, str]:
    """Compare the rank of a form among the five for a type of pronouns with ``place``, from 1 for the best."""
    own, better = results.share(pronoun_type=kind, form=form), []
    for other in FORM_LABELS:
        if other != form:
            difference = results.share(pronoun_type=kind, form=other) - own
            found = estimates.from_samples(difference.value, difference.samples, results.templates)
            better.append(estimates.compare_with_bound(found, 0))
    outcomes = [comparison.outcome for comparison in better]
    text = (
        f"{TYPES[kind]}, {FORM_LABELS[form]} {points(own.value)}: {outcomes.count(True)} forms clearly above, "
        f"{outcomes.count(False)} below"
    )
    return settle(compare_place(better, place), text)


HOW_MANY_NAMES = 10


def among_best(names: pd.DataFrame, others: str) -> Comparison:
    """Compare whether no name of some classes is among the ten best.

    A name is among them if all but nine of the other names are below it, and is not if ten are above it, each by
    intervals that do not overlap; p values are corrected for which of the names these are, and for how many are asked.

    Args:
        names: ``name_class``, ``value``, ``low``, ``high``.
        others: ``unisex`` for names of that class, ``gendered`` for those of all others.
    """
    value, low, high = (names[column].to_numpy(dtype=float) for column in ("value", "low", "high"))
    asked = np.flatnonzero((names.name_class == "unisex") == (others == "unisex"))
    distance = value[asked, None] - value
    arm = np.where(distance > 0, (value - low)[asked, None] + (high - value), (high - value)[asked, None] + value - low)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.nan_to_num(estimates.Z * distance / np.maximum(arm, estimates.SMALLEST_ARM))
    # A name is not compared with itself: it is neither above nor below.
    p = 2 * scipy.special.ndtr(-np.abs(z))
    below, above = (np.sort(np.where(side, p, 1.0), axis=1) for side in (z > 0, z < 0))
    rest = len(names) - 1
    inside = HOW_MANY_NAMES * below[:, rest - HOW_MANY_NAMES]
    outside = (rest - HOW_MANY_NAMES + 1) * above[:, HOW_MANY_NAMES - 1]
    return Comparison(min(1.0, outside.max()), min(1.0, len(asked) * inside.min()))
