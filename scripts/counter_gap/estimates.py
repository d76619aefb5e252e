"""Every metric of every system (:mod:`scripts.counter_gap.metrics`), with a bootstrap over quadruples and its tests."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data.estimate_rows import CLUSTERS, SYSTEM
from scripts.core.statistics.procedures import bootstrap_interval, holm
from scripts.core.statistics.ratios import MEASURES
from scripts.core.workflow.job import run_named
from scripts.counter_gap import metrics
from scripts.counter_gap.metrics import RATIOS, SINGLE, TESTED_METRICS, Ratios, evaluate, key, quadruple_types
from scripts.counter_gap.study import CORRECTED, FACTORS, IDENTITY

TESTS = ["p_value", "p_holm", "p_centred", "p_centred_holm"]
COLUMNS = [*IDENTITY, *FACTORS, "metric", *MEASURES, *TESTS]
"""Columns of estimates.csv. Values are shares. ``above`` and ``below`` are the sums of ratios over quadruples, or over
instances of GAP, which ``clusters`` counts (documents of a corpus). P values are those of the two variants of the
bootstrap (:func:`estimate_metrics`), each also after Holm's correction (:func:`correct_tests`)."""
EXACT_METRICS = ("acc_diff", "delta_i", "original_minus_counterfactual", "i_within_diff")
"""Those that are means over quadruples, whose p values need no draws."""
SMALLEST = 1e-200
"""Smaller tails are given as this: their factors would be below what a float can hold."""


def estimates(
    *, instances: list, predictions: list, corpus_scores: list, estimates: str, scored: list, draws: int,
    seed: int,
) -> None:  # fmt: skip
    """Estimate every metric of every system with bootstrap intervals and tests.

    ``instances`` and ``predictions`` have a file for each data set, ``corpus_scores`` one of the rule
    ``coreference_f1`` for each of ``scored`` (``model``, ``debiasing``); ``draws`` and ``seed`` are of the bootstrap.
    """
    tables = [
        estimate_set(files.read_parquet(passages), files.read_parquet(flags), draws, seed)
        for passages, flags in zip(instances, predictions, strict=True)
    ]
    tables.append(estimate_corpora([files.read_csv(path) for path in corpus_scores], scored))
    files.write_csv(estimates, correct_tests(pd.concat([table for table in tables if len(table)], ignore_index=True)))


def estimate_set(instances: pd.DataFrame, predictions: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return the estimates of one data set (:data:`COLUMNS` without corrected p values).

    Instances of a quadruple follow each other, in the order of ``passages.ROLES``; or they are single ones. Each system
    has predictions on all of them in their order.
    """
    masculine = (instances.gender == "M").to_numpy()
    right = {system: rows.to_numpy() for system, rows in predictions.groupby(IDENTITY, sort=False).correct}
    in_quadruples = instances.role.nunique() > 1
    types = [
        quadruple_types(rows.reshape(-1, 4), masculine.reshape(-1, 4)[:, 0]) if in_quadruples else 2 * masculine + rows
        for rows in right.values()
    ]
    # All systems and metrics have the same samples, so that they stay comparable.
    weights = resample(len(types[0]), draws, seed)
    table = estimate_metrics(types, weights, RATIOS if in_quadruples else SINGLE)
    systems = pd.DataFrame(list(right), columns=IDENTITY)
    return systems.join(table.set_index("system"), how="right").reset_index(drop=True)


def estimate_corpora(scores: Sequence[pd.DataFrame], systems: Sequence[dict]) -> pd.DataFrame:
    """Return the CoNLL F1 of systems on an annotated corpus, without singletons, from the rule ``coreference_f1``."""
    renamed = {"corpus": "templates", "f1": "value", "ci_low": "low", "ci_high": "high", "documents": "clusters"}
    shared = {"kind": SYSTEM, "scoring": CLUSTERS, "reading": CORRECTED, "metric": "conll_f1"} | dict.fromkeys(
        FACTORS, ""
    )
    rows = [
        table[table.metric == "conll"].rename(columns=renamed).assign(**facts, **shared)
        for table, facts in zip(scores, systems, strict=True)
    ]
    return pd.concat(rows).reindex(columns=COLUMNS) if rows else pd.DataFrame(columns=COLUMNS)


def resample(n: int, draws: int, seed: int) -> np.ndarray:
    """Return how often each of ``n`` quadruples is in each bootstrap sample of size ``n``. Shape (draws, n)."""
    generator = np.random.default_rng(seed)
    weights = np.empty((draws, n), dtype=np.float32)
    # Drawing positions and counting them is faster than a multinomial of many categories; in blocks, to save memory.
    for start in range(0, draws, 1000):
        block = weights[start : start + 1000]
        cells = generator.integers(0, n, size=(len(block), n)) + np.arange(len(block))[:, None] * n
        block[:] = np.bincount(cells.ravel(), minlength=len(block) * n).reshape(len(block), n)
    return weights


def exact_p(counts: np.ndarray, metric: str, sign: float) -> tuple[float, ...]:
    """Return the bootstrap's two p values without drawing: those of all possible samples.

    A metric that is a mean takes few values on one quadruple, multiples of a quarter, so the distribution of its sum
    over ``n`` drawn quadruples is their distribution convolved ``n`` times. Draws would only approach this, and near
    the level their error decides what is significant. The convolutions add and multiply chances that are not
    negative, so the tails are exact to the rounding of each chance, however small they are.

    Args:
        counts: How often each type occurs, shape (32,).
        sign: 1 if the alternative is a positive value, -1 for a negative one.

    Returns:
        The percentile and the centred p value (:func:`estimate_metrics`). Neither is below the chance of a single
        sample, 1 / n^n, which stands for zero, nor below :data:`SMALLEST`.
    """
    counts = np.asarray(counts, dtype=float)
    quarters = np.rint(4 * sign * RATIOS[key(metric)][0]).astype(int)
    steps = quarters // np.gcd.reduce(quarters)
    lowest, n = min(steps.min(), 0), int(counts.sum())
    sums = convolve(np.bincount(steps - lowest, weights=counts / n, minlength=1 - lowest), n)
    observed = int(np.rint(counts @ steps))
    floor = max(SMALLEST, float(n) ** -n if n < 100 else 0.0)
    return tuple(
        float(np.clip(tail.sum(), floor, 1))
        for tail in (sums[: 1 - n * lowest], sums[max(0, 2 * observed - n * lowest) :])
    )


def convolve(chances: np.ndarray, n: int) -> np.ndarray:
    """Return the distribution of the sum of ``n`` draws from 0, 1, ... with these chances."""
    total, power = np.ones(1), chances
    while n:
        if n & 1:
            total = np.convolve(total, power)
        n >>= 1
        if n:
            power = np.convolve(power, power)
            # Numbers near the smallest that a float can hold are inexact, and slow.
            power[power < SMALLEST**1.2] = 0
    return total


def estimate_metrics(types: Sequence[np.ndarray] | np.ndarray, weights: np.ndarray, ratios: Ratios) -> pd.DataFrame:
    """Return metrics of several systems on the same quadruples or instances, with intervals and p values.

    Args:
        types: Shape (systems, quadruples).
        weights: Of :func:`resample`, shape (draws, quadruples).

    Returns:
        ``system`` (index into ``types``), factors, ``metric``, measures, ``p_value`` and ``p_centred`` (one-sided;
        missing for metrics that are not tested). Graham et al. (2014) can be read in two ways. ``p_value`` is the
        percentile variant: the share of samples in which the metric is not on the side of the alternative.
        ``p_centred`` shifts the samples by the observed value, so that they follow the null hypothesis, and is the
        share of them that reach it. Both are of all possible samples for :data:`EXACT_METRICS` (:func:`exact_p`),
        otherwise of those drawn, the data being one of them.
    """
    types = np.asarray(types)
    systems, n = types.shape
    n_types = len(next(iter(ratios.values()))[0])
    onehot = (types[:, :, None] == np.arange(n_types)).astype(np.float32)
    counts = onehot.sum(1)
    drawn = weights @ onehot.transpose(1, 0, 2).reshape(n, systems * n_types)
    observed, (above, below) = evaluate(counts, ratios), metrics.sum_ratios(counts, ratios)
    places = {of: place for place, of in enumerate(ratios)}
    rows = []
    for of, samples in evaluate(drawn.reshape(len(weights), systems, n_types), ratios).items():
        value, metric = observed[of], of[0]
        least = -1.0 if metric in TESTED_METRICS else 0.0
        sign = np.ones(systems) if metric == "delta_i" else np.where(value < 0, -1.0, 1.0)
        p = np.full((systems, 2), np.nan)
        if metric in EXACT_METRICS and of in ratios:
            p = np.array([exact_p(counts[system], metric, sign[system]) for system in range(systems)])
        elif metric in TESTED_METRICS:
            p = np.where(np.isfinite(value), drawn_p(samples, value, sign), np.nan).T
        for system in range(systems):
            ends = bootstrap_interval(value[system], samples[:, system], n, least=least)
            ratio = [part[system, places[of]] for part in (above, below)] if of in places else [np.nan, np.nan]
            clusters = ratio[1] if of in places else n
            rows.append((system, *of[1:], metric, value[system], *ends, *ratio, clusters, *p[system]))
    return pd.DataFrame(rows, columns=["system", *FACTORS, "metric", *MEASURES, "p_value", "p_centred"])


def drawn_p(samples: np.ndarray, value: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """Return the percentile and the centred p values of drawn samples, the data counted as one of them.

    Args:
        samples: Shape (draws, systems). A sample in which the metric is undefined speaks against the alternative.
        value, sign: Shape (systems,). The observed metric, and 1 or -1, the side of the alternative.

    Returns:
        Shape (2, systems).
    """
    against = ~(samples * sign > 0)
    # A difference of shares may fall short of an equal one by a rounding of the last bit.
    reached = ~(samples * sign < 2 * value * sign - 1e-9)
    return np.array([(1 + part.sum(0)) / (1 + len(samples)) for part in (against, reached)])


def correct_tests(table: pd.DataFrame) -> pd.DataFrame:
    """Return estimates with p values after Holm's correction (``p_holm``, ``p_centred_holm``).

    It is over all systems and debiasing methods with the same data, way of scoring and reading, metric and factors.
    """
    families = table.dropna(subset="p_value").groupby(["templates", "scoring", "reading", "metric", *FACTORS])
    corrected = {f"{p.removesuffix('_value')}_holm": families[p].transform(holm) for p in ("p_value", "p_centred")}
    return table.assign(**corrected)[COLUMNS]


if __name__ == "__main__":
    run_named()
