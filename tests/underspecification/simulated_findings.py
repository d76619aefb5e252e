"""Worlds in which each finding of Underspecification is true, false or on the border, as drawn sentences.

Drawn are, for Method 1, the probabilities of sentences at every date or place, of which curves, slopes and correlations
are made with their bootstrap over sentences as those of a run are; for Method 2, which sentences of each occupation are
detected, with the bootstrap over occupations, and how the level of an occupation goes with its change. A curve leaves
its line in a way that is the same in all data sets, so that the true correlation is known.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy

from scripts.core.paper.estimates import Estimate
from scripts.core.statistics import procedures
from scripts.underspecification import correlation, detection, findings, findings_detection, study
from scripts.underspecification.quantities import Source
from scripts.underspecification.study import GPT, MASKED, METHOD1, METHOD2, MIXED
from tests.core.paper.simulated_findings import RUN, SPREAD, STUDY, Change, Simulation, Worlds, chain, changed, vary

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
WINOGENDER, SIMPLIFIED = "winogender", "simplified"
TUNED = tuple(tuned for tuned, _ in study.TUNED)
TUNED_GPT = GPT[1:]


@dataclass(frozen=True)
class Truth:
    """What is true.

    Args:
        slope: Of feminine probability over dates by model, in points over the whole range; masculine falls as much.
        place_steps: By how much one step over places is steeper than one over dates, as a factor.
        r: How well the mean curve over dates follows its line, by model.
        date_r, place_r: Factors of r over dates and over places.
        rates: Balanced accuracy by model and set; both rates are equal.
        independence: Correlation of level and change.
        ends: How much less often unspecified sentences are detected for occupations at both ends.
        neutral: Probability of neutral pronouns in percent; feminine and masculine have 30.
        doctor: By how much the metric of unspecified sentences about a doctor is above that of the others, as a factor.
        shuffled: Whether models have the rates of other models, drawn anew each time.
    """

    slope: pd.Series
    r: pd.Series
    rates: pd.DataFrame
    place_steps: float = 2.5
    date_r: float = 1.0
    place_r: float = 0.8
    independence: float = 0.0
    ends: float = 0.25
    neutral: float = 5.0
    doctor: float | None = None
    shuffled: bool = False


def put(*given: tuple[tuple[str, ...], float], other: float | None = None) -> Callable:
    """Return a function that gives groups of models values, and another one, or what they had, to the rest."""

    def change(values: pd.Series) -> pd.Series:
        made = values.copy() if other is None else pd.Series(other, values.index)
        for models, value in given:
            made[list(models)] = value
        return made

    return change


def rates(name: str, level: float, *given: tuple[tuple[str, ...], float]) -> Change:
    """Return a world in which models have these balanced accuracies on a set, and all others the same one."""
    return changed(rates=lambda table: table.assign(**{name: put(*given, other=level)(table[name])}))


def on_winogender(change: Callable) -> Change:
    return changed(rates=lambda table: table.assign(winogender=change(table.winogender)))


def more_on_simplified(more: float) -> Change:
    return changed(
        rates=lambda table: pd.DataFrame({WINOGENDER: table.winogender, SIMPLIFIED: table.winogender + more})
    )


def gaps(sizes: float, objectives: float, masked: float = 11.0, bart: float = 9.0, large: float = 4.0) -> Change:
    """Return a world in which pairs of sizes and of objectives differ by so many points in slope.

    The others are the slopes of the smaller or untuned of each pair, by family.
    """
    above = pd.Series(0.0, list(METHOD1))
    above[[name for _, name in study.SIZES]] = sizes
    above[list(TUNED)] = objectives
    start = put((MASKED, masked), (MIXED[:2], bart), other=large)(above)
    return changed(slope=start + above, r=0.5 + 0.04 * above)


def ranked(sign: int) -> Callable:
    """Return a world in which detection goes with the slope, or against it."""
    order = (AS_FOUND.slope + AS_FOUND.r)[list(METHOD2)].mul(sign).sort_values(kind="stable").index
    return on_winogender(lambda _: pd.Series(0.60 + 0.03 * np.arange(len(order)), order)[list(METHOD2)])


AS_FOUND = Truth(
    slope=put((MASKED, 9.0), (MIXED, 2.0), (GPT[:1], 8.0), (TUNED_GPT, 17.5), other=18.0)(pd.Series(0.0, METHOD1)),
    r=put((MASKED, 0.93), (MIXED, 0.5), (GPT[:1], 0.90), other=0.99)(pd.Series(0.0, METHOD1)),
    rates=pd.DataFrame({
        WINOGENDER: (0.70, 0.76, 0.74, 0.87, 0.62, 0.68, 0.66, 0.72, 0.60, 0.88, 0.73),
        SIMPLIFIED: (0.62, 0.66, 0.60, 0.64, 0.45, 0.56, 0.42, 0.64, 0.66, 0.98, 0.97),
    }, METHOD2),
)  # fmt: skip
NEGATIVE, LEVEL_LINES = changed(slope=lambda slope: -slope), changed(slope=lambda slope: 0 * slope)
ALIKE = changed(slope=put(other=8.0), r=put(other=0.8))
LARGER = dict(study.SIZES) | {large: small for small, large in study.SIZES}
WORLDS = {
    1: Worlds(NEGATIVE, LEVEL_LINES),
    2: Worlds(NEGATIVE, LEVEL_LINES),
    3: Worlds(changed(place_steps=0.4, date_r=0.8, place_r=1.0), changed(place_steps=1.0, place_r=1.0)),
    4: Worlds(
        changed(r=put((MASKED, 0.93), (GPT, 0.4), (MIXED, 0.9))),
        changed(r=put((MASKED, 0.9), (GPT, 0.65), (MIXED, 0.4))),
    ),
    5: Worlds(changed(slope=put((MIXED, 10.0), other=2.0), r=put((MIXED, 0.93), other=0.5)), ALIKE),
    # On the border slopes do not go with the number of parameters either (rho .06).
    6: Worlds(gaps(8.0, 0.5), gaps(4.0, 4.0, masked=8.0, bart=6.0, large=7.0), gaps(0.5, 8.0)),
    7: Worlds(changed(slope=put((TUNED, 2.0))), ALIKE),
    8: Worlds(changed(doctor=1 / 6), changed(doctor=1.0), changed(doctor=6.0), exact=True),
    9: Worlds(changed(independence=0.6), changed(independence=findings_detection.NEAR_ZERO)),
    10: Worlds(
        chain(rates(WINOGENDER, 0.75), rates(SIMPLIFIED, 0.70)),
        chain(
            rates(WINOGENDER, 0.75), rates(SIMPLIFIED, 0.70, (("BART-base",), 0.55), (("UL2-20B denoiser",), 0.30))
        ),
    ),
    11: Worlds(rates(WINOGENDER, 0.85, (("RoBERTa-large", "GPT-3.5 SFT"), 0.65)), rates(WINOGENDER, 0.75)),
    12: Worlds(on_winogender(lambda old: old.rename(LARGER)[list(METHOD2)]), rates(WINOGENDER, 0.75)),
    13: Worlds(rates(WINOGENDER, 0.73, (("GPT-3.5 RLHF",), 0.88)), rates(WINOGENDER, 0.8)),
    14: Worlds(rates(SIMPLIFIED, 0.95, (TUNED_GPT, 0.7)), rates(SIMPLIFIED, 0.9)),
    15: Worlds(more_on_simplified(0.10), more_on_simplified(0.0)),
    16: Worlds(ranked(-1), changed(shuffled=True), ranked(1)),
    17: Worlds(changed(ends=-0.25), changed(ends=0.0)),
    18: Worlds(changed(neutral=55.0), changed(neutral=30.0)),
}  # fmt: skip
CURVES = [(m, prompt) for m in METHOD1 for prompt in (("A", "B", "C") if study.MODELS[m].prompted else ("mask",))]
"""Models and prompts of Method 1."""


def resample(values: np.ndarray) -> np.ndarray:
    """Return mean curves: first those of all sentences, then those of bootstrap samples."""
    weights = procedures.cluster_weights(SENTENCES, DRAWS, SEED)
    weights = np.vstack([np.ones(SENTENCES), weights]) / SENTENCES
    return np.einsum("ds,...sv->d...v", weights, values, optimize=True)


def ends(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    ordered = np.sort(samples, axis=0)
    return ordered[int(0.025 * len(samples))], ordered[int(0.975 * len(samples))]


class SimulatedSource(Source):
    """One drawn data set, as findings ask for results. What no finding asks for is not drawn."""

    def __init__(self, truth: Truth, size: str, generator: np.random.Generator):
        shares = {f"{n:02}": float(n) for n in range(OCCUPATIONS[size][WINOGENDER])}
        super().__init__({}, THRESHOLD, shares)
        vars(self).update(truth=truth, of_size=size, generator=generator)

    def _sentences(self, variable: str) -> np.ndarray:
        """Draw probabilities in percent, by curve, gender, sentence and value."""
        truth, sizes, generator = self.truth, VALUES[self.of_size], self.generator
        models, count = [model for model, _ in CURVES], sizes[variable]
        x = np.arange(count) - (count - 1) / 2
        # What is left of a zigzag without its line.
        zigzag = np.where(np.arange(count) % 2, 1.0, -1.0)
        zigzag -= zigzag.mean() + x * (zigzag @ x) / (x @ x)
        zigzag /= zigzag.std()
        over_places = variable == "place"
        slope = truth.slope[models].to_numpy() / sizes["date"] * (truth.place_steps if over_places else 1)
        r = truth.r[models].to_numpy() * (truth.place_r if over_places else truth.date_r)
        amplitude = np.abs(slope) * x.std() * np.sqrt(1 / r**2 - 1) + 0.3 * (slope == 0)
        own = generator.normal(1, SLOPES, (len(models), SENTENCES, 1)) * slope[:, None, None]
        own += generator.normal(0, 0.05, (len(models), SENTENCES, 1))
        line = own * x + (amplitude[:, None] * zigzag)[:, None]
        both = np.stack([30 + line, 30 - line], axis=1)
        return both + generator.normal(0, NOISE, both.shape)

    @cached_property
    def _slopes(self) -> dict[tuple, tuple]:
        found = {}
        for variable in VALUES[self.of_size]:
            for metric, values in correlation.fit_lines(resample(self._sentences(variable))).items():
                low, high = ends(values[1:])
                for place, (model, prompt) in enumerate(CURVES):
                    for g, gender in enumerate(("female", "male")):
                        numbers = values[0, place, g], low[place, g], high[place, g], SENTENCES
                        found[model, variable, prompt, gender, metric] = numbers
        return found

    @cached_property
    def _probabilities(self) -> dict[tuple[str, str], list[Estimate]]:
        values, neutral = self._sentences("date"), self.truth.neutral
        mean = neutral + self.generator.normal(0, NOISE, values[:, :1].shape) * min(1, neutral / 30)
        values = np.concatenate([values, mean], axis=1)
        # Sentences have levels of their own.
        values = np.maximum(values * self.generator.uniform(0.5, 1.5, (*values.shape[:3], 1)), 0)
        means = resample(values).mean(axis=-1)
        low, high = ends(means[1:])
        found: dict[tuple[str, str], list[Estimate]] = {}
        for place, (model, _) in enumerate(CURVES):
            for g, gender in enumerate(("female", "male", "neutral")):
                numbers = (float(part[place, g]) for part in (means[0], low, high))
                found.setdefault((model, gender), []).append(Estimate(*numbers, SENTENCES))
        return found

    @cached_property
    def _detected(self) -> pd.DataFrame:
        rows = []
        for name, occupations in OCCUPATIONS[self.of_size].items():
            means = self.truth.rates[name].to_numpy()
            if self.truth.shuffled:
                means = self.generator.permutation(means)
            chance = vary(means, occupations, self.generator)
            # Of eight sentences about an occupation six are unspecified and two are not, of both rates the mean.
            unspecified, specified = (self.generator.binomial(n, chance) / n / occupations for n in (6, 2))
            mean = (unspecified + specified) / 2
            low, high = ends(procedures.cluster_weights(occupations, DRAWS, SEED) @ mean.T)
            found = zip(METHOD2, mean.sum(axis=1), low, high, strict=True)
            rows += [(m, name, "balanced accuracy", *numbers, 8 * occupations, occupations) for m, *numbers in found]
        count = OCCUPATIONS[self.of_size][WINOGENDER]
        for model in METHOD2:
            for metric in detection.LEVELS.values():
                x, e = self.generator.normal(size=(2, count))
                rho = self.truth.independence
                r = scipy.stats.pearsonr(x, rho * x + np.sqrt(1 - rho**2) * e)
                interval = r.confidence_interval(correlation.LEVEL)
                rows.append((model, WINOGENDER, metric, r.statistic, *interval, 6 * count, count))
        columns = ["label", "evaluation_set", "metric", "value", "low", "high", "n", "clusters"]
        return pd.DataFrame(rows, columns=columns).set_index(columns[:3])

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """The metric of eight sentences about a doctor, or of the unspecified ones about all occupations."""
        frames = []
        for model in METHOD2:
            if self.truth.doctor:
                unspecified = np.arange(8) % 4 < 3
                metric = np.exp(self.generator.normal(0, 0.15, 8)) * np.where(unspecified, self.truth.doctor, 1.0)
                facts: dict[str, Any] = {"occupation": "doctor", "well_specified": ~unspecified}
            else:
                count = len(self.shares)
                middle = np.zeros(count, dtype=bool)
                middle[count // 4 : -(count // 4)] = True
                rate = 0.65 + np.where(middle, self.truth.ends / 2, -self.truth.ends / 2)
                chance = rate + SPREAD * np.minimum(rate, 1 - rate) * self.generator.uniform(-1, 1, count)
                metric = np.where(self.generator.random((count, 6)) < chance[:, None], 1.0, 0.0).ravel()
                facts = {"occupation": np.repeat(list(self.shares), 6), "well_specified": False}
            facts |= {"value": metric, "low": metric - 0.05, "high": metric + 0.05}
            frames.append(pd.DataFrame(facts).assign(label=model, evaluation_set=WINOGENDER))
        return pd.concat(frames, ignore_index=True)


def draw(number: int, truth: Truth, size: str, generator: np.random.Generator) -> Source:
    return SimulatedSource(truth, size, generator)


SIMULATION = Simulation(findings.FINDINGS, AS_FOUND, WORLDS, draw, SIZES, DRAWS)
