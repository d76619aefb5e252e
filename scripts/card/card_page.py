"""Write the card of one or more models as LaTeX and as an HTML page that needs no other file."""

import base64
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import finding_verdicts, latex, report, sections
from scripts.core.paper.formats import MISSING_MARK, describe_precision, estimate, number, p_text
from scripts.core.paper.front import Front, of_models
from scripts.core.paper.published import shorten_list
from scripts.core.workflow.job import run

HIGHLIGHTS = 3
"""Findings of the first page."""
LONGEST = 190
"""Characters of the evidence that a card shows; all of it is in findings.csv."""
COUNTED_INPUTS = ("instances", "prompts", "texts")
"""What a file that a model left counts."""


def main(
    *,
    template_tex: str,
    template_html: str,
    style: str,
    differences: str,
    findings: list,
    figures: list,
    made: list,
    summaries: list,
    fronts: list,
    main_tex: str,
    html: str,
    style_copy: str,
    findings_csv: str,
    models: dict,
    pairs: list,
    studies: list,
    left_out: list,
    audit: str,
) -> None:
    """Write the card.

    Args:
        template_tex, template_html: The two pages, with gaps for what is found.
        style: The LaTeX style of the proceedings.
        differences: Differences of the further models from the first (``card_differences.py``).
        findings: Verdicts on a study's findings for one model, a file for each of ``pairs``.
        figures: PNG and CSV of the scorecard and of the figure of all studies.
        made: What the models left: scores, distributions, answers.
        summaries: The summary of each of ``studies``.
        fronts: The templates of the paper's first page, of the studies that have one: their theses are the card's
            answers.
        main_tex, html, style_copy, findings_csv: The outputs.
        models: Name to what the card says of the model, as in the registry.
        pairs: Study and model, for each study the models that do something for it.
        studies: ``key``, ``label``, ``question`` and ``chances`` of those that the models were asked for.
        left_out: Labels of the others.
        audit: The command that tells where a file of this run comes from.
    """
    labels = {study["key"]: study["label"] for study in studies}
    called = {name: entry["label"] for name, entry in models.items()}
    tables = {(study, model): files.read_csv(path) for (study, model), path in zip(pairs, findings, strict=True)}
    joined = [table.assign(study=labels[study], model=model) for (study, model), table in tables.items()]
    files.write_csv(findings_csv, pd.concat(joined, ignore_index=True) if joined else pd.DataFrame())
    pictures = {Path(path).stem: path for path in figures if path.endswith(".png")}
    shown = {Path(path).stem: files.read_csv(path) for path in figures if path.endswith(".csv")}
    verdicts = {
        study: judged_findings({called[model]: table for (of, model), table in tables.items() if of == study})
        for study in labels
    }
    answer, highlights, texts = first_page(answers(studies, summaries, fronts, models), verdicts)
    context = {
        "answer": answer,
        "at_chance": chance_sentences(shown["scorecard"], called),
        "highlights": highlights,
        "texts": texts,
        "card": Path(main_tex).parent.name,
        "label": sections.list_words(called.values()),
        "labels": list(called.values()),
        "facts": [{"label": entry["label"], "facts": facts(name, entry, made)} for name, entry in models.items()],
        "headlines": headlines(shown["scorecard"], list(models)),
        "differences": difference_sentences(files.read_csv(differences), labels, called),
        "studies": [
            study
            | verdicts[study["key"]]
            | {
                "values": values(shown["studies"], study["key"]),
                "lacking": [called[name] for name in models if [study["key"], name] not in pairs],
            }
            for study in studies
        ],
        "left_out": left_out,
        "settings": [describe_setting(path, labels, called) for path in made],
        "audit": audit,
        "demonstrations": [entry["label"] for entry in models.values() if entry["demonstration"]],
    }
    files.write_text(main_tex, latex.render(Path(template_tex).parent, Path(template_tex).name, context))
    files.write_text(style_copy, Path(style).read_text(encoding="utf-8"))
    page = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page.filters["plain"] = report.plain_text
    images = {name: base64.b64encode(Path(path).read_bytes()).decode() for name, path in pictures.items()}
    template = page.from_string(Path(template_html).read_text(encoding="utf-8"))
    files.write_text(html, template.render(context | {"images": images}))


def first_page(answered: dict, verdicts: dict) -> tuple[latex.Raw, list[latex.Raw], dict[str, latex.Raw]]:
    """Return the sentence that answers the card's question, up to three findings, and what is left for each study.

    Args:
        answered: Study to what it finds, as LaTeX.
        verdicts: Study to :func:`judged_findings`.
    """
    texts = dict(answered)
    first = next(iter(texts), None)
    answer, *rest = re.split(r"(?<=\.) (?=[A-Z\\])", texts.pop(first, ""), maxsplit=1)
    highlights = [texts.pop(study) for study in list(texts)[:HIGHLIGHTS]]
    if rest:
        texts[first] = latex.Raw(rest[0])
    decided = [row for found in verdicts.values() for row in found["findings"]]
    for row in decided[: HIGHLIGHTS - len(highlights)]:
        judged_by = "; ".join(f"{one['label']}: {one['verdict']}" for one in row["verdicts"])
        highlights.append(latex.Raw(latex.escape(f"{row['finding']} ({row['source']}): {judged_by}.")))
    return latex.Raw(answer), highlights, texts


def headlines(frame: pd.DataFrame, models: Collection[str]) -> list[dict[str, Any]]:
    """Return the rows of the table of headlines: what it is, chance, and a cell for each model."""
    rows = []
    for (group, row), same in frame.groupby(["group", "row"], sort=False):
        by_model = {one["model"]: one for one in same.to_dict("records")}
        chance = same.chance.iloc[0]
        rows.append(
            {
                "group": "" if rows and rows[-1]["whole"] == group else group,
                "whole": group,
                "row": row if unit(same.n_unit.iloc[0]) == "instances" else f"{row} (n: {unit(same.n_unit.iloc[0])})",
                "chance": MISSING_MARK if pd.isna(chance) or not chance else number(chance, 0),
                "cells": [estimated(by_model[name]) if name in by_model else "not measured" for name in models],
            }
        )
    return rows


def estimated(row: Mapping[Any, Any]) -> str:
    """Return an estimate of the scorecard, whose shares are in percent, with its interval and n."""
    factor, style = (1, "plain") if row["chance"] == 0 else (100, "percent")
    value, low, high = (row[name] / factor for name in ("value", "low", "high"))
    return estimate(value, low, high, row["n"], style=style)


def unit(n_unit: str) -> str:
    """Return what n counts in a word."""
    return n_unit.partition(" of ")[0]


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


def difference_sentences(frame: Any, labels: Mapping[str, str], called: Mapping[str, str]) -> dict[str, Any]:
    """Return the differences as sentences: those that a test supports, and how many and which others there are."""
    if frame.empty:
        return {}
    clear = frame.p_holm < finding_verdicts.ALPHA
    sentences = []
    for row in frame[clear].itertuples():
        # Of a difference downwards both ends are turned round.
        factor = (100 if row.unit == "share" else 1) * (1 if row.difference > 0 else -1)
        size = number(factor * row.difference, 1)
        low, high = (number(end, 1) for end in sorted((factor * row.low, factor * row.high)))
        sample = f"the same instances, n = {row.n:,.0f} in {row.n_clusters:,.0f} clusters"
        where = "above" if row.difference > 0 else "below"
        sentences.append(
            f"{labels[row.study]}, {row.estimate}: {called[row.other]} is {size} points {where} "
            f"{called[row.first]} ({low} to {high}; {sample}; p {p_text(row.p_holm)})."
        )
    return {
        "first": called[frame["first"].iloc[0]],
        "sentences": sentences,
        "count": len(frame),
        "open": int((~clear & frame.p_holm.notna()).sum()),
        "untested": int(frame.p_holm.isna().sum()),
    }


def answers(
    studies: Iterable[dict[str, Any]], summaries: Iterable[str], fronts: Iterable[str], models: Collection[str]
) -> dict[str, latex.Raw]:
    """Return what each study finds for the models in a sentence, as LaTeX; studies without one are absent."""
    templates = {Path(path).name.removesuffix("_front.tex.j2"): Path(path) for path in fronts}
    found = {}
    for study, summary in zip(studies, summaries, strict=True):
        template = templates.get(study["key"])
        if template:
            front = Front(study["key"], of_models(estimate_rows.read([summary]), models), study["chances"])
            context = {"front": front, "place": "thesis", "listed": sections.list_words}
            text = " ".join(sections.unmark_numbers(latex.render(template.parent, template.name, context)).split())
            if text:
                found[study["key"]] = latex.Raw(text)
    return found


def facts(model: str, entry: dict[str, Any], made: Sequence[str]) -> list[dict[str, Any]]:
    """Return what a card says of a model itself: names and values."""
    source = entry.get("source", {})
    folder = f"folder {Path(source['path']).name}" if "path" in source else ""
    where = source.get("hub") or folder or source.get("package", "")
    stored = [files.parquet_metadata(path) for path in made if Path(path).stem == model]
    revisions = {str(one.get("revision") or "") for one in stored} - {""}
    scored = [files.parquet_metadata(path) for path in made if Path(path).stem == model and "/scores/" in path]
    total = sum(one["instances"] for one in scored)
    counts = {
        name: f"{sum(one[key] for one in scored):,} of {total:,} scored instances"
        if all(key in one for one in scored)
        else "not recorded"
        for name, key in (("Unknown or equal options", "unread_instances"), ("Tied best options", "tied_instances"))
        if scored
    }
    listed = {
        "Source": where,
        "Revision": ", ".join(sorted(revisions)),
        "Architecture": entry["architecture"],
        "Parameters": f"{entry['parameters']:,}" if entry["parameters"] else "not published",
        "Precision": describe_precision(entry.get("precision", ""), entry.get("source", {})),
        "Context": f"{entry['context']:,} tokens" if entry.get("context") else "no limit stated",
        "Licence": entry["licence"] + (" (gated)" if entry["gated"] else ""),
    }
    return [{"name": name, "value": value} for name, value in (listed | counts).items() if value]


def judged_findings(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the findings that hold or fail for some model, those that are undecided, and how many are of several.

    Args:
        tables: The label of each model to the verdicts on it alone (DataFrame).
    """
    rows: dict[tuple, dict] = {}
    for label, table in tables.items():
        several = table.templates.nunique() > 1
        for row in table[table.missing != finding_verdicts.OTHER_MODELS].itertuples():
            told = {
                "number": row.number,
                "finding": row.finding.rstrip(".") + (f" ({row.templates})" if several else ""),
                "average": row.about == finding_verdicts.AVERAGE,
                "source": row.source,
                "verdicts": [],
            }
            known = str(row.evidence) if pd.notna(row.evidence) and row.evidence else describe_missing(row.missing)
            verdict = {"label": label, "verdict": row.verdict, "evidence": shorten(known)}
            rows.setdefault((row.number, row.templates), told)["verdicts"].append(verdict)
    decided = [
        row
        for row in rows.values()
        if any(one["verdict"] != finding_verdicts.NOT_APPLICABLE for one in row["verdicts"])
    ]
    first = next(iter(tables.values()))
    return {
        "findings": decided,
        "undecided": [row for row in rows.values() if row not in decided],
        "about_others": int((first.missing == finding_verdicts.OTHER_MODELS).sum()),
    }


def describe_missing(words: str | float) -> str:
    """Return what a finding lacks, in a clause."""
    return f"lacks {shorten_list(words.split('; '), 3)}" if isinstance(words, str) and words else "does not apply"


def shorten(text: str) -> str:
    """Return the beginning of a text that is too long for a card."""
    text = str(text)
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0].rstrip(";:,") + " ..."


def values(frame: pd.DataFrame, study: str) -> list[dict[str, str]]:
    """Return the models' values of a study's panel in words."""
    own: Any = frame[(frame.study == study) & (frame.who == "model")]
    rows = []
    for row in own.itertuples():
        ends = "" if pd.isna(row.low) else f" [{number(row.low, 2)}, {number(row.high, 2)}]"
        name = f"{row.name}, {row.way}" if isinstance(row.way, str) and row.way else row.name
        rows.append({"name": name, "point": str(row.point), "value": number(row.value, 2) + ends})
    return rows


def describe_setting(path: str, labels: Mapping[str, str], called: Mapping[str, str]) -> dict[str, Any]:
    """Return how a file came to be that a model left; files of one ``group`` differ in their models alone.

    Args:
        path: The file.
        labels: Studies to their labels.
        called: Models to theirs.
    """
    stored = files.parquet_metadata(path)
    parts = Path(path).parts
    told = {
        "study": labels[parts[1]],
        "set": f"{parts[2]} ({'/'.join(parts[3:-1]).replace('_', ' ')})",
        "count": next((f"{stored[key]:,} {key}" for key in COUNTED_INPUTS if key in stored), ""),
        "engine": stored.get("engine") or "greedy" * ("search" in stored) or "",
        "precision": stored.get("precision", ""),
        "device": stored.get("device", ""),
    }
    return told | {
        "group": list(filter(None, told.values())),
        "model": called[Path(path).stem],
        "path": path,
        "digest": files.sha256(path)[:12],
    }


if __name__ == "__main__":
    run(main)
