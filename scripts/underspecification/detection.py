"""Method 2: the task specification metric and how well it detects underspecified sentences (Section 5).

The metric of a sentence is the absolute difference, in percentage points, between the normalised probability of one
gender at the latest and at the earliest date; a sentence counts as unspecified if it is above a threshold. Detecting an
unspecified sentence is a positive. Everything here is computed for one gender at a time, so that it does not depend on
the order in which files are read.
"""

from typing import Any

import numpy as np
import pandas as pd
import scipy

from scripts.core.statistics import procedures
from scripts.underspecification import releases, study
from scripts.underspecification.correlation import LEVEL

KEYS = [*study.IDENTITY, "label", "prompt", "evaluation_set", "templates", "accumulation"]
SENTENCE = ["item", "occupation", "participant", "coreferent", "well_specified"]
OF_BOTH = "female of both"
"""Not a gender: the female probability as a share of the female and the male one, as in Table 2."""
METRIC = "task specification metric"
METRIC_OF_BOTH = f"{METRIC}, {OF_BOTH}"
LEVELS = {"first": "r of the first level and the change", "middle": "r of the middle level and the change"}
"""Levels that the change between the outer dates is correlated with, at the first date and half way to the last, to the
metric that says how."""
FIXED, CROSS_VALIDATED = "fixed", "cross-validated"
"""Choices of the threshold: that of the settings, or one for each occupation that is best on other occupations."""


def specification_metric(probabilities: pd.DataFrame) -> pd.DataFrame:
    """Return the metric of every sentence, from one, two and more dates at either end, in percentage points.

    Args:
        probabilities: Rows of Winogender and of the simplified set.

    Returns:
        :data:`KEYS`, :data:`SENTENCE`, ``gender``, ``dates`` (how many at either end are averaged), ``first`` (the
        probability at the first dates, percent), ``change`` (to the last ones), ``metric`` (:data:`METRIC`, or
        :data:`METRIC_OF_BOTH` without a gender), ``value`` (the absolute change), ``low`` and ``high`` (between which
        it was before a release rounded the probabilities), ``undefined`` (at some of these dates no gender has any
        mass).
    """
    frames = []
    for key, of_set in probabilities.groupby(KEYS, sort=False, observed=True):
        tables = {
            gender: part.pivot(index="item", columns="position", values="probability")
            for gender, part in of_set.groupby("gender", sort=False, observed=True)
        }
        genders = [g for g in tables if g != "neo"]
        total: Any = sum(tables[g].to_numpy() for g in genders)
        sentences = of_set.drop_duplicates("item").set_index("item").loc[tables[genders[0]].index].reset_index()
        values = {gender: table.to_numpy() for gender, table in tables.items()}
        half = releases.ROUNDING / 2 if key[0] in study.RELEASES else 0.0
        ends: dict[Any, tuple[np.ndarray, ...]] = {
            gender: (np.maximum(v - half, 0), np.minimum(v + half, 1)) for gender, v in values.items()
        }
        values[OF_BOTH] = female_share_of_both(values["female"], values["male"])
        ends[OF_BOTH] = tuple(female_share_of_both(ends["female"][i], ends["male"][1 - i]) for i in (0, 1))
        for count in range(1, total.shape[1] // 2 + 1):
            empty = (total[:, :count] == 0).any(1) | (total[:, -count:] == 0).any(1)
            for gender, value in values.items():
                moved = change_between_dates(value[:, :count], value[:, -count:])
                low, high = ends[gender]
                least, most = (change_between_dates(a[:, :count], b[:, -count:]) for a, b in ((high, low), (low, high)))
                frame = sentences[SENTENCE].assign(
                    gender=gender,
                    dates=count,
                    metric=METRIC,
                    first=100 * value[:, :count].mean(axis=1),
                    change=moved,
                    value=np.abs(moved),
                    low=np.maximum.reduce([least, -most, np.zeros_like(least)]),
                    high=np.maximum(np.abs(least), np.abs(most)),
                    undefined=empty,
                )
                named: dict[str, Any] = dict(zip(KEYS, key, strict=True))
                frames.append(frame.assign(**named))
    columns = ["gender", "dates", "metric", "first", "change", "value", "low", "high", "undefined"]
    return study.name_combined(pd.concat(frames, ignore_index=True)[[*KEYS, *SENTENCE, *columns]])


def change_between_dates(first: np.ndarray, last: np.ndarray) -> np.ndarray | np.float64:
    """Return by how many points probabilities (sentences, dates) change from the first to the last dates.

    Released probabilities are rounded to 0.1 points, so that the metric is often exactly the threshold of 0.5. Rounding
    to a billionth keeps such a metric from being above it by the error of a subtraction.
    """
    return np.round(100 * (last.mean(axis=-1) - first.mean(axis=-1)), 9)


def female_share_of_both(female: np.ndarray, male: np.ndarray) -> np.ndarray:
    """Return the female part of the female and male probability; 0 where there is none of both."""
    both = female + male
    return np.divide(female, both, out=np.zeros_like(both), where=both > 0)


class Detection:
    """Detection on one set: ``value`` of the sentences of each ``occupation``, some of them ``well_specified``.

    ``weights`` say how often each occupation is drawn (draws, occupations); without them it is once.
    """

    def __init__(self, metric: pd.DataFrame):
        self.occupations = sorted(metric.occupation.unique())
        codes = pd.Categorical(metric.occupation, categories=self.occupations).codes
        positive = ~metric.well_specified.to_numpy(dtype=bool)
        scores = metric.value.to_numpy()
        self.positives = (codes[positive], scores[positive])
        self.negatives = (codes[~positive], scores[~positive])

    def _per_occupation(self, codes: np.ndarray, hits: np.ndarray):
        return np.bincount(codes, weights=hits, minlength=len(self.occupations))

    def rates(self, threshold: float, weights: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Return TPR, TNR and balanced accuracy; above the threshold a sentence counts as unspecified."""
        weights = np.ones((1, len(self.occupations))) if weights is None else weights
        parts = {}
        for name, (codes, scores), detected in (("TPR", self.positives, True), ("TNR", self.negatives, False)):
            hits = self._per_occupation(codes, (scores > threshold) == detected)
            sizes = self._per_occupation(codes, np.ones(len(codes)))
            parts[name] = weights @ hits / (weights @ sizes)
        return {**parts, "balanced accuracy": (parts["TPR"] + parts["TNR"]) / 2}

    def auc(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return the area under the ROC curve: how often a positive is above a negative, ties counting half."""
        size = len(self.occupations)
        codes_p, scores_p = self.positives
        codes_n, scores_n = self.negatives
        wins = (scores_p[:, None] > scores_n) + 0.5 * (scores_p[:, None] == scores_n)
        table = np.zeros((size, size))
        np.add.at(table, (codes_p[:, None], codes_n[None, :]), wins)
        n_p = self._per_occupation(codes_p, np.ones(len(codes_p)))
        n_n = self._per_occupation(codes_n, np.ones(len(codes_n)))
        weights = np.ones((1, size)) if weights is None else weights
        return ((weights @ table) * weights).sum(axis=1) / ((weights @ n_p) * (weights @ n_n))

    def folds(self, folds: int, seed: int) -> np.ndarray:
        """Return the fold of each occupation."""
        size = len(self.occupations)
        fold = np.empty(size, dtype=int)
        fold[np.random.default_rng(seed).permutation(size)] = np.arange(size) % min(folds, size)
        return fold

    def cross_validated(self, folds: int, seed: int, weights: np.ndarray) -> dict[str, np.ndarray]:
        """Return TPR, TNR and balanced accuracy where every draw of occupations chooses its thresholds anew.

        Each occupation's threshold is chosen on those of the other folds. An occupation stays in its fold, so that no
        copy of it helps to choose its threshold.

        Returns:
            These rates, and ``threshold``, the mean over occupations. NaN for a draw whose occupations lie in one fold,
            which leaves none to choose a threshold on, and for one without positives or negatives. Shape (draws,).
        """
        weights = weights.astype(float)
        fold = self.folds(folds, seed)
        scores = np.unique(np.concatenate([[0.0], self.positives[1], self.negatives[1]]))
        # Of each occupation: how many of its sentences have a score up to each of the scores.
        below = {}
        for name, (codes, values) in (("P", self.positives), ("N", self.negatives)):
            table = np.zeros((len(self.occupations), len(scores)))
            np.add.at(table, (codes, np.searchsorted(scores, values)), 1)
            below[name] = np.cumsum(table, axis=1)
        drawn = {name: weights @ table for name, table in below.items()}
        hits = {name: np.zeros(len(weights)) for name in ("TPR", "TNR", "threshold")}
        for k in range(fold.max() + 1):
            held, held_below = weights[:, fold == k], {name: table[fold == k] for name, table in below.items()}
            limits = _best_limits(scores, *(drawn[name] - held @ held_below[name] for name in ("P", "N")))
            # Held-out sentences up to the limit.
            place = np.searchsorted(scores, limits, side="right") - 1
            up_to = {name: (held * table[:, place].T).sum(axis=1) for name, table in held_below.items()}
            right = {"TPR": held @ held_below["P"][:, -1] - up_to["P"], "TNR": up_to["N"]}
            for name, sentences in (right | {"threshold": limits * held.sum(axis=1)}).items():
                # Nothing is asked of a fold of which no occupation was drawn.
                hits[name] += np.where(held.any(axis=1), np.where(np.isnan(limits), np.nan, sentences), 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            rates = {"TPR": hits["TPR"] / drawn["P"][:, -1], "TNR": hits["TNR"] / drawn["N"][:, -1]}
        threshold = hits["threshold"] / weights.sum(axis=1)
        return {**rates, "balanced accuracy": (rates["TPR"] + rates["TNR"]) / 2, "threshold": threshold}


def _best_limits(scores: np.ndarray, positives: np.ndarray, negatives: np.ndarray) -> np.ndarray:
    """Return for each draw the threshold of the highest balanced accuracy.

    Of several such thresholds the middle one; between two neighbouring scores, half way. No metric is below zero, and
    no threshold either: zero counts as a score.

    Args:
        scores: In ascending order, the first one zero. Shape (scores,).
        positives, negatives: How many positives and negatives of the draw have a score up to each. Shape (draws,
            scores).

    Returns:
        NaN for a draw without positives or negatives. Shape (draws,).
    """
    rows = np.arange(len(positives))
    both = positives + negatives
    total = both[:, -1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        gain = 1 - positives / positives[:, -1:] + negatives / negatives[:, -1:]
    # A limit follows zero and each score that the draw has, but not its last one.
    used = np.ones(both.shape, dtype=bool)
    np.greater(both[:, 1:], both[:, :-1], out=used[:, 1:])
    gain[~used | (both == total)] = -np.inf
    best = gain >= gain.max(axis=1, keepdims=True) - 1e-12
    wanted = (best.sum(axis=1) - 1) // 2 + 1
    place = np.argmax(np.cumsum(best, axis=1, dtype=np.int32) == wanted[:, None], axis=1)
    # The draw's next score is the first that more of its sentences do not exceed.
    following = np.argmax(both > both[rows, place][:, None], axis=1)
    limits = np.where(both[:, 0] == total[:, 0], 0.0, (scores[place] + scores[following]) / 2)
    return np.where((positives[:, -1] > 0) & (negatives[:, -1] > 0), limits, np.nan)


def evaluate_detection(metrics: pd.DataFrame, folds: int, draws: int, seed: int, threshold: float) -> pd.DataFrame:
    """Return how well the metric (:func:`specification_metric`) detects underspecified sentences.

    Intervals resample occupations, and cross-validated thresholds are chosen anew on every draw. The seed also deals
    occupations into folds.

    Returns:
        Estimates: ``metric`` is TPR, TNR or balanced accuracy and the ``threshold`` (percentage points; the mean of
        cross-validated ones) by its ``choice``, and AUC and undefined (a share of sentences) without one.
    """
    rows = []
    keys = [*KEYS, "gender", "dates", "metric"]
    for key, sentences in metrics.groupby(keys, sort=False, observed=True):
        detection = Detection(sentences)
        size = len(detection.occupations)
        facts = dict(zip(keys, key, strict=True)) | {"n": len(sentences), "clusters": size}
        combined = str(facts["metric"]).removeprefix(METRIC)
        weights = procedures.cluster_weights(size, draws, seed)
        whole = np.ones((1, size))
        chosen = {FIXED: (detection.rates(threshold), detection.rates(threshold, weights))}
        if size > 1:
            samples = detection.cross_validated(folds, seed, weights)
            chosen[CROSS_VALIDATED] = detection.cross_validated(folds, seed, whole), samples
        chosen[""] = {"AUC": detection.auc()}, {"AUC": detection.auc(weights)}
        for choice, (values, samples) in chosen.items():
            for metric, value in values.items():
                ends = np.nan, np.nan
                if metric != "threshold":
                    ends = procedures.bootstrap_interval(float(value[0]), samples[metric], size, LEVEL, least=0.0)
                measured = {"choice": choice, "metric": metric + combined, "value": float(value[0])}
                rows.append(facts | measured | dict(zip(("low", "high"), ends, strict=True)))
        known = {"undefined": ("", sentences.undefined.mean()), "threshold": (FIXED, threshold)}
        for name, (choice, value) in known.items():
            rows.append(facts | {"choice": choice, "metric": name + combined, "value": float(value)})
    table = pd.DataFrame(rows)
    guessed = table.metric.isin(["AUC", "balanced accuracy"])
    return table.assign(chance=np.where(guessed, 0.5, np.nan))


def correlate_level_and_change(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return how the female probability's change between the outer dates goes with its level, over occupations.

    The change is the last level minus the first one, so that noise in the first level alone makes the two go against
    each other; the level half way between both has no such part in the change (Oldham 1962).

    Returns:
        Estimates: Pearson's r of the means over the unspecified sentences of each occupation, by :data:`LEVELS`, with
        an interval by Fisher's transformation. It is NaN where one of both is constant or there are fewer than four
        occupations.
    """
    unspecified = metrics[
        (metrics.evaluation_set == "winogender")
        & (metrics.gender == "female")
        & (metrics.dates == 1)
        & ~metrics.well_specified.astype(bool)
    ]
    rows = []
    for key, part in unspecified.groupby(KEYS, sort=False, observed=True):
        means = part.groupby("occupation")[["first", "change"]].mean()
        facts = dict(zip(KEYS, key, strict=True)) | {"gender": "female", "dates": 1, "n": len(part)}
        for name, metric in LEVELS.items():
            level = means["first"] + (means.change / 2 if name == "middle" else 0)
            r, low, high = np.nan, np.nan, np.nan
            if len(means) > 3 and np.ptp(level) > 1e-9 and np.ptp(means.change) > 1e-9:
                correlation = scipy.stats.pearsonr(level, means.change)
                r, (low, high) = float(correlation.statistic), correlation.confidence_interval(LEVEL)
            rows.append(facts | {"metric": metric, "value": r, "low": low, "high": high, "clusters": len(means)})
    return pd.DataFrame(rows)
