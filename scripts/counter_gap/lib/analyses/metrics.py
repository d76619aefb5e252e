"""The study's metrics, and what explains them, from counts of quadruple types; bootstrap over quadruples; tidy tables.

Whether each of a quadruple's four instances is right, and its original gender, make 32 types. Every metric is a
function of how often each type occurs (:func:`evaluate`), so one function serves the data and all bootstrap draws at
once. With *m* and *f*, the numbers of right masculine and feminine instances (0 to 2) of a quadruple,

- a quadruple leans by (m - f) / 2, and Acc_Diff is the mean of this: leanings in opposite directions cancel;
- I_across - I_within of a quadruple is 1 if m and f are 2 and 0, -1/2 if both are 1, and 0 otherwise. So Delta I is
  the share of quadruples that gender splits cleanly, minus half the share in which one instance of each gender is
  right. If the four outcomes are independent given the passage, with chances p and q, its expectation is (p - q)²:
  Delta I estimates a mean squared gap, which has no sign that could cancel.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from scripts.core.statistics.procedures import bootstrap_interval, holm

KEYS = ["data", "scoring", "system", "debiasing"]
"""What tells systems apart: the data set, one of ``study.SCORING``, label and debiasing method."""
COLUMNS = [*KEYS, "subset", "metric", "group", "value", "ci_low", "ci_high", "p_value", "p_centred"]
"""Columns of metrics.csv. Values are shares; the p values are those of the two variants of the bootstrap
(:func:`bootstrap`)."""
N_TYPES = 32
# Right or wrong for original, control, swap-1, swap-2 and the original gender (1: masculine) of each type.
_RIGHT = (np.arange(N_TYPES)[:, None] >> np.arange(4)) & 1
_MASCULINE = np.arange(N_TYPES) >> 4
_ONE = np.ones(N_TYPES)
_ORIGINAL, _COUNTERFACTUAL = _RIGHT[:, :2].sum(1), _RIGHT[:, 2:].sum(1)
# How many masculine and feminine instances of a type are right.
_M = np.where(_MASCULINE, _ORIGINAL, _COUNTERFACTUAL)
_F = np.where(_MASCULINE, _COUNTERFACTUAL, _ORIGINAL)

TESTED_METRICS = (
    "acc_diff",
    "delta_i",
    "original_minus_counterfactual",
    "i_within_diff",
    "i_across_diff",
    "spearman_rho",
)
"""Metrics with a p value. The alternative is Delta I > 0; for the others the sign that was observed."""
EXACT_METRICS = ("acc_diff", "delta_i", "original_minus_counterfactual", "i_within_diff")
"""Those that are means over quadruples, whose p values need no draws."""
SMALLEST = 1e-200
"""Smaller tails are given as this: their factors would be below what a float can hold."""


def quadruple_types(right: np.ndarray, masculine: np.ndarray) -> np.ndarray:
    """Return each quadruple's type.

    Args:
        right: Bool, shape (quadruples, 4), in the order of ``instances.ROLES``.
        masculine: Bool, shape (quadruples,). Is the original instance masculine?

    Returns:
        Int, shape (quadruples,).
    """
    return np.asarray(right, dtype=int) @ (1, 2, 4, 8) + 16 * np.asarray(masculine, dtype=int)


def _ratios():
    """Return each metric that is a mean over quadruples: its value for each type, and the types it is a mean over."""
    original, counterfactual, m, f = _ORIGINAL, _COUNTERFACTUAL, _M, _F
    across = (m * (2 - f) + (2 - m) * f) / 4
    within_m, within_f = (m == 1) * 1.0, (f == 1) * 1.0
    lean = (m - f) / 2
    return {
        ("accuracy", "all"): ((m + f) / 4, _ONE),
        ("accuracy", "M"): (m / 2, _ONE),
        ("accuracy", "F"): (f / 2, _ONE),
        ("accuracy", "original"): (original / 2, _ONE),
        ("accuracy", "counterfactual"): (counterfactual / 2, _ONE),
        ("acc_diff", "all"): (lean, _ONE),
        ("original_minus_counterfactual", "all"): ((original - counterfactual) / 2, _ONE),
        ("i_within", "M"): (within_m, _ONE),
        ("i_within", "F"): (within_f, _ONE),
        ("i_within", "all"): ((within_m + within_f) / 2, _ONE),
        ("i_within_diff", "all"): (within_m - within_f, _ONE),
        ("i_across", "M2F"): (across * _MASCULINE, _MASCULINE),
        ("i_across", "F2M"): (across * (1 - _MASCULINE), 1 - _MASCULINE),
        ("i_across", "all"): (across, _ONE),
        ("delta_i", "all"): (across - (within_m + within_f) / 2, _ONE),
        ("lean", "M"): (np.maximum(lean, 0), _ONE),
        ("lean", "F"): (np.maximum(-lean, 0), _ONE),
        ("lean", "all"): (np.abs(lean), _ONE),
        ("split", "M"): ((lean == 1) * 1.0, _ONE),
        ("split", "F"): ((lean == -1) * 1.0, _ONE),
        ("one_each", "all"): (within_m * within_f, _ONE),
    }


_RATIOS = _ratios()


def _accuracies(right: Sequence[int] | np.ndarray, masculine: Sequence[int] | np.ndarray):
    """Return the accuracies of single instances as :func:`_ratios` does, from what is right and masculine by type."""
    right, masculine = np.asarray(right), np.asarray(masculine)
    return {
        ("accuracy", "all"): (right, np.ones(len(right))),
        ("accuracy", "M"): (right * masculine, masculine),
        ("accuracy", "F"): (right * (1 - masculine), 1 - masculine),
    }


_ORIGINALS = _accuracies(_RIGHT[:, 0], _MASCULINE)
_SINGLE = _accuracies((0, 1, 0, 1), (0, 0, 1, 1))
# The inconsistency across genders of each type, in quarters: 0, 2 or 4.
_ACROSS = np.rint(4 * _RATIOS["i_across", "all"][0]).astype(int)


def _means(counts: np.ndarray, ratios: Mapping[tuple[str, str], tuple[np.ndarray, np.ndarray]]):
    numerators, denominators = (np.array(part, dtype=float).T for part in zip(*ratios.values(), strict=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        values = (counts @ numerators) / (counts @ denominators)
    return dict(zip(ratios, np.moveaxis(values, -1, 0), strict=True))


def evaluate(counts: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """Return every metric of quadruples.

    Args:
        counts: How often each type occurs, shape (..., 32).

    Returns:
        Arrays of shape (...) by metric and group; NaN where a metric is undefined. ``lean`` is the mean leaning in one
        direction or, for all, in either; ``cancelled`` the part of the latter that is lost in Acc_Diff; ``split`` and
        ``one_each`` are the shares that make Delta I. Shares, not percent.
    """
    counts = np.asarray(counts, dtype=float)
    values = _means(counts, _RATIOS)
    values["i_across_diff", "all"] = values["i_across", "M2F"] - values["i_across", "F2M"]
    with np.errstate(invalid="ignore", divide="ignore"):
        values["cancelled", "all"] = 1 - np.abs(values["acc_diff", "all"]) / values["lean", "all"]
    values["spearman_rho", "all"] = _spearman(counts)
    return values


def evaluate_originals(counts: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """Return accuracies and their difference on the original instances alone (the study's our-GAP, Section 4.3)."""
    return _with_difference(counts, _ORIGINALS)


def evaluate_single(counts: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """Return the same for instances without quadruples, such as GAP's.

    ``counts`` has shape (..., 4): wrong feminine, right feminine, wrong masculine, right masculine.
    """
    return _with_difference(counts, _SINGLE)


def _with_difference(counts: np.ndarray, ratios: Mapping[tuple[str, str], tuple[np.ndarray, np.ndarray]]):
    values = _means(np.asarray(counts, dtype=float), ratios)
    values["acc_diff", "all"] = values["accuracy", "M"] - values["accuracy", "F"]
    return values


def _spearman(counts: np.ndarray):
    """Return Spearman's correlation of the original gender (masculine above) and the inconsistency across genders.

    With two and three values, ranks follow from counts: the mean rank of a value is the number of smaller ones plus
    the middle of its own.
    """
    levels = np.unique(_ACROSS)
    by_level = np.stack([counts[..., level == _ACROSS].sum(-1) for level in levels], -1)
    masculine = np.stack([counts[..., (level == _ACROSS) & (_MASCULINE == 1)].sum(-1) for level in levels], -1)
    n = by_level.sum(-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        ranks = np.cumsum(by_level, -1) - by_level / 2
        deviation = ranks - n / 2
        share = masculine.sum(-1) / n[..., 0]
        covariance = (masculine * deviation).sum(-1) / n[..., 0]
        variance = (by_level * deviation**2).sum(-1) / n[..., 0]
        return covariance / np.sqrt(variance * share * (1 - share))


def resample(n: int, draws: int, seed: int) -> np.ndarray:
    """Return how often each of ``n`` quadruples is in each bootstrap sample of size ``n``.

    Returns:
        Float32, shape (draws, n). One set of samples for all systems and metrics, so that they stay comparable.
    """
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
        metric: One of :data:`EXACT_METRICS`.
        sign: 1 if the alternative is a positive value, -1 for a negative one.

    Returns:
        The percentile and the centred p value (:func:`bootstrap`). Neither is below the chance of a single sample, 1 /
        n^n, which stands for zero, nor below :data:`SMALLEST`.
    """
    counts = np.asarray(counts, dtype=float)
    quarters = np.rint(4 * sign * _RATIOS[metric, "all"][0]).astype(int)
    steps = quarters // np.gcd.reduce(quarters)
    lowest, n = min(steps.min(), 0), int(counts.sum())
    sums = _convolved(np.bincount(steps - lowest, weights=counts / n, minlength=1 - lowest), n)
    observed = int(np.rint(counts @ steps))
    floor = max(SMALLEST, float(n) ** -n if n < 100 else 0.0)
    return tuple(
        float(np.clip(tail.sum(), floor, 1))
        for tail in (sums[: 1 - n * lowest], sums[max(0, 2 * observed - n * lowest) :])
    )


def _convolved(chances: np.ndarray, n: int):
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


def bootstrap(
    codes: Sequence[np.ndarray] | np.ndarray, weights: np.ndarray, functions: Callable, n_types: int = N_TYPES
) -> pd.DataFrame:
    """Return metrics of several systems on the same quadruples, with intervals and p values.

    Args:
        codes: Types, shape (systems, quadruples).
        weights: Of :func:`resample`, shape (draws, quadruples).
        functions: :func:`evaluate`, or another function of counts.
        n_types: How many types ``codes`` may have.

    Returns:
        ``system`` (index into ``codes``), ``metric``, ``group``, ``value``, ``ci_low``, ``ci_high`` (95
        percent), ``p_value`` and ``p_centred`` (one-sided; missing for metrics that are not tested). Graham
        et al. (2014) can be read in two ways. ``p_value`` is the percentile variant: the share of samples in which the
        metric is not on the side of the alternative. ``p_centred`` shifts the samples by the observed value, so that
        they follow the null hypothesis, and is the share of them that reach it. Both are of all possible samples for
        :data:`EXACT_METRICS` (:func:`exact_p`), otherwise of those drawn, the data being one of them.
    """
    codes = np.asarray(codes)
    systems = len(codes)
    onehot = (codes[:, :, None] == np.arange(n_types)).astype(np.float32)
    counts = onehot.sum(1)
    observed = functions(counts)
    columns = onehot.transpose(1, 0, 2).reshape(-1, systems * n_types)
    drawn = (weights @ columns).reshape(len(weights), systems, n_types)
    rows = []
    for (metric, group), samples in functions(drawn).items():
        value = observed[metric, group]
        least = -1.0 if metric in TESTED_METRICS else 0.0
        ends = [bootstrap_interval(v, s, codes.shape[1], least=least) for v, s in zip(value, samples.T, strict=True)]
        sign = np.ones(systems) if metric == "delta_i" else np.where(value < 0, -1.0, 1.0)
        if functions is evaluate and metric in EXACT_METRICS:
            p = np.array([exact_p(counts[i], metric, sign[i]) for i in range(systems)]).T
        else:
            p = drawn_p(samples, value, sign)
        for system in range(systems):
            tested = metric in TESTED_METRICS and np.isfinite(value[system])
            tests = p[:, system] if tested else (np.nan, np.nan)
            rows.append((system, metric, group, value[system], *ends[system], *tests))
    columns = ["system", "metric", "group", "value", "ci_low", "ci_high", "p_value", "p_centred"]
    return pd.DataFrame(rows, columns=columns)


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


def types_of_systems(instances: pd.DataFrame, flags: pd.DataFrame) -> tuple:
    """Return the type of each quadruple for every system.

    Args:
        instances: As of :mod:`scripts.counter_gap.lib.instances`.
        flags: :data:`KEYS`, ``id``, ``correct``; each system has all instances in their order.

    Returns:
        The systems' keys (list of tuple) and an array of int, shape (systems, quadruples).
    """
    masculine = (instances.gender == "M").to_numpy().reshape(-1, 4)[:, 0]
    keys, right = _right(flags)
    return keys, np.array([quadruple_types(of_system.reshape(-1, 4), masculine) for of_system in right])


def _right(flags: pd.DataFrame):
    """Return the systems' keys, and what each of them has right."""
    groups = list(flags.groupby(KEYS, sort=False))
    return [key for key, _ in groups], [of_system.correct.to_numpy() for _, of_system in groups]


def of_quadruples(instances: pd.DataFrame, flags: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return metrics.csv of one data set with quadruples: every system and metric, also of the originals alone.

    All systems and metrics have the same samples.
    """
    keys, codes = types_of_systems(instances, flags)
    weights = resample(codes.shape[1], draws, seed)
    parts = {"all": evaluate, "originals": evaluate_originals}
    return _labelled(pd.concat([bootstrap(codes, weights, f).assign(subset=s) for s, f in parts.items()]), keys)


def of_single_instances(instances: pd.DataFrame, flags: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return the same for instances without quadruples: accuracies and their difference, resampling instances."""
    masculine = (instances.gender == "M").to_numpy()
    keys, right = _right(flags)
    codes = [2 * masculine + of_system for of_system in right]
    weights = resample(len(instances), draws, seed)
    rows = bootstrap(codes, weights, evaluate_single, n_types=4)
    return _labelled(rows.assign(subset="all"), keys)


def of_corpora(scores: Sequence[pd.DataFrame], systems: Sequence[dict]) -> pd.DataFrame:
    """Return corpus_scores.csv: the CoNLL F1 of systems on an annotated corpus, without singletons.

    Args:
        scores: Of the rule ``coreference_f1``.
        systems: ``system`` (its label) and ``debiasing``, in the same order.

    Returns:
        The columns of metrics.csv without tests, and ``documents``. ``data`` is the corpus.
    """
    rows = [
        (f1.corpus, "clusters", facts["system"], facts["debiasing"], "all", "conll_f1", "all", f1.f1, f1.ci_low,
         f1.ci_high, f1.documents)
        for table, facts in zip(scores, systems, strict=True)
        for f1 in table[table.metric == "conll"].itertuples()
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=[*COLUMNS[:-2], "documents"])


def _labelled(rows: pd.DataFrame, keys: Sequence[tuple]):
    rows = rows.reset_index(drop=True)
    names = pd.DataFrame([keys[i] for i in rows.system], columns=KEYS)
    return pd.concat([names, rows.drop(columns="system")], axis=1)[COLUMNS]


def significance(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Return every test, before and after Holm's correction.

    Returns:
        The rows of metrics.csv that have a p value, with ``p_holm`` (over all systems and debiasing methods with the
        same data, scoring, subset, metric and group), ``significant`` and ``significant_holm`` (below ``alpha``); the
        same of the centred p value as ``p_centred_holm``, ``significant_centred`` and ``significant_centred_holm``.
    """
    tests = table.dropna(subset=["p_value"]).reset_index(drop=True)
    families = tests.groupby(["data", "scoring", "subset", "metric", "group"], sort=False)
    for p, suffix in (("p_value", ""), ("p_centred", "_centred")):
        adjusted = "p_holm" if p == "p_value" else f"{p}_holm"
        tests[adjusted] = families[p].transform(holm)
        tests[f"significant{suffix}"] = tests[p] < alpha
        tests[f"significant{suffix}_holm"] = tests[adjusted] < alpha
    return tests


def decomposition(instances: pd.DataFrame, flags: pd.DataFrame) -> pd.DataFrame:
    """Return how often each pair (right masculine, right feminine instances) occurs and what it adds to the metrics.

    Returns:
        :data:`KEYS`, ``subset`` (all), ``right_m``, ``right_f``, ``quadruples``, ``acc_diff_part`` and
        ``delta_i_part``; the parts add up to the metric.
    """
    keys, codes = types_of_systems(instances, flags)
    size = codes.shape[1]
    rows = []
    for key, types in zip(keys, codes, strict=True):
        counts = np.bincount(types, minlength=N_TYPES)
        for a in range(3):
            for b in range(3):
                n = int(counts[(a == _M) & (b == _F)].sum())
                part = {(2, 0): 1, (0, 2): 1, (1, 1): -0.5}.get((a, b), 0)
                rows.append((*key, "all", a, b, n, (a - b) / 2 * n / size, part * n / size))
    columns = [*KEYS, "subset", "right_m", "right_f", "quadruples", "acc_diff_part", "delta_i_part"]
    return pd.DataFrame(rows, columns=columns)


def members(instances: pd.DataFrame, data: str, quadruples: bool) -> pd.DataFrame:
    """Return which instances each subset has, so that a number leads back to its passages.

    Args:
        quadruples: Whether the data set has quadruples; otherwise there is one subset.

    Returns:
        ``data``, ``id``, ``subset`` (those of metrics.csv), ``original_gender`` (M or F, that of the quadruple's
        original).
    """
    facts = instances[["id"]].assign(data=data, original_gender=instances.gender, subset="all")
    if not quadruples:
        return facts
    facts["original_gender"] = np.repeat(instances.gender.to_numpy()[::4], 4)
    originals = facts[(instances.role == "original").to_numpy()].assign(subset="originals")
    return pd.concat([facts, originals], ignore_index=True)


def sizes(instances: pd.DataFrame, data: str) -> pd.DataFrame:
    """Return how many quadruples a data set has: ``data``, ``subset`` (all), ``quadruples``, ``masculine``."""
    original = instances.gender.iloc[::4]
    row = (data, "all", len(original), int((original == "M").sum()))
    return pd.DataFrame([row], columns=["data", "subset", "quadruples", "masculine"])
