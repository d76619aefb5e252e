"""Worlds in which each finding of Counter-GAP is true, false or on the border, as drawn types of quadruples.

Drawn is for each system which instances of a quadruple are right; metrics, intervals and p values are made of that by
the function that makes those of a run. Instances of GAP are drawn one by one, and F1 on OntoNotes, whose documents
nobody released, with the error that it has on a test set of that size.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from scripts.counter_gap import estimates, findings, metrics, study
from scripts.counter_gap.metrics import key
from tests.core.paper.simulated_findings import RUN, STUDY, Change, Simulation, Worlds, chain, changed
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
                ways = [(a, b) for a in pairs_of(original) for b in pairs_of(swapped)]
                for (a, b), (c, d) in ways:
                    chances[a + 2 * b + 4 * c + 8 * d + 16 * masculine] += chance / len(ways) / 2
        return chances


def pairs_of(right: int) -> list[tuple[int, int]]:
    return {0: [(0, 0)], 1: [(1, 0), (0, 1)], 2: [(1, 1)]}[right]


Systems = dict[tuple[str, str], System]
"""By name and debiasing method."""


@dataclass(frozen=True)
class Truth:
    """What is true of systems, on GAP (accuracies of M and F), and of F1 by debiasing method."""

    systems: Systems
    gap: tuple[float, float]
    f1: dict[str, float]


def every(*, methods: tuple[str, ...] = (NONE,), names: tuple[str, ...] = findings.SYSTEMS, **values: Any) -> Change:
    """Return a world in which systems with some debiasing methods have other values."""

    def change(systems: Systems) -> Systems:
        return {
            (name, method): replace(system, **values) if method in methods and name in names else system
            for (name, method), system in systems.items()
        }

    return changed(systems=change)


def as_other(other: dict[str, str]) -> Change:
    """Return a world in which systems, or debiasing methods, are like other ones."""
    return changed(
        systems=lambda systems: {
            (name, method): systems[other.get(name, name), other.get(method, method)] for name, method in systems
        }
    )


@cache
def solve(metric: str, field: str, target: float, role: str = "") -> float:
    """Return the value of a field at which a metric of a system without other differences has a value."""
    low, high = -0.5, 0.5
    for _ in range(50):
        middle = (low + high) / 2
        value = metrics.evaluate(System(0.02, 0.02, **{field: middle}).types())[key(metric, role)]
        # Both fields lower their metric.
        low, high = (middle, high) if value > target else (low, middle)
    return middle


def on_originals(target: float) -> Change:
    """Return a world in which originals alone have this difference for SpanBERT-large."""
    return every(names=LARGE, originals=solve("acc_diff", "originals", target, "original"))


def turned(rho: float) -> Change:
    """Return a world with this rank correlation."""
    return every(turn=solve("spearman_rho", "turn", rho))


LARGE = ("SpanBERT-large",)
ALL_METHODS = (NONE, *findings.METHODS)
SIZES_SWAPPED = as_other({a: b for pair in findings.FAMILIES for a, b in (pair, pair[::-1])})
ALIKE = every(methods=ALL_METHODS, none=0.15, delta=0.03, difference=0.02)
VALUES = {
    "BERT-base": ((0.048, 0.030), (0.040, 0.0), (0.018, 0.0)),
    "BERT-large": ((0.023, 0.005), (0.018, 0.005), (0.0, 0.0)),
    "SpanBERT-base": ((0.038, 0.025), (0.030, 0.02), (0.0, 0.01)),
    "SpanBERT-large": ((0.020, 0.008), (0.014, 0.0), (0.0, 0.0)),
}
"""Delta I and Acc_Diff of each system without debiasing, after a-CDA and after n-CDA."""
AS_FOUND = Truth(
    {
        (name, method): System(*values, none=none)
        for name, of_system in VALUES.items()
        for method, values, none in zip(ALL_METHODS, of_system, (0.16, 0.15, 0.13), strict=True)
    },
    (0.80, 0.747),
    {NONE: 0.78, "n-CDA": 0.76},
)
WORLDS = {
    1: Worlds(every(delta=-0.03), every(delta=0.0)),
    2: Worlds(every(delta=0.01, difference=0.05), every(delta=0.03, difference=0.03)),
    3: Worlds(
        every(names=("BERT-large",), delta=-0.023, difference=0.05),
        every(names=("BERT-large",), delta=0.0, difference=findings.NEGLIGIBLE),
    ),
    4: Worlds(SIZES_SWAPPED, every(delta=0.03, difference=0.02)),
    5: Worlds(every(difference=-0.02), every(difference=0.0)),
    6: Worlds(every(within=0.01), every(within=0.0)),
    7: Worlds(every(turn=-0.12), every(turn=0.0)),
    8: Worlds(every(harder=0.05), every(harder=findings.NEGLIGIBLE)),
    9: Worlds(turned(0.2), turned(findings.WEAK)),
    10: Worlds(
        chain(every(names=LARGE, difference=0.06), on_originals(-0.01), changed(gap=(0.78, 0.77))),
        chain(every(names=LARGE, difference=0.03), on_originals(-0.03), changed(gap=(0.80, 0.77))),
    ),
    11: Worlds(
        chain(on_originals(0.032), changed(gap=(0.747, 0.80))), chain(on_originals(0.0), changed(gap=(0.77, 0.77)))
    ),
    12: Worlds(
        chain(as_other({NONE: "n-CDA", "n-CDA": NONE, "a-CDA": NONE}), every(delta=0.0)),
        every(methods=ALL_METHODS, delta=0.03),
    ),
    13: Worlds(as_other({"a-CDA": "n-CDA", "n-CDA": "a-CDA"}), as_other({"a-CDA": "n-CDA"})),
    14: Worlds(
        every(methods=("a-CDA",), delta=-0.03, difference=0.05),
        every(methods=("a-CDA",), delta=0.0, difference=findings.NEGLIGIBLE),
    ),
    15: Worlds(
        chain(
            every(methods=("n-CDA",), delta=0.045, difference=0.0),
            every(methods=("n-CDA",), names=("BERT-base",), delta=-0.02, difference=0.05),
        ),
        chain(
            every(methods=("n-CDA",), delta=findings.NEGLIGIBLE),
            every(methods=("n-CDA",), names=("BERT-base",), delta=0.0, difference=findings.NEGLIGIBLE),
        ),
    ),
    16: Worlds(every(none=0.10), ALIKE),
    17: Worlds(changed(f1={NONE: 0.76, "n-CDA": 0.78}), changed(f1={NONE: 0.78, "n-CDA": 0.78})),
    18: Worlds(every(none=0.10), ALIKE),
}
DEBIASED = range(12, 19)
"""Findings about debiasing methods."""
BOTH = (key("acc_diff"), key("delta_i"))
ASKED = dict.fromkeys(range(1, 19), BOTH) | {
    1: (key("delta_i"),), 5: (key("acc_diff"),), 6: (key("i_within_diff"),),
    7: metrics.DIFFERENCES[key("i_across_diff")], 8: (key("original_minus_counterfactual"),),
    9: (key("lean"), key("acc_diff")),
    10: (key("acc_diff"), *metrics.DIFFERENCES[key("acc_diff", "original")]),
    11: metrics.DIFFERENCES[key("acc_diff", "original")],
    12: (key("delta_i"),), 13: (key("delta_i"),), 16: (key("accuracy"),), 18: (key("accuracy"),),
}  # fmt: skip
"""The ratios that each finding asks for, or those that what it asks for is made of."""


def draw(number: int, truth: Truth, size: str, generator: np.random.Generator) -> findings.Results:
    """Return the estimates of a drawn data set that a finding asks for."""
    systems = [of for of in truth.systems if number in DEBIASED or of[1] == NONE]
    n = QUADRUPLES[size]
    # Every system sees the same quadruples: half of them have a masculine original.
    masculine = np.arange(n) % 2
    codes = np.empty((len(systems), n), dtype=int)
    for place, of in enumerate(systems):
        chances = truth.systems[of].types()
        for gender in (0, 1):
            of_gender = chances[16 * gender : 16 * gender + 16]
            drawn = generator.choice(16, size=int((masculine == gender).sum()), p=of_gender / of_gender.sum())
            codes[place, masculine == gender] = drawn + 16 * gender
    asked = {ratio: metrics.RATIOS[ratio] for ratio in ASKED[number]}
    tables = [estimates.estimate_metrics(codes, weights(n), asked).assign(templates="official")]
    if number in (10, 11):
        of_men = np.arange(GAP[size]) % 2
        right = generator.random((len(systems), GAP[size])) < np.where(of_men, *truth.gap)
        single = estimates.estimate_metrics(2 * of_men + right, weights(GAP[size]), metrics.SINGLE)
        tables.append(single.assign(templates="gap_test"))
    names, methods = (np.array(part) for part in zip(*systems, strict=True))
    table = pd.concat(tables, ignore_index=True)
    place = table.system.astype(int)
    table = table.assign(model=names[place], debiasing=methods[place], kind="system", scoring="", reading="")
    if number == 17:
        scored = [{"model": system, "debiasing": method} for system, method in systems if method in truth.f1]
        error = F1_ERROR[size]
        drawn = [truth.f1[of["debiasing"]] + generator.normal(0, error) for of in scored]
        f1 = estimates.estimate_corpora([make.corpus_score(value, 1.96 * error) for value in drawn], scored)
        table = pd.concat([table, f1])
    table = study.add_significance(estimates.correct_tests(table), ALPHA)
    return findings.Results(table.assign(system=table.model))


@cache
def weights(n: int) -> np.ndarray:
    """Return the bootstrap samples of a data set."""
    return estimates.resample(n, DRAWS, SEED)


SIMULATION = Simulation(findings.FINDINGS, AS_FOUND, WORLDS, draw, SIZES, DRAWS)
