"""Worlds in which each finding is true, false or on the border, as drawn types of quadruples.

Drawn is for each system which instances of a quadruple are right; metrics, intervals and p values are made of that by
the functions that make those of a run. Instances of GAP are drawn one by one, and F1 on OntoNotes, whose documents
nobody released, with the error that it has on a test set of that size.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.statistics import procedures
from scripts.counter_gap import estimates, findings, metrics, quantities, study
from scripts.counter_gap.metrics import key
from tests.core.paper.simulated_findings import BORDER, FALSE, RUN, STUDY, Simulation, Worlds
from tests.counter_gap import make

DRAWS, SEED, ALPHA = 400, 1, 0.01
QUADRUPLES = {RUN: 24, STUDY: 1002}
GAP = {RUN: 400, STUDY: 2000}
F1_ERROR = {RUN: 0.02, STUDY: 0.004}
SIZES = {
    RUN: "24 quadruples; 400 instances of GAP; F1 on OntoNotes with a standard error of 2 points",
    STUDY: "1,002 quadruples; 2,000 instances of GAP; F1 on OntoNotes with a standard error of 0.4 points",
}
NONE = "none"
_EDGE, _BELOW, _SPLIT = 0.07, 0.04, 0.05
"""Shares of quadruples in which one instance is wrong, in which one is right, and in which one of each gender is."""


@dataclass(frozen=True)
class System:
    """What is true of a system.

    Args:
        delta: Delta I.
        difference: Acc_Diff.
        within: I_within of masculine less that of feminine instances.
        turn: By how much rarer, as a share, any quadruple from a masculine original is inconsistent.
        harder: Accuracy on original less that on counterfactual instances.
        none: Share of quadruples without a right instance; less means a higher accuracy.
        originals: By how much ``none`` is lower for quadruples from feminine originals, and higher from masculine ones.
    """

    delta: float
    difference: float
    within: float = -0.01
    turn: float = 0.12
    harder: float = 0.0
    none: float = 0.16
    originals: float = 0.018

    def types(self) -> np.ndarray:
        """Return the chance of each type."""
        chances = np.zeros(metrics.N_TYPES)
        for masculine, sign in ((1, 1), (0, -1)):
            both = _SPLIT + max(0.0, -4 * self.delta)
            lean = self.difference + sign * self.harder + self.within / 2
            split = self.delta + both / 2
            # Where one gender is favoured by more than splits can show, quadruples with one wrong instance do.
            lean, rest = np.clip(lean, -split, split), lean - np.clip(lean, -split, split)
            cells = {
                (2, 0): (split + lean) / 2, (0, 2): (split - lean) / 2, (1, 1): both, (1, 0): _BELOW, (0, 1): _BELOW,
                (2, 1): _EDGE - self.within / 2 + rest, (1, 2): _EDGE + self.within / 2 - rest,
            }  # fmt: skip
            cells = {key: max(0.0, value) * (1 - sign * self.turn) for key, value in cells.items()}
            cells[0, 0] = self.none + sign * self.originals
            cells[2, 2] = 1 - sum(cells.values())
            for (m, f), chance in cells.items():
                original, swapped = (m, f) if masculine else (f, m)
                ways = [(a, b) for a in _pairs(original) for b in _pairs(swapped)]
                for (a, b), (c, d) in ways:
                    chances[a + 2 * b + 4 * c + 8 * d + 16 * masculine] += chance / len(ways) / 2
        return chances


def _pairs(right: int) -> list[tuple[int, int]]:
    return {0: [(0, 0)], 1: [(1, 0), (0, 1)], 2: [(1, 1)]}[right]


@dataclass(frozen=True)
class Truth:
    """What is true: of each system and debiasing method, on GAP (accuracies of M and F), and of F1."""

    systems: dict[tuple[str, str], System]
    gap: tuple[float, float]
    f1: dict[str, float]

    def changed(
        self, change: Callable, *, methods: tuple[str, ...] = (NONE,), systems: tuple[str, ...] = ()
    ) -> "Truth":
        """Return the world with some systems changed; ``change`` takes a system's name, its method and what it is."""
        return replace(
            self,
            systems={
                (name, method): change(name, method, system)
                if method in methods and (not systems or name in systems)
                else system
                for (name, method), system in self.systems.items()
            },
        )


def _as_found() -> Truth:
    found = {
        "BERT-base": ((0.048, 0.030), (0.040, 0.0), (0.018, 0.0)),
        "BERT-large": ((0.023, 0.005), (0.018, 0.005), (0.0, 0.0)),
        "SpanBERT-base": ((0.038, 0.025), (0.030, 0.02), (0.0, 0.01)),
        "SpanBERT-large": ((0.020, 0.008), (0.014, 0.0), (0.0, 0.0)),
    }
    return Truth(
        {
            (name, method): System(*values, none=none)
            for name, of_system in found.items()
            for method, values, none in zip((NONE, "a-CDA", "n-CDA"), of_system, (0.16, 0.15, 0.13), strict=True)
        },
        (0.80, 0.747),
        {NONE: 0.78, "n-CDA": 0.76},
    )


def _set(*, methods: tuple[str, ...] = (NONE,), systems: tuple[str, ...] = (), **values: Any) -> Callable:
    """Return a world in which systems have other values."""

    def world(truth: Truth) -> Truth:
        return truth.changed(lambda name, method, system: replace(system, **values), methods=methods, systems=systems)

    return world


def _both(*worlds: Callable) -> Callable:
    def world(truth: Truth) -> Truth:
        for change in worlds:
            truth = change(truth)
        return truth

    return world


def _sizes_swapped(truth: Truth) -> Truth:
    other = {a: b for pair in findings.FAMILIES for a, b in (pair, pair[::-1])}
    return truth.changed(lambda name, method, system: truth.systems[other[name], method])


def _as_other(method: str, source: str) -> Callable:
    """Return a world in which a method leaves what another one leaves."""
    return lambda truth: truth.changed(lambda name, _, system: truth.systems[name, source], methods=(method,))


def _methods_swapped(first: str, second: str) -> Callable:
    def world(truth: Truth) -> Truth:
        made = dict(truth.systems)
        for name in findings.SYSTEMS:
            made[name, first], made[name, second] = made[name, second], made[name, first]
        return replace(truth, systems=made)

    return world


@cache
def _solved(metric: str, field: str, target: float, role: str = "") -> float:
    """Return the value of a field at which a metric of a system without other differences has a value."""
    low, high = -0.5, 0.5
    for _ in range(50):
        middle = (low + high) / 2
        value = metrics.evaluate(System(0.02, 0.02, **{field: middle}).types())[key(metric, role)]
        # Both fields lower their metric.
        low, high = (middle, high) if value > target else (low, middle)
    return middle


LARGE = ("SpanBERT-large",)
ALL_METHODS = (NONE, *findings.METHODS)


def _gap(masculine: float, feminine: float) -> Callable:
    return lambda truth: replace(truth, gap=(masculine, feminine))


def _f1(none: float, named: float) -> Callable:
    return lambda truth: replace(truth, f1={NONE: none, "n-CDA": named})


def _level(target: float) -> Callable:
    """Return a world in which originals alone have this difference for SpanBERT-large."""

    def world(truth: Truth) -> Truth:
        return _set(systems=LARGE, originals=_solved("acc_diff", "originals", target, "original"))(truth)

    return world


WORLDS = {
    1: Worlds(_set(delta=-0.03), _set(delta=0.0)),
    2: Worlds(_set(delta=0.01, difference=0.05), _set(delta=0.03, difference=0.03)),
    3: Worlds(
        _set(systems=("BERT-large",), delta=-0.023, difference=0.05),
        _set(systems=("BERT-large",), delta=0.0, difference=findings.NEGLIGIBLE),
    ),
    4: Worlds(_sizes_swapped, _set(delta=0.03, difference=0.02)),
    5: Worlds(_set(difference=-0.02), _set(difference=0.0)),
    6: Worlds(_set(within=0.01), _set(within=0.0)),
    7: Worlds(_set(turn=-0.12), _set(turn=0.0)),
    8: Worlds(_set(harder=0.05), _set(harder=findings.NEGLIGIBLE)),
    9: Worlds(
        _set(turn=_solved("spearman_rho", "turn", 0.2)), _set(turn=_solved("spearman_rho", "turn", findings.WEAK))
    ),
    10: Worlds(
        _both(_set(systems=LARGE, difference=0.06), _level(-0.01), _gap(0.78, 0.77)),
        _both(_set(systems=LARGE, difference=0.03), _level(-0.03), _gap(0.80, 0.77)),
    ),
    11: Worlds(_both(_level(0.032), _gap(0.747, 0.80)), _both(_level(0.0), _gap(0.77, 0.77))),
    12: Worlds(
        _both(_methods_swapped(NONE, "n-CDA"), _as_other("a-CDA", NONE), _set(delta=0.0)),
        _set(methods=ALL_METHODS, delta=0.03),
    ),
    13: Worlds(_methods_swapped("a-CDA", "n-CDA"), _as_other("a-CDA", "n-CDA")),
    14: Worlds(
        _set(methods=("a-CDA",), delta=-0.03, difference=0.05),
        _set(methods=("a-CDA",), delta=0.0, difference=findings.NEGLIGIBLE),
    ),
    15: Worlds(
        _both(
            _set(methods=("n-CDA",), delta=0.045, difference=0.0),
            _set(methods=("n-CDA",), systems=("BERT-base",), delta=-0.02, difference=0.05),
        ),
        _both(
            _set(methods=("n-CDA",), delta=findings.NEGLIGIBLE),
            _set(methods=("n-CDA",), systems=("BERT-base",), delta=0.0, difference=findings.NEGLIGIBLE),
        ),
    ),
    16: Worlds(_set(none=0.10), _set(methods=ALL_METHODS, none=0.15, delta=0.03, difference=0.02)),
    17: Worlds(_f1(0.76, 0.78), _f1(0.78, 0.78)),
    18: Worlds(_set(none=0.10), _set(methods=ALL_METHODS, none=0.15, delta=0.03, difference=0.02)),
}
DEBIASED = range(12, 19)


def _rows(codes: np.ndarray, weights: np.ndarray, ratios: metrics.Ratios, wanted: tuple) -> list[tuple]:
    """Return rows of the wanted metrics over all passages, as a run makes them: those of :data:`ROWS`."""
    types = len(next(iter(ratios.values()))[0])
    onehot = (codes[:, :, None] == np.arange(types)).astype(np.float32)
    drawn = (weights @ onehot.transpose(1, 0, 2).reshape(codes.shape[1], -1)).reshape(len(weights), len(codes), types)
    counts = onehot.sum(1)
    observed, samples = metrics.evaluate(counts, ratios), metrics.evaluate(drawn, ratios)
    rows = []
    for of in [of for of in samples if of[:2] in wanted and of[2:] == ("", "")]:
        metric, role, *_ = of
        values = observed[of]
        ends = np.nanquantile(samples[of], [0.025, 0.975], axis=0)
        sign = np.ones(len(codes)) if metric == "delta_i" else np.where(values < 0, -1.0, 1.0)
        p = np.full((2, len(codes)), np.nan)
        if metric in EXACT and of in ratios:
            p = np.array([estimates.exact_p(row, metric, s) for row, s in zip(counts, sign, strict=True)]).T
        elif metric == "spearman_rho":
            p = estimates.drawn_p(samples[of], values, sign)
        n = codes.shape[1]
        rows += [(metric, role, n, place, values[place], *ends[:, place], *p[:, place]) for place in range(len(codes))]
    return rows


ROWS = ["templates", "metric", "role", "clusters", "place", "value", "low", "high", "p_value", "p_centred"]
EXACT = ("acc_diff", "delta_i", "original_minus_counterfactual")
"""Metrics whose p values a finding asks for."""


ASKED = (
    dict.fromkeys(range(1, 19), ("acc_diff", "delta_i")) | dict.fromkeys((16, 18), ("accuracy",))
    | {6: ("i_within_diff",), 7: ("i_across_diff",), 8: ("original_minus_counterfactual",), 9: ("spearman_rho",)}
    | dict.fromkeys((1, 12, 13), ("delta_i",)) | dict.fromkeys((5, 17), ("acc_diff",))
)  # fmt: skip
"""The metrics of quadruples that each finding asks for."""


def simulation(folder: Path) -> Simulation:
    """Return the study's simulation, which needs nothing of ``folder``."""
    weights = {size: estimates.resample(count, DRAWS, SEED) for size, count in QUADRUPLES.items()}
    of_gap = {size: estimates.resample(count, DRAWS, SEED) for size, count in GAP.items()}
    as_found = _as_found()

    def draw(number: int, world: str, size: str, generator: np.random.Generator) -> quantities.Results:
        changes = {FALSE: WORLDS[number].false, BORDER: WORLDS[number].border}
        truth = changes[world](as_found) if world in changes else as_found
        keys = [of for of in truth.systems if number in DEBIASED or of[1] == NONE]
        n = QUADRUPLES[size]
        # Every system sees the same quadruples: half of them have a masculine original.
        masculine = np.arange(n) % 2
        codes = np.empty((len(keys), n), dtype=int)
        for place, of in enumerate(keys):
            chances = truth.systems[of].types()
            for gender in (0, 1):
                of_gender = chances[16 * gender : 16 * gender + 16]
                drawn = generator.choice(16, size=int((masculine == gender).sum()), p=of_gender / of_gender.sum())
                codes[place, masculine == gender] = drawn + 16 * gender
        asked = [(metric, "") for metric in ASKED[number]]
        rows = [("official", *row) for row in _rows(codes, weights[size], metrics.RATIOS, tuple(asked))]
        if number in (10, 11):
            originals = (("acc_diff", "original"),)
            rows += [("official", *row) for row in _rows(codes, weights[size], metrics.RATIOS, originals)]
            of_men = np.arange(GAP[size]) % 2
            right = generator.random((len(keys), GAP[size])) < np.where(of_men, *truth.gap)
            single = _rows(2 * of_men + right, of_gap[size], metrics.SINGLE, (("acc_diff", ""),))
            rows += [("gap_test", *row) for row in single]
        table = pd.DataFrame(rows, columns=ROWS).assign(kind="system", gender="", original_gender="")
        table["system"] = [keys[place][0] for place in table.place]
        table["debiasing"] = [keys[place][1] for place in table.place]
        families = table.groupby(["templates", "role", "metric"], sort=False)
        for p in ("p_value", "p_centred"):
            table[f"{p.removesuffix('_value')}_holm"] = families[p].transform(procedures.holm)
        table = study.add_significance(table, ALPHA)
        scored, scores = [], []
        for system, method in keys if number == 17 else ():
            if method in truth.f1:
                value, error = truth.f1[method] + generator.normal(0, F1_ERROR[size]), 1.96 * F1_ERROR[size]
                scored.append({"model": system, "debiasing": method})
                scores.append(make.corpus_score(value, error))
        f1 = estimates.of_corpora(scores, scored)
        return quantities.Results(pd.concat([table, f1.assign(system=f1.model)] if scored else [table]))

    return Simulation(findings.FINDINGS, WORLDS, draw, SIZES, DRAWS)
