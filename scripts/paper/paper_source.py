"""Render the paper's main file from its template and what the models of the run left behind."""

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import formats, latex
from scripts.core.paper.published import find_demonstration_models
from scripts.core.paper.sections import breakable, float_table, list_words, write_section
from scripts.core.provenance import environment
from scripts.core.workflow.job import run
from scripts.paper import citation
from scripts.paper.score_changes import find_thesis, select_accuracies

ROOT = Path(__file__).resolve().parents[2]
FEW = 6
"""Up to this many models the abstract names each."""


def main(
    *,
    main_template: str,
    bibliography: str,
    style: str,
    citation_file: str,
    summary_csv: str,
    made: list,
    speeds: list,
    main_tex: str,
    bibliography_copy: str,
    style_copy: str,
    models: dict,
    coreference_systems: dict,
    pronoun_sets: list,
    engine: str | None,
    studies: list,
    plain_title: str,
    settings: dict,
) -> None:
    """Write the main file, which includes the section of each of ``studies``.

    ``models`` are those that the studies of the run read or prompt, ``coreference_systems`` those that resolve texts,
    and ``made`` all files that models left, whose metadata tell revisions; ``pronoun_sets`` are those of the run, empty
    if no study takes them; ``engine`` is that of the scores, None if there are none. A study has ``key``, and says
    whether it adds an ``appendix``. ``speeds`` are the measured times of the models' jobs; ``citation_file`` is
    CITATION.cff, and ``settings`` the paper's configuration.
    The commit is read when the paper is rendered and is no reason to render it again: a commit that changes no result
    changes no paper.
    """
    stated, summary = [files.parquet_metadata(path) for path in made], estimate_rows.read_estimates([summary_csv])
    revisions = {facts["model"]: facts for facts in stated}
    rows = [
        (
            facts["label"],
            facts["architecture"],
            formats.format_number(facts["parameters"], 0),
            formats.describe_precision(
                revisions[name].get("precision", "as served"), revisions[name].get("source", {})
            ),
            _source(revisions[name]),
        )
        for name, facts in models.items()
    ]
    context = {
        "title": settings["title"] or find_thesis(select_accuracies(summary, studies)).title or plain_title,
        "commit": commit(),
        **citation.citation_facts(
            settings, yaml.safe_load(Path(citation_file).read_text(encoding="utf-8")), commit_date()
        ),
        "compute": compute(made, speeds, models),
        "machines": machines(speeds),
        # Variants of a system have the same label.
        "demonstration": list(dict.fromkeys(find_demonstration_models(models | coreference_systems).values())),
        "called": {name: facts["label"] for name, facts in (models | coreference_systems).items()},
        "studies": studies,
        "few": FEW,
        "engine": engine if any("engine" in facts and "outputs" not in facts["source"] for facts in stated) else None,
        "models": list(models.values()),
        "imported": imported(stated),
        "models_table": latex.latex_table(
            pd.DataFrame(rows, columns=["Model", "Architecture", "Parameters", "Precision", "Source and revision"]),
            align="llrlX",
        ),
        "readings": reading_notes(stated, models),
        "pronoun_sets": [breakable(entry["label"]) for entry in pronoun_sets],
        "link": latex.link_address,
        "listed": list_words,
        "table": float_table,
    }
    write_section(main_tex, main_template, context)
    for source, copy in ((bibliography, bibliography_copy), (style, style_copy)):
        with files.write_atomically(copy) as temporary:
            shutil.copyfile(source, temporary)


def imported(stated: list[dict]) -> list[str]:
    """Return the labels of the models whose scores were computed elsewhere, by the metadata of all files."""
    return list(dict.fromkeys(facts["label"] for facts in stated if "outputs" in facts["source"]))


STEPS = {"scores": "instances scored", "answers": "prompts answered", "distributions": "texts read"}
"""Folders below a study's results, to what a model did there."""


def compute(made: list[str], speeds: list[str], models: dict[str, dict]) -> str:
    """Return the table of what each model read and wrote and how long it took, as LaTeX; empty without any.

    Args:
        made: Scores, answers and distributions.
        speeds: Measured times of jobs: ``seconds`` and ``loading_seconds``.
    """
    measured = [
        (Path(path).parts[2], json.loads(Path(path).read_text(encoding="utf-8"))) for path in speeds
    ]  # fmt: skip
    rules = {"score": "scores", "prompt": "answers", "token_distributions": "distributions"}
    rows = []
    for name, step in ((name, step) for name in dict.fromkeys(Path(p).stem for p in made) for step in STEPS):
        facts = [files.parquet_metadata(p) for p in made if Path(p).stem == name and Path(p).parts[2] == step]
        # What was computed elsewhere took no time here.
        if not facts or "outputs" in facts[0].get("source", {}):
            continue
        units = sum(one.get("instances") or one.get("prompts") or one.get("texts") or 0 for one in facts)
        tokens = sum(
            one.get("forward_tokens") or one.get("prompt_tokens", 0) + one.get("new_tokens", 0) for one in facts
        )  # fmt: skip
        jobs = [job for rule, job in measured if job.get("model") == name and rules.get(rule) == step]
        minutes = sum(job.get("seconds", 0) + job.get("loading_seconds", 0) for job in jobs) / 60
        label = models[name]["label"] if name in models else name
        read = f"{formats.format_number(units, 0)} {STEPS[step]}"
        rows.append([label, read, formats.format_number(tokens or None, 0), formats.format_number(minutes or None, 1)])
    table = pd.DataFrame(rows, columns=["Model", "Step", "Tokens", "Minutes"])
    table["Model"] = table.Model.where(table.Model != table.Model.shift(), "")
    return latex.Raw(latex.latex_table(table, align="llrr")) if rows else ""


def machines(speeds: Iterable[str]) -> list[str]:
    """Return the devices that the jobs ran on, with their threads."""
    jobs = [json.loads(Path(path).read_text(encoding="utf-8")) for path in speeds]
    found = {
        (str(job["device"]), max(other.get("threads", 1) for other in jobs if other.get("device") == job["device"]))
        for job in jobs
        if job.get("device")
    }
    return [f"{device.upper()} ({count} {'thread' if count == 1 else 'threads'})" for device, count in sorted(found)]


def reading_notes(stated: list[dict], models: dict[str, dict]) -> list[dict]:
    """Return what models could not read or decide of the instances that they scored, summed over the files' metadata
    (``stated``): :class:`scripts.core.scoring.distinct_options.DistinctOptions`, of models with any.
    """
    keys = ("unknown_instances", "unread_instances", "tied_instances")
    found = []
    for name, facts in models.items():
        of_model = [entry for entry in stated if entry["model"] == name and keys[0] in entry]
        sums = {key: sum(entry[key] for entry in of_model) for key in (*keys, "instances")}
        if any(sums[key] for key in keys):
            found.append({"label": facts["label"]} | sums)
    return found


def commit() -> str:
    """Return the checked-out commit, marked when the tree has changes; ``unknown`` outside a repository."""
    state = environment.git_state(ROOT)
    return state["commit"][:12] + (" with uncommitted changes" if state["dirty"] else "") if state else "unknown"


def commit_date() -> str | None:
    """Return the date of the checked-out commit, or None outside a repository."""
    if environment.git_state(ROOT) is None:
        return None
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%cs"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _source(facts: dict[str, Any]) -> str:
    source = facts["source"]
    if "base_url" in source:
        return f"{source['model']} behind a server"
    if "hub" in source:
        return f"{source['hub']} at {facts['revision'][:12]}"
    if "package" in source:
        return f"package {facts['revision']}" + (" with the shipped delta" if "delta" in source else "")
    if "outputs" in source:
        return "computed elsewhere"
    return "local folder"


if __name__ == "__main__":
    run(main)
