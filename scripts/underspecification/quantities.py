"""The quantities that findings compare, each with its interval: those of estimates, curves and metrics of one part."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy

from scripts.core.paper import estimates
from scripts.core.paper.estimates import Estimate
from scripts.core.paper.finding_verdicts import MissingEvidence
from scripts.core.statistics import procedures
from scripts.underspecification import study
from scripts.underspecification.detection import FIXED, LEVELS

PERMUTATIONS = 9999


@dataclass(frozen=True)
class Source:
    """The results of one release or of the run.

    ``tables`` holds ``estimates``, ``curves`` and ``metrics``; ``threshold`` is that of the metric, ``shares`` the
    share of women by occupation, if it is known; ``excluded`` are labels that must not be looked at, ``alone`` the
    label of a model that is asked in place of the study's.
    """

    tables: dict
    threshold: float
    shares: dict = field(default_factory=dict)
    excluded: frozenset = frozenset()
    alone: tuple = ()

    @cached_property
    def _estimates(self):
        table = self.tables["estimates"]
        return table[~table.label.isin(self.excluded)]

    @cached_property
    def _slopes(self):
        rows = study.pick_slopes(self._estimates, metric=["slope", "r"])
        rows = rows[["label", "variable", "prompt", "gender", "metric", "value", "low", "high", "n"]]
        return {row[:5]: row[5:] for row in rows.itertuples(index=False, name=None)}

    @cached_property
    def _detected(self):
        rows = study.pick_rates(self._estimates, templates="official", choice=["", FIXED])
        return rows.set_index(["label", "evaluation_set", "metric"])[["value", "low", "high", "n", "clusters"]]

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """The female metric between the outer dates, of the study's sentences."""
        table = study.pick_metrics(self.tables["metrics"], templates="official")
        return table[~table.label.isin(self.excluded)]

    def present(self, models: Iterable[str]) -> int:
        """Return how many of ``models`` there are."""
        return len(set(models) & {*self._estimates.label})

    def prompts(self, model: str, variable: str = "date") -> list[str]:
        """Return the prompts of a model; :class:`MissingEvidence` without the model."""
        of_model = dict.fromkeys(key[2] for key in self._slopes if key[:2] == (model, variable))
        prompts = [p for p in of_model if p in ("mask", "A", "B", "C")]
        if not prompts:
            raise MissingEvidence(model)
        return prompts

    def line(self, model: str, gender: str, metric: str, variable: str = "date", prompt: str | None = None) -> Estimate:
        """Return a slope or r with its interval, for one prompt or averaged over all."""
        keys = [
            (model, variable, name, gender, metric) for name in ([prompt] if prompt else self.prompts(model, variable))
        ]
        if any(key not in self._slopes for key in keys):
            raise MissingEvidence(f"{metric} of {model} over {variable}s")
        lines = []
        for value, low, high, sentences in (self._slopes[key] for key in keys):
            # A curve that is constant, or whose samples all agree, is not known exactly: it has no interval.
            ends = (np.nan, np.nan) if np.isnan(value) or low == high else (float(low), float(high))
            lines.append(Estimate(0.0 if np.isnan(value) else float(value), *ends, int(sentences)))
        return estimates.mean_estimate(lines)

    def has_mass(self, model: str, variable: str) -> bool:
        """Tell whether feminine or masculine words have any mass, for any prompt."""
        keys = [
            (model, variable, prompt, gender, "slope")
            for prompt in self.prompts(model, variable)
            for gender in ("female", "male")
        ]
        return not all(np.isnan(self._slopes[key][0]) for key in keys if key in self._slopes)

    def absolute(self, model: str, metric: str, variable: str = "date", prompt: str | None = None) -> Estimate:
        """Return the absolute slope or r of f."""
        return estimates.absolute_estimate(self.line(model, "female", metric, variable, prompt))

    def mean(self, models: Sequence[str], metric: str, absolute: bool = False, variable: str = "date") -> Estimate:
        """Return the mean over models of f's slope or r."""
        lines = [self.line(m, "female", metric, variable) for m in self.need(models)]
        return estimates.mean_estimate([estimates.absolute_estimate(line) for line in lines] if absolute else lines)

    def need(self, models: Sequence[str]) -> Sequence[str]:
        """Return ``models`` if Method 1 was done with all of them."""
        known = {model for model, *_ in self._slopes}
        absent = [m for m in models if m not in known]
        if absent:
            raise MissingEvidence(*absent)
        return models

    def accuracy(self, model: str, evaluation_set: str = "winogender", metric: str = "balanced accuracy") -> Estimate:
        """Return a rate at the threshold with its interval.

        Where every sentence is right or every one wrong the bootstrap's interval has no width; then it is the exact
        binomial one of half of the sentences, since either kind has its own rate.
        """
        value, low, high, sentences, _ = self._detection(model, evaluation_set, metric)
        if value in (0, 1):
            exact = estimates.estimate_share(value, sentences // 2)
            low, high = exact.low, exact.high
        elif low == high:
            low = high = np.nan
        return Estimate(value, low, high, int(sentences))

    def independence(self, model: str, level: str) -> Estimate:
        """Return how the change over dates goes with a level (:data:`scripts.underspecification.detection.LEVELS`)."""
        value, low, high, _, occupations = self._detection(model, "winogender", LEVELS[level])
        if np.isnan(value):
            raise MissingEvidence(f"{model} on the official winogender set")
        return Estimate(value, low, high, int(occupations))

    def _detection(self, model: str, evaluation_set: str, metric: str) -> tuple[float, ...]:
        # The stubs of pandas know no key of several levels.
        key: Any = (model, evaluation_set, metric)
        if key not in self._detected.index:
            raise MissingEvidence(f"{model} on the official {evaluation_set} set")
        return tuple(float(value) for value in self._detected.loc[key])

    def mass(self, model: str, gender: str) -> Estimate:
        """Return the mean probability of a gender over dates and prompts, in percent.

        That over dates is what the fitted line has in their middle, and so is its interval.
        """
        if (model, gender) not in self._probabilities:
            raise MissingEvidence(model)
        return estimates.mean_estimate(self._probabilities[model, gender])

    @cached_property
    def _probabilities(self):
        table = self.tables["curves"]
        table = table[(table.accumulation == study.TOP) & ~table.label.isin(self.excluded)]
        table = table[table.variable == "date"].sort_values("position", kind="stable")
        means = {}
        for (model, gender, _), rows in table.groupby(["label", "gender", "prompt"], sort=False):
            low, high = (rows[end].to_numpy()[[(len(rows) - 1) // 2, len(rows) // 2]].mean() for end in ("low", "high"))
            mean = float(rows.probability.mean())
            sentences = int(rows.n.min())
            if not mean:
                # What no sentence gives any mass has none.
                low = high = 0.0
            elif np.isnan(low):
                low, high = procedures.agreeing_interval(mean, sentences, least=0, most=100)
            mean = Estimate(mean, low, high, sentences)
            means.setdefault((model, gender), []).append(mean)
        return means


def rank_correlation(x: Sequence[float], y: Sequence[float], alternative: str):
    """Return Spearman's rho and its p value over random pairings (with a fixed seed)."""

    ranks = scipy.stats.rankdata(y) - (len(y) + 1) / 2

    def statistic(values: np.ndarray, axis: int):
        other = scipy.stats.rankdata(values, axis=axis) - (len(y) + 1) / 2
        return other @ ranks / np.sqrt((other**2).sum(axis=axis) * (ranks @ ranks))

    test = scipy.stats.permutation_test(
        (x,), statistic, permutation_type="pairings", n_resamples=PERMUTATIONS, alternative=alternative,
        rng=np.random.default_rng(1), vectorized=True,
    )  # fmt: skip
    return float(test.statistic), float(test.pvalue)
