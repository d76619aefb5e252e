"""Write the card of up to four models as LaTeX and as an HTML page that needs no other file."""

import base64
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from scripts.card import card_differences
from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import finding_verdicts, latex, sections
from scripts.core.paper.formats import MISSING_MARK, describe_precision, format_estimate, format_number, shorten_list
from scripts.core.workflow.job import run
from scripts.paper import report
from scripts.paper.front import Front, of_models
from scripts.paper.summary import describe_levels

STYLES = {"share": "percent"}
"""Units of estimates to how they are printed."""
LONGEST = 190
"""Characters of the evidence that a card shows; all of it is in findings.csv."""


def main(
    *,
    template_tex: str,
    template_html: str,
    style: str,
    summaries: list,
    findings: list,
    figure: str,
    made: list,
    fronts: list,
    outcomes: list,
    main_tex: str,
    html: str,
    style_copy: str,
    findings_csv: str,
    differences: str,
    models: dict,
    pairs: list,
    studies: list,
    declared: dict,
    audit: str,
) -> None:
    """Write the card.

    Args:
        template_tex, template_html: The two pages, with gaps for what is found.
        style: The LaTeX style of the proceedings.
        summaries: The summaries of the studies that take any of the models.
        findings: Verdicts on a study's findings for one model, a file for each of ``pairs``.
        figure: Each study next to published values (PNG).
        made: What the models left: scores, distributions, answers.
        fronts: ``<study>_front.tex.j2`` of the studies that have one, whose ``thesis`` is the card's answer.
        outcomes: What is compared: instances, and what became of each.
        models: Name to what is said of the model (:func:`scripts.core.models.cards.describe_model`).
        pairs: Study and model, for each study the models that do something for it.
        studies: ``key``, ``label``, ``question`` and ``chances`` of all studies of the run.
        declared: Study to ``outcomes`` and ``paired`` of its declaration.
        audit: The command that tells where a file of this run comes from.
    """
    called = {name: entry["label"] for name, entry in models.items()}
    taken = {study for study, _ in pairs}
    measured = [study for study in studies if study["key"] in taken]
    labels = {study["key"]: study["label"] for study in measured}
    tables = [
        files.read_csv(path).assign(study=labels[study], model=model)
        for (study, model), path in zip(pairs, findings, strict=True)
    ]
    files.write_csv(findings_csv, pd.concat(tables, ignore_index=True))
    estimates = estimate_rows.read_estimates(summaries)
    compared = card_differences.compare_models(estimates, list(models), declared)
    files.write_csv(differences, compared)
    rows = headline_rows(estimates, list(models), measured)
    answer, more = study_answer(measured, estimates, fronts, list(models))
    context = {
        "answer": answer,
        "more": more,
        "at_chance": chance_sentences(rows, called),
        "card": Path(main_tex).parent.name,
        "label": sections.list_words(called.values()),
        "labels": list(called.values()),
        "facts": {entry["label"]: model_facts(name, entry, made) for name, entry in models.items()},
        "headlines": headline_cells(rows, list(models)),
        "differences": card_differences.describe(compared, labels, called),
        "studies": [
            study
            | judged_findings(pd.concat([table for table in tables if table.study.iloc[0] == study["label"]]), called)
            | {"lacking": [called[name] for name in models if [study["key"], name] not in pairs]}
            for study in measured
        ],
        "left_out": [study["label"] for study in studies if study["key"] not in taken],
        "files": [describe_file(path) for path in made],
        "audit": audit,
        "demonstrations": [entry["label"] for entry in models.values() if entry["demonstration"]],
    }
    files.write_text(main_tex, latex.render(Path(template_tex).parent, Path(template_tex).name, context))
    files.write_text(style_copy, Path(style).read_text(encoding="utf-8"))
    page = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page.filters["plain"] = report.plain_text
    context["figure"] = base64.b64encode(Path(figure).read_bytes()).decode()
    files.write_text(html, page.from_string(Path(template_html).read_text(encoding="utf-8")).render(context))


def study_answer(
    studies: list[dict], estimates: pd.DataFrame, fronts: Sequence[str], models: list[str]
) -> tuple[latex.Raw, latex.Raw]:
    """Return what the first study that has sentences finds for the models, as LaTeX: one sentence, and the others.

    What further studies say in sentences is in the table.
    """
    templates = {Path(path).name.removesuffix("_front.tex.j2"): Path(path) for path in fronts}
    for study in studies:
        if template := templates.get(study["key"]):
            front = Front(study["key"], of_models(estimates, models), study["chances"])
            context = {"front": front, "place": "thesis", "listed": sections.list_words}
            text = " ".join(sections.unmark_numbers(latex.render(template.parent, template.name, context)).split())
            if text:
                answer, *more = re.split(r"(?<=\.) (?=[A-Z\\])", text, maxsplit=1)
                return latex.Raw(answer), latex.Raw("".join(more))
    return latex.Raw(""), latex.Raw("")


def headline_rows(estimates: pd.DataFrame, models: list[str], studies: list[dict]) -> pd.DataFrame:
    """Return the headline estimates of models with ``group`` (study and metric), ``row`` (levels) and ``chance``."""
    found = []
    for study in studies:
        rows = of_models(estimates[estimates.study == study["key"]], models)
        rows = rows[rows.headline & rows.value.notna()]
        part = " (" + rows.part + ")" if rows.part.nunique() > 1 else ""
        levels = [describe_levels(row) for row in rows.to_dict("records")]
        group = study["label"] + ": " + rows.metric + part
        found.append(rows.assign(group=group, row=levels, chance=rows.metric.map(study["chances"]).astype(float)))
    return pd.concat(found, ignore_index=True)


def chance_sentences(frame: pd.DataFrame, called: Mapping[str, str]) -> list[str]:
    """Return a sentence for each model of which every headline estimate has its chance level in its interval."""
    found = []
    known = frame[frame.chance.notna() & frame.low.notna()]
    for name, label in called.items():
        rows = known[known.model == name]
        if len(rows) and rows.chance.between(rows.low, rows.high).all():
            of = f"each of its {len(rows)} headline estimates" if len(rows) > 1 else "its headline estimate"
            found.append(f"{label} is at chance everywhere: the 95% interval of {of} includes the chance level.")
    return found


def headline_cells(frame: pd.DataFrame, models: list[str]) -> list[dict[str, Any]]:
    """Return the rows of the table of headlines: group, what it is, chance, and a cell for each model in its order.

    ``frame`` is from :func:`headline_rows`.
    """
    rows = []
    for (group, name), same in frame.groupby(["group", "row"], sort=False):
        unit, chance = same.n_unit.iloc[0].partition(" of ")[0], same.chance.iloc[0]
        cells = {
            row.model: format_estimate(row.value, row.low, row.high, row.n, style=STYLES.get(row.unit, "plain"))
            for row in files.iterate_rows(same)
        }
        rows.append(
            {
                "group": group,
                "row": name if unit == "instances" else f"{name} (n: {unit})",
                "chance": format_number(100 * chance, 0) if chance > 0 else MISSING_MARK,
                "cells": [cells.get(model, "not measured") for model in models],
            }
        )
    return rows


def model_facts(model: str, entry: dict[str, Any], made: Sequence[str]) -> dict[str, str]:
    """Return what a card says of a model itself: names to values."""
    source = entry["source"]
    folder = f"folder {Path(source['path']).name}" if "path" in source else ""
    stored = [files.parquet_metadata(path) for path in made if Path(path).stem == model]
    scored = [one for one in stored if "instances" in one]
    total = sum(one["instances"] for one in scored)
    counts = {"Unknown or equal options": "unread_instances", "Tied best options": "tied_instances"} if scored else {}
    facts = {
        "Source": source.get("hub") or folder or source.get("package"),
        "Revision": ", ".join(sorted({str(one["revision"]) for one in stored if one.get("revision")})),
        "Architecture": entry["architecture"],
        "Parameters": f"{entry['parameters']:,}" if entry["parameters"] else "not published",
        "Precision": describe_precision(entry["precision"], source),
        "Context": f"{entry['context']:,} tokens" if entry["context"] else "no limit stated",
        "Licence": entry["licence"] + (" (gated)" if entry["gated"] else ""),
    } | {
        name: f"{sum(one[key] for one in scored):,} of {total:,} scored instances"
        if all(key in one for one in scored)
        else "not recorded"
        for name, key in counts.items()
    }
    return {name: value for name, value in facts.items() if value}


def judged_findings(table: pd.DataFrame, called: Mapping[str, str]) -> dict[str, Any]:
    """Return a study's findings that hold or fail for some model, the undecided ones, and how many are of several.

    Args:
        table: The verdicts on each model alone.
        called: Names of models to their labels.
    """
    of_several = table.missing == finding_verdicts.OTHER_MODELS
    split = table.templates.nunique() > 1
    findings = []
    for (_, templates), same in table[~of_several].groupby(["number", "templates"], sort=False, dropna=False):
        first = same.iloc[0]
        findings.append(
            {
                "finding": first.finding.rstrip(".") + (f" ({templates})" if split else ""),
                "average": first.about == finding_verdicts.AVERAGE,
                "source": first.source,
                "decided": bool((same.verdict != finding_verdicts.NOT_APPLICABLE).any()),
                "verdicts": [
                    {"label": called[row.model], "verdict": row.verdict, "evidence": describe_evidence(row)}
                    for row in files.iterate_rows(same)
                ],
            }
        )
    return {"findings": findings, "about_others": int((of_several & (table.model == table.model.iloc[0])).sum())}


def describe_evidence(row: Any) -> str:
    """Return what a verdict rests on, or what the finding lacks."""
    if isinstance(row.evidence, str) and row.evidence:
        return textwrap.shorten(row.evidence, LONGEST, placeholder=" ...")
    return f"lacks {shorten_list(row.missing.split('; '))}" if isinstance(row.missing, str) else "does not apply"


def describe_file(path: str) -> dict[str, str]:
    """Return what a model left, how, and the beginning of its digest."""
    stored = files.parquet_metadata(path)
    how = [str(stored[key]) for key in ("engine", "search", "precision", "device") if key in stored]
    return {"path": path, "how": f"{Path(path).parts[2]} ({', '.join(how)})", "digest": files.sha256(path)[:12]}


if __name__ == "__main__":
    run(main)
