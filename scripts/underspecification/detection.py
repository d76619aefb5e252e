"""Method 2: the task specification metric and how well it detects underspecified sentences (Section 5).

The metric of a sentence is the absolute difference, in percentage points, between the normalised probability of one
gender at the latest and at the earliest date; a sentence counts as unspecified if it is above a threshold. Detecting an
unspecified sentence is a positive. Everything here is computed for one gender at a time, so that it does not depend on
the order in which files are read; :mod:`scripts.underspecification.overwriting` is about what the authors' code did.
"""

import numpy as np
import pandas as pd

from scripts.underspecification.correlation import interval

KEYS = ["release", "model", "prompt", "evaluation_set", "templates", "accumulation"]
SENTENCE = ["item", "occupation", "participant", "coreferent", "well_specified"]
OF_BOTH = "female of both"
"""Not a gender: the female probability as a share of the female and the male one, as in Table 2."""
THRESHOLD = 0.5


def specification_metric(masses):
    """Return the metric of every sentence, from one, two and more dates at either end.

    Parameters
    ----------
    masses : DataFrame
        Rows of Winogender and of the simplified set in the format of :mod:`scripts.underspecification.raw_files`,
        without debris.

    Returns
    -------
    DataFrame
        :data:`KEYS`, :data:`SENTENCE`, ``gender``, ``dates`` (how many at either end are averaged), ``level`` (the
        probability at the first dates, percent), ``change`` (to the last ones, percentage points), ``metric`` (its
        absolute value), ``undefined`` (at some of these dates no gender has any mass).
    """
    frames = []
    for key, own in masses.groupby(KEYS, sort=False, observed=True):
        tables = {
            gender: part.pivot(index="item", columns="position", values="probability")
            for gender, part in own.groupby("gender", sort=False, observed=True)
        }
        genders = [g for g in tables if g != "neo"]
        total = sum(tables[g].to_numpy() for g in genders)
        sentences = own.drop_duplicates("item").set_index("item").loc[tables[genders[0]].index].reset_index()
        values = {gender: table.to_numpy() for gender, table in tables.items()}
        values[OF_BOTH] = of_both(values["female"], values["male"])
        for count in range(1, total.shape[1] // 2 + 1):
            empty = (total[:, :count] == 0).any(1) | (total[:, -count:] == 0).any(1)
            for gender, value in values.items():
                moved = change(value[:, :count], value[:, -count:])
                frame = sentences[SENTENCE].assign(
                    gender=gender,
                    dates=count,
                    level=100 * value[:, :count].mean(axis=1),
                    change=moved,
                    metric=np.abs(moved),
                    undefined=empty,
                )
                frames.append(frame.assign(**dict(zip(KEYS, key, strict=True))))
    found = pd.concat(frames, ignore_index=True)
    return found[[*KEYS, *SENTENCE, "gender", "dates", "level", "change", "metric", "undefined"]]


def change(first, last):
    """Return by how many points probabilities (sentences, dates) change from the first to the last dates.

    Released probabilities are rounded to 0.1 points, so that the metric is often exactly the threshold of 0.5. Rounding
    to a billionth keeps such a metric from being above it by the error of a subtraction.
    """
    return np.round(100 * (last.mean(axis=-1) - first.mean(axis=-1)), 9)


def of_both(female, male):
    """Return the female part of the female and male probability; 0 where there is none of both."""
    both = female + male
    return np.divide(female, both, out=np.zeros_like(both), where=both > 0)


class Detection:
    """Detection on one set: scores of the sentences of each occupation.

    Parameters
    ----------
    metric : DataFrame
        ``occupation``, ``well_specified``, ``metric`` of each sentence.
    """

    def __init__(self, metric):
        self.occupations = sorted(metric.occupation.unique())
        codes = pd.Categorical(metric.occupation, categories=self.occupations).codes
        positive = ~metric.well_specified.to_numpy(dtype=bool)
        scores = metric.metric.to_numpy()
        self.positives = (codes[positive], scores[positive])
        self.negatives = (codes[~positive], scores[~positive])

    def _per_occupation(self, codes, hits):
        return np.bincount(codes, weights=hits, minlength=len(self.occupations))

    def rates(self, threshold, weights=None):
        """Return TPR, TNR and balanced accuracy.

        Parameters
        ----------
        threshold : float, or ndarray with one for each occupation
            Above it a sentence counts as unspecified.
        weights : ndarray, shape (draws, occupations), optional
            How often each occupation is drawn.
        """
        limits = np.broadcast_to(np.asarray(threshold, dtype=float), len(self.occupations))
        weights = np.ones((1, len(self.occupations))) if weights is None else weights
        parts = {}
        for name, (codes, scores), detected in (("TPR", self.positives, True), ("TNR", self.negatives, False)):
            hits = self._per_occupation(codes, (scores > limits[codes]) == detected)
            sizes = self._per_occupation(codes, np.ones(len(codes)))
            parts[name] = weights @ hits / (weights @ sizes)
        return {**parts, "balanced accuracy": (parts["TPR"] + parts["TNR"]) / 2}

    def auc(self, weights=None):
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

    def roc(self):
        """Return the ROC curve: ``threshold``, ``FPR`` and ``TPR``, from the highest threshold to none."""
        limits = np.unique(np.concatenate([self.positives[1], self.negatives[1]]))[::-1]
        limits = np.append(limits, -np.inf)
        tpr = [(self.positives[1] > limit).mean() for limit in limits]
        fpr = [(self.negatives[1] > limit).mean() for limit in limits]
        return pd.DataFrame({"threshold": limits, "FPR": fpr, "TPR": tpr})

    def best_threshold(self, chosen):
        """Return the threshold of the highest balanced accuracy on the occupations ``chosen`` (bool for each).

        Of several such thresholds the middle one; between two neighbouring scores, half way.
        """
        positives = np.sort(self.positives[1][chosen[self.positives[0]]])
        negatives = np.sort(self.negatives[1][chosen[self.negatives[0]]])
        scores = np.unique(np.concatenate([positives, negatives]))
        limits = np.concatenate([[scores[0] - 1], (scores[:-1] + scores[1:]) / 2])
        tpr = 1 - np.searchsorted(positives, limits, side="right") / len(positives)
        tnr = np.searchsorted(negatives, limits, side="right") / len(negatives)
        best = np.flatnonzero(np.isclose(tpr + tnr, (tpr + tnr).max(), rtol=0, atol=1e-12))
        return float(limits[best[(len(best) - 1) // 2]])

    def cross_validated(self, folds, seed):
        """Return each occupation's threshold, chosen on the occupations of the other folds."""
        size = len(self.occupations)
        order = np.random.default_rng(seed).permutation(size)
        fold = np.empty(size, dtype=int)
        fold[order] = np.arange(size) % min(folds, size)
        return np.array([self.best_threshold(fold != fold[i]) for i in range(size)])


def evaluate(metrics, folds, draws, seed, threshold=THRESHOLD):
    """Return how well the metric detects underspecified sentences.

    Parameters
    ----------
    metrics : DataFrame
        From :func:`specification_metric`.
    folds : int
        Of the cross-validation of the threshold, over occupations.
    draws, seed : int
        Intervals resample occupations; the seed also deals occupations into folds.
    threshold : float
        The study's, in percentage points.

    Returns
    -------
    DataFrame
        :data:`KEYS`, ``gender``, ``dates``, ``choice`` (``fixed`` for the study's threshold, ``cross-validated``, or
        ``none``), ``threshold`` (the mean of the cross-validated ones), ``metric`` (TPR, TNR,
        balanced accuracy, AUC, undefined), ``value``, ``ci_low``, ``ci_high``, ``sentences``.
    """
    rows = []
    for key, own in metrics.groupby([*KEYS, "gender", "dates"], sort=False, observed=True):
        detection = Detection(own)
        size = len(detection.occupations)
        weights = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=draws)
        facts = {**dict(zip([*KEYS, "gender", "dates"], key, strict=True)), "sentences": len(own)}
        limits = {"fixed": threshold}
        if size > 1:
            limits["cross-validated"] = detection.cross_validated(folds, seed)
        for choice, limit in limits.items():
            drawn = detection.rates(limit, weights)
            for name, value in detection.rates(limit).items():
                low, high = interval(drawn[name])
                rows.append(
                    {**facts, "choice": choice, "threshold": float(np.mean(limit)), "metric": name,
                     "value": float(value[0]), "ci_low": low, "ci_high": high}
                )  # fmt: skip
        low, high = interval(detection.auc(weights))
        rows.append({**facts, "metric": "AUC", "value": float(detection.auc()[0]), "ci_low": low, "ci_high": high})
        rows.append({**facts, "metric": "undefined", "value": float(own.undefined.mean())})
    columns = [*KEYS, "gender", "dates", "choice", "threshold", "metric", "value", "ci_low", "ci_high", "sentences"]
    return pd.DataFrame(rows).reindex(columns=columns).fillna({"choice": "none"})


def roc_curves(metrics):
    """Return the ROC curves with one date at either end: :data:`KEYS`, ``gender``, ``threshold``, ``FPR``, ``TPR``."""
    frames = []
    own = metrics[(metrics.dates == 1) & (metrics.gender != OF_BOTH)]
    for key, part in own.groupby([*KEYS, "gender"], sort=False, observed=True):
        frames.append(Detection(part).roc().assign(**dict(zip([*KEYS, "gender"], key, strict=True))))
    return pd.concat(frames, ignore_index=True)[[*KEYS, "gender", "threshold", "FPR", "TPR"]]
