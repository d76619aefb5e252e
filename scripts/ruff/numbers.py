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
    ``accuracy_change.<architecture>``: the mean over models of the accuracy with one distractor minus that without.
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
    for architecture in overall.index.unique("architecture"):
        levels = overall[architecture]
        if 0 in levels.index and 1 in levels.index:
            change = float(levels[1] - levels[0])
            numbers[f"accuracy_change.{architecture}"] = entry(
                change,
                f"{100 * change:+.0f}".replace("-", "−"),
                "accuracy_over_models.csv",
                architecture=architecture,
                factor="all",
            )
    return numbers


def from_tests(tests):
    """Return ``test.<model>.<a>.<b>`` (Holm-adjusted p) for every tested pair."""
    numbers = {}
    for row in tests.to_dict("records"):
        cell = {k: row[k] for k in ("model", "pronoun_a", "pronoun_b")}
        p = row["p_holm"]
        text = "undefined" if math.isnan(p) else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
        numbers["test." + ".".join(cell.values())] = entry(p, text, "pronoun_tests.csv", **cell) | {"text": text}
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
        numbers[f"setting.{name}"] = entry(value, f"{value:,}", "config.yaml", key=name)
    return numbers
