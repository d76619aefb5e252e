"""Worlds in which each finding is true, false or on the border, as drawn probabilities and detections.

Drawn are, for Method 1, the probabilities of sentences at every date or place, of which curves, slopes and correlations
are made with their bootstrap over sentences as those of a run are; for Method 2, which sentences of each occupation are
detected, with the bootstrap over occupations, and how the level of an occupation goes with its change. A curve leaves
its line in a way that is the same in all data sets, so that the true correlation is known.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy

from scripts.core.statistics import procedures
from scripts.underspecification import correlation, detection, findings, findings_detection, study
from scripts.underspecification.quantities import Source
from tests.core.paper.simulated_findings import BORDER, FALSE, RUN, STUDY, TRUE, Simulation, Worlds

DRAWS, SEED, THRESHOLD = 300, 1, 0.5
SENTENCES = 60
VALUES = {RUN: {"date": 8, "place": 4}, STUDY: {"date": 30, "place": 20}}
OCCUPATIONS = {RUN: {"winogender": 12, "simplified": 12}, STUDY: {"winogender": 60, "simplified": 18}}
SIZES = {
    RUN: "60 sentences at 8 dates and 4 places; 96 sentences about 12 occupations of either set",
    STUDY: "60 sentences at 30 dates and 20 places; 480 sentences about 60 occupations, and 144 of the simplified set",
}
NOISE, SLOPES = 3.0, 0.3
"""Points by which the probabilities of sentences scatter at one value, and deviation of their slopes as a share."""
SPREAD = 0.5
"""How far the rate of an occupation lies from the mean at most, as a share of the way to 0 or 1."""
SET = ("winogender", "simplified")
TUNED = tuple(tuned for tuned, _ in study.TUNED)


@dataclass(frozen=True)
class Truth:
    """What is true.

    Args:
        slope: By variable and model, of feminine probability, in points over the whole range; masculine falls as much.
        r: By variable and model, how well the mean curve follows its line.
        rates: By set and model, balanced accuracy; both rates are equal.
        independence: Correlation of level and change.
        ends: How much less often unspecified sentences are detected for occupations at both ends.
        neutral: Probability of neutral pronouns in percent; feminine and masculine have 30.
        doctor: By how much the metric of unspecified sentences about a doctor is above that of the others, as a factor.
        shuffled: Whether models have the rates of other models, drawn anew each time.
    """

    slope: dict[str, dict[str, float]]
    r: dict[str, dict[str, float]]
    rates: dict[str, dict[str, float]]
    independence: float = 0.0
    ends: float = 0.25
    neutral: float = 5.0
    doctor: float = 6.0
    shuffled: bool = False


def _as_found() -> Truth:
    slope = dict(zip(study.MASKED, (9.0, 9.5, 8.5, 9.2), strict=True))
    slope |= dict.fromkeys(study.MIXED, 2.0) | {"Flan-UL2-20B": 18.0}
    slope |= {"GPT-3": 8.0, "GPT-3.5 SFT": 18.0, "GPT-3.5 RLHF": 17.0}
    r = dict.fromkeys(study.MASKED, 0.93) | dict.fromkeys(study.MIXED, 0.5)
    r |= {"GPT-3": 0.90, "Flan-UL2-20B": 0.99, "GPT-3.5 SFT": 0.99, "GPT-3.5 RLHF": 0.99}
    wino = (0.70, 0.76, 0.74, 0.87, 0.62, 0.68, 0.66, 0.72, 0.60, 0.88, 0.73)
    simple = (0.62, 0.66, 0.60, 0.64, 0.45, 0.56, 0.42, 0.64, 0.66, 0.98, 0.97)
    rates: dict[str, dict[str, float]] = {
        name: dict(zip(study.METHOD2, row, strict=True)) for name, row in zip(SET, (wino, simple), strict=True)
    }
    return Truth(
        {"date": slope, "place": {m: 30.0 * value / 18 for m, value in slope.items()}},
        {"date": r, "place": {m: value * 0.8 for m, value in r.items()}},
        rates,
    )


def _lines(field: str, change: Callable, *, variables: tuple[str, ...] = ("date", "place")) -> Callable:
    """Return a world whose slopes or correlations are changed: a function of the model and the value."""

    def world(truth: Truth) -> Truth:
        old = getattr(truth, field)
        changed = {name: {m: change(m, value) for m, value in old[name].items()} for name in variables}
        return replace(truth, **{field: old | changed})

    return world


def _chain(*worlds: Callable) -> Callable:
    def world(truth: Truth) -> Truth:
        for change in worlds:
            truth = change(truth)
        return truth

    return world


def _by_group(masked: float, gpt: float, mixed: float) -> Callable:
    """Return a world in which groups of models have these correlations."""
    of_model = dict.fromkeys(study.MASKED, masked) | dict.fromkeys(study.GPT, gpt) | dict.fromkeys(study.MIXED, mixed)
    return _lines("r", lambda model, value: of_model.get(model, value))


def _gaps(sizes: float, objectives: float, masked: float = 11.0, bart: float = 9.0, large: float = 4.0) -> Callable:
    """Return a world in which pairs of sizes and of objectives differ by so many points in slope.

    The others are the slopes of the smaller or untuned of each pair, by family.
    """
    above: dict[str, float] = {name: sizes for _, name in study.SIZES} | dict.fromkeys(TUNED, objectives)
    start: dict[Any, float] = dict.fromkeys(study.MASKED, masked) | dict.fromkeys(("BART-base", "BART-large"), bart)

    def slope(model: str, value: float) -> float:
        return start.get(model, large) + above.get(model, 0.0)

    return _chain(_lines("slope", slope), _lines("r", lambda model, value: 0.5 + 0.04 * above.get(model, 0.0)))


def _swapped_variables(truth: Truth) -> Truth:
    return replace(
        truth,
        slope={"date": {m: 2 * v for m, v in truth.slope["date"].items()}, "place": truth.slope["date"]},
        r={"date": truth.r["place"], "place": truth.r["date"]},
    )


def _same_variables(truth: Truth) -> Truth:
    """Return a world in which slopes, which are for each step, and correlations are the same over both."""
    return replace(truth, slope=truth.slope | {"place": {}}, r=truth.r | {"place": truth.r["date"]})


def _rates(name: str, level: float, **models: float) -> Callable:
    """Return a world in which models have these balanced accuracies on a set, and all others the same one."""
    given = {key.replace("_", " "): value for key, value in models.items()}

    def world(truth: Truth) -> Truth:
        of_set = {m: given.get(m.replace("-", " "), level) for m in truth.rates[name]}
        return replace(truth, rates=truth.rates | {name: of_set})

    return world


def _swapped_sizes(truth: Truth) -> Truth:
    other = dict(study.SIZES) | {b: a for a, b in study.SIZES}
    return replace(truth, rates=truth.rates | {"winogender": {
        m: truth.rates["winogender"][other.get(m, m)] for m in study.METHOD2}})  # fmt: skip


def _ranked(sign: int) -> Callable:
    """Return a world in which detection goes with the slope, or against it."""

    def world(truth: Truth) -> Truth:
        order = sorted(study.METHOD2, key=lambda m: sign * (truth.slope["date"][m] + truth.r["date"][m]))
        rates = {m: 0.60 + 0.03 * place for place, m in enumerate(order)}
        return replace(truth, rates=truth.rates | {"winogender": rates})

    return world


def _set(**values: float) -> Callable:
    return lambda truth: replace(truth, **values)


def _more_of_simplified(more: float) -> Callable:
    def world(truth: Truth) -> Truth:
        rates = {m: value - 0.1 for m, value in truth.rates["winogender"].items()}
        return replace(truth, rates={"winogender": rates, "simplified": {m: v + more for m, v in rates.items()}})

    return world


NEGATIVE, LEVEL_LINES = _lines("slope", lambda m, v: -v), _lines("slope", lambda m, v: 0.0)
ALIKE = _chain(_lines("slope", lambda m, v: 8.0), _lines("r", lambda m, v: 0.8))
STRONGER_MIXED = _chain(
    _lines("slope", lambda m, v: 10.0 if m in study.MIXED else 2.0),
    _lines("r", lambda m, v: 0.93 if m in study.MIXED else 0.5),
)
WORLDS = {
    1: Worlds(NEGATIVE, LEVEL_LINES),
    2: Worlds(NEGATIVE, LEVEL_LINES),
    3: Worlds(_swapped_variables, _same_variables),
    4: Worlds(_by_group(0.93, 0.4, 0.9), _by_group(0.9, 0.65, 0.4)),
    5: Worlds(STRONGER_MIXED, ALIKE),
    # On the border slopes do not go with the number of parameters either (rho .06).
    6: Worlds(_gaps(8.0, 0.5), _gaps(4.0, 4.0, masked=8.0, bart=6.0, large=7.0)),
    7: Worlds(_lines("slope", lambda m, v: 2.0 if m in TUNED else v), ALIKE),
    8: Worlds(_set(doctor=1 / 6), _set(doctor=1.0), exact=True),
    9: Worlds(_set(independence=0.6), _set(independence=findings_detection.NEAR_ZERO)),
    10: Worlds(
        _chain(_rates("winogender", 0.75), _rates("simplified", 0.70)),
        _chain(_rates("winogender", 0.75), _rates("simplified", 0.70, BART_base=0.55, UL2_20B_denoiser=0.30)),
    ),
    11: Worlds(
        _rates("winogender", 0.85, RoBERTa_large=0.65, **{"GPT_3.5_SFT": 0.65}), _rates("winogender", 0.75)
    ),
    12: Worlds(_swapped_sizes, _rates("winogender", 0.75)),
    13: Worlds(_rates("winogender", 0.73, **{"GPT_3.5_RLHF": 0.88}), _rates("winogender", 0.8)),
    14: Worlds(_rates("simplified", 0.95, **{"GPT_3.5_SFT": 0.7, "GPT_3.5_RLHF": 0.7}), _rates("simplified", 0.9)),
    15: Worlds(_more_of_simplified(0.10), _more_of_simplified(0.0)),
    16: Worlds(_ranked(-1), _set(shuffled=True)),
    17: Worlds(_set(ends=-0.25), _set(ends=0.0)),
    18: Worlds(_set(neutral=55.0), _set(neutral=30.0)),
}  # fmt: skip
TRUTHS = {6: _gaps(0.5, 8.0), 16: _ranked(1)}
"""True worlds of findings that are not all true in one."""
VARIABLES = {1: ("date",), 2: ("place",), 3: ("date", "place"), **dict.fromkeys((4, 5, 6, 7, 16), ("date",))}


def _curves(truth: Truth, size: str, variable: str, models: tuple[str, ...], generator: np.random.Generator) -> tuple:
    """Draw probabilities in percent: by curve, gender, sentence and value; the model and prompt of each curve."""
    count = VALUES[size][variable]
    x = np.arange(count) - (count - 1) / 2
    # What is left of a zigzag without its line.
    zigzag = np.where(np.arange(count) % 2, 1.0, -1.0)
    zigzag -= zigzag.mean() + x * (zigzag @ x) / (x @ x)
    zigzag /= zigzag.std()
    keys = [(m, prompt) for m in models for prompt in (("A", "B", "C") if study.MODELS[m].prompted else ("mask",))]
    same_step = not truth.slope["place"]
    whole = np.array([truth.slope["date" if same_step else variable][m] for m, _ in keys])
    slope = whole / (VALUES[size]["date"] if same_step else count)
    r = np.array([truth.r[variable][m] for m, _ in keys])
    amplitude = np.abs(slope) * x.std() * np.sqrt(1 / r**2 - 1) + 0.3 * (slope == 0)
    own = generator.normal(1, SLOPES, (len(keys), SENTENCES, 1)) * slope[:, None, None]
    own += generator.normal(0, 0.05, (len(keys), SENTENCES, 1))
    line = own * x + (amplitude[:, None] * zigzag)[:, None]
    both = np.stack([30 + line, 30 - line], axis=1)
    return keys, both + generator.normal(0, NOISE, both.shape)


def _resampled(values: np.ndarray) -> np.ndarray:
    """Return mean curves: first those of all sentences, then those of bootstrap samples."""
    weights = procedures.cluster_weights(SENTENCES, DRAWS, SEED)
    weights = np.vstack([np.ones(SENTENCES), weights]) / SENTENCES
    return np.einsum("ds,...sv->d...v", weights, values, optimize=True)


def _ends(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    ordered = np.sort(samples, axis=0)
    return ordered[int(0.025 * len(samples))], ordered[int(0.975 * len(samples))]


def _slopes(truth: Truth, size: str, variables: tuple[str, ...], generator: np.random.Generator) -> pd.DataFrame:
    frames = []
    for variable in variables:
        keys, values = _curves(truth, size, variable, study.METHOD1, generator)
        for metric, found in correlation.fit(_resampled(values)).items():
            low, high = _ends(found[1:])
            for place, gender in enumerate(("female", "male")):
                facts = {"label": [m for m, _ in keys], "prompt": [p for _, p in keys], "variable": variable,
                         "gender": gender, "metric": metric, "n": SENTENCES, "accumulation": "top",
                         "value": found[0, :, place], "low": low[:, place], "high": high[:, place]}  # fmt: skip
                frames.append(pd.DataFrame(facts))
    return pd.concat(frames, ignore_index=True).assign(evaluation_set="mgc", templates="", dates="", choice="")


def _mean_curves(truth: Truth, size: str, generator: np.random.Generator) -> pd.DataFrame:
    keys, values = _curves(truth, size, "date", study.METHOD1, generator)
    neutral = truth.neutral + generator.normal(0, NOISE, values[:, :1].shape) * min(1, truth.neutral / 30)
    # Sentences have levels of their own.
    values = np.concatenate([values, neutral], axis=1)
    values = np.maximum(values * generator.uniform(0.5, 1.5, (*values.shape[:3], 1)), 0)
    curves = _resampled(values)
    line = correlation.fit(curves)
    fitted = line["intercept"][..., None] + line["slope"][..., None] * np.arange(values.shape[-1])
    low, high = _ends(fitted[1:])
    frames = [
        pd.DataFrame(
            {"label": model, "prompt": prompt, "variable": "date", "gender": gender, "accumulation": "top",
             "position": range(values.shape[-1]), "probability": curves[0, place, g], "low": low[place, g],
             "high": high[place, g], "n": SENTENCES}
        )
        for place, (model, prompt) in enumerate(keys)
        for g, gender in enumerate(("female", "male", "neutral"))
    ]  # fmt: skip
    return pd.concat(frames, ignore_index=True)


METHOD2_FACTS = {"accumulation": "top", "templates": "official", "dates": "1", "gender": "female"}


def _prompt(model: str) -> str:
    return study.DETECTION_PROMPT if study.MODELS[model].prompted else "mask"


def _detections(truth: Truth, size: str, generator: np.random.Generator) -> pd.DataFrame:
    rows = []
    for name in SET:
        occupations = OCCUPATIONS[size][name]
        rates = np.array([truth.rates[name][m] for m in study.METHOD2])
        if truth.shuffled:
            rates = generator.permutation(rates)
        effect = generator.uniform(-1, 1, (len(rates), occupations)) + generator.uniform(-1, 1, occupations)
        chance = rates[:, None] + SPREAD * np.minimum(rates, 1 - rates)[:, None] * effect / 2
        # Of eight sentences about an occupation six are unspecified and two are not, of both rates the mean.
        hits = [generator.binomial(n, chance) / n / occupations for n in (6, 2)]
        weights = procedures.cluster_weights(occupations, DRAWS, SEED)
        value: Any = sum(part.sum(axis=1) for part in hits) / 2
        low, high = _ends(weights @ (hits[0] + hits[1]).T / 2)
        rows += zip(study.METHOD2, [name] * len(rates), value, low, high, [8 * occupations] * len(rates), strict=True)
    frame = pd.DataFrame(rows, columns=["label", "evaluation_set", "value", "low", "high", "n"])
    facts = METHOD2_FACTS | {"metric": "balanced accuracy", "choice": detection.FIXED, "clusters": frame.n // 8}
    return frame.assign(prompt=frame.label.map(_prompt), **facts)


def _independence(truth: Truth, size: str, generator: np.random.Generator) -> pd.DataFrame:
    count = OCCUPATIONS[size]["winogender"]
    rows = []
    for model in study.METHOD2:
        for metric in detection.LEVELS.values():
            x, e = generator.normal(size=(2, count))
            found = scipy.stats.pearsonr(x, truth.independence * x + np.sqrt(1 - truth.independence**2) * e)
            rows.append((model, metric, found.statistic, *found.confidence_interval(correlation.LEVEL), count))
    frame = pd.DataFrame(rows, columns=["label", "metric", "value", "low", "high", "clusters"])
    facts = METHOD2_FACTS | {"evaluation_set": "winogender", "choice": "", "n": 6 * count}
    return frame.assign(prompt=frame.label.map(_prompt), **facts)


def _metrics(truth: Truth, number: int, size: str, generator: np.random.Generator) -> pd.DataFrame:
    """Draw the metric of sentences: of eight about a doctor, or of the unspecified ones about all occupations."""
    frames = []
    for model in study.METHOD2:
        if number == 8:
            unspecified = np.arange(8) % 4 < 3
            metric = np.exp(generator.normal(0, 0.15, 8)) * np.where(unspecified, truth.doctor, 1.0)
            facts = {"occupation": "doctor", "well_specified": ~unspecified}
        else:
            count = OCCUPATIONS[size]["winogender"]
            quarter = count // 4
            middle = np.zeros(count, dtype=bool)
            middle[quarter:-quarter] = True
            rate = 0.65 + np.where(middle, truth.ends / 2, -truth.ends / 2)
            chance = rate + SPREAD * np.minimum(rate, 1 - rate) * generator.uniform(-1, 1, count)
            metric = np.where(generator.random((count, 6)) < chance[:, None], 1.0, 0.0).ravel()
            facts = {"occupation": np.repeat([f"{n:02}" for n in range(count)], 6), "well_specified": False}
        low, high = metric - 0.05, metric + 0.05
        frames.append(pd.DataFrame(facts | {"value": metric, "low": low, "high": high, "label": model}))
    frame = pd.concat(frames, ignore_index=True).assign(evaluation_set="winogender")
    return frame.assign(prompt=frame.label.map(_prompt), **METHOD2_FACTS)


def simulation(folder: Path) -> Simulation:
    """Return the study's simulation, which needs nothing of ``folder``."""
    as_found = _as_found()

    def draw(number: int, world: str, size: str, generator: np.random.Generator) -> Source:
        changes = {TRUE: TRUTHS.get(number, lambda truth: truth)}
        changes |= {FALSE: WORLDS[number].false, BORDER: WORLDS[number].border}
        truth, tables, estimates = changes[world](as_found), {}, []
        if number in VARIABLES:
            estimates.append(_slopes(truth, size, VARIABLES[number], generator))
        if number == 18:
            tables["curves"] = _mean_curves(truth, size, generator)
        if 10 <= number <= 16:
            estimates.append(_detections(truth, size, generator))
        if number == 9:
            estimates.append(_independence(truth, size, generator))
        if number in (8, 17):
            tables["metrics"] = _metrics(truth, number, size, generator)
        if estimates:
            tables["estimates"] = pd.concat(estimates, ignore_index=True)
        shares = {f"{n:02}": float(n) for n in range(OCCUPATIONS[size]["winogender"])}
        return Source(tables, THRESHOLD, shares)

    return Simulation(findings.FINDINGS, WORLDS, draw, SIZES, DRAWS)
