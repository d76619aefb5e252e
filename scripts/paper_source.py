"""Render the paper's LaTeX sources from its templates and the results of the run."""

import os
import shutil
from pathlib import Path

import pandas as pd

from scripts.core import files, latex, provenance
from scripts.core.job import run
from scripts.core.paper import across, figure, listed, number, part_of, value, write

FEW = 6
"""Up to this many models the text speaks of each; above, of all together."""


def main(
    *,
    main_template: str,
    section_template: str,
    bibliography: str,
    numbers: list,
    figures: list,
    figure_data: list,
    tables: list,
    comparison_numbers: list,
    scores: list,
    main_tex: str,
    section_tex: str,
    bibliography_copy: str,
    template_sets: list,
    models: dict,
    pronoun_sets: list,
    distractors: list,
    seeds: list,
    engine: str,
    studies: list,
    prompting: dict,
):
    """Write the main file, which includes the section of each of ``studies``, and the section of RUFF.

    ``numbers`` has one file for each of ``template_sets``, in that order; ``figures`` and ``tables`` are the files that
    the section includes, ``figure_data`` the CSV files of what the figures draw, ``comparison_numbers`` count verdicts
    on what the study publishes, ``prompting`` says which models were prompted and how, and ``scores`` are the files
    whose metadata tell revisions. The commit is read when the paper is rendered and is no reason to render it again: a
    commit that changes no result changes no paper.
    """
    folder = Path(main_tex).parent
    sets = {}
    for key, path in zip(template_sets, numbers, strict=True):
        drawn = {Path(p).stem: p for p in figure_data if Path(p).parent.name == key}
        sets[key] = part_of("ruff", key, path, tables, figures, folder) | {"drawn": drawn}
    revisions = {facts["model"]: facts for facts in map(files.parquet_metadata, scores)}
    rows = [
        (
            facts["label"],
            facts["architecture"],
            f"{facts['parameters']:,}",
            revisions[name]["precision"],
            _source(revisions[name]),
        )
        for name, facts in models.items()
    ]
    pronoun_sets = [{"set": entry["set"], "label": breakable(entry["label"])} for entry in pronoun_sets]
    labels = {entry["set"]: entry["label"] for entry in pronoun_sets}
    context = {
        "title": "Pronouns in language models: results of a run",
        "commit": commit(),
        "demonstration": [facts["label"] for facts in models.values() if facts["demonstration"]],
        "studies": studies,
        "few": FEW,
        "engine": engine,
        "models_table": latex.latex_table(
            pd.DataFrame(rows, columns=["Model", "Architecture", "Parameters", "Precision", "Source and revision"]),
            align="llrlX",
        ),
        "pronoun_sets": pronoun_sets,
        "sets": sets,
        "seeds": seeds,
        "distractors": distractors,
        "number": number,
        "listed": listed,
    }
    section = {
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
    write(section_tex, section_template, section)
    write(main_tex, main_template, context | {"models": list(models.values())})
    with files.atomic(bibliography_copy) as temporary:
        shutil.copyfile(bibliography, temporary)


def breakable(label):
    """Return a pronoun set's label as LaTeX that may end a line after each of its forms."""
    return latex.Raw(latex.escape(label).replace("/", r"/\allowbreak{}"))


def commit():
    """Return the checked-out commit, marked when the tree has changes; ``unknown`` outside a repository."""
    state = provenance.git_state(Path(__file__).resolve().parents[1])
    return state["commit"][:12] + (" with uncommitted changes" if state["dirty"] else "") if state else "unknown"


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


def _source(facts):
    source = facts["source"]
    if "hub" in source:
        return f"{source['hub']} at {facts['revision'][:12]}"
    if "package" in source:
        return f"package {facts['revision']}" + (" with the shipped delta" if "delta" in source else "")
    return "local folder"


if __name__ == "__main__":
    run(main)
