"""Method 1: how the mass of gendered pronouns goes with dates and places (Section 4).

For each gender, y is the mean over MGC's sentences and x the position of the value on its grid, 0, 1, 2, ...; slopes
are in percentage points of mass for each step, r is Pearson's. Intervals resample sentences.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from scripts.core.statistics import procedures
from scripts.underspecification import study

CURVE = [*study.IDENTITY, "label", "evaluation_set", "variable", "accumulation"]
KEYS = [*CURVE, "prompt"]
DIFFERENCE = "female minus male"
BOTH = "female and male"
AUTHORS_MEAN = "authors' mean"
AUTHORS_ORDER = ("C", "B", "A")
"""The order in which the authors' loop runs over prompts. It divides by their number at every step."""
LEVEL = 0.95


def average_as_authors(values: Sequence[ArrayLike]) -> np.ndarray:
    """Return the authors' average: of three values their sum with the weights 1/27, 1/9 and 1/3.

    Their code divides the running sum by the number of prompts after each one, in :data:`AUTHORS_ORDER`. A model that
    fills masks has the same value for every prompt.
    """
    total: Any = 0
    for value in values:
        total = (total + np.asarray(value, dtype=float)) / len(values)
    return total


def fit_curves(probabilities: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return the mean over sentences at every value, and the fitted line there.

    Returns:
        :data:`KEYS`, ``gender``, ``position``, ``value``, ``probability`` (percent), ``n`` (sentences), ``fit``
        (percent; a line may leave 0 to 100) with its interval ``low``, ``high``, ``study_band`` (:func:`study_band`).
    """
    keys = [*KEYS, "gender"]
    grouped = probabilities.groupby([*keys, "position", "value"], sort=False, observed=True).probability
    means = grouped.agg(probability="mean", n="size").reset_index()
    means = means.assign(probability=100 * means.probability)
    frames = []
    for key, curve in probabilities.groupby(keys, sort=False, observed=True):
        table = curve.pivot(index="item", columns="position", values="probability").sort_index()
        line = fit_lines(_resampled(table, draws, seed))
        # The line at the places that fit_lines() takes the values to have.
        y = line["intercept"][:, None] + line["slope"][:, None] * np.arange(table.shape[1])
        low, high = np.transpose(
            [
                procedures.bootstrap_interval(value, samples, len(table), LEVEL, -np.inf, np.inf)
                for value, samples in zip(y[0], y[1:].T, strict=True)
            ]
        )
        frame = pd.DataFrame({"position": table.columns, "fit": y[0], "low": low, "high": high})
        frame["study_band"] = study_band(_resampled(table, 0, seed)[0])
        named: dict[str, Any] = dict(zip(keys, key, strict=True))
        frames.append(frame.assign(**named))
    return means.merge(pd.concat(frames, ignore_index=True), on=[*keys, "position"], how="left")


def study_band(means: np.ndarray) -> np.ndarray:
    """Return half the width of the bands in the study's figures: two standard deviations of the line through the means.

    It is NaN for fewer than three values, whose line leaves no residuals. Shape (values,).
    """
    if len(means) < 3:
        return np.full(len(means), np.nan)
    x = np.arange(len(means), dtype=float)
    _, covariance = np.polyfit(x, means, 1, cov=True)
    powers = np.vander(x, 2)
    return 2 * np.sqrt(np.einsum("vi,ij,vj->v", powers, covariance, powers).clip(0))


def _resampled(table: pd.DataFrame, draws: int, seed: int):
    """Return the mean curve in percent (first row) and those of resampled sentences, shape (1 + draws, values)."""
    sentences = len(table)
    weights = np.vstack([np.ones(sentences), procedures.cluster_weights(sentences, draws, seed)])
    return 100 * weights / sentences @ table.to_numpy()


def fit_lines(y: np.ndarray) -> dict[str, np.ndarray]:
    """Return slope, intercept and Pearson's r of curves over their positions (the last axis); r may be NaN."""
    x = np.arange(y.shape[-1], dtype=float)
    x_centred = x - x.mean()
    y_centred = y - y.mean(axis=-1, keepdims=True)
    slope = y_centred @ x_centred / (x_centred @ x_centred)
    spread = np.sqrt((x_centred @ x_centred) * (y_centred**2).sum(axis=-1))
    # A sum of rounding errors is no spread.
    constant = spread <= 1e-12 * np.maximum(1.0, np.abs(y).max(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.where(constant, np.nan, y_centred @ x_centred / spread)
    return {"slope": slope, "intercept": y.mean(axis=-1) - slope * x.mean(), "r": r}


def estimate_slopes(probabilities: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return slopes and correlations of every model, prompt, variable and gender.

    Returns:
        Estimates: ``metric`` is slope, intercept, r or r2. Besides genders there are the difference of the female and
        the male curve and, for r2, both genders' mean. Besides prompts there is their mean, under all their names
        (``A|B|C``): of slopes, of r, of r2, each computed for one prompt; and the authors' mean of the difference of
        slopes and of r2, as their bar charts show it. Metrics are NaN for a gender whose words have no probability in
        any sentence: no slope was observed, and 0 would pass for one.
    """
    rows = []
    for key, of_model in probabilities.groupby(CURVE, sort=False, observed=True):
        facts = dict(zip(CURVE, key, strict=True))
        of_prompts = {str(prompt): part for prompt, part in of_model.groupby("prompt", sort=False, observed=True)}
        metrics = {prompt: _metrics(part, draws, seed) for prompt, part in of_prompts.items()}
        sentences = {prompt: part["item"].nunique() for prompt, part in of_prompts.items()}
        for prompt, of_prompt in metrics.items():
            rows += _rows(facts | {"prompt": prompt, "n": sentences[prompt]}, of_prompt)
        averaged = facts | {"prompt": "|".join(metrics), "n": min(sentences.values())}
        if len(metrics) > 1:
            first = next(iter(metrics.values()))
            rows += _rows(averaged, {key: np.mean([of[key] for of in metrics.values()], axis=0) for key in first})
        if set(metrics) == {"mask"} or set(AUTHORS_ORDER) <= set(metrics):
            order = [metrics.get(name) or metrics["mask"] for name in AUTHORS_ORDER]
            for gender, metric in [name for name in ((DIFFERENCE, "slope"), (BOTH, "r2")) if name in order[0]]:
                mean = average_as_authors([of[gender, metric] for of in order])
                rows += _rows(averaged, {(f"{gender}, {AUTHORS_MEAN}", metric): mean})
    return study.name_combined(pd.DataFrame(rows))


def _metrics(part: pd.DataFrame, draws: int, seed: int):
    """Return metrics of one model, prompt and variable: (gender, metric) to the value and its draws behind it."""
    tables = {
        gender: curve.pivot(index="item", columns="position", values="probability").sort_index()
        for gender, curve in part.groupby("gender", sort=False, observed=True)
    }
    # One seed for all genders, so that a draw has the same sentences in each.
    drawn = {gender: _resampled(table, draws, seed) for gender, table in tables.items()}
    metrics = {}
    for gender, y in drawn.items():
        for metric, value in fit_lines(y).items():
            metrics[gender, metric] = value if y.any() else np.full_like(value, np.nan)
        metrics[gender, "r2"] = metrics[gender, "r"] ** 2
    if "female" in drawn and "male" in drawn:
        either = drawn["female"].any() or drawn["male"].any()
        for metric, value in fit_lines(drawn["female"] - drawn["male"]).items():
            metrics[DIFFERENCE, metric] = value if either else np.full_like(value, np.nan)
        metrics[BOTH, "r2"] = (metrics["female", "r2"] + metrics["male", "r2"]) / 2
    return metrics


def _rows(facts: Mapping, metrics: Mapping[Any, np.ndarray]):
    rows = []
    for (gender, metric), values in metrics.items():
        low, high = procedures.bootstrap_interval(values[0], values[1:], facts["n"], LEVEL, -np.inf, np.inf)
        named = {"gender": gender, "metric": metric, "value": values[0], "low": low, "high": high}
        rows.append({**facts, **named, "clusters": facts["n"]})
    return rows
