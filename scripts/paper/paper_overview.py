"""Write what the paper says of all studies together.

These are abstract, introduction, table of protocols, the section on scores, and the counts of findings.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import CHOSEN_ELSEWHERE, FULL, PARTIAL
from scripts.core.paper import finding_verdicts, latex, printed_tables, sections
from scripts.core.paper.formats import format_number
from scripts.core.workflow.job import run
from scripts.paper.citation import NUMBERS
from scripts.paper.front import Front
from scripts.paper.score_changes import (
    POOLED,
    SCORES,
    Thesis,
    compare_scores,
    find_thesis,
    select_accuracies,
    select_drawn,
)

FEW = 6
"""Up to this many models are named."""
SCORE_WORDS = {
    "sum": "the sum of log-probabilities",
    "tokens": "the mean log-probability of a token",
    "bytes": "the mean log-probability of a byte",
    "context_free": "the sum minus that of the sentence without its context",
    FULL: "the likelihood of the whole sentence",
    PARTIAL: "the likelihood of what follows the person",
}
"""Scores as sentences call them."""
PLACES = ("thesis", "protocol", "scores")
"""What a study's template is asked for: a sentence for cards and for the abstract of a run whose scores change nothing,
its row of the table of protocols, and its part of the section on scores."""


def main(
    *,
    templates: list,
    fronts: list,
    summary_csv: str,
    figure: str,
    scores_figure: str,
    scores_table: str,
    verdicts: list,
    findings_tables: list,
    comparison_numbers: list,
    sections_tex: list,
    csv: str,
    numbers: str,
    studies: list,
    models: list,
) -> None:
    """Write ``sections_tex`` from ``templates``, and the numbers that they print.

    Args:
        fronts: ``<study>_front.tex.j2`` of the studies that have one.
        summary_csv: The summary over all studies.
        figure, scores_figure, scores_table: The figure of headlines and that of scores (PDF), and the table of scores.
        verdicts, findings_tables, comparison_numbers: The findings of the studies that test some (CSV), the tables of
            those that hold or fail (LaTeX), and what counts verdicts and comparisons (JSON).
        csv, numbers: The rows of the summary that the page uses (CSV), and the numbers of its sentences (JSON).
        studies: ``key``, ``label``, ``question``, ``parts`` and ``chances`` (metric to chance).
        models: Those that the studies read: ``label`` and ``demonstration``.
    """
    frame = estimate_rows.read_estimates([summary_csv])
    front_templates = {Path(path).name.removesuffix("_front.tex.j2"): Path(path) for path in fronts}
    accuracies = select_accuracies(frame, studies)
    thesis = find_thesis(accuracies)
    for study in studies:
        front = Front(study["key"], frame, study["chances"])
        study |= {"front": front} | {
            place: overview_text(front, front_templates.get(study["key"]), place) for place in PLACES
        }
        study["moves"] = describe_moves(front, accuracies[accuracies.study == study["key"]])
    studies = [study | study_evidence(study, verdicts, findings_tables, comparison_numbers) for study in studies]
    folder = Path(sections_tex[0]).parents[1]
    context = {
        "studies": studies,
        "models": models,
        "thesis": thesis,
        "moved_studies": [study["label"] for study in studies if thesis.studies.get(study["key"])],
        "labels": list(dict.fromkeys(accuracies.label)),
        "example": describe_example(thesis, studies),
        "headlines": sections.read_drawing(figure, folder),
        "scores_figure": sections.read_drawing(scores_figure, folder),
        "scores_table": printed_tables.read_printed_table(scores_table),
        "units": {
            rows.study_label.iloc[0]: f"{format_number(rows.n.max(), 0)} {rows.n_unit.iloc[0]}"
            for _, rows in select_drawn(accuracies).groupby("study", sort=False)
        },
        "listed": sections.list_words,
        "few": FEW,
        "in_words": lambda count: NUMBERS[count] if count < len(NUMBERS) else str(count),
        "demonstrations": any(study["front"].demonstration for study in studies),
        "arms": describe_arms(studies),
        "symbols": latex.typeset_symbols,
        "figure": sections.float_figure,
        "table": sections.float_table,
        "count_rows": printed_tables.count_rows,
        "split_table": printed_tables.split_table,
    }
    sections.write_all(sections_tex, templates, context)
    rows = [place for study in studies for place in study["front"].used]
    rows += [place for study in studies for place in study["front"].frame.index[study["front"].frame.headline]]
    files.write_csv(csv, frame.loc[sorted(set(rows))])
    files.write_json(numbers, {name: entry for study in studies for name, entry in study["front"].entries.items()})


def describe_example(thesis: Thesis, studies: list[dict]) -> dict[str, Any]:
    """Return the largest pair of moves in opposite directions in words; empty without any."""
    if not thesis.example:
        return {}
    (study,) = (study for study in studies if study["key"] == thesis.example["study"])
    front = study["front"]
    up, down, levels = (thesis.example[name] for name in ("up", "down", "levels"))
    row = front.frame.loc[up.own]
    whole = levels[levels.level == POOLED]
    chosen = front.frame[(front.frame.metric == CHOSEN_ELSEWHERE) & (front.frame.part == up.part)]
    if len(chosen):
        same = (chosen.model == up.model) & (chosen.normalisation == up.score) & (chosen.preferred == up.level)
        chosen = chosen[same]
    rest = levels[levels.pronoun.astype(bool) & (levels.level != up.level)]
    return {
        "study": study["label"],
        "label": row.label,
        "own": SCORE_WORDS[row.get("normalisation") or row.scoring],
        "other": SCORE_WORDS[thesis.example["score"]],
        "up": level_in_text(up.level),
        "down": level_in_text(down.level),
        "up_sized": front.estimate_at(up.own, sized=True),
        "down_sized": front.estimate_at(down.own, sized=True),
        "whole": [front.estimate_at(place) for place in [*whole.own, *whole.other]],
        "chosen": [front.estimate_at(place, sized=True) for place in chosen.index],
        "rest": [
            latex.Raw(f"{level_in_text(str(one.level))} in {front.estimate_at(one.other)}")
            for one in files.iterate_rows(rest)
        ],
        **{
            f"{name}_{which}": front.estimate_at(move[which])
            for name, move in (("up", up), ("down", down))
            for which in ("own", "other")
        },
    }


def describe_moves(front: Front, accuracies: pd.DataFrame) -> latex.Raw:
    """Return how a study's accuracies move between scores; of many models, for how many they do."""
    if accuracies.empty:
        return latex.Raw("")
    changes = compare_scores(accuracies)
    if changes.model.nunique() > FEW:
        moved = changes[changes.direction != 0]
        by_model = moved[moved.pronoun.astype(bool)].groupby("model").direction.nunique()
        return latex.Raw(
            f"Of {changes.model.nunique()} models, {moved.model.nunique()} have an accuracy that moves beyond its "
            f"interval, and {int((by_model == 2).sum())} have one pronoun that rises while another falls."
        )
    told = []
    for _, of_model in changes.groupby(["part", "model"], sort=False):
        label = front.frame.loc[of_model.own.iloc[0]].label
        moved = []
        for level, rows in of_model[of_model.direction != 0].groupby("level", sort=False):
            most = rows.iloc[rows.change.abs().argmax()]
            ends = f"from {front.estimate_at(most.own)} to {front.estimate_at(most.other)}"
            moved.append(f"{level_in_text(str(level))} {ends} ({SCORES[most.score]})")
        label = latex.escape(label)
        if moved:
            told.append(f"For {label}, these accuracies move most: {'; '.join(moved)}.")
        else:
            told.append(f"No accuracy of {label} moves beyond its interval.")
    return latex.Raw(" ".join(told))


def describe_arms(studies: list[dict]) -> list[latex.Raw]:
    """Return the smallest and the largest half-width of an interval of a headline accuracy; nothing without any."""
    arms = []
    for study in studies:
        rows = study["front"].frame
        rows = rows[rows.headline & (rows.metric == "accuracy") & rows.low.notna()]
        arms += [((row.high - row.low) / 2, study["front"], row.Index) for row in files.iterate_rows(rows)]
    ends = (min(arms, key=lambda arm: arm[0]), max(arms, key=lambda arm: arm[0])) if arms else ()
    return [front.print_half_width(place) for _, front, place in ends]


def level_in_text(level: str) -> latex.Raw:
    """Return a level of pronouns as sentences have it: a pronoun in italics."""
    if level == POOLED:
        return latex.Raw("all pronouns together")
    text = latex.escape(level)
    return latex.Raw(text if level.endswith("pronouns") or " " in level else rf"\emph{{{text}}}")


def overview_text(front: Front, template: Path | None, place: str) -> latex.Raw:
    """Return what a study's template says at one of :data:`PLACES`, as LaTeX; nothing without one."""
    if template is None:
        return latex.Raw("")
    context = {"front": front, "place": place, "listed": sections.list_words}
    return latex.Raw(latex.render(template.parent, template.name, context).strip())


def study_evidence(
    study: dict[str, Any], verdicts: Iterable[str], findings_tables: Iterable[str], comparison_numbers: Iterable[str]
) -> dict[str, Any]:
    """Return which findings of a study hold or fail (``decided``, with their table), and what its results cover.

    ``judged`` tells whether it tests any finding, ``has_models`` whether the run has one of its models, and
    ``compared`` whether any published number is compared.
    """
    csv, tables, numbers = (
        [path for path in given if Path(path).parts[1] == study["key"]]
        for given in (verdicts, findings_tables, comparison_numbers)
    )
    counted = [json.loads(Path(path).read_text(encoding="utf-8")) for path in numbers]
    several = len(study["parts"]) > 1
    rows = [row for path in csv for row in files.iterate_rows(files.read_csv(path, dtype=str).fillna(""))]
    rows = [row for row in rows if row.templates in study["parts"]]
    return {
        "judged": bool(rows),
        "has_models": any(entry["value"] for one in counted for name, entry in one.items() if name.endswith(".models")),
        "compared": any(one.get("published.compared", {"value": 0})["value"] for one in counted),
        "decided": [
            {"finding": row.finding, "part": row.templates if several else "", "verdict": row.verdict}
            for row in rows
            if row.verdict != finding_verdicts.NOT_APPLICABLE
        ],
        "findings_table": printed_tables.read_printed_table(tables[0]) if tables else "",
    }


if __name__ == "__main__":
    run(main)
