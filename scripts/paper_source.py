"""Render the paper's LaTeX sources from its templates and the results of the run."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pandas as pd

from scripts.core import files, latex
from scripts.core.job import run

FEW = 6


def main(
    *,
    main_template: str,
    section_template: str,
    bibliography: str,
    numbers: list,
    figures: list,
    tables: list,
    scores: list,
    main_tex: str,
    section_tex: str,
    bibliography_copy: str,
    template_sets: list,
    models: dict,
    pronoun_sets: list,
    distractors: list,
    engine: str,
):
    """Write the main file and the section of each study that was run.

    ``numbers`` has one file for each of ``template_sets``, in that order; ``figures`` and ``tables`` are the files that
    the section includes, ``scores`` those whose metadata tell revisions. The commit is read when the paper is rendered
    and is no reason to render it again: a commit that changes no result changes no paper.
    """
    folder = Path(main_tex).parent
    sets = {}
    for key, path in zip(template_sets, numbers, strict=True):
        sets[key] = {
            "numbers": json.loads(Path(path).read_text(encoding="utf-8")),
            "tables": {Path(p).stem: _table(p) for p in tables if Path(p).parent.name == key},
            "figures": {Path(p).stem: _relative(p, folder) for p in figures if Path(p).parent.name == key},
            "key": key,
        }
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
        "studies": [{"key": "ruff", "name": "RUFF (robust pronoun fidelity)"}],
        "few": FEW,
        "engine": engine,
        "models_table": latex.latex_table(
            pd.DataFrame(rows, columns=["Model", "Architecture", "Parameters", "Precision", "Source"]), align="llrlX"
        ),
        "pronoun_sets": pronoun_sets,
    }
    section = {
        "sets": sets,
        "any_set": next(iter(sets.values())),
        "models": models,
        "model_names": list(models),
        "pronoun_sets": pronoun_sets,
        "labels": labels,
        "neighbours": list(zip(list(labels)[:-1], list(labels)[1:], strict=True)),
        "chance": 1 / len(labels),
        "most": max(distractors),
        "number": lambda part, name: part["numbers"][name]["text"],
        "compare": compare,
        "significant": significant,
        "favourite_set": lambda part, model: favourite_set(part, model, list(labels)),
        "figure": figure,
        "comparison": _comparison(figures, folder),
    }
    main_text = latex.render(*_split(main_template), context | {"models": list(models.values())})
    section_text = latex.render(*_split(section_template), section)
    files.write_text(section_tex, section_text)
    files.write_text(main_tex, main_text)
    with files.atomic(bibliography_copy) as temporary:
        shutil.copyfile(bibliography, temporary)


def breakable(label):
    """Return a pronoun set's label as LaTeX that may end a line after each of its forms."""
    return latex.Raw(latex.escape(label).replace("/", r"/\allowbreak{}"))


def commit():
    """Return the checked-out commit, marked when the tree has changes; ``unknown`` outside a repository."""
    root = Path(__file__).resolve().parents[1]
    try:
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True)
        changes = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head.stdout.strip()[:12] + (" with uncommitted changes" if changes.stdout.strip() else "")


def compare(part, name, reference, above, below, equal):
    """Return the word that fits a number against a reference."""
    value = part["numbers"][name]["value"]
    return equal if value == reference else above if value > reference else below


def significant(part, model, a, b):
    """Tell whether a pair's Holm-adjusted p value is below the configured level."""
    p = part["numbers"][f"test.{model}.{a}.{b}"]["value"]
    return p is not None and p < part["numbers"]["setting.alpha"]["value"]


def favourite_set(part, model, pronoun_sets):
    """Return the set that a model picks most often without context; the earlier one of equals."""
    return max(pronoun_sets, key=lambda pronoun: part["numbers"][f"context_free.{model}.{pronoun}"]["value"])


def figure(part, name, caption):
    """Return a figure environment with an escaped caption; labelled ``fig:ruff-<template set>-<name>``."""
    return _figure(part["figures"][name], f"ruff-{part['key']}-{name}", caption)


def _figure(path, label, caption):
    return latex.Raw(
        "\\begin{figure}[htbp]\n\\centering\n"
        f"\\includegraphics[max width=\\linewidth,max totalheight=0.8\\textheight]{{{path}}}\n"
        f"\\caption{{{latex.escape(caption)}}}\n\\label{{fig:{label}}}\n\\end{{figure}}\n"
    )


def _comparison(figures, folder):
    found = [p for p in figures if Path(p).stem == "template_comparison"]
    caption = (
        "Accuracy on the replica and on the official templates by model and number of distractors; not a figure of the "
        "paper. Bars: bootstrap intervals over occupations."
    )
    return _figure(_relative(found[0], folder), "ruff-comparison", caption) if found else ""


def _split(path):
    return Path(path).parent, Path(path).name


def _table(path):
    """Return a table file's content; a table that is too wide for the page is scaled down to it."""
    text = Path(path).read_text(encoding="utf-8").strip()
    if text.startswith(r"\begin{tabularx}"):
        return text
    return f"\\begin{{adjustbox}}{{max width=\\linewidth}}\n{text}\n\\end{{adjustbox}}"


def _relative(path, folder):
    return os.path.relpath(path, folder)


def _source(facts):
    source = facts["source"]
    if "hub" in source:
        return f"{source['hub']} at {facts['revision'][:12]}"
    if "package" in source:
        return f"package {facts['revision']}" + (" with the shipped delta" if "delta" in source else "")
    return "local folder"


if __name__ == "__main__":
    run(main)
