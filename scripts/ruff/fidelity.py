"""Pronoun fidelity: from scores to the tidy tables behind every figure of the RUFF paper.

Pure functions over DataFrames. ``predictions`` frames have one row for each model, instance and
sample; its columns are listed at :func:`predictions`. Sections and figures are those of Gautam et al. (2024).
"""

from itertools import combinations

import numpy as np
import pandas as pd

from scripts.core import statistics
from scripts.core.errors import UserError
from scripts.core.options import predict

FACTORS = ("all", "pronoun", "case", "polarity")
ERROR_TYPES = ("distraction", "bias", "other")


def predictions(instances, scores, model, pronoun_sets):
    """Return what one model picks for every selected instance.

    Parameters
    ----------
    instances : DataFrame
        The selected instances: context-free ones (``n_distractors`` missing) and samples.
    scores : DataFrame
        The model's scores, see :func:`scripts.core.scoring.score_instances`.
    model : str
    pronoun_sets : sequence of str
        The sets in the order of each instance's options.

    Returns
    -------
    DataFrame
        Columns ``model``, ``setting`` (``context_free`` or ``fidelity``), ``instance_id``, ``seed``,
        ``n_distractors``, ``task_index``, ``occupation``, ``participant``, ``case``, ``polarity``, ``pronoun``,
        ``distractor_pronoun``, ``prediction``, ``context_free_prediction`` (sets), ``correct``,
        ``margin`` (nats) and ``tie``.

    Raises
    ------
    UserError
        If an instance has no score or a task sentence no context-free prediction.
    """
    picks = predict(scores)
    missing = set(instances.instance_id) - set(picks.index)
    if missing:
        raise UserError(
            f"scores of {model}: instance {sorted(missing)[0]} and {len(missing) - 1} more are not scored; "
            "delete the score file and run the workflow again"
        )
    table = instances[
        [
            "instance_id",
            "seed",
            "n_distractors",
            "task_index",
            "occupation",
            "participant",
            "case",
            "polarity",
            "pronoun",
            "distractor_pronoun",
        ]
    ].copy()
    table = table.join(picks, on="instance_id")
    table["prediction"] = np.asarray(pronoun_sets, dtype=object)[table.pop("option_index").to_numpy(dtype=int)]
    free = table.n_distractors.isna()
    by_task = table[free].set_index("task_index").prediction
    table["context_free_prediction"] = table.task_index.map(by_task)
    if table.context_free_prediction.isna().any():
        raise UserError(f"scores of {model}: a task sentence has no context-free instance; make the instances again")
    table["setting"] = np.where(free, "context_free", "fidelity")
    table["correct"] = (table.prediction == table.pronoun).astype("boolean").mask(free)
    table.insert(0, "model", model)
    order = [
        "model",
        "setting",
        "instance_id",
        "seed",
        "n_distractors",
        "task_index",
        "occupation",
        "participant",
        "case",
        "polarity",
        "pronoun",
        "distractor_pronoun",
        "prediction",
        "context_free_prediction",
        "correct",
        "margin",
        "tie",
    ]
    return table[order].astype({"seed": "Int64", "n_distractors": "Int64"}).reset_index(drop=True)


def fidelity_rows(table):
    """Return the rows of a predictions frame that have a context and so a right answer."""
    return table[table.setting == "fidelity"].assign(correct=lambda t: t.correct.astype(float))


def context_free_counts(table, pronoun_sets):
    """Count each model's context-free predictions (section 5, Figures 4 and 10).

    Returns
    -------
    DataFrame
        ``model``, ``pronoun``, ``n_templates``, ``count`` and ``share``; every set has a row, also with count 0.
    """
    free = table[table.setting == "context_free"]
    models = list(dict.fromkeys(free.model))
    counts = free.groupby(["model", "prediction"]).size()
    rows = []
    for model in models:
        total = int((free.model == model).sum())
        for pronoun in pronoun_sets:
            count = int(counts.get((model, pronoun), 0))
            rows.append((model, pronoun, total, count, count / total))
    return pd.DataFrame(rows, columns=["model", "pronoun", "n_templates", "count", "share"])


def over_models(frame, architectures, keys, value):
    """Average a per-model column over all models and over those of each architecture.

    Parameters
    ----------
    frame : DataFrame
        With ``model``, the columns ``keys`` and the column ``value``.
    architectures : dict of str
        Model name to architecture.
    keys : list of str
    value : str

    Returns
    -------
    DataFrame
        ``architecture`` (``all`` first), ``keys``, ``n_models``, ``mean``, ``sd`` (over models, ddof 1).
    """
    frame = frame.assign(architecture=frame.model.map(architectures))
    groups = [("all", frame), *frame.groupby("architecture", sort=False)]
    parts = []
    for name, part in groups:
        summary = part.groupby(keys, sort=False)[value].agg(n_models="count", mean="mean", sd="std").reset_index()
        summary.insert(0, "architecture", name)
        parts.append(summary)
    return pd.concat(parts, ignore_index=True)


def _with_factors(rows):
    """Repeat the rows once for each factor, with the factor's name and level in two columns."""
    parts = []
    for factor in FACTORS:
        level = "all" if factor == "all" else rows[factor]
        parts.append(rows.assign(factor=factor, level=level))
    return pd.concat(parts, ignore_index=True)


def accuracy_by_seed(table):
    """Return accuracies on each sample (section 4.3).

    Returns
    -------
    DataFrame
        ``model``, ``n_distractors``, ``factor``, ``level``, ``seed``, ``n`` (instances), ``accuracy``.
    """
    keys = ["model", "n_distractors", "factor", "level", "seed"]
    rows = _with_factors(fidelity_rows(table))
    return rows.groupby(keys, sort=False).correct.agg(n="size", accuracy="mean").reset_index()


def accuracy(table, draws, seed):
    """Return accuracies averaged over the samples (section 4.3; Figures 1, 5, 6 and 7).

    The interval is this project's addition: a bootstrap that resamples occupations, so that it speaks of occupations
    like these and not of these sentences alone. It belongs to the share over all samples together.

    Parameters
    ----------
    table : DataFrame
        Predictions.
    draws, seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        ``model``, ``n_distractors``, ``factor``, ``level``, ``n_seeds``, ``n`` (instances, all samples), ``accuracy``
        (mean over samples), ``sd`` (over samples, ddof 1; missing with one sample), ``ci_low``, ``ci_high`` (95 %).
    """
    keys = ["model", "n_distractors", "factor", "level"]
    by_seed = accuracy_by_seed(table)
    summary = by_seed.groupby(keys, sort=False).agg(
        n_seeds=("seed", "nunique"), n=("n", "sum"), accuracy=("accuracy", "mean"), sd=("accuracy", "std")
    )
    rows = _with_factors(fidelity_rows(table))
    clusters = rows.groupby([*keys, "occupation"], sort=False).correct.agg(["sum", "count"])
    intervals = {
        key: statistics.cluster_bootstrap(part["sum"], part["count"], draws, seed)
        for key, part in clusters.groupby(level=keys, sort=False)
    }
    bounds = pd.DataFrame.from_dict(intervals, orient="index", columns=["ci_low", "ci_high"])
    bounds.index = pd.MultiIndex.from_tuples(bounds.index, names=keys)
    return summary.join(bounds).reset_index()


def pronoun_tests(table, pronoun_sets, alpha):
    """Compare the accuracies on every pair of pronoun sets without distractors (section 6, Figure 6).

    The paper names Welch's t-test at 0.05 but not the unit of observation. Here it is the occupation: its accuracy
    over all samples and cases, averaged over models for the rows called ``all``. Holm's correction over the pairs of
    one model is an addition. A pair is undefined, and not significant, where neither set's accuracies vary.

    Returns
    -------
    DataFrame
        ``model``, ``pronoun_a``, ``pronoun_b``, ``n_a``, ``n_b`` (occupations), ``mean_a``, ``mean_b``,
        ``difference``, ``t``, ``df``, ``p``, ``p_holm``, ``significant``, ``significant_holm``.
    """
    rows = fidelity_rows(table)
    rows = rows[rows.n_distractors == 0]
    units = rows.groupby(["model", "pronoun", "occupation"], sort=False).correct.mean()
    pooled = units.groupby(level=["pronoun", "occupation"], sort=False).mean()
    results = []
    for model in ["all", *dict.fromkeys(rows.model)]:
        own = pooled if model == "all" else units.loc[model]
        present = [p for p in pronoun_sets if p in own.index.get_level_values("pronoun")]
        pairs = []
        for a, b in combinations(present, 2):
            x, y = own.loc[a].to_numpy(), own.loc[b].to_numpy()
            t, df, p = statistics.welch(x, y)
            pairs.append((model, a, b, len(x), len(y), x.mean(), y.mean(), x.mean() - y.mean(), t, df, p))
        adjusted = statistics.holm([pair[-1] for pair in pairs])
        results += [
            (*pair, q, bool(pair[-1] < alpha), bool(q < alpha)) for pair, q in zip(pairs, adjusted, strict=True)
        ]
    columns = [
        "model",
        "pronoun_a",
        "pronoun_b",
        "n_a",
        "n_b",
        "mean_a",
        "mean_b",
        "difference",
        "t",
        "df",
        "p",
        "p_holm",
        "significant",
        "significant_holm",
    ]
    return pd.DataFrame(results, columns=columns)


def classify_errors(table):
    """Return the errors with distractors, each with its type (section 8).

    With y the prediction, d the distractor pronoun and b the same model's context-free prediction on the same task
    sentence, an error is ``ambiguous`` if d equals b, otherwise ``distraction`` if y equals d, ``bias`` if y equals b
    and ``other`` if neither. Errors where b equals the right pronoun cannot be bias errors; they stay among
    the unambiguous ones, which the paper leaves open.

    Returns
    -------
    DataFrame
        The rows of the errors with the columns ``error_type`` and ``bias_equals_gold``.
    """
    rows = fidelity_rows(table)
    errors = rows[(rows.n_distractors > 0) & (rows.correct == 0)].copy()
    errors["error_type"] = np.select(
        [
            errors.distractor_pronoun == errors.context_free_prediction,
            errors.prediction == errors.distractor_pronoun,
            errors.prediction == errors.context_free_prediction,
        ],
        ["ambiguous", "distraction", "bias"],
        "other",
    )
    errors["bias_equals_gold"] = errors.context_free_prediction == errors.pronoun
    return errors


def error_types(table):
    """Return the shares of distraction and bias among unambiguous errors (section 8, Figure 9).

    Shares are computed on each sample and then averaged; a sample without unambiguous errors does not count.

    Returns
    -------
    DataFrame
        ``model``, ``n_distractors``, ``error_type``, ``n_seeds`` (samples with unambiguous errors), ``n_instances``,
        ``n_errors``, ``n_ambiguous``, ``n_unambiguous``, ``n_bias_equals_gold`` (of the unambiguous), ``count``,
        ``share`` (mean over samples; missing if there are none), ``sd`` (over samples, ddof 1).
    """
    rows = fidelity_rows(table)
    rows = rows[rows.n_distractors > 0]
    errors = classify_errors(table)
    results = []
    for (model, n), part in rows.groupby(["model", "n_distractors"], sort=False):
        own = errors[(errors.model == model) & (errors.n_distractors == n)]
        clear = own[own.error_type != "ambiguous"]
        shares = pd.crosstab(clear.seed, clear.error_type, normalize="index")
        for kind in ERROR_TYPES:
            values = shares[kind] if kind in shares else pd.Series(0.0, index=shares.index)
            results.append(
                (
                    model,
                    n,
                    kind,
                    len(values),
                    len(part),
                    len(own),
                    len(own) - len(clear),
                    len(clear),
                    int(clear.bias_equals_gold.sum()),
                    int((clear.error_type == kind).sum()),
                    values.mean(),
                    values.std(),
                )
            )
    columns = [
        "model",
        "n_distractors",
        "error_type",
        "n_seeds",
        "n_instances",
        "n_errors",
        "n_ambiguous",
        "n_unambiguous",
        "n_bias_equals_gold",
        "count",
        "share",
        "sd",
    ]
    return pd.DataFrame(results, columns=columns)


def error_range(types):
    """Return the lowest and the highest share of errors that distraction and bias explain together (section 8).

    Parameters
    ----------
    types : DataFrame
        As returned by :func:`error_types`.

    Returns
    -------
    DataFrame
        ``bound`` (``lowest``, ``highest``), ``model``, ``n_distractors``, ``share``; empty without unambiguous errors.
    """
    explained = (
        types[types.error_type != "other"].groupby(["model", "n_distractors"], sort=False).share.sum(min_count=2)
    )
    explained = explained.dropna()
    columns = ["bound", "model", "n_distractors", "share"]
    if explained.empty:
        return pd.DataFrame(columns=columns)
    rows = [("lowest", *explained.idxmin(), explained.min()), ("highest", *explained.idxmax(), explained.max())]
    return pd.DataFrame(rows, columns=columns)


def scaling(summary, models):
    """Return accuracies against model size at the fewest and the most distractors (section 7, Figure 8).

    Parameters
    ----------
    summary : DataFrame
        As returned by :func:`accuracy`.
    models : dict
        Model name to its ``family``, ``architecture`` and ``parameters``.

    Returns
    -------
    DataFrame
        ``model``, ``family``, ``architecture``, ``parameters``, ``n_distractors``, ``accuracy``, ``sd``.
    """
    overall = summary[summary.factor == "all"]
    ends = sorted({overall.n_distractors.min(), overall.n_distractors.max()})
    overall = overall[overall.n_distractors.isin(ends)]
    facts = pd.DataFrame.from_dict(models, orient="index")[["family", "architecture", "parameters"]]
    table = overall.join(facts, on="model")
    columns = ["model", "family", "architecture", "parameters", "n_distractors", "accuracy", "sd"]
    return table[columns].sort_values(["n_distractors", "parameters"], kind="stable").reset_index(drop=True)


def compare_templates(replica, official):
    """Set the accuracies on the replica templates beside those on the official ones.

    Parameters
    ----------
    replica, official : DataFrame
        As returned by :func:`accuracy`.

    Returns
    -------
    DataFrame
        ``model``, ``n_distractors``, and for each set its ``accuracy_``, ``ci_low_`` and ``ci_high_``;
        ``difference`` is replica minus official.
    """
    keys = ["model", "n_distractors"]
    values = ["accuracy", "ci_low", "ci_high"]
    sides = [
        side[side.factor == "all"].set_index(keys)[values].add_suffix(f"_{name}")
        for name, side in (("replica", replica), ("official", official))
    ]
    table = sides[0].join(sides[1], how="inner").reset_index()
    table["difference"] = table.accuracy_replica - table.accuracy_official
    order = [*keys, *(f"{v}_{s}" for s in ("replica", "official") for v in values), "difference"]
    return table[order]
