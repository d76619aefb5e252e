"""Write the first page of the paper and of the HTML report, and the appendix about findings and published numbers."""

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import finding_verdicts, latex, report, sections
from scripts.core.paper.formats import shorten_list
from scripts.core.paper.front import Front
from scripts.core.workflow.job import run

MOST_MISSING = 3
"""Up to this many models, systems or tables that a finding lacks are named."""
FEW = 6
"""Up to this many models the abstract names each."""
VERDICTS = {
    "total": "all that are printed",
    "as_printed": "as printed",
    "within_interval": "in our interval",
    "within_tolerance": "in the tolerance",
    "differs": "different",
    "not_covered": "not covered",
}
"""The counts of published numbers to the columns of their table."""
THESIS_PLACE = "thesis"
"""What a study's template is asked for besides its paragraph: the two sentences that the abstract opens with."""


def main(
    *,
    template: str,
    undecided_template: str,
    fronts: list,
    summary_csv: str,
    figure: str,
    verdicts: list,
    comparison_numbers: list,
    headline: list,
    overview_tex: str,
    undecided_tex: str,
    csv: str,
    numbers: str,
    report_rst: str,
    headline_titles: dict,
    studies: list,
    title: str,
    models: list,
) -> None:
    """Write the page (``overview_tex``, ``report_rst``), the appendix (``undecided_tex``) and the page's numbers.

    Args:
        fronts: What the first page says of a study: ``<study>_front.tex.j2`` of those that have one.
        summary_csv: The summary over all studies.
        figure: The figure of headlines (PDF).
        verdicts, comparison_numbers: The findings of the studies that test some (CSV), and what counts verdicts and
            comparisons (JSON).
        headline: PNG files that the report opens with.
        csv, numbers: The rows of the summary that the page uses (CSV), and the numbers of its sentences (JSON).
        headline_titles: Titles of ``headline``, by file, in the order of the page.
        studies: ``key``, ``label``, ``name``, ``question``, ``parts``, ``abstract`` and ``chances`` (metric to chance).
        title: Of the report.
        models: Those that the studies read: ``label`` and ``demonstration``.
    """
    frame = estimate_rows.read([summary_csv])
    templates = {Path(path).name.removesuffix("_front.tex.j2"): Path(path) for path in fronts}
    for study in studies:
        front = Front(study["key"], frame, study["chances"])
        study |= {"front": front} | {
            place: overview_text(front, study, templates.get(study["key"]), place)
            for place in (THESIS_PLACE, "paragraph")
        }
    compared = [study | study_evidence(study, verdicts, comparison_numbers) for study in studies]
    context = {
        "studies": compared,
        "models": models,
        "theses": [study[THESIS_PLACE] for study in studies if study[THESIS_PLACE]][:1],
        "figure": sections.figure,
        "headlines": sections.drawing(figure, Path(overview_tex).parents[1]),
        "listed": sections.list_words,
        "few": FEW,
        "demonstrations": any(study["front"].demonstration for study in studies),
        "number": sections.number,
        "symbols": latex.symbols,
        "findings": sections.findings,
        "table": sections.table,
        "comparison": comparison_table(compared),
    }
    sections.write(overview_tex, template, context)
    sections.write(undecided_tex, undecided_template, context)
    rows = [place for study in studies for place in study["front"].used]
    rows += [place for study in studies for place in study["front"].frame.index[study["front"].frame.headline]]
    files.write_csv(csv, frame.loc[sorted(set(rows))])
    files.write_json(numbers, {name: entry for study in studies for name, entry in study["front"].entries.items()})
    files.write_text(report_rst, report.page(title, report_studies(compared, headline, headline_titles)))


def overview_text(front: Front, study: dict[str, Any], template: Path | None, place: str) -> latex.Raw:
    """Return what a study's template says at a place of the first page, as LaTeX; without one, its headlines."""
    if template:
        context = {"front": front, "place": place, "listed": sections.list_words}
        return latex.Raw(latex.render(template.parent, template.name, context).strip())
    if place == THESIS_PLACE:
        return latex.Raw("")
    told = [f"{latex.escape(name)}: {text}" for name, text in front.headlines()]
    return latex.Raw(" ".join([latex.escape(study["question"]), *[f"{text}." for text in told]]))


def study_evidence(study: dict[str, Any], verdicts: Iterable[str], comparison_numbers: Iterable[str]) -> dict[str, Any]:
    """Return ``beside``, the numbers across the parts of a study, ``called``, its parts in sentences, and its findings.

    ``decided`` and ``undecided`` are lists of dict with ``number``, ``finding``, ``part``, ``verdict``, ``evidence``
    and ``lacks``.
    """
    paths = {kind: [p for p in given if Path(p).parts[1] == study["key"]] for kind, given in
             (("csv", verdicts), ("json", comparison_numbers))}  # fmt: skip
    counted = [json.loads(Path(path).read_text(encoding="utf-8")) for path in paths["json"]]
    several = len(study["parts"]) > 1
    rows = [row for path in paths["csv"] for row in files.rows(files.read_csv(path, dtype=str).fillna(""))]
    findings = [
        {
            "number": row.number,
            "finding": row.finding,
            "part": row.templates if several else "",
            "verdict": row.verdict,
            "evidence": latex.symbols(row.evidence),
            "lacks": latex.symbols(
                shorten_list(row.missing.split("; "), MOST_MISSING) if row.missing else str(row.evidence)
            ),
        }
        for row in rows
        if row.templates in study["parts"]
    ]
    return {
        "beside": {"id": study["key"], "numbers": {name: entry for one in counted for name, entry in one.items()}},
        "called": {
            part: latex.Raw(rf"the \emph{{{latex.escape(part)}}} data") if several else "this run"
            for part in study["parts"]
        },
        "judged": bool(findings),
        "decided": [row for row in findings if row["verdict"] != finding_verdicts.NOT_APPLICABLE],
        "undecided": [row for row in findings if row["verdict"] == finding_verdicts.NOT_APPLICABLE],
    }


def comparison_table(studies: Iterable[dict[str, Any]]) -> str:
    """Return the table of how published results compare with ours, a row for each study and part; or nothing."""
    rows = []
    for study in studies:
        for part in study["parts"]:
            prefix = f"published.{part}.results."
            if f"{prefix}total" in study["beside"]["numbers"]:
                counts = [sections.number(study["beside"], prefix + name) for name in VERDICTS]
                rows.append([study["label"], part, *counts])
    if not rows:
        return ""
    cells = pd.DataFrame(rows, columns=["Study", "Data", *VERDICTS.values()])
    return latex.Raw(latex.latex_table(cells, align="ll" + "r" * len(VERDICTS)))


def report_studies(
    studies: Iterable[dict[str, Any]], headline: Collection[str], titles: Mapping[str, str]
) -> list[tuple[str, str, list[str], list[tuple[str, str]]]]:
    """Return what the report's first page has of each study: label, text, counts of findings, pictures."""
    return [
        (
            study["label"],
            report.plain_text(sections.unmark_numbers(study["paragraph"])),
            [
                report.plain_text(
                    sections.unmark_numbers(sections.findings(study["beside"], part, study["called"][part]))
                )
                for part in study["parts"]
                if "findings.total" in study["beside"]["numbers"]
            ],
            [
                (title, path)
                for path, title in titles.items()
                if path in headline and Path(path).parts[1] == study["key"]
            ],
        )
        for study in studies
    ]


if __name__ == "__main__":
    run(main)
