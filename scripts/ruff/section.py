"""Render the paper's section on RUFF, and its sentences for the abstract, from templates and the results of the run."""

import os
from pathlib import Path

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.core.paper.sections import across, breakable, figure, listed, number, part_of, value, write

FEW = 6
"""Up to this many models the text speaks of each; above, of all together."""


def main(
    *,
    section_template: str,
    abstract_template: str,
    numbers: list,
    figures: list,
    figure_data: list,
    tables: list,
    comparison_numbers: list,
    section_tex: str,
    abstract_tex: str,
    template_sets: list,
    models: dict,
    pronoun_sets: list,
    distractors: list,
    seeds: list,
    prompting: dict,
):
    """Write ``section_tex`` and ``abstract_tex``.

    ``numbers`` has one file for each of ``template_sets``, in that order; ``figures`` and ``tables`` are the files that
    the section includes, ``figure_data`` the CSV files of what the figures draw, ``comparison_numbers`` count verdicts
    on what the study publishes; ``distractors`` and ``seeds`` are those of the samples, and ``prompting`` says which
    models were prompted and how.
    """
    folder = Path(section_tex).parents[1]
    sets = {}
    for key, path in zip(template_sets, numbers, strict=True):
        drawn = {Path(p).stem: p for p in figure_data if Path(p).parent.name == key}
        sets[key] = part_of("ruff", key, path, tables, figures, folder) | {"drawn": drawn}
    pronoun_sets = [{"set": entry["set"], "label": breakable(entry["label"])} for entry in pronoun_sets]
    labels = {entry["set"]: entry["label"] for entry in pronoun_sets}
    context = {
        "sets": sets,
        "beside": across("ruff", comparison_numbers, tables),
        "demonstration": [facts["label"] for facts in models.values() if facts["demonstration"]],
        "any_set": next(iter(sets.values())),
        "models": models,
        "model_names": list(models),
        "pronoun_sets": pronoun_sets,
        "labels": labels,
        "neighbours": list(zip(list(labels)[:-1], list(labels)[1:], strict=True)),
        "families": {facts["family"] for facts in [*models.values(), *prompting["models"].values()]},
        "architectures": [a for a in ("decoder", "encoder") if a in {f["architecture"] for f in models.values()}],
        "few": FEW,
        "distractors": distractors,
        "seeds": seeds,
        "number": number,
        "value": value,
        "listed": listed,
        "scored": scored,
        "interval": interval,
        "shown": shown,
        "compare": compare,
        "significant": significant,
        "favourite_set": lambda part, model: favourite_set(part, model, list(labels)),
        "figure": figure,
        "prompting": prompting,
        "comparison": next(
            (os.path.relpath(p, folder) for p in figures if Path(p).stem == "template_comparison"), None
        ),
    }
    write(section_tex, section_template, context)
    write(abstract_tex, abstract_template, context)


def scored(part, counts):
    """Return how many instances were scored with each of ``counts`` distractors: one number, or their range."""
    names = sorted((f"scored.{n}" for n in counts), key=lambda name: value(part, name))
    ends = {value(part, name): number(part, name) for name in (names[-1], names[0])}
    return " to ".join(ends[count] for count in sorted(ends))


def interval(part, name):
    """Return what the bars of a figure are, by what it drew; empty if it drew none."""
    drawn = files.read_csv(part["drawn"][name])
    return "" if drawn.low.isna().all() else f"; bars: {drawn.interval.iloc[0]}"


def shown(table, models):
    """Tell whether a table has rows of single models; large ones show only all models together."""
    return any(latex.escape(facts["label"]) in table for facts in models.values())


def compare(part, name, reference, above, below, equal):
    """Return the word that fits a number against a reference."""
    found = value(part, name)
    return equal if found == reference else above if found > reference else below


def significant(part, model, a, b, test="test"):
    """Tell whether a pair's Holm-adjusted p value, of Welch's test or of ``test_paired``, is below the level."""
    p = value(part, f"{test}.{model}.{a}.{b}")
    return p is not None and p < value(part, "setting.alpha")


def favourite_set(part, model, pronoun_sets):
    """Return the set that a model picks most often without context; the earlier one of equals."""
    return max(pronoun_sets, key=lambda pronoun: value(part, f"context_free.{model}.{pronoun}"))


if __name__ == "__main__":
    run(main)
