"""The numbers that the RUFF section's prose uses, each with an id and the table cell that it comes from.

An entry is ``{"value", "text", "source", "cell"}``: the number, how it is printed, the tidy table and the key of the
cell in it. Differences and extremes over several cells name the cells' common key.
"""

import math


def entry(value, text, source, **cell):
    """Return one entry; a missing value is printed as a dash."""
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return {"value": None if missing else value, "text": "–" if missing else text, "source": source, "cell": cell}


def share(value):
    """Return a share as it is printed."""
    return "–" if math.isnan(value) else f"{value:.2f}"


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

    Ids are ``accuracy.<model>.<factor>.<level>.<n>``, the same with an architecture, and
    ``accuracy_change.<architecture>``: the mean over models of the accuracy with the fewest distractors of the run
    (``distractors.fewest``; ``distractors.most`` are its most) minus that without, in percentage points.
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
    overall = over_models[over_models.factor == "all"].set_index(["architecture", "n_distractors"]).accuracy
    counts = sorted(int(n) for n in overall.index.unique("n_distractors") if n > 0)
    for name, count in (("fewest", counts[0]), ("most", counts[-1])):
        numbers[f"distractors.{name}"] = entry(count, f"{count}", "accuracy_over_models.csv", column="n_distractors")
    for architecture in overall.index.unique("architecture"):
        levels = overall[architecture]
        change = float(levels[counts[0]] - levels[0])
        numbers[f"accuracy_change.{architecture}"] = entry(
            change,
            f"{100 * change:+.0f}".replace("-", "−"),
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
    models are more accurate than ``chance``.
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
        rows = rows.set_index("model").accuracy
        for bound, model in (("lowest", rows.idxmin()), ("highest", rows.idxmax())):
            found = entry(float(rows[model]), share(rows[model]), "accuracy.csv", model=model, **cell)
            numbers[f"accuracy_extreme.{n}.{bound}"] = found | {"model": model}
        count = int((rows > chance).sum())
        numbers[f"above_chance.{n}"] = entry(count, f"{count}", "accuracy.csv", **cell)
    return numbers


def from_tests(tests):
    """Return what the tests say of every tested pair, and how many occupations they compare.

    Ids are ``test.<model>.<a>.<b>`` (Holm-adjusted p), ``test_difference.<model>.<a>.<b>`` and
    ``test_n.<lowest|highest>``; these last are missing without any test. The difference is signed, a minus b; its text
    has no sign, because the prose says which set is ahead.
    """
    units = tests[["n_a", "n_b"]]
    numbers = {
        f"test_n.{bound}": entry(int(n), f"{n}", "pronoun_tests.csv", columns=["n_a", "n_b"])
        for bound, n in (("lowest", units.min(axis=None)), ("highest", units.max(axis=None)))
        if not tests.empty
    }
    for row in tests.to_dict("records"):
        cell = {k: row[k] for k in ("model", "pronoun_a", "pronoun_b")}
        p = row["p_holm"]
        text = "undefined" if math.isnan(p) else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
        pair = ".".join(cell.values())
        numbers[f"test.{pair}"] = entry(p, text, "pronoun_tests.csv", **cell) | {"text": text}
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


def from_settings(counts, settings):
    """Return numbers of instances from Table 1 (``instances.<n or context_free>``) and the configured settings."""
    numbers = {}
    for row in counts.to_dict("records"):
        n = row["n_distractors"]
        name = "context_free" if math.isnan(n) else str(int(n))
        for column in ("instances", "sample_size", "scored"):
            value = row[column]
            numbers[f"{column}.{name}"] = entry(value, f"{value:,.0f}", "instance_counts.csv", n_distractors=name)
    total = int(counts.scored.sum())
    numbers["scored.total"] = entry(total, f"{total:,}", "instance_counts.csv", column="scored")
    for name, value in settings.items():
        text = f"{100 * value:g} %" if name == "confidence" else f"{value:,.3g}" if value < 1 else f"{value:,}"
        numbers[f"setting.{name}"] = entry(value, text, "config.yaml", key=name)
    return numbers
