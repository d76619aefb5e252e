"""The numbers that the RUFF section's prose uses, each with an id and the table cell that it comes from.

An entry is ``{"value", "text", "source", "cell"}``: the number, how it is printed, the tidy table and the key of the
cell in it. Differences and extremes over several cells name the cells' common key.
"""

import math
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.paper.formats import interval, number, p_text, percent
from scripts.core.paper.numbers import count, entry
from scripts.core.statistics import procedures
from scripts.ruff.lib import study

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


def share(value: float) -> str:
    """Return a share as it is printed."""
    return number(value, 2)


def format_signed(value: float) -> str:
    """Return a difference or a correlation as it is printed."""
    return number(value, 2, signed=True)


def of_rows(frame: pd.DataFrame, source: str, keys: list[str], shown: dict, **fixed: Any) -> dict:
    """Return the numbers of every row of a table.

    Args:
        frame: The table.
        source: Its name.
        keys: Columns that tell its rows apart; their values stand behind the number's name in its id.
        shown: Name to the column with the value, and a function that prints it; or to the columns with both ends of an
            interval, of which the value is the lower one.
        **fixed: What all of these rows have in common, and other rows have not.
    """
    numbers = {}
    for row in frame.to_dict("records"):
        cell = {key: row[key] for key in keys}
        which = ".".join(map(str, cell.values()))
        for name, (column, how) in shown.items():
            text: Any = how(row[column]) if callable(how) else interval(row[column], row[how], 2)
            numbers[f"{name}.{which}"] = entry(row[column], text, source, **cell, **fixed)
    return numbers


def _sign(low: float, high: float) -> int:
    """Return the sign of an estimate by its interval; 0 if 0 is inside."""
    return 1 if low > 0 else -1 if high < 0 else 0


def from_context_free(counts: pd.DataFrame) -> dict[str, dict]:
    """Return ``context_free.<model>.<pronoun>`` (count) and what is said of each model's most frequent sets.

    Ids are ``first.<model>`` and ``second.<model>``, the counts of the two most frequent sets (``set``; the earlier of
    equals first); ``first_p.<model>``, p of the sign test between them, in which the sentences about an occupation
    count as one; and ``ties.<model>``, how many predictions are ties.
    """
    source = "context_free.csv"
    numbers = of_rows(counts, source, ["model", "pronoun"], {"context_free": ("count", str)})
    for model, rows in counts.groupby("model", sort=False):
        two = rows.sort_values("count", ascending=False, kind="stable")[:2]
        for name, pronoun, picks in zip(("first", "second"), two.pronoun, two["count"], strict=True):
            numbers[f"{name}.{model}"] = count(picks, source, model=model, pronoun=pronoun) | {"set": pronoun}
        p = procedures.sign_test(*(two["count"] / study.SENTENCES))
        numbers[f"first_p.{model}"] = entry(p, p_text(p), source, model=model, column="count")
        numbers[f"ties.{model}"] = count(rows.ties.sum(), source, model=model, column="ties")
    return numbers


def from_accuracy(accuracy: pd.DataFrame, over_models: pd.DataFrame) -> dict[str, dict]:
    """Return accuracies by model and number of distractors, and what one distractor changes.

    Ids are ``accuracy.<model>.all.all.<n>``, the same with ``all`` for the mean over models,
    ``accuracy_interval.<model>.all.all.<n>``, whose value is the lower end and which has the upper one as ``high``,
    ``models.pooled`` and ``accuracy_change.all``: the mean over models of the accuracy with the fewest distractors of
    the run (``distractors.fewest``; ``distractors.most`` are its most) minus that without, in percentage points.
    """
    of_cell, source = ["factor", "level", "n_distractors"], "accuracy_over_models.csv"
    accuracy = accuracy[accuracy.factor == "all"]
    shown = {"accuracy": ("accuracy", share)}
    of_models = shown | {"accuracy_interval": ("ci_low", "ci_high")}
    numbers = of_rows(accuracy, "accuracy.csv", ["model", *of_cell], of_models)
    for row in accuracy.to_dict("records"):
        numbers["accuracy_interval." + ".".join(str(row[key]) for key in ("model", *of_cell))]["high"] = row["ci_high"]
    pooled = over_models[(over_models.architecture == "all") & (over_models.factor == "all")]
    numbers |= of_rows(pooled, source, ["architecture", *of_cell], shown)
    numbers["models.pooled"] = count(pooled.n_models.max(), source, architecture="all")
    levels = pooled.set_index("n_distractors").accuracy
    counts = sorted(int(n) for n in levels.index if n > 0)
    for name, n in (("fewest", counts[0]), ("most", counts[-1])):
        numbers[f"distractors.{name}"] = count(n, source, column="n_distractors")
    change = float(levels[counts[0]] - levels[0])
    cell = {"architecture": "all", "factor": "all", "level": "all", "n_distractors": [0, counts[0]]}
    numbers["accuracy_change.all"] = entry(change, percent(change, 0, signed=True), source, **cell)
    return numbers


def from_models(accuracy: pd.DataFrame, context_free: pd.DataFrame, chance: float) -> dict[str, dict]:
    """Return what is said of many models at once.

    Ids are ``models.n``; ``favourite.<pronoun>``, how many models pick the set most often without context, and
    ``favourites.tied``, how many have several such sets; ``accuracy_extreme.<n>.<lowest|highest>``, with the model
    beside; ``above_chance.<n>``, how many
    models have an interval above ``chance``; and ``chance.needed``, how many independent instances tell an accuracy
    that is ``chance.distance`` from chance apart from it (normal approximation).
    """
    overall = accuracy[accuracy.factor == "all"]
    numbers = {"models.n": count(overall.model.nunique(), "accuracy.csv", column="model")}
    most = context_free[context_free["count"] == context_free.groupby("model")["count"].transform("max")]
    favourites = most.drop_duplicates("model", keep=False).pronoun
    tied = most.model.nunique() - len(favourites)
    numbers["favourites.tied"] = count(tied, "context_free.csv", column="count")
    for pronoun in context_free.pronoun.unique():
        numbers[f"favourite.{pronoun}"] = count((favourites == pronoun).sum(), "context_free.csv", pronoun=pronoun)
    n: Any
    for n, rows in overall.groupby("n_distractors"):
        cell = {"factor": "all", "level": "all", "n_distractors": int(n)}
        above = rows.ci_low > chance
        rows = rows.set_index("model").accuracy
        model: Any
        for bound, model in (("lowest", rows.idxmin()), ("highest", rows.idxmax())):
            extreme = entry(float(rows[model]), share(rows[model]), "accuracy.csv", model=model, **cell)
            numbers[f"accuracy_extreme.{n}.{bound}"] = extreme | {"model": model}
        numbers[f"above_chance.{n}"] = count(above.sum(), "accuracy.csv", **cell)
    needed = math.ceil(NORMAL**2 * chance * (1 - chance) / DISTANCE**2)
    numbers["chance.distance"] = entry(DISTANCE, f"{DISTANCE}", "scripts/ruff/lib/numbers.py", name="DISTANCE")
    numbers["chance.needed"] = entry(needed, f"{needed}", "scripts/ruff/lib/numbers.py", name="DISTANCE")
    return numbers


def from_tests(tests: Any) -> dict[str, dict]:
    """Return how many pairs of sets were tested, and how many occupations the tests compare.

    Ids are ``test_needed`` (occupations that a test needs), ``test_n.<lowest|highest>`` and
    ``test_pairs.<lowest|highest>`` (occupations with each set, and with both), ``paired.<model>.<tests|significant>``
    (pairs of sets that the paired test can compare, and those that differ after correction); all are missing without
    any test.
    """
    numbers = {
        f"{name}.{bound}": count(n, "pronoun_tests.csv", columns=columns)
        for name, columns in (("test_n", ["n_a", "n_b"]), ("test_pairs", ["n_pairs"]))
        for bound, n in (("lowest", tests[columns].min(axis=None)), ("highest", tests[columns].max(axis=None)))
        if not tests.empty
    }
    if "needed" in tests and not tests.empty:
        numbers["test_needed"] = count(tests.needed.iloc[0], "pronoun_tests.csv", column="needed")
    for model, rows in tests.groupby("model", sort=False):
        cell = {"model": model, "column": "p_paired_holm"}
        for name, flags in (("tests", rows.p_paired_holm.notna()), ("significant", rows.significant_paired_holm)):
            numbers[f"paired.{model}.{name}"] = count(flags.sum(), "pronoun_tests.csv", **cell)
    return numbers


def from_errors(types: pd.DataFrame, bounds: pd.DataFrame) -> dict[str, dict]:
    """Return ``errors.<n_errors, ...>`` (counts), and ``error_range.<lowest|highest>`` of distraction plus bias."""
    numbers, source = {}, "error_types.csv"
    first = types.drop_duplicates(["model", "n_distractors"])
    for column in ("n_errors", "n_ambiguous", "n_unambiguous", "n_bias_equals_gold"):
        numbers[f"errors.{column}"] = count(first[column].sum(), source, column=column)
    for row in files.rows(bounds):
        text = f"{100 * row.share:.0f}"
        numbers[f"error_range.{row.bound}"] = entry(row.share, text, "error_range.csv", bound=row.bound)
    return numbers


def from_prompting(summary: pd.DataFrame, compared: pd.DataFrame | None, settings: dict) -> dict[str, dict]:
    """Return what the prose says of prompted models.

    Ids are ``prompted.<model>.<method>.<answer>.all.<n>`` (accuracy, mean over prompts),
    ``prompted_range.<model>.<n>.<lowest|highest>`` (vanilla, over all prompts),
    ``prompted_outcome.<model>.<method>.<answer>.wrong`` (share over all numbers of distractors),
    ``prompted_outputs.<method>.<n>`` (how many outputs a model has, over all prompts), ``prompted_prompts.all`` (how
    many prompts), ``against.<prompted>.<scored>.<n>`` and ``against_scored.<prompted>.<scored>.<n>`` (both accuracies
    on the same instances), ``against_n.<prompted>.<scored>.<n>`` (how many) and ``prompting.<setting>``.

    Args:
        summary: Of :mod:`scripts.ruff.lib.analyses.prompting`.
        compared: Of prompted against scored models, if any are compared.
        settings: Numbers of the configuration.
    """
    source = "prompted_summary.csv"
    keys = ["model", "method", "answer", "kind", "n_distractors"]
    overall = summary[summary.kind == "all"]
    numbers = of_rows(overall, source, keys, {"prompted": ("accuracy", share)})
    for row in overall.to_dict("records"):
        cell, n = {key: row[key] for key in keys}, row["n_distractors"]
        numbers[f"prompted_outputs.{row['method']}.{n}"] = count(row["n"], source, **cell)
        for bound in ("lowest", "highest") if row["method"] == "vanilla" else ():
            name = f"prompted_range.{row['model']}.{n}.{bound}"
            numbers[name] = entry(row[bound], share(row[bound]), source, **cell)
    n_prompts = overall[overall.method == "vanilla"].n_prompts.max()
    numbers["prompted_prompts.all"] = count(n_prompts, source, kind="all")
    for (model, method, answer), rows in overall.groupby(["model", "method", "answer"]):
        mean = float((rows.wrong * rows.n).sum() / rows.n.sum())
        cell = {"model": model, "method": method, "answer": answer, "column": "wrong"}
        numbers[f"prompted_outcome.{model}.{method}.{answer}.wrong"] = entry(mean, share(mean), source, **cell)
    if compared is not None:
        source, keys = "prompted_against_scored.csv", ["prompted", "scored", "n_distractors"]
        accuracies = {"against": ("prompted_accuracy", share), "against_scored": ("scored_accuracy", share)}
        numbers |= of_rows(compared, source, keys, accuracies)
        for row in compared.to_dict("records"):
            cell = {key: row[key] for key in keys}
            numbers["against_n." + ".".join(map(str, cell.values()))] = count(row["n"], source, **cell)
    for name, value in settings.items():
        numbers[f"prompting.{name}"] = entry(value, f"{value:,}", "config.yaml", key=f"ruff.prompting.{name}")
    return numbers


def from_other_scores(normalisation: pd.DataFrame) -> dict[str, dict]:
    """Return what other scores than the sum change, over all instances.

    Ids are ``other_difference.<model>.<normalisation>`` (of the accuracies) with ``other_difference_interval...``,
    whose value is its sign if 0 is outside, else 0; ``flipped.lowest`` and ``flipped.highest`` (share of other picks)
    over models and normalisations; ``other_changed``, in how many of ``other_compared`` comparisons 0 is outside;
    ``set_sum.<model>`` and ``set_other.<model>``, the accuracies that differ most by the score on one pronoun set
    (``set``, ``normalisation``), with their intervals, where 0 is outside that of the difference.
    """
    source = "normalisation.csv"
    rows = normalisation[(normalisation.factor == "all") & normalisation.flipped.notna()]
    shown = {"other_difference": ("difference", format_signed)}
    numbers = of_rows(rows, source, ["model", "normalisation"], shown, factor="all")
    signs = []
    for row in files.rows(rows):
        signs.append(_sign(row.difference_low, row.difference_high))
        ends = interval(row.difference_low, row.difference_high, 2, signed=True)
        cell = {"model": row.model, "normalisation": row.normalisation, "factor": "all"}
        name = f"other_difference_interval.{row.model}.{row.normalisation}"
        numbers[name] = entry(signs[-1], ends, source, **cell)
    numbers |= _of_the_set_that_moves_most(normalisation, source)
    for bound, value in (("lowest", rows.flipped.min()), ("highest", rows.flipped.max())):
        numbers[f"flipped.{bound}"] = entry(float(value), share(value), source, factor="all", column="flipped")
    for name, n in (("changed", sum(map(abs, signs))), ("compared", len(signs))):
        numbers[f"other_{name}"] = count(n, source, factor="all", column="difference")
    return numbers


def _of_the_set_that_moves_most(normalisation: pd.DataFrame, source: str) -> dict[str, dict]:
    numbers = {}
    by_set = normalisation[normalisation.factor == "pronoun"]
    clear = by_set[(by_set.difference_low > 0) | (by_set.difference_high < 0)]
    for model, rows in clear.groupby("model"):
        other = rows.iloc[int(rows.difference.abs().to_numpy().argmax())]
        same = by_set[(by_set.model == model) & (by_set.level == other.level)]
        summed = same[same.normalisation == "sum"].iloc[0]
        for name, row in (("set_sum", summed), ("set_other", other)):
            facts = {"set": other.level, "normalisation": row.normalisation}
            cell = {"model": model, "factor": "pronoun", "level": other.level, "normalisation": row.normalisation}
            ends = interval(row.ci_low, row.ci_high, 2)
            numbers[f"{name}.{model}"] = entry(row.accuracy, share(row.accuracy), source, **cell) | facts
            numbers[f"{name}_interval.{model}"] = entry(row.ci_low, ends, source, **cell, column="ci_low")
    return numbers


def from_settings(counts: pd.DataFrame, settings: dict, sizes: dict[str, int]) -> dict:
    """Return numbers of instances and the configured settings.

    Args:
        counts: Table 1.
        sizes: How many instances of each sample every model scores.

    Returns:
        ``scored.<n or context_free>``, ``scored.<model>.<n or context_free>``, ``scored.total``, ``setting.<name>``
        and ``setting.sample_size.<model>``.
    """
    numbers, largest = {}, max(sizes.values())
    columns = {model: "scored" if size == largest else f"scored_{size}" for model, size in sizes.items()}
    for row in counts.to_dict("records"):
        n = row["n_distractors"]
        name = "context_free" if math.isnan(n) else str(int(n))
        numbers[f"scored.{name}"] = count(row["scored"], "instance_counts.csv", n_distractors=name)
        for model, column in columns.items():
            cell = {"n_distractors": name, "column": column}
            numbers[f"scored.{model}.{name}"] = count(row[column], "instance_counts.csv", **cell)
    numbers["scored.total"] = count(counts.scored.sum(), "instance_counts.csv", column="scored")
    settings = settings | {"sample_size": largest}
    for model, size in sizes.items():
        numbers[f"setting.sample_size.{model}"] = count(size, "config.yaml", key=KEYS["sample_size"])
    for name, value in settings.items():
        text = f"{100 * value:g}%" if name == "confidence" else f"{value:,.3g}" if value < 1 else f"{value:,}"
        source = {"key": KEYS[name]} if name in KEYS else {"default": "cluster_bootstrap: level"}
        numbers[f"setting.{name}"] = entry(
            value, text, "config.yaml" if name in KEYS else "scripts/core/statistics/procedures.py", **source
        )
    return numbers
