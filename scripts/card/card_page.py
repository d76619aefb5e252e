"""Write the card of a model as LaTeX and as an HTML page that needs no other file."""

import base64
import json
import os
from pathlib import Path

import jinja2
import pandas as pd

from scripts.core import estimate_rows, files
from scripts.core.job import run
from scripts.core.paper import claims, latex, report, sections
from scripts.core.paper.formats import number
from scripts.core.paper.front import Front
from scripts.core.paper.published import shorten_list

LONGEST = 190
"""Characters of the evidence that a card shows; all of it is in findings.csv."""
COUNTED_INPUTS = ("instances", "prompts", "texts")
"""What a file that a model left counts."""


def main(
    *,
    template_tex: str,
    template_html: str,
    style: str,
    findings: list,
    figures: list,
    trajectories: list,
    made: list,
    speeds: list,
    summaries: list,
    fronts: list,
    main_tex: str,
    html: str,
    style_copy: str,
    findings_csv: str,
    model: str,
    entry: dict,
    studies: list,
    left_out: list,
    drawn: dict,
    audit: str,
):
    """Write the card.

    Args:
        template_tex, template_html: The two pages, with gaps for what is found.
        style: The LaTeX style of the proceedings.
        findings: Verdicts for the model, a file for each of ``studies``.
        figures: PNG and CSV of each study.
        trajectories: PNG of checkpoints over the course of training, for each of ``drawn``.
        made: What the model left: scores, distributions, answers.
        speeds: Measured times of its jobs.
        summaries: The summary of each of ``studies``.
        fronts: The templates of the paper's first page, of the studies that have one: their theses are the card's
            answers.
        main_tex, html, style_copy, findings_csv: The outputs.
        entry: What the card says of it, as in the registry.
        studies: ``key``, ``label``, ``question`` and ``chances`` of those that it was asked for.
        left_out: Labels of the others.
        drawn: Studies to their figure of checkpoints, without suffix; empty for a model that is none of a series.
        audit: The command that tells where a file of this run comes from.
    """
    tables = [files.read_csv(path) for path in findings]
    joined = [table.assign(study=study["label"]) for study, table in zip(studies, tables, strict=True)]
    files.write_csv(findings_csv, pd.concat(joined, ignore_index=True) if joined else pd.DataFrame())
    pictures = {Path(path).stem: path for path in figures if path.endswith(".png")}
    pictures |= {f"{study}_trajectory": path for study, path in zip(drawn, trajectories, strict=True)}
    shown = {Path(path).stem: files.read_csv(path) for path in figures if path.endswith(".csv")}
    labels = {study["key"]: study["label"] for study in studies}
    answered = answers(studies, summaries, fronts, model)
    context = {
        "answers": answered,
        "answer": next(iter(answered.values()), ""),
        "model": model,
        "label": entry["label"],
        "facts": facts(entry, made),
        "studies": [
            study
            | judged_findings(table)
            | {"values": values(shown[study["key"]]), "trajectory": trajectory(drawn.get(study["key"]), main_tex)}
            for study, table in zip(studies, tables, strict=True)
        ],
        "left_out": left_out,
        "settings": [describe_setting(path, labels) for path in made],
        "audit": audit,
        "cost": cost(speeds),
        "demonstration": entry["demonstration"],
    }
    plain = {name: report.plain_text(answer) for name, answer in answered.items()}
    files.write_text(main_tex, latex.render(Path(template_tex).parent, Path(template_tex).name, context))
    files.write_text(style_copy, Path(style).read_text(encoding="utf-8"))
    page = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    images = {name: base64.b64encode(Path(path).read_bytes()).decode() for name, path in pictures.items()}
    template = page.from_string(Path(template_html).read_text(encoding="utf-8"))
    files.write_text(
        html,
        template.render(context | {"images": images, "answers": plain, "answer": report.plain_text(context["answer"])}),
    )


def answers(studies, summaries, fronts, model):
    """Return what each study finds for the model in a sentence, as LaTeX; studies without one are absent."""
    templates = {Path(path).name.removesuffix("_front.tex.j2"): Path(path) for path in fronts}
    found = {}
    for study, summary in zip(studies, summaries, strict=True):
        template = templates.get(study["key"])
        if template:
            frame = estimate_rows.read([summary])
            front = Front(study["key"], frame[frame.model == model], study["chances"])
            context = {"front": front, "place": "thesis", "listed": sections.list_words}
            text = " ".join(sections.unmark_numbers(latex.render(template.parent, template.name, context)).split())
            if text:
                found[study["key"]] = latex.Raw(text)
    return found


def trajectory(stem, main_tex):
    """Return a figure's path as the card's LaTeX source has it; empty for None."""
    return stem and Path(os.path.relpath(f"{stem}.pdf", Path(main_tex).parent)).as_posix()


def facts(entry, made):
    """Return what a card says of the model itself: names and values."""
    source = entry.get("source", {})
    folder = f"folder {Path(source['path']).name}" if "path" in source else ""
    where = source.get("hub") or folder or source.get("package") or entry.get("api", {}).get("base_url", "")
    revisions = {str(files.parquet_metadata(path).get("revision") or "") for path in made} - {""}
    listed = {
        "Source": where,
        "Revision": ", ".join(sorted(revisions)),
        "Architecture": entry["architecture"],
        "Parameters": f"{entry['parameters']:,}" if entry["parameters"] else "not published",
        "Precision": entry.get("precision", ""),
        "Context": f"{entry['context']:,} tokens" if entry.get("context") else "no limit stated",
        "Not read": count_unread(made),
        "Licence": entry["licence"] + (" (gated)" if entry["gated"] else ""),
    }
    return [{"name": name, "value": value} for name, value in listed.items() if value]


def count_unread(made):
    """Return in how many of the scored instances the model cannot tell options apart, or nothing if in none."""
    stated = [facts for facts in map(files.parquet_metadata, made) if "unread_instances" in facts]
    counts = {
        "an option unknown or two read alike": sum(facts["unread_instances"] for facts in stated),
        "best options tied": sum(facts["tied_instances"] for facts in stated),
    }
    total = sum(facts["instances"] for facts in stated)
    return "; ".join(f"{words} in {count:,} of {total:,} instances" for words, count in counts.items() if count)


def judged_findings(table):
    """Return the findings that hold or fail for the model, and how many are undecided and why."""
    several = table.templates.nunique() > 1
    open_ones = table[table.verdict == claims.NOT_APPLICABLE]
    about_others = open_ones.missing == claims.OTHER_MODELS
    return {
        "findings": [
            {
                "number": row.claim,
                "finding": row.finding.rstrip(".")
                + (f" ({row.templates})" if several else "")
                + (f" [the study: of {row.about}]" if row.about == claims.AVERAGE else ""),
                "source": row.source,
                "verdict": row.verdict,
                "evidence": shorten(row.evidence),
            }
            for row in table[table.verdict != claims.NOT_APPLICABLE].itertuples()
        ],
        "undecided": [
            {
                "number": row.claim,
                "finding": row.finding.rstrip("."),
                "reason": shorten(str(row.evidence if pd.notna(row.evidence) else "") or describe_missing(row.missing)),
            }
            for row in open_ones[~about_others].itertuples()
        ],
        "about_others": int(about_others.sum()),
    }


def describe_missing(words):
    """Return what a finding lacks, in a clause."""
    return f"lacks {shorten_list(words.split('; '), 3)}" if isinstance(words, str) and words else "does not apply"


def shorten(text):
    """Return the beginning of a text that is too long for a card."""
    text = str(text)
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0].rstrip(";:,") + " ..."


def values(frame):
    """Return the model's values of a figure in words."""
    own = frame[frame.who == "model"]
    rows = []
    for row in own.itertuples():
        ends = "" if pd.isna(row.low) else f" [{number(row.low, 2)}, {number(row.high, 2)}]"
        rows.append({"name": row.name, "point": str(row.point), "value": number(row.value, 2) + ends})
    return rows


def describe_setting(path, labels):
    """Return how a file came to be that the model left; ``labels`` are those of the studies."""
    stored = files.parquet_metadata(path)
    parts = Path(path).parts
    counted = next((f"{stored[key]:,} {key}" for key in COUNTED_INPUTS if key in stored), "")
    return {
        "study": labels[parts[1]],
        "room": parts[2],
        "set": "/".join(parts[3:-1]),
        "count": counted,
        "engine": stored.get("engine") or "greedy" * ("search" in stored) or "",
        "precision": stored.get("precision", "as served"),
        "device": stored.get("device", "server"),
        "path": path,
        "digest": files.sha256(path)[:12],
        "weights": str(stored.get("weights_sha256") or "")[:12],
    }


def cost(speeds):
    """Return minutes of the model's jobs, loading included, and on what they ran; the tokens that a server counted."""
    measured = [json.loads(Path(path).read_text(encoding="utf-8")) for path in speeds]
    seconds = sum(job.get("seconds", 0) + job.get("loading_seconds", 0) for job in measured)
    devices = sorted({str(job.get("device", "")) for job in measured} - {""})
    tokens = sum(job.get("prompt_tokens", 0) + job.get("completion_tokens", 0) for job in measured)
    return {
        "minutes": number(seconds / 60, 1),
        "jobs": len(measured),
        "devices": ", ".join(devices),
        "tokens": f"{tokens:,}" if tokens else "",
    }


if __name__ == "__main__":
    run(main)
