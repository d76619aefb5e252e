"""Write the overview over all studies: a section of the paper with its table, and the first page of the HTML report."""

import json
from pathlib import Path

from scripts.core import estimate_rows, files
from scripts.core.job import run
from scripts.core.paper import claims, latex, report, sections, summary
from scripts.core.paper.tables import telling

NOTES = (
    "run: computed from models of this run; released: from outputs that the study's authors published; baseline: rules "
    "in place of a system; demonstration: a model that shows the machinery alone. All results are in "
    "results/paper/summary.csv."
)
ALIGN = {"n": "r"}
MANY = 8
"""Up to this many findings of one verdict are named."""


def main(
    *,
    template: str,
    summary_csv: str,
    verdicts: list,
    verdict_counts: list,
    headline: list,
    overview_tex: str,
    tex: str,
    csv: str,
    report_rst: str,
    headline_titles: dict,
    studies: list,
):
    """Write ``overview_tex``, the section, ``tex``, its table, ``csv``, the rows of that table, and ``report_rst``.

    Parameters
    ----------
    template : str
    summary_csv : str
        The summary over all studies.
    verdicts, verdict_counts : list of str
        The findings of the studies that test some (CSV), and how often each verdict fell (JSON).
    headline : list of str
        PNG files that the report opens with.
    overview_tex, tex, csv, report_rst : str
        The outputs.
    headline_titles : dict of str to str
        Their titles, by file, in the order of the page.
    studies : list of dict
        ``key``, ``label``, ``question`` and ``parts``.
    """
    labels = {study["key"]: study["label"] for study in studies}
    cells, rows = summary.overview(estimate_rows.read([summary_csv]), labels)
    cells, constant = telling(cells, ["Study", "Model or system", "Metric"])
    files.write_csv(csv, rows)
    files.write_text(tex, typeset(cells))
    tested = {Path(path).parts[1]: path for path in verdicts}
    counted = {Path(path).parts[1]: path for path in verdict_counts}
    judged = [
        study | judgements(study, tested[study["key"]], counted[study["key"]])
        for study in studies
        if study["key"] in tested
    ]
    asked = [study for study in studies if study["question"]]
    context = {
        "asked": asked,
        "judged": judged,
        "constant": constant,
        "cells": sections.fitted(Path(tex).read_text(encoding="utf-8").strip()) if len(cells) else "",
        "table": sections.table,
        "findings": sections.findings,
    }
    sections.write(overview_tex, template, context)
    found = [
        (
            ", ".join(filter(None, [study["label"], part if len(study["parts"]) > 1 else ""])),
            report.plain(sections.unmarked(sections.findings(study["beside"], part, study["called"][part]))),
            study["decided"][part],
        )
        for study in judged
        for part in study["parts"]
    ]
    figures = [(title, path) for path, title in headline_titles.items() if path in headline]
    questions = [(study["label"], study["question"]) for study in asked]
    files.write_text(report_rst, report.page(sections.TITLE, questions, named_once(cells), NOTES, found, figures))


def typeset(cells):
    """Return the overview's table as LaTeX, with a rule between studies."""
    breaks = [place for place in range(1, len(cells)) if cells.Study.iloc[place] != cells.Study.iloc[place - 1]]
    align = "".join(ALIGN.get(column, "l") for column in cells)
    return latex.latex_table(named_once(cells), align=align, midrules=breaks)


def named_once(cells):
    """Return the overview's cells with a study and its data where they begin, and empty cells below."""
    shown = cells.copy()
    named = [column for column in ("Study", "Data") if column in cells]
    for column in named:
        above = cells[named[: named.index(column) + 1]]
        shown[column] = cells[column].where((above != above.shift()).any(axis=1), "")
    return shown


def judgements(study, verdicts, counts):
    """Return the findings that a run decides on the parts of a study.

    Parameters
    ----------
    study : dict
    verdicts, counts : str
        As ``scripts/core/paper/claims.py`` writes them.

    Returns
    -------
    dict
        ``beside``: the counts as a template takes them; ``called``: what each part is called in a sentence;
        ``decided``: part to verdict to findings, the first :data:`MANY` of each.
    """
    table = files.read_csv(verdicts)
    decided, called = {}, {}
    for part in study["parts"]:
        rows = table[table.templates == part]
        decided[part] = {
            verdict: shortened(rows[rows.verdict == verdict].finding.tolist())
            for verdict in (claims.HOLDS, claims.FAILS)
        }
        several = len(study["parts"]) > 1 and part != "run"
        called[part] = latex.Raw(rf"the \emph{{{latex.escape(part)}}} data") if several else "this run"
    numbers = json.loads(Path(counts).read_text(encoding="utf-8"))
    return {"beside": {"id": study["key"], "numbers": numbers}, "called": called, "decided": decided}


def shortened(texts):
    """Return the first :data:`MANY` texts, and how many more there are."""
    return texts if len(texts) <= MANY else [*texts[:MANY], f"({len(texts) - MANY} more.)"]


if __name__ == "__main__":
    run(main)
