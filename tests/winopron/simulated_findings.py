"""Worlds in which each finding is true, false or on the border, as drawn answers to template pairs.

Drawn is for each system, pair of people, grammatical case and pronoun set what becomes of both sentences of the pair:
both are resolved rightly, both to the occupation, both to the participant, or both wrongly. Shares, intervals and
overlaps are made of the answers as those of a run are, with the same bootstrap over pairs of people.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from scripts.core.data.templates import CASES
from scripts.core.paper import checks
from scripts.core.paper.checks import Sampled
from scripts.core.paper.finding_verdicts import MissingEvidence
from scripts.winopron import findings, quantities
from tests.core.paper.simulated_findings import BORDER, FALSE, RUN, STUDY, TRUE, Simulation, Worlds

DRAWS, SEED = 2000, 1
PAIRS = {RUN: 20, STUDY: 60}
SIZES = {
    RUN: "20 pairs of people, 480 sentences (systems that read clusters have 60 pairs)",
    STUDY: "60 pairs of people, 1,440 sentences; Winogender Schemas with another 60 pairs",
}
SETS = (findings.HE, findings.SHE, findings.THEY, findings.XE)
SYSTEMS = findings.SYSTEMS
OF_PAIR = 0.2
"""The share of cells in which what becomes of a pair of people is the same in all cases."""
INDEPENDENT, TOGETHER, SPREAD = "independent", "together", "spread"
"""How the pronoun sets of a template pair go together: not at all, as far as they can, or as little as they can."""
SINGLE, WINOGENDER = "single", "winogender"


@dataclass(frozen=True)
class Truth:
    """What is true of the systems, in their order.

    Args:
        right: Share of sentences that are resolved rightly: by system, case and pronoun set.
        bias: Of the pairs whose sentences could both go to one person, the share that do: by system and pronoun set.
        negative: Share of those that go to the participant, by system.
        sets: How the pronoun sets go together, by system.
        cases: Of which two cases the biases of a system are the same, or none.
        single, winogender: What is added on sentences about one person and on Winogender Schemas, by system.
    """

    right: np.ndarray
    bias: np.ndarray
    negative: np.ndarray
    sets: tuple[str, ...]
    cases: tuple[tuple[int, ...], ...]
    single: np.ndarray
    winogender: np.ndarray


def _as_found() -> Truth:
    """Return the world as the study found it; findings 8, 12, 14 and 19 are true in worlds of their own."""
    level = np.array([0.62, 0.66, 0.62, 0.75, 0.50, 0.60, 0.70, 0.81, 0.85])
    by_case = np.array([0.07, -0.10, 0.03])
    by_set = np.zeros((len(SYSTEMS), 4))
    by_set[:2] = [(0.27, 0.27, -0.07, -0.47), (0.24, 0.24, -0.10, -0.38)]
    by_set[2:4] = (0.015, 0.015, -0.015, -0.015)
    right = np.clip(level[:, None, None] + by_case[:, None] + by_set[:, None, :], 0.02, 0.97)
    bias = np.full((len(SYSTEMS), 4), 0.5)
    bias[2], bias[3] = (0.4, 0.4, 0.95, 0.95), (0.2, 0.2, 0.7, 0.7)
    negative = np.array([0.5, 0.5, 0.7, 0.7, *[0.5] * 5])
    sets = (INDEPENDENT,) * len(SYSTEMS)
    single = np.where(np.arange(len(SYSTEMS)) > 3, -0.06, 0.05)
    return Truth(right, bias, negative, sets, ((),) * len(SYSTEMS), single, np.full(len(SYSTEMS), 0.10))


def _at(*names: str) -> list[int]:
    return [SYSTEMS.index(name) for name in names]


def _right(change: Callable) -> Callable:
    """Return a world whose shares of right sentences are changed: a function of a copy, which may return another."""

    def world(truth: Truth) -> Truth:
        values = truth.right.copy()
        made = change(values)
        return replace(truth, right=values if made is None else made)

    return world


def _cases(*order: int) -> Callable:
    return _right(lambda right: right[:, list(order)])


def _even_cases(right: np.ndarray) -> None:
    right[:] = right.mean(axis=1, keepdims=True)


def _equal_steps(right: np.ndarray) -> None:
    right[:, 2] = (right[:, 0] + right[:, 1]) / 2


def _small_step_last(right: np.ndarray) -> None:
    right[:, 2] = right[:, 1] + 0.03


def _levels(*levels: float) -> Callable:
    """Return a world in which systems have other levels, without differences of cases and sets."""
    return _right(lambda right: np.broadcast_to(np.array(levels)[:, None, None], right.shape))


def _same_level(systems: tuple[str, ...], level: float) -> Callable:
    def change(right: np.ndarray) -> None:
        right[_at(*systems)] = level

    return _right(change)


def _of_sets(systems: tuple[str, ...], *levels: float) -> Callable:
    def change(right: np.ndarray) -> None:
        right[_at(*systems)] = levels

    return _right(change)


def _added(**added: Callable) -> Callable:
    return lambda truth: replace(truth, **{name: change(getattr(truth, name)) for name, change in added.items()})


def _biases(base: tuple, large: tuple, **more: Any) -> Callable:
    def world(truth: Truth) -> Truth:
        bias = truth.bias.copy()
        bias[_at(*findings.SPANBERT)] = base, large
        right = truth.right.copy()
        right[_at(*findings.SPANBERT)] = 0.6
        return replace(truth, bias=bias, right=right, **more)

    return world


def _going_together(sets: dict[str, str], levels: dict[str, float], other: str, level: float) -> Callable:
    """Return a world with the ways in which pronoun sets go together, and levels, of named and other systems."""

    def world(truth: Truth) -> Truth:
        right = np.array([np.full((3, 4), levels.get(name, level)) for name in SYSTEMS])
        return replace(truth, right=right, sets=tuple(sets.get(name, other) for name in SYSTEMS))

    return world


def _solved(best: float, others: float) -> Callable:
    """Return a world in which FLAN-T5-xl solves this share of template pairs, and the others that."""

    def world(truth: Truth) -> Truth:
        right = np.full_like(truth.right, 0.5)
        bias = np.full_like(truth.bias, 2 * (0.5 - others))
        place = _at("FLAN-T5-xl")
        right[place] = (1 + best) / 2
        bias[place] = 1.0
        return replace(truth, right=right, bias=bias)

    return world


def _base_solves(share: float) -> Callable:
    def world(truth: Truth) -> Truth:
        right, bias = truth.right.copy(), truth.bias.copy()
        right[2], bias[2] = 0.5, 2 * (0.5 - share)
        return replace(truth, right=right, bias=bias)

    return world


def _shared_cases(base: tuple[int, ...], large: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(large if name == "SpanBERT-large" else base if name == "SpanBERT-base" else () for name in SYSTEMS)


LOW = ("LingMess", "FLAN-T5-small", "FLAN-T5-base")
WORLDS = {
    1: Worlds(_added(winogender=lambda v: -v), _added(winogender=lambda v: 0 * v)),
    2: Worlds(_cases(1, 0, 2), _right(_even_cases)),
    3: Worlds(_cases(1, 0, 2), _right(_even_cases)),
    4: Worlds(_right(_small_step_last), _right(_equal_steps)),
    5: Worlds(_cases(1, 0, 2), _right(_even_cases)),
    6: Worlds(_levels(0.81, 0.85, 0.75, 0.8, 0.50, 0.60, 0.70, 0.62, 0.66), _levels(*[0.7] * 9)),
    7: Worlds(_levels(0.62, 0.66, 0.75, 0.62, 0.85, 0.81, 0.70, 0.60, 0.50), _levels(*[0.7] * 9)),
    8: Worlds(_same_level(findings.FLAN_T5[:2], 0.62), _same_level(findings.FLAN_T5[:2], 0.53)),
    9: Worlds(
        _of_sets(findings.SUPERVISED, 0.55, 0.55, 0.89, 0.89), _of_sets(findings.SUPERVISED, 0.75, 0.75, 0.60, 0.25)
    ),
    10: Worlds(
        _of_sets(findings.SPANBERT, 0.45, 0.45, 0.87, 0.87),
        _right(lambda right: right.mean(axis=2, keepdims=True) + 0 * right),
    ),
    11: Worlds(_of_sets(findings.FLAN_T5, 0.75, 0.75, 0.60, 0.55), _of_sets(findings.FLAN_T5, 0.70, 0.70, 0.70, 0.65)),
    12: Worlds(
        _going_together(dict.fromkeys(LOW, TOGETHER), {}, SPREAD, 0.5), _going_together({}, {}, INDEPENDENT, 0.5)
    ),
    13: Worlds(
        _going_together(
            {"SpanBERT-large": SPREAD, "FLAN-T5-xxl": TOGETHER}, {"SpanBERT-large": 0.85}, INDEPENDENT, 0.75
        ),
        _going_together({}, {}, INDEPENDENT, 0.75),
    ),
    14: Worlds(_solved(0.30, 0.45), _solved(0.50, 0.49)),
    15: Worlds(_base_solves(0.40), _base_solves(0.25)),
    16: Worlds(_biases((0.2,) * 4, (0.7,) * 4), _biases((0.5,) * 4, (0.5,) * 4)),
    17: Worlds(_added(negative=lambda v: 1 - v), _added(negative=lambda v: 0 * v + 0.5)),
    18: Worlds(_biases((0.9, 0.9, 0.3, 0.3), (0.9, 0.9, 0.3, 0.3)), _biases((0.5,) * 4, (0.5,) * 4)),
    19: Worlds(
        _biases((0.6,) * 4, (0.5,) * 4, cases=_shared_cases((0, 2), (0, 1))),
        _biases((0.34,) * 4, (0.34,) * 4),
    ),
    20: Worlds(_added(single=lambda v: -v), _added(single=lambda v: 0 * v)),
}  # fmt: skip
TRUTHS = {
    8: _same_level(findings.FLAN_T5[:2], 0.50),
    12: _going_together(dict.fromkeys(LOW, SPREAD), {}, TOGETHER, 0.5),
    13: _going_together(
        {"SpanBERT-large": TOGETHER, "FLAN-T5-xxl": SPREAD}, {"FLAN-T5-xl": 0.80, "FLAN-T5-xxl": 0.84}, INDEPENDENT,
        0.75,
    ),
    14: _solved(0.525, 0.25),
    15: _base_solves(0.12),
    16: _biases((0.7,) * 4, (0.2,) * 4),
    18: _biases((0.25, 0.25, 0.85, 0.85), (0.25, 0.25, 0.85, 0.85)),
    19: _biases((0.12,) * 4, (0.5,) * 4, cases=_shared_cases((), (0, 2))),
}  # fmt: skip
"""True worlds of findings that are not all true in one."""


def _both_sentences(truth: Truth, right: np.ndarray, pairs: int, generator: np.random.Generator) -> np.ndarray:
    """Draw what becomes of both sentences.

    Returns:
        Shape (systems, pairs, cases, sets): 0 both right, 1 both to the occupation, 2 both to the participant, 3 both
        wrong.
    """
    shape = len(SYSTEMS), pairs, 3, 4
    own = generator.random(shape)
    of_cell = np.broadcast_to(generator.random(shape[:3])[..., None], shape)
    of_pair = np.broadcast_to(generator.random(shape[:2])[..., None, None], shape)
    shift = np.array([{SPREAD: 0.25}.get(way, 0.0) for way in truth.sets])[:, None, None, None] * np.arange(4)
    alone = np.array([way == INDEPENDENT for way in truth.sets])[:, None, None, None]
    # With independent sets a cell shares nothing but what its own set has in the other cases.
    of_set = np.broadcast_to(generator.random((len(SYSTEMS), pairs, 1, 4)), shape)
    same = np.broadcast_to(generator.random(shape[:3])[..., None] < OF_PAIR, shape)
    u = np.where(alone, np.where(same, of_set, own), (np.where(same, of_pair, of_cell) + shift) % 1)
    for place, cases in enumerate(truth.cases):
        for case in cases[1:]:
            u[place, :, case] = u[place, :, cases[0]]
    to_one = truth.bias[:, None, :] * 2 * np.minimum(right, 1 - right)
    both = right - to_one / 2
    # Patterns lie in this order on the line, so that what is shared is the pattern.
    ends = np.cumsum(
        [both, to_one * (1 - truth.negative)[:, None, None], to_one * truth.negative[:, None, None]], axis=0
    )
    return (u[None] >= ends[:, :, None]).sum(axis=0)


class SimulatedAnswers(quantities.Results):
    """Answers of one drawn data set, as findings ask for those of a run."""

    def __init__(self, truth: Truth, pairs: int, generator: np.random.Generator):
        self.systems, self.pairs = SYSTEMS, pairs
        added = {"double": 0.0, SINGLE: truth.single, WINOGENDER: truth.winogender}
        self.patterns = {
            name: _both_sentences(
                truth, np.clip(truth.right + np.reshape(more, (-1, 1, 1)), 0.01, 0.99), pairs, generator
            )
            for name, more in added.items()
        }

    def right(self, system: str, entities: str = "double", **levels: str) -> np.ndarray:
        """Return which sentences are right: by pair, case, pronoun set and ending."""
        pattern = self.patterns[entities][SYSTEMS.index(system)]
        right = np.stack([(pattern == 0) | (pattern == 1), (pattern == 0) | (pattern == 2)], axis=-1)
        right = right[:, :, : 3 if entities == WINOGENDER else 4]
        if "case" in levels:
            right = right[:, [CASES.index(levels["case"])]]
        if "pronoun_set" in levels:
            right = right[:, :, [SETS.index(levels["pronoun_set"])]]
        return right

    def share(self, shown: np.ndarray, seed: int = SEED, among: np.ndarray | None = None) -> Sampled:
        """Return the share of what is shown, by pair of people and anything else, of all or of some."""
        among = np.ones_like(shown) if among is None else among
        sums = (part.reshape(self.pairs, -1).sum(axis=1).astype(float) for part in (shown, among))
        return checks.ratio(*sums, DRAWS, seed)

    def f1(self, system: str, entities: str = "double", **levels: str) -> checks.Quantity:
        """F1, which is accuracy where somebody is always named."""
        return lambda: self.share(self.right(system, entities, **levels), SEED + (entities == WINOGENDER))

    def recall(self, system: str, **levels: str) -> checks.Quantity:
        """Recall, which is the same."""
        return self.f1(system, **levels)

    def consistency(self, metric: str, system: str) -> checks.Quantity:
        """A consistency."""
        return lambda: self.share(self.right(system).all(axis=2 if metric == "pronoun_consistency" else 3))

    def _bias(self, system: str) -> tuple[np.ndarray, np.ndarray]:
        pattern = self.patterns["double"][SYSTEMS.index(system)]
        solvable = np.broadcast_to((pattern == 0).any(axis=2, keepdims=True), pattern.shape)
        return np.where(solvable & np.isin(pattern, (1, 2)), pattern, 0), solvable

    def biased(self, system: str, sign: str = "") -> checks.Quantity:
        """The share of solvable template pairs with bias, or with one sign."""

        def quantity() -> Sampled:
            bias, solvable = self._bias(system)
            return self.share(bias == {"positive": 1, "negative": 2}[sign] if sign else bias > 0, among=solvable)

        return quantity

    def overlap(self, *forms: tuple[str, str, str]) -> checks.Quantity:
        """The Jaccard index of the biased occupations of two forms."""

        def quantity() -> Sampled:
            one, other = (
                self._bias(system)[0][:, CASES.index(case), SETS.index(name)] > 0 for system, case, name in forms
            )
            if not (one | other).any():
                raise MissingEvidence(quantities.BIASED)
            found = self.share(one & other, among=one | other)
            return replace(found, samples=np.nan_to_num(found.samples))

        return quantity


def simulation(folder: Path) -> Simulation:
    """Return the study's simulation, which needs nothing of ``folder``."""
    as_found = _as_found()

    def draw(number: int, world: str, size: str, generator: np.random.Generator) -> quantities.Results:
        changes = {TRUE: TRUTHS.get(number, lambda truth: truth)}
        changes |= {FALSE: WORLDS[number].false, BORDER: WORLDS[number].border}
        return SimulatedAnswers(changes[world](as_found), PAIRS[size], generator)

    return Simulation(findings.FINDINGS, WORLDS, draw, SIZES, DRAWS)
