"""The numbers that the RUFF section's prose uses, each with an id and the table cell that it comes from.

An entry is ``{"value", "text", "source", "cell"}``: the number, how it is printed, the tidy table and the key of the
cell in it. Differences and extremes over several cells name the cells' common key.
"""

import math

from scripts.core.paired import PLANNED
from scripts.core.paper.formats import interval, number, p_text, percent
from scripts.core.paper.numbers import entry

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
PROMPTING_KEYS = {"chain_sample_size": "chain_of_thought.sample_size"}


def share(value):
    """Return a share as it is printed."""
    return number(value, 2)


def from_context_free(counts, summary):
    """Return ``context_free.<model>.<pronoun>`` (count) and ``context_free.<architecture>.<pronoun>`` (mean count)."""
    numbers = {}
    for row in counts.to_dict("records"):
        cell = {"model": row["model"], "pronoun": row["pronoun"]}
        numbers["context_free.{model}.{pronoun}".format(**cell)] = entry(
            int(row["count"]), f"{row['count']}", "context_free.csv", **cell
        )
    for row in summary.to_dict("records"):
        cell = {"architecture": row["architecture"], "pronoun": row["pronoun"]}
        numbers["context_free.{architecture}.{pronoun}".format(**cell)] = entry(
            row["mean_count"], f"{row['mean_count']:.1f}", "context_free_summary.csv", **cell
        )
    return numbers


def from_accuracy(accuracy, over_models):
    """Return accuracies by model or architecture, factor and number of distractors, and what one distractor changes.

    Ids are ``accuracy.<model>.<factor>.<level>.<n>``, the same with an architecture,
    ``accuracy_interval.<model>.<factor>.<level>.<n>``, whose value is the lower end and which has the upper one as
    ``high``, and ``accuracy_change.<architecture>``: the mean over models of the accuracy with the fewest distractors
    of the run (``distractors.fewest``; ``distractors.most`` are its most) minus that without, in percentage points.
    """
    numbers = {}
    for frame, key, source in (
        (accuracy, "model", "accuracy.csv"),
        (over_models, "architecture", "accuracy_over_models.csv"),
    ):
        for row in frame.to_dict("records"):
            cell = {k: row[k] for k in (key, "factor", "level", "n_distractors")}
            numbers["accuracy." + ".".join(map(str, cell.values()))] = entry(
                row["accuracy"], share(row["accuracy"]), source, **cell
            )
    for row in accuracy.to_dict("records"):
        cell = {k: row[k] for k in ("model", "factor", "level", "n_distractors")}
        low, high = row["ci_low"], row["ci_high"]
        numbers["accuracy_interval." + ".".join(map(str, cell.values()))] = entry(
            low, interval(low, high, 2), "accuracy.csv", **cell
        ) | {"high": high}
    pooled = int(over_models[over_models.architecture == "all"].n_models.max())
    numbers["models.pooled"] = entry(pooled, f"{pooled}", "accuracy_over_models.csv", architecture="all")
    overall = over_models[over_models.factor == "all"].set_index(["architecture", "n_distractors"]).accuracy
    counts = sorted(int(n) for n in overall.index.unique("n_distractors") if n > 0)
    for name, count in (("fewest", counts[0]), ("most", counts[-1])):
        numbers[f"distractors.{name}"] = entry(count, f"{count}", "accuracy_over_models.csv", column="n_distractors")
    for architecture in overall.index.unique("architecture"):
        levels = overall[architecture]
        change = float(levels[counts[0]] - levels[0])
        numbers[f"accuracy_change.{architecture}"] = entry(
            change,
            percent(change, 0, signed=True),
            "accuracy_over_models.csv",
            architecture=architecture,
            factor="all",
            level="all",
            n_distractors=[0, counts[0]],
        )
    return numbers


def from_models(accuracy, context_free, chance):
    """Return what is said of many models at once.

    Ids are ``models.n``; ``favourite.<pronoun>``, how many models pick the set most often without context (the earlier
    set of equals); ``accuracy_extreme.<n>.<lowest|highest>``, with the model beside; and ``above_chance.<n>``, how many
    models have an interval above ``chance``; and ``chance.needed``, how many independent instances tell an accuracy
    that is ``chance.distance`` from chance apart from it (normal approximation).
    """
    overall = accuracy[accuracy.factor == "all"]
    total = int(overall.model.nunique())
    numbers = {"models.n": entry(total, f"{total}", "accuracy.csv", column="model")}
    # The first maximum wins, and each model's rows are in the order of the pronoun sets.
    favourites = context_free.loc[context_free.groupby("model", sort=False)["count"].idxmax()].pronoun
    for pronoun in context_free.pronoun.unique():
        count = int((favourites == pronoun).sum())
        numbers[f"favourite.{pronoun}"] = entry(count, f"{count}", "context_free.csv", pronoun=pronoun)
    for n, rows in overall.groupby("n_distractors"):
        cell = {"factor": "all", "level": "all", "n_distractors": int(n)}
        above = rows.ci_low > chance
        rows = rows.set_index("model").accuracy
        for bound, model in (("lowest", rows.idxmin()), ("highest", rows.idxmax())):
            extreme = entry(float(rows[model]), share(rows[model]), "accuracy.csv", model=model, **cell)
            numbers[f"accuracy_extreme.{n}.{bound}"] = extreme | {"model": model}
        count = int(above.sum())
        numbers[f"above_chance.{n}"] = entry(count, f"{count}", "accuracy.csv", **cell)
    needed = math.ceil(NORMAL**2 * chance * (1 - chance) / DISTANCE**2)
    numbers["chance.distance"] = entry(DISTANCE, f"{DISTANCE}", "scripts/ruff/lib/numbers.py", name="DISTANCE")
    numbers["chance.needed"] = entry(needed, f"{needed}", "scripts/ruff/lib/numbers.py", name="DISTANCE")
    return numbers


def from_tests(tests):
    """Return what the tests say of every tested pair, and how many occupations they compare.

    Ids are ``test.<model>.<a>.<b>`` (Holm-adjusted p of Welch's test), ``test_paired.<model>.<a>.<b>`` (of the paired
    one), ``test_difference.<model>.<a>.<b>``, ``test_needed`` (occupations that a test
    needs), ``test_n.<lowest|highest>`` and ``test_pairs.<lowest|highest>``
    (occupations with each set, and with both), ``paired.<model>.<tests|significant>`` (pairs of sets that the paired
    test can compare, and those that differ after correction); these last are missing without any test. The difference
    is signed, a minus b; its text has no sign.
    """
    numbers = {
        f"{name}.{bound}": entry(int(n), f"{n}", "pronoun_tests.csv", columns=columns)
        for name, columns in (("test_n", ["n_a", "n_b"]), ("test_pairs", ["n_pairs"]))
        for bound, n in (("lowest", tests[columns].min(axis=None)), ("highest", tests[columns].max(axis=None)))
        if not tests.empty
    }
    if "needed" in tests and not tests.empty:
        needed = int(tests.needed.iloc[0])
        numbers["test_needed"] = entry(needed, f"{needed}", "pronoun_tests.csv", column="needed")
    for model, rows in tests.groupby("model", sort=False):
        cell = {"model": model, "column": "p_paired_holm"}
        for name, flags in (("tests", rows.p_paired_holm.notna()), ("significant", rows.significant_paired_holm)):
            numbers[f"paired.{model}.{name}"] = entry(int(flags.sum()), f"{flags.sum()}", "pronoun_tests.csv", **cell)
    for row in tests.to_dict("records"):
        cell = {k: row[k] for k in ("model", "pronoun_a", "pronoun_b")}
        pair = ".".join(cell.values())
        for name, p in (("test", row["p_holm"]), ("test_paired", row["p_paired_holm"])):
            text = "undefined" if math.isnan(p) else f"p {p_text(p, smallest=0.001, decimals=3)}"
            numbers[f"{name}.{pair}"] = entry(p, text, "pronoun_tests.csv", **cell) | {"text": text}
        numbers[f"test_difference.{pair}"] = entry(
            row["difference"], share(abs(row["difference"])), "pronoun_tests.csv", **cell
        )
    return numbers


def from_errors(types, bounds):
    """Return ``errors.<model>.<n>.<type>`` (share), their counts, and the range of distraction plus bias."""
    numbers = {}
    for row in types.to_dict("records"):
        cell = {k: row[k] for k in ("model", "n_distractors", "error_type")}
        name = "errors." + ".".join(map(str, cell.values()))
        numbers[name] = entry(row["share"], share(row["share"]), "error_types.csv", **cell)
    for column in ("n_errors", "n_ambiguous", "n_unambiguous", "n_bias_equals_gold"):
        first = types.drop_duplicates(["model", "n_distractors"])
        total = int(first[column].sum())
        numbers[f"errors.{column}"] = entry(total, f"{total:,}", "error_types.csv", column=column)
    for row in bounds.to_dict("records"):
        numbers[f"error_range.{row['bound']}"] = entry(
            row["share"], f"{100 * row['share']:.0f}", "error_range.csv", bound=row["bound"]
        ) | {"model": row["model"], "n_distractors": int(row["n_distractors"])}
    return numbers


def from_prompting(summary, positions, agreement, compared, settings):
    """Return what the prose says of prompted models.

    Ids are ``prompted.<model>.<method>.<answer>.<kind>.<n>`` (accuracy, mean over prompts), the same after
    ``prompted_sd`` (over prompts), ``prompted_range.<model>.<n>.<lowest|highest>`` (vanilla, over all prompts),
    ``prompted_outcome.<model>.<method>.<answer>.<outcome>`` (share over all numbers of distractors),
    ``prompted_outputs.<method>.<n>`` (how many outputs a model has, over all prompts), ``prompted_prompts.<kind>`` (how
    many prompts), ``prompted_place.<model>.<order>.<place>`` (accuracy if the right option is there; vanilla),
    ``prompted_agreement.<model>`` (share of instances with the same answer, mean over pairs of prompts; vanilla),
    ``against.<prompted>.<scored>.<n>`` and ``against_scored.<prompted>.<scored>.<n>`` (both accuracies on the same
    instances), ``against_n.<n>`` (how many), ``prompted_positions_n`` (outputs of a model in one order of the options),
    ``prompted_agreement_n`` (instances that a pair of prompts is compared on) and ``prompting.<setting>``.

    Parameters
    ----------
    summary, positions, agreement : DataFrame
        Of :mod:`scripts.ruff.lib.analyses.prompting`.
    compared : DataFrame or None
        Of prompted against scored models, if any are compared.
    settings : dict
        Numbers of the configuration.
    """
    numbers = {}
    for row in summary.to_dict("records"):
        cell = {k: row[k] for k in ("model", "method", "answer", "kind", "n_distractors")}
        name = ".".join(map(str, cell.values()))
        numbers[f"prompted.{name}"] = entry(row["accuracy"], share(row["accuracy"]), "prompted_summary.csv", **cell)
        numbers[f"prompted_sd.{name}"] = entry(row["sd"], share(row["sd"]), "prompted_summary.csv", **cell)
        if row["kind"] == "all":
            n = row["n_distractors"]
            numbers[f"prompted_outputs.{row['method']}.{n}"] = entry(
                int(row["n"]), f"{row['n']:,}", "prompted_summary.csv", **cell
            )
            if row["method"] == "vanilla":
                for bound in ("lowest", "highest"):
                    numbers[f"prompted_range.{row['model']}.{n}.{bound}"] = entry(
                        row[bound], share(row[bound]), "prompted_summary.csv", **cell
                    )
    for kind, rows in summary[summary.method == "vanilla"].groupby("kind"):
        count = int(rows.n_prompts.max())
        numbers[f"prompted_prompts.{kind}"] = entry(count, f"{count}", "prompted_summary.csv", kind=kind)
    overall = summary[summary.kind == "all"]
    for (model, method, answer), rows in overall.groupby(["model", "method", "answer"]):
        for outcome in ("wrong", "wrong_case", "several", "none"):
            mean = float((rows[outcome] * rows.n).sum() / rows.n.sum())
            numbers[f"prompted_outcome.{model}.{method}.{answer}.{outcome}"] = entry(
                mean, share(mean), "prompted_summary.csv", model=model, method=method, answer=answer, column=outcome
            )
    for row in positions[positions.method == "vanilla"].to_dict("records"):
        cell = {k: row[k] for k in ("model", "order", "place")}
        numbers["prompted_place." + ".".join(map(str, cell.values()))] = entry(
            row["accuracy"], share(row["accuracy"]), "prompted_positions.csv", **cell
        )
    for name, rows, column, source in (
        ("positions", positions, "n_all", "prompted_positions.csv"),
        ("agreement", agreement, "n", "prompted_agreement.csv"),
    ):
        if len(rows):
            count = int(rows[rows.method == "vanilla"][column].iloc[0])
            numbers[f"prompted_{name}_n"] = entry(count, f"{count:,}", source, method="vanilla", column=column)
    for model, rows in agreement[agreement.method == "vanilla"].groupby("model"):
        mean = float(rows.agreement.mean())
        numbers[f"prompted_agreement.{model}"] = entry(mean, share(mean), "prompted_agreement.csv", model=model)
    for row in [] if compared is None else compared.to_dict("records"):
        cell = {k: row[k] for k in ("prompted", "scored", "n_distractors")}
        name = ".".join(map(str, cell.values()))
        source = "prompted_against_scored.csv"
        numbers[f"against.{name}"] = entry(row["prompted_accuracy"], share(row["prompted_accuracy"]), source, **cell)
        numbers[f"against_scored.{name}"] = entry(row["scored_accuracy"], share(row["scored_accuracy"]), source, **cell)
        numbers[f"against_n.{row['n_distractors']}"] = entry(int(row["n"]), f"{row['n']:,}", source, **cell)
    for name, value in settings.items():
        key = f"ruff.prompting.{PROMPTING_KEYS.get(name, name)}"
        numbers[f"prompting.{name}"] = entry(value, f"{value:,}", "config.yaml", key=key)
    return numbers


def from_other_scores(normalisation, calibration, correlations):
    """Return what other scores than the sum change, and how sure models are, over all instances.

    Ids are ``flipped.<model>.<normalisation>`` (share of other picks), ``other_difference.<model>.<normalisation>`` (of
    the accuracies) with ``other_difference_interval...``, whose value is its sign if 0 is outside, else 0;
    ``flipped.lowest`` and ``flipped.highest`` over models and normalisations; ``other_changed``, in how many of
    ``other_compared`` comparisons 0 is outside; ``ece.<model>``, ``ece_interval.<model>``, ``ece_chance.<model>`` and
    ``overconfidence.<model>`` of sums; and ``fertility.<model>`` (rank correlation of tokens and accuracy over forms).
    """
    numbers, source = {}, "normalisation.csv"
    rows = normalisation[(normalisation.factor == "all") & normalisation.flipped.notna()]
    signs = []
    for row in rows.itertuples():
        cell = {"model": row.model, "normalisation": row.normalisation, "factor": "all"}
        name = f"{row.model}.{row.normalisation}"
        sign = 1 if row.difference_low > 0 else -1 if row.difference_high < 0 else 0
        ends = interval(row.difference_low, row.difference_high, 2, signed=True)
        numbers[f"flipped.{name}"] = entry(row.flipped, share(row.flipped), source, **cell)
        numbers[f"other_difference.{name}"] = entry(
            row.difference, number(row.difference, 2, signed=True), source, **cell
        )
        numbers[f"other_difference_interval.{name}"] = entry(sign, ends, source, **cell)
        signs.append(sign)
    for bound, value in (("lowest", rows.flipped.min()), ("highest", rows.flipped.max())):
        numbers[f"flipped.{bound}"] = entry(float(value), share(value), source, factor="all", column="flipped")
    for name, value in (("changed", sum(map(abs, signs))), ("compared", len(signs))):
        numbers[f"other_{name}"] = entry(value, f"{value}", source, factor="all", column="difference")
    for row in calibration[(calibration.factor == "all") & (calibration.normalisation == "sum")].itertuples():
        cell = {"model": row.model, "normalisation": "sum", "factor": "all"}
        ends = interval(row.ci_low, row.ci_high, 2)
        numbers[f"ece.{row.model}"] = entry(row.ece, share(row.ece), "calibration.csv", **cell)
        numbers[f"ece_interval.{row.model}"] = entry(row.ci_low, ends, "calibration.csv", **cell)
        numbers[f"ece_chance.{row.model}"] = entry(
            row.ece_by_chance, share(row.ece_by_chance), "calibration.csv", **cell
        )
        sure = number(row.overconfidence, 2, signed=True)
        numbers[f"overconfidence.{row.model}"] = entry(row.overconfidence, sure, "calibration.csv", **cell)
    for row in correlations[correlations.normalisation == "sum"].itertuples():
        numbers[f"fertility.{row.model}"] = entry(
            row.spearman, number(row.spearman, 2, signed=True), "fertility_correlations.csv", model=row.model,
            normalisation="sum",
        )  # fmt: skip
    return numbers


def from_comparisons(power, mixed_model, agreed):
    """Return what the samples can show, what the mixed model finds, and how probability and generation agree.

    Ids are ``detectable.<model>`` and ``needed.<model>.<points>`` over all instances; ``mixed.converged``, ``mixed.n``,
    ``mixed.<factor>.<level>`` with ``mixed_interval.<factor>.<level>``, whose value is the sign if 0 is outside, else
    0; and of each prompted and scored model ``agreed_<question>.<prompted>.<scored>``, ``kappa_<question>...`` and
    ``matthews_<question>...``, and the same with ``_interval``, over all instances.
    """
    numbers = {}
    for row in power[power.n_distractors.astype(str) == "all"].to_dict("records"):
        cell = {"model": row["model"], "n_distractors": "all"}
        value = row["detectable_pair"]
        numbers[f"detectable.{row['model']}"] = entry(value, share(value), "power.csv", **cell)
        for points in PLANNED:
            needed = row[f"needed_{points}"]
            numbers[f"needed.{row['model']}.{points}"] = entry(needed, f"{needed:,.0f}", "power.csv", **cell)
    converged = bool(mixed_model.converged.all())
    size = int(mixed_model.n.max())
    numbers["mixed.n"] = entry(size, f"{size:,}", "mixed_model.csv", column="n")
    numbers["mixed.converged"] = entry(int(converged), f"{converged:d}", "mixed_model.csv", column="converged")
    for row in mixed_model.fillna({"level": ""}).itertuples() if converged else ():
        cell = {"kind": row.kind, "factor": row.factor, "level": str(row.level)}
        signed = row.kind == "fixed"
        name = f"{row.factor}.{row.level}" if signed else f"random.{row.factor}"
        ends = interval(row.ci_low, row.ci_high, 2, signed)
        sign = 1 if row.ci_low > 0 else -1 if row.ci_high < 0 else 0
        numbers[f"mixed.{name}"] = entry(row.estimate, number(row.estimate, 2, signed), "mixed_model.csv", **cell)
        numbers[f"mixed_interval.{name}"] = entry(sign, ends, "mixed_model.csv", **cell)
    for row in () if agreed is None else agreed[agreed.factor == "all"].itertuples():
        cell = {"prompted": row.prompted, "scored": row.scored, "factor": "all", "question": row.question}
        for name, column in (("agreed", "agreement"), ("kappa", "kappa"), ("matthews", "matthews")):
            value, low, high = (getattr(row, f"{column}{end}") for end in ("", "_low", "_high"))
            which = f"{row.question}.{row.prompted}.{row.scored}"
            numbers[f"{name}_{which}"] = entry(value, share(value), "scored_agreement.csv", **cell)
            numbers[f"{name}_interval_{which}"] = entry(low, interval(low, high, 2), "scored_agreement.csv", **cell)
    return numbers


def from_settings(counts, settings, sizes):
    """Return numbers of instances and the configured settings.

    Parameters
    ----------
    counts : DataFrame
        Table 1.
    settings : dict
    sizes : dict of str to int
        How many instances of each sample every model scores.

    Returns
    -------
    dict
        ``<instances, sample_size or scored>.<n or context_free>``, ``scored.<model>.<n or context_free>``,
        ``scored.total``, ``setting.<name>`` and ``setting.sample_size.<model>``.
    """
    numbers, largest = {}, max(sizes.values())
    columns = {model: "scored" if size == largest else f"scored_{size}" for model, size in sizes.items()}
    for row in counts.to_dict("records"):
        n = row["n_distractors"]
        name = "context_free" if math.isnan(n) else str(int(n))
        for column in ("instances", "sample_size", "scored"):
            value = row[column]
            numbers[f"{column}.{name}"] = entry(value, f"{value:,.0f}", "instance_counts.csv", n_distractors=name)
        for model, column in columns.items():
            cell = {"n_distractors": name, "column": column}
            numbers[f"scored.{model}.{name}"] = entry(row[column], f"{row[column]:,}", "instance_counts.csv", **cell)
    total = int(counts.scored.sum())
    numbers["scored.total"] = entry(total, f"{total:,}", "instance_counts.csv", column="scored")
    settings = settings | {"sample_size": largest}
    for model, size in sizes.items():
        key = {"key": KEYS["sample_size"]}
        numbers[f"setting.sample_size.{model}"] = entry(size, f"{size:,}", "config.yaml", **key)
    for name, value in settings.items():
        text = f"{100 * value:g} %" if name == "confidence" else f"{value:,.3g}" if value < 1 else f"{value:,}"
        source = {"key": KEYS[name]} if name in KEYS else {"default": "cluster_bootstrap: level"}
        numbers[f"setting.{name}"] = entry(
            value, text, "config.yaml" if name in KEYS else "scripts/core/statistics.py", **source
        )
    return numbers
