"""From flags to the study's tidy tables."""

import numpy as np
import pandas as pd

from scripts.core import files, statistics
from scripts.core.errors import UserError
from scripts.counter_gap.lib.analyses import inconsistency, subsets

KEYS = ["data", "scoring", "system", "debiasing"]
"""What tells systems apart: the data set, one of ``study.SCORING``, label and debiasing method."""
COLUMNS = [*KEYS, "subset", "metric", "group", "value", "ci_low", "ci_high", "p_value", "p_centred"]
"""Columns of metrics.csv. Values are shares; the p values are those of the two variants of the bootstrap
(:func:`scripts.counter_gap.lib.analyses.inconsistency.bootstrap`)."""
DECOMPOSED = ("all", "all without artefact")


def types_of_systems(instances, flags):
    """Return the type of each quadruple for every system.

    Parameters
    ----------
    instances : DataFrame
        As of :mod:`scripts.counter_gap.lib.instances`.
    flags : DataFrame
        :data:`KEYS`, ``id``, ``correct``; each system has all instances in their order.

    Returns
    -------
    tuple
        The systems' keys (list of tuple) and an array of int, shape (systems, quadruples).
    """
    masculine = (instances.gender == "M").to_numpy().reshape(-1, 4)[:, 0]
    keys, codes = [], []
    for key, of_system in flags.groupby(KEYS, sort=False):
        keys.append(key)
        codes.append(inconsistency.types(of_system.correct.to_numpy().reshape(-1, 4), masculine))
    return keys, np.array(codes)


def of_quadruples(instances, flags, draws, seed):
    """Return metrics.csv of one data set with quadruples: every system, subset and metric.

    Each subset is resampled alone: what it leaves out is not drawn. Within a subset all systems and metrics have the
    same samples.
    """
    keys, codes = types_of_systems(instances, flags)
    parts = []
    for name, members in subsets.masks(subsets.factors_of(instances)).items():
        weights = inconsistency.resample(int(members.sum()), draws, seed)
        parts.append(inconsistency.bootstrap(codes[:, members], weights, inconsistency.evaluate).assign(subset=name))
    weights = inconsistency.resample(codes.shape[1], draws, seed)
    originals = inconsistency.bootstrap(codes, weights, inconsistency.evaluate_originals)
    return _labelled(pd.concat([*parts, originals.assign(subset="originals")]), keys)


def of_single_instances(instances, flags, draws, seed):
    """Return the same for instances without quadruples: accuracies and their difference, resampling instances."""
    masculine = (instances.gender == "M").to_numpy()
    keys, codes = [], []
    for key, of_system in flags.groupby(KEYS, sort=False):
        keys.append(key)
        codes.append(2 * masculine + of_system.correct.to_numpy())
    weights = inconsistency.resample(len(instances), draws, seed)
    rows = inconsistency.bootstrap(codes, weights, inconsistency.evaluate_single, n_types=4)
    return _labelled(rows.assign(subset="all"), keys)


def _labelled(rows, keys):
    rows = rows.reset_index(drop=True)
    names = pd.DataFrame([keys[i] for i in rows.system], columns=KEYS)
    return pd.concat([names, rows.drop(columns="system")], axis=1)[COLUMNS]


def significance(table, alpha):
    """Return every test, before and after Holm's correction.

    Returns
    -------
    DataFrame
        The rows of metrics.csv that have a p value, with ``p_holm`` (over all systems and debiasing methods with the
        same data, scoring, subset, metric and group), ``significant`` and ``significant_holm`` (below ``alpha``); the
        same of the centred p value as ``p_centred_holm``, ``significant_centred`` and ``significant_centred_holm``.
    """
    tests = table.dropna(subset=["p_value"]).reset_index(drop=True)
    families = tests.groupby(["data", "scoring", "subset", "metric", "group"], sort=False)
    for p, suffix in (("p_value", ""), ("p_centred", "_centred")):
        adjusted = "p_holm" if p == "p_value" else f"{p}_holm"
        tests[adjusted] = families[p].transform(statistics.holm)
        tests[f"significant{suffix}"] = tests[p] < alpha
        tests[f"significant{suffix}_holm"] = tests[adjusted] < alpha
    return tests


def decomposition(instances, flags):
    """Return how often each pair (right masculine, right feminine instances) occurs and what it adds to the metrics.

    Returns
    -------
    DataFrame
        :data:`KEYS`, ``subset`` (:data:`DECOMPOSED`), ``right_m``, ``right_f``,
        ``quadruples``, ``acc_diff_part`` and ``delta_i_part``; the parts add up to the metric.
    """
    keys, codes = types_of_systems(instances, flags)
    masks = subsets.masks(subsets.factors_of(instances))
    right = (np.arange(inconsistency.N_TYPES)[:, None] >> np.arange(4)) & 1
    first, second = right[:, :2].sum(1), right[:, 2:].sum(1)
    masculine = np.arange(inconsistency.N_TYPES) >= 16
    m, f = np.where(masculine, first, second), np.where(masculine, second, first)
    rows = []
    for subset in (name for name in DECOMPOSED if name in masks):
        size = int(masks[subset].sum())
        for key, types in zip(keys, codes, strict=True):
            counts = np.bincount(types[masks[subset]], minlength=inconsistency.N_TYPES)
            for a in range(3):
                for b in range(3):
                    n = int(counts[(m == a) & (f == b)].sum())
                    part = {(2, 0): 1, (0, 2): 1, (1, 1): -0.5}.get((a, b), 0)
                    rows.append((*key, subset, a, b, n, (a - b) / 2 * n / size, part * n / size))
    columns = [*KEYS, "subset", "right_m", "right_f", "quadruples", "acc_diff_part", "delta_i_part"]
    return pd.DataFrame(rows, columns=columns)


def members(instances, data, quadruples):
    """Return which instances each subset has, so that a number leads back to its passages.

    Parameters
    ----------
    instances : DataFrame
    data : str
    quadruples : bool
        Whether the data set has quadruples; otherwise there is one subset.

    Returns
    -------
    DataFrame
        ``data``, ``id``, ``subset`` (those of metrics.csv, ``originals`` included), ``original_gender`` (M or F,
        that of the quadruple's original).
    """
    facts = instances[["id"]].assign(data=data, original_gender=instances.gender)
    if not quadruples:
        return facts.assign(subset="all")
    factors = subsets.factors_of(instances)
    facts["original_gender"] = np.repeat(factors.gender.to_numpy(), 4)
    parts = [facts[np.repeat(mask, 4)].assign(subset=name) for name, mask in subsets.masks(factors).items()]
    parts.append(facts[(instances.role == "original").to_numpy()].assign(subset="originals"))
    return pd.concat(parts, ignore_index=True)


def sizes(instances, data):
    """Return how many quadruples each subset of a data set has: ``data``, ``subset``, ``quadruples``, ``masculine``."""
    factors = subsets.factors_of(instances)
    original = (factors.gender == "M").to_numpy()
    rows = [
        (data, name, int(mask.sum()), int((mask & original).sum())) for name, mask in subsets.masks(factors).items()
    ]
    return pd.DataFrame(rows, columns=["data", "subset", "quadruples", "masculine"])


def read_set(path, templates):
    """Read what metrics.csv or significance.csv say of one set of quadruples.

    Raises
    ------
    UserError
        If the set was not run.
    """
    table = files.read_csv(path)
    table = table[table.data == templates].reset_index(drop=True)
    if table.empty:
        raise UserError(f"{path}: has no rows of '{templates}'; run the workflow with it in counter_gap.templates")
    return table
