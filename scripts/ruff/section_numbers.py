"""Numbers of RUFF's section that are no single estimate: counts, extremes, means over models, settings.

Each function returns entries by id (:func:`scripts.core.paper.numbers.make_entry`).
"""

import inspect
import math
from typing import Any

import pandas as pd

from scripts.core.data.estimate_rows import PROMPTED
from scripts.core.paper.formats import format_number, format_percent, p_text
from scripts.core.paper.numbers import make_count, make_entry
from scripts.core.statistics import procedures
from scripts.core.statistics.ratios import POOLED
from scripts.ruff import study
from scripts.ruff.study import select_rows

SOURCE = "estimates.csv"
KEYS = {
    "seeds": "ruff.seeds",
    "sample_size": "ruff.sample_size",
    "chance": "pronoun_sets",
    "alpha": "ruff.alpha",
    "bootstrap_draws": "ruff.bootstrap.draws",
}
"""Settings to their keys in config.yaml; the coverage of intervals is none."""
NORMAL = 1.959964
"""The normal distribution's quantile behind a 95 % interval."""
DISTANCE = 0.1
"""The distance from chance for which the text says how many instances show it."""


def setting_entries(counts: pd.DataFrame, settings: dict, sizes: dict[str, int]) -> dict[str, dict]:
    """Return numbers of instances and the configured settings.

    Args:
        counts: Table 1.
        sizes: How many instances of each sample every model scores.

    Returns:
        ``scored.<n or context_free>``, ``scored.<model>.<n or context_free>``, ``setting.<name>``,
        ``setting.sample_size.<model>``, and ``chance.needed``, how many independent instances tell an accuracy that is
        ``chance.distance`` from chance apart from it (normal approximation).
    """
    found, largest, source = {}, max(sizes.values()), "tables/instance_counts.csv"
    columns = {model: "scored" if size == largest else f"scored_{size}" for model, size in sizes.items()}
    for row in counts.to_dict("records"):
        n = row["n_distractors"]
        name = study.CONTEXT_FREE if math.isnan(n) else str(int(n))
        found[f"scored.{name}"] = make_count(row["scored"], source, n_distractors=name)
        for model, column in columns.items():
            found[f"scored.{model}.{name}"] = make_count(row[column], source, n_distractors=name, column=column)
    for model, size in sizes.items():
        found[f"setting.sample_size.{model}"] = make_count(size, "config.yaml", key=KEYS["sample_size"])
    for name, value in (settings | {"sample_size": largest}).items():
        text = f"{value:,.3g}" if value < 1 else f"{value:,}"
        found[f"setting.{name}"] = make_entry(value, text, "config.yaml", key=KEYS[name])
    code = "scripts/core/statistics/procedures.py"
    level = inspect.signature(procedures.cluster_bootstrap).parameters["level"].default
    found["setting.confidence"] = make_entry(level, f"{100 * level:g}%", code, default="cluster_bootstrap: level")
    needed = math.ceil(NORMAL**2 * settings["chance"] * (1 - settings["chance"]) / DISTANCE**2)
    for name, value in (("distance", DISTANCE), ("needed", needed)):
        found[f"chance.{name}"] = make_entry(value, f"{value}", "scripts/ruff/section_numbers.py", name="DISTANCE")
    return found


def accuracy_entries(rows: pd.DataFrame, models: dict, chance: float) -> dict[str, dict]:
    """Return what is said of the accuracies of several models at once.

    Args:
        rows: Accuracies on all instances, by model and number of distractors.

    Returns:
        ``models.n``, ``models.pooled``, ``accuracy.all.<n>`` (mean over models), ``distractors.fewest`` (but none) and
        ``distractors.most``, ``accuracy_change.all`` (the mean with the fewest minus that without, in percentage
        points) and ``above_chance.<n>``: how many models have an interval above ``chance``.
    """
    cell = {"metric": "accuracy", **study.SCORED}
    pooled = rows[rows.model.isin(study.pooled_models(models))]
    means = pooled.groupby("n_distractors").value.mean()
    counts = sorted(int(n) for n in means.index if n != "0")
    change = float(means[str(counts[0])] - means["0"])
    found = {
        "models.n": make_count(rows.model.nunique(), SOURCE, column="model", **cell),
        "models.pooled": make_count(pooled.model.nunique(), SOURCE, column="model", **cell),
        "distractors.fewest": make_count(counts[0], SOURCE, column="n_distractors"),
        "distractors.most": make_count(counts[-1], SOURCE, column="n_distractors"),
        "accuracy_change.all": make_entry(change, format_percent(change, 0, signed=True), SOURCE, **cell),
    }
    for n, value in means.items():
        found[f"accuracy.all.{n}"] = make_entry(value, format_number(value, 2), SOURCE, n_distractors=n, **cell)
    for n, of_number in rows.groupby("n_distractors"):
        found[f"above_chance.{n}"] = make_count((of_number.low > chance).sum(), SOURCE, n_distractors=n, **cell)
    return found


def pick_entries(rows: pd.DataFrame) -> dict[str, dict]:
    """Return what is said of each model's most frequent sets without context.

    Returns:
        ``first.<model>`` and ``second.<model>``, the counts of the two most frequent sets (``set``; the earlier of
        equals first); ``first_p.<model>``, p of the sign test between them, in which the sentences about an occupation
        count as one; ``ties.<model>``, how many predictions are ties; ``favourite.<set>``, how many models pick the set
        most often, and ``favourites.tied``, how many have several such sets.
    """
    found, picked = {}, select_rows(rows, "picked", preferred=...)
    for model, of_model in picked.groupby("model", sort=False):
        two = of_model.sort_values("above", ascending=False, kind="stable")[:2]
        cell = {"model": model, "setting": study.CONTEXT_FREE}
        for name, row in zip(("first", "second"), two.to_dict("records"), strict=True):
            made = make_count(row["above"], SOURCE, metric="picked", preferred=row["preferred"], **cell)
            found[f"{name}.{model}"] = made | {"set": row["preferred"]}
        p = procedures.sign_test(*(two.above / study.SENTENCES))
        found[f"first_p.{model}"] = make_entry(p, p_text(p), SOURCE, metric="picked", **cell)
        ties = select_rows(rows, "tied", model=str(model), preferred=...).above.sum()
        found[f"ties.{model}"] = make_count(ties, SOURCE, metric="tied", **cell)
    most = picked[picked.above == picked.groupby("model").above.transform("max")]
    favourites = most.drop_duplicates("model", keep=False).preferred
    found["favourites.tied"] = make_count(most.model.nunique() - len(favourites), SOURCE, metric="picked")
    for name in picked.preferred.unique():
        found[f"favourite.{name}"] = make_count((favourites == name).sum(), SOURCE, metric="picked", preferred=name)
    return found


def significance_entries(tests: Any) -> dict[str, dict]:
    """Return how many pairs of sets were tested, and how many occupations the tests compare.

    Returns:
        ``test_needed`` (occupations that a test needs), ``test_n.<lowest|highest>`` and ``test_pairs.<lowest|highest>``
        (occupations with each set, and with both), ``paired.<model or all>.<tests|significant>`` (pairs of sets that
        the paired test can compare, and those that differ after correction); all are missing without any test.
    """
    if tests.empty:
        return {}
    source = "pronoun_tests.csv"
    found = {
        f"{name}.{bound}": make_count(n, source, columns=columns)
        for name, columns in (("test_n", ["n_a", "n_b"]), ("test_pairs", ["n_pairs"]))
        for bound, n in (("lowest", tests[columns].min(axis=None)), ("highest", tests[columns].max(axis=None)))
    }
    found["test_needed"] = make_count(tests.needed.iloc[0], source, column="needed")
    for model, rows in tests.groupby("model", sort=False):
        cell = {"model": model, "column": "p_paired_holm"}
        for name, flags in (("tests", rows.p_paired_holm.notna()), ("significant", rows.significant_paired_holm)):
            found[f"paired.{'all' if model == POOLED else model}.{name}"] = make_count(flags.sum(), source, **cell)
    return found


def error_entries(rows: pd.DataFrame) -> dict[str, dict]:
    """Return ``errors.<all|ambiguous|unambiguous|unbiased>`` and ``error_range.<lowest|highest>``.

    The latter is the share of errors that distraction and bias explain together, of a model and number of distractors.
    """
    sums = {
        metric: select_rows(rows, metric, n_distractors=...)[["above", "below"]].sum()
        for metric in ("error", "ambiguous", "unbiased")
    }
    counts = {
        "all": sums["error"].above, "ambiguous": sums["ambiguous"].above,
        "unambiguous": sums["unbiased"].below, "unbiased": sums["unbiased"].above,
    }  # fmt: skip
    found = {
        f"errors.{name}": make_count(value, SOURCE, metric=["error", "ambiguous"]) for name, value in counts.items()
    }
    explained = select_rows(rows, ["distraction", "bias"], n_distractors=...).groupby(
        ["model", "n_distractors"], sort=False
    )
    explained = explained.value.sum(min_count=2).dropna()
    for bound, value in (("lowest", explained.min()), ("highest", explained.max())) if len(explained) else ():
        text = format_percent(value, 0)
        found[f"error_range.{bound}"] = make_entry(value, text, SOURCE, metric=["distraction", "bias"])
    return found


def score_entries(rows: pd.DataFrame) -> dict[str, dict]:
    """Return what other scores than the sum change, over all instances.

    Returns:
        ``flipped.lowest`` and ``flipped.highest`` (share of other picks) over models and normalisations;
        ``other_changed``, in how many of ``other_compared`` comparisons of accuracies 0 is outside the interval.
    """
    source, found = "normalisation.csv", {}
    compared = rows[(rows.n_distractors == "") & (rows.pronoun == "") & rows.flipped.notna()]
    for bound, value in (("lowest", compared.flipped.min()), ("highest", compared.flipped.max())):
        found[f"flipped.{bound}"] = make_entry(value, format_number(value, 2), source, column="flipped")
    changed = (compared.difference_low > 0) | (compared.difference_high < 0)
    for name, n in (("changed", changed.sum()), ("compared", len(changed))):
        found[f"other_{name}"] = make_count(n, source, column="difference")
    return found


def prompting_entries(rows: pd.DataFrame, settings: dict) -> dict[str, dict]:
    """Return what the prose counts of prompted models.

    Returns:
        ``prompted_outputs.<method>.<n>`` (how many outputs a model has, over all prompts), ``prompted_prompts.all``
        (how many prompts), ``prompted_wrong.<model>`` (share of vanilla outputs over all numbers of distractors) and
        ``prompting.<setting>``.
    """
    rows = select_rows(rows[rows.scoring == PROMPTED], ["accuracy", "wrong"], n_distractors=...)
    found = {}
    for row in rows.to_dict("records"):
        cell = {name: row[name] for name in ("templates", "model", "method", "n_distractors")}
        name = f"prompted_outputs.{row['method']}.{row['n_distractors']}"
        found[name] = make_count(row["below"], SOURCE, scoring=PROMPTED, metric="accuracy", **cell)
    vanilla = rows[(rows.method == study.VANILLA) & (rows.answer == study.FINAL)]
    found["prompted_prompts.all"] = make_count(vanilla.samples.max(), SOURCE, column="samples")
    for model, of_model in vanilla[vanilla.metric == "wrong"].groupby("model"):
        share = of_model.above.sum() / of_model.below.sum()
        cell = {"model": model, "scoring": PROMPTED, "metric": "wrong", **study.ASKED}
        found[f"prompted_wrong.{model}"] = make_entry(share, format_number(share, 2), SOURCE, **cell)
    for name, value in settings.items():
        found[f"prompting.{name}"] = make_entry(value, f"{value:,}", "config.yaml", key=f"ruff.prompting.{name}")
    return found
