"""Worlds in which each finding of MISGENDERED is true, false or on the border, as counts of drawn answers.

Drawn is how many answers are right for each template and name, of all models together or of one, for the levels of
those factors that the finding compares. Templates, names and their combinations differ; the counts are averaged and
resampled as those of a run are. Documents and accuracies by name are drawn apart.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.paper import published
from scripts.core.paper.checks import Sampled
from scripts.core.paper.finding_verdicts import MissingEvidence
from scripts.core.statistics import procedures
from scripts.misgendered import findings
from scripts.misgendered.quantities import Results
from scripts.misgendered.study import FORM_LABELS as FORMS
from scripts.misgendered.study import TYPES
from tests.core.paper.simulated_findings import PUBLISHED, RUN, STUDY, Change, Simulation, Worlds, chain, changed

DRAWS, SEED = 300, 1
TEMPLATES = 10
"""Of each form."""
NAMES = {"unisex": 300, "female": 100, "male": 100}
"""In the study; a data set of its size has a tenth of them."""
GROUPS = ("he", "she", "they", *findings.NEO)
KIND = {group: {"he": "binary", "she": "binary", "they": "neutral"}.get(group, "neo") for group in GROUPS}
COMBINATIONS = dict(zip(findings.NUMBERS, (1, 2, 2, 1), strict=True))
"""How many ways there are to declare so many forms."""
DECLARATIONS = {"explicit": 1, "parenthetical": 1}
MODELS = 19
SIZES = {
    RUN: "440 instances a model, 110 behind examples",
    STUDY: "all 50 templates, groups and declarations with 50 of the 500 names, so 330,000 of 3.3 million instances a "
    "model (for names all 500, with 50 templates); 8,250 behind examples",
}
INSTANCES = {RUN: {0: 440, 1: 110}, STUDY: {0: 330_000, 1: 8250}}
"""Of a model, without examples and behind each number of them."""
TEMPLATE_SPREAD, KIND_SPREAD, NAME_SPREAD, CELL_SPREAD = 0.2, 0.15, 0.2, 0.3
"""How far templates, templates of one type of pronouns, names, and a template with a name move an accuracy at most, as
shares of the way to 0 or 1."""


@dataclass(frozen=True)
class Truth:
    """What is true: accuracies over all models, of single models, behind examples, by name, and documents.

    Args:
        groups: Group to accuracy.
        shifts: Factor to type of pronouns and level to what is added to it.
        models: Model and type of pronouns to accuracy.
        shots: Model, type of pronouns and number of examples to accuracy.
        names: Accuracy on neopronouns of each of 500 names, in the order of :data:`NAMES`.
        documents: Group to how many documents hold its forms, summed over them.
    """

    groups: dict[str, float]
    shifts: dict[str, dict[tuple[str, object], float]]
    models: dict[tuple[str, str], float]
    shots: dict[tuple[str, str, int], float]
    names: np.ndarray
    documents: dict[str, float] = field(default_factory=dict)


def _by_kind(levels: tuple, binary: tuple, neutral: tuple, neo: tuple) -> dict[tuple[str, object], float]:
    rows = {"binary": binary, "neutral": neutral, "neo": neo}
    return {(kind, level): v for kind, row in rows.items() for level, v in zip(levels, row, strict=True)}


def _sizes(family: str, models: tuple[str, ...], binary: tuple, neutral: tuple, neo: tuple) -> dict:
    names = [f"{family}-{model}" for model in models]
    return {(name, kind): value for kind, row in zip(TYPES, (binary, neutral, neo), strict=True)
            for name, value in zip(names, row, strict=True)}  # fmt: skip


def _as_found() -> Truth:
    """Return the world as the study found it; finding 15 is true in a world of its own."""
    shots = {}
    for model, neo, they in (
        ("gpt-j-6b", (0.08, 0.35, 0.43, 0.52, 0.44, 0.40), (0.30, 0.38, 0.47, 0.55, 0.46, 0.40)),
        ("opt-6.7b", (0.08, 0.28, 0.36, 0.45, 0.36, 0.34), (0.60, 0.35, 0.34, 0.33, 0.33, 0.32)),
        ("llama-7b", (0.08, 0.35, 0.42, 0.50, 0.57, 0.64), (0.65, 0.39, 0.40, 0.38, 0.37, 0.36)),
    ):
        for kind, row in (("neo", neo), ("neutral", they)):
            shots |= {(model, kind, count): value for count, value in zip((0, *findings.SHOTS), row, strict=True)}
    rising = (0.30, 0.38, 0.46, 0.54)
    models = (
        _sizes("opt", ("350m", "1.3b", "2.7b", "6.7b"), (0.70, 0.74, 0.78, 0.82), (0.21, 0.45, 0.72, 0.94),
               (0.05, 0.07, 0.09, 0.12))
        | _sizes("bloom", ("560m", "1b1", "3b", "7b1"), (0.60, 0.68, 0.75, 0.82), (0.48, 0.40, 0.32, 0.24),
                 (0.08, 0.08, 0.08, 0.08))
        | _sizes("gpt2", ("", "medium", "large", "xl"), (0.70, 0.73, 0.76, 0.79), rising, (0.05, 0.06, 0.07, 0.08))
        | _sizes("bart", ("base", "large"), (0.72, 0.78), rising[:2], (0.06, 0.08))
        | _sizes("t5", ("small", "base", "3b"), (0.72, 0.75, 0.78), rising[:3], (0.05, 0.06, 0.08))
    )  # fmt: skip
    generator = np.random.default_rng(SEED)
    names = np.concatenate([np.sort(generator.normal(0.085, 0.004, NAMES["unisex"]))[::-1], np.full(200, 0.075)])
    names[:12] += 0.03
    names[-12:] -= 0.03
    neo = dict(zip(findings.NEO, (0.181, 0.055, 0.055, 0.055, 0.055, 0.141, 0.055, 0.055), strict=True))
    documents = {"he": 100_000.0, "she": 40_000.0} | dict.fromkeys(findings.NEO, 2_000.0)
    return Truth(
        {"he": 0.76, "she": 0.758, "they": 0.342} | neo,
        {
            "declaration_type": _by_kind(
                tuple(DECLARATIONS), (-0.0635, 0.0635), (-0.0675, 0.0675), (0.018, -0.018)),
            "declared": _by_kind(
                findings.NUMBERS, (0.002, 0.001, -0.001, -0.002), (0.020, 0.008, -0.006, -0.018),
                (-0.030, -0.010, 0.013, 0.018)),
            "form": _by_kind(tuple(FORMS), (0.05, 0.02, 0.02, 0.07, -0.13), (-0.04, -0.04, 0, 0, 0.12),
                             (-0.045, -0.010, 0.048, -0.008, 0.030)),
            "name_class": {("he", "male"): 0.15, ("he", "female"): -0.30, ("she", "male"): -0.26,
                           ("she", "female"): 0.15, ("they", "unisex"): 0.04, ("they", "female"): -0.06,
                           ("they", "male"): -0.06},
        },
        {(name.removesuffix("-"), kind): value for (name, kind), value in models.items()},
        shots, names, documents,
    )  # fmt: skip


def shifted(name: str, change: Callable) -> Change:
    """Return a world in which what levels of a factor add is changed: a function of type, level and what it was."""
    return changed(shifts=lambda old: old | {name: {key: change(*key, value) for key, value in old[name].items()}})


def without(name: str) -> Change:
    return shifted(name, lambda kind, level, old: 0.0)


def negative(name: str) -> Change:
    return shifted(name, lambda kind, level, old: -old)


def put(name: str, values: dict[tuple[str, object], float]) -> Change:
    """Return a world in which some levels of a factor add something else."""
    return changed(shifts=lambda old: old | {name: old[name] | values})


def groups(**values: float) -> Change:
    return changed(groups=lambda old: old | values)


def by_size(change: Callable, family: str = "") -> Change:
    """Return a world in which the accuracies of a family, by size, are changed: a function of type and values."""

    def models(old: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
        return old | in_order(old, lambda name, kind: (name.split("-")[0], kind), change, family)

    return changed(models=models)


def by_shots(change: Callable) -> Change:
    """Return a world in which accuracies of a model, by number of examples, are changed."""
    return changed(shots=lambda old: in_order(old, lambda model, kind, count: (model, kind), change))


def in_order(values: dict, part: Callable, change: Callable, first: str = "") -> dict:
    """Return values, changed in their order within each part whose name begins so: a function of type and values."""
    made = {}
    for name, kind in dict.fromkeys(part(*key) for key in values):
        keys = [key for key in values if part(*key) == (name, kind)]
        if name.startswith(first):
            made |= dict(zip(keys, change(kind, [values[key] for key in keys]), strict=True))
    return made


def alike(kind: str, values: list[float]) -> list[float]:
    return [0.4] * len(values)


def opposite(kind: str, values: list[float]) -> list[float]:
    return values[::-1]


def gains_of_neo(kind: str, values: list[float]) -> list[float]:
    return {"neutral": [0.30, 0.32, 0.34, 0.36], "neo": [0.05, 0.25, 0.45, 0.65]}.get(kind, values)


def neo_varies(kind: str, values: list[float]) -> list[float]:
    return {"neo": [0.05, 0.25, 0.45, 0.65], "neutral": [0.24, 0.27, 0.30, 0.33]}.get(kind, [0.72, 0.70, 0.68, 0.66])


def tie_names(names: np.ndarray) -> np.ndarray:
    """Return accuracies by name in which one name of the other kind is as good as the tenth, and one as bad."""
    names = names.copy()
    names[9:12], names[-12:-9] = np.median(names), np.median(names)
    names[9], names[300], names[-10], names[299] = 0.10, 0.10, 0.055, 0.055
    return names


AS_FOUND = _as_found()
NEO_OVER_BINARY = {**dict.fromkeys(findings.NEO, 0.759), "they": 0.342, "he": 0.077, "she": 0.077}
UNEVEN = {("binary", number): value for number, value in zip(findings.NUMBERS, (0.06, 0.02, -0.02, -0.06), strict=True)}
UNRELATED = _by_kind(tuple(FORMS), (-0.04, -0.02, 0.0, 0.02, 0.04), (0.0,) * 5, (-0.01, 0.02, 0.0, -0.02, 0.01))
"""Of forms, whose ranks have a correlation of zero."""
WORLDS = {
    1: Worlds(groups(**NEO_OVER_BINARY), groups(**dict.fromkeys(GROUPS, 0.4))),
    2: Worlds(negative("declaration_type"), without("declaration_type")),
    3: Worlds(negative("declaration_type"), without("declaration_type")),
    4: Worlds(negative("declared"), without("declared")),
    5: Worlds(
        chain(negative("declared"), put("declared", UNEVEN)),
        chain(without("declared"), put("declared", {("binary", 2): 0.02})),
    ),
    6: Worlds(by_size(opposite, "opt"), by_size(alike, "opt")),
    7: Worlds(by_size(gains_of_neo, "opt"), by_size(alike, "opt")),
    8: Worlds(by_size(neo_varies, "bloom"), by_size(alike, "bloom")),
    9: Worlds(by_size(lambda kind, values: sorted(values)), by_size(alike)),
    10: Worlds(groups(she=0.70, they=0.60), groups(she=0.75, they=0.38)),
    11: Worlds(
        groups(thon=0.055, xe=0.055, co=0.181, vi=0.141), groups(**dict.fromkeys(("they", *findings.NEO), 0.3))
    ),
    12: Worlds(negative("form"), without("form")),
    13: Worlds(negative("form"), without("form")),
    14: Worlds(
        shifted("form", lambda kind, level, old: 0.4 * AS_FOUND.shifts["form"]["binary", level]),
        put("form", UNRELATED),
    ),
    15: Worlds(
        negative("form"), without("form"), put("form", {("neo", "pos_ind"): 0.060, ("neo", "ref"): 0.030})
    ),
    16: Worlds(changed(names=lambda names: names[::-1]), changed(names=tie_names)),
    17: Worlds(negative("name_class"), without("name_class")),
    18: Worlds(
        changed(documents=lambda old: old | {"he": 40_000.0, "she": 100_000.0}),
        changed(documents=lambda old: old | {"he": 40_000.0}), exact=True,
    ),
    19: Worlds(by_shots(opposite), by_shots(alike)),
    20: Worlds(by_shots(opposite), by_shots(alike)),
}  # fmt: skip
FORM_OF = np.repeat(list(FORMS), TEMPLATES)
"""The form of each template."""


@cache
def resample(size: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the class of each name, and how often bootstrap samples draw each template and name."""
    share = {RUN: 1, STUDY: 10}[size]
    classes = np.repeat(list(NAMES), [count // share for count in NAMES.values()])
    rows, columns = (
        procedures.resampling_weights(strata, DRAWS, SEED + place) for place, strata in enumerate((FORM_OF, classes))
    )
    return classes, rows, columns


class SimulatedPredictions(Results):
    """Counts of right answers by template and name in one drawn data set, as findings ask for those of a run."""

    def __init__(self, truth: Truth, number: int, size: str, generator: np.random.Generator):
        self.truth, self.number, self.of_size, self.generator = truth, number, size, generator
        self.models, self.shares = KNOWN, {}
        self.classes, self.rows, self.columns = resample(size)
        self.shape = len(self.rows[0]), len(self.columns[0])
        self.template = generator.uniform(-1, 1, self.shape[0])
        self.of_kind = {kind: generator.uniform(-1, 1, self.shape[0]) for kind in TYPES}
        self.of_name = generator.uniform(-1, 1, self.shape[1])
        self.of_cell = generator.uniform(-1, 1, self.shape)
        self.documents = self._documents()
        self.names = self._names() if number == 16 else None

    def size(self, shots: int = 0) -> int:
        """Return how many instances each model has."""
        return INSTANCES[self.of_size][min(shots, 1)]

    @property
    def templates(self) -> int:
        """How many templates are resampled."""
        return self.shape[0]

    def share(self, models: list[str] | None = None, shots: int = 0, **levels: Any) -> Sampled:
        """Return an accuracy with its bootstrap samples."""
        key = (*(models or ()), shots, *levels.items())
        if key not in self.shares:
            self.shares[key] = self._share(models[0] if models else None, shots, levels)
        return self.shares[key]

    def _share(self, model: str | None, shots: int, levels: dict[str, Any]) -> Sampled:
        kind = levels.get("pronoun_type") or KIND[levels["group"]]
        groups = [levels["group"]] if "group" in levels else [group for group in GROUPS if KIND[group] == kind]
        here = np.ones(self.shape)
        if "form" in levels:
            here[levels["form"] != FORM_OF] = 0
        if "name_class" in levels:
            here[:, self.classes != levels["name_class"]] = 0
        # Examples come with one declaration; of all other instances those with what is declared.
        share = len(groups) / len(GROUPS)
        if not shots:
            for name, weights in (("declaration_type", DECLARATIONS), ("declared", COMBINATIONS)):
                share *= weights[levels[name]] / sum(weights.values()) if name in levels else 1.0
        trials = self.size(shots) * share / np.prod(self.shape) * here
        if self.of_size == RUN or shots:
            trials = self.generator.poisson(trials)
        trials = np.rint(trials).astype(int) * (1 if model else MODELS)
        if not trials.any():
            raise MissingEvidence("instances")
        mean = np.clip(self._mean(model, shots, kind, groups, levels), 0.005, 0.995)
        moved = TEMPLATE_SPREAD * self.template[:, None] + NAME_SPREAD * self.of_name
        moved = moved + KIND_SPREAD * self.of_kind[kind][:, None] + CELL_SPREAD * self.of_cell
        right = self.generator.binomial(trials, mean + moved * np.minimum(mean, 1 - mean))
        with np.errstate(invalid="ignore", divide="ignore"):
            samples = procedures.crossed_shares(right, trials, self.rows, self.columns)
        return Sampled(right.sum() / trials.sum(), samples, self.templates)

    def _mean(self, model: str | None, shots: int, kind: str, groups: list[str], levels: dict[str, Any]) -> np.ndarray:
        """Return accuracies by template and name before these move them: of a model, or over all models."""
        if self.number in (19, 20):
            return np.full(self.shape, self.truth.shots[str(model), kind, shots])
        if model:
            return np.full(self.shape, self.truth.models.get((model, kind), 0.5))
        shifts = self.truth.shifts
        mean = np.full(self.shape, np.mean([self.truth.groups[group] for group in groups]))
        mean += np.array([shifts["form"][kind, form] for form in FORM_OF])[:, None]
        for name, weights in (("declaration_type", DECLARATIONS), ("declared", COMBINATIONS)):
            added = {level: shifts[name][kind, level] for level in weights}
            if name in levels:
                mean += added[levels[name]]
            elif self.of_size == RUN:
                chances = np.array([*weights.values()]) / sum(weights.values())
                # Each instance has one declaration; with all of a study they come out even.
                mean += self.generator.choice(list(added.values()), self.shape, p=chances)
        if "name_class" in levels:
            mean += shifts["name_class"].get((groups[0], levels["name_class"]), 0.0)
        return mean

    def _documents(self) -> pd.DataFrame:
        rows = [
            (corpus, group, self.generator.poisson(count))
            for corpus in findings.CORPORA
            for group, count in self.truth.documents.items()
        ]
        return pd.DataFrame(rows, columns=["corpus", "group", "documents"])

    def _names(self) -> pd.DataFrame:
        """Return accuracies by name; in a default run a name is asked once or twice, each time in one template."""
        places, names = self.shape[0], sum(NAMES.values())
        trials = np.full((places, names), 8 * 12 * MODELS)
        if self.of_size == RUN:
            asked = self.generator.integers(places * names, size=320)
            trials = np.bincount(asked, minlength=places * names).reshape(places, names) * MODELS
        moved = TEMPLATE_SPREAD * self.template[:, None] + CELL_SPREAD * self.generator.uniform(-1, 1, (places, names))
        right = self.generator.binomial(trials, np.clip(self.truth.names * (1 + moved), 0, 1))
        kept = trials.sum(axis=0) > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            samples = np.sort((self.rows @ right[:, kept]) / (self.rows @ trials[:, kept]), axis=0)
            value = right[:, kept].sum(axis=0) / trials[:, kept].sum(axis=0)
        low, high = samples[int(0.025 * DRAWS)], samples[int(0.975 * DRAWS)]
        none = ~(high > low)
        low, high = np.where(none, np.nan, low), np.where(none, np.nan, high)
        classes = np.repeat(list(NAMES), list(NAMES.values()))[kept]
        frame = pd.DataFrame({"name_class": classes, "value": value, "low": low, "high": high})
        return frame.sort_values("value", ascending=False, ignore_index=True)


# Within a family models are listed by size.
KNOWN = published.read_models(PUBLISHED / "misgendered_models.csv")
KNOWN = KNOWN.assign(parameters=range(len(KNOWN))).set_index("model")


def draw(number: int, truth: Truth, size: str, generator: np.random.Generator) -> Results:
    return SimulatedPredictions(truth, number, size, generator)


SIMULATION = Simulation(findings.FINDINGS, AS_FOUND, WORLDS, draw, SIZES, DRAWS)
