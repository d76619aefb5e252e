"""The same options compared by other scores, over all studies: the figure, the table and the text of the main part."""

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import FULL, PARTIAL
from scripts.core.paper import front, latex, palette, plotting, sections
from scripts.core.paper.formats import MISSING_MARK, number, percent
from scripts.core.paper.summary import describe_levels
from scripts.core.paper.tables import write_table
from scripts.core.workflow.job import run

SCORES = {
    "sum": "sum", "tokens": "mean over tokens", "bytes": "mean over bytes", "context_free": "minus context-free",
    FULL: "full likelihood", PARTIAL: "partial likelihood",
}  # fmt: skip
"""Scores, and the two likelihoods by which a sentence about two people is resolved, as legend and table call them."""
LOOKS = dict(zip(SCORES, zip(palette.CATEGORIES[:4], "os^v", strict=True), strict=False))
LOOKS |= {FULL: ("#000000", "D"), PARTIAL: (plotting.GREY, "P")}
COLUMNS = ["study_label", "label", "level", "score", "accuracy", "low", "high", "n", "n_unit", "chance"]
"""What is told of a row of the summary, besides its identity."""
POOLED = "all"
"""What the level over all instances is called."""
WIDTH = 30
"""Letters in a line above a panel."""
FEW = 6
"""Up to this many models of a study the table has a row for each."""


def select(frame: pd.DataFrame, studies: list[dict]) -> pd.DataFrame:
    """Return the accuracies of every study by each score: their identity in the summary and :data:`COLUMNS`.

    Demonstration models are left out where a study has others.

    Args:
        frame: The summary over all studies.
        studies: ``key``, ``label`` and ``chances`` (metric to chance).
    """
    found, identity = [], estimate_rows.identity(frame)
    for study in studies:
        rows = front.subject_rows(frame[(frame.study == study["key"]) & (frame.metric == "accuracy")])
        for row in rows[rows.value.notna()].to_dict("records"):
            score = row.get("normalisation") or row["scoring"]
            if score not in SCORES:
                continue
            level = describe_levels(row | {"normalisation": "", "scoring": ""})
            level = POOLED if level == "as trained" else level
            named = [row[name] for name in identity]
            value = [row[name] for name in ("value", "low", "high", "n", "n_unit")]
            told = [study["label"], row["label"], level, score, *value, study["chances"].get("accuracy")]
            found.append([*named, *told])
    table = pd.DataFrame(found, columns=[*identity, *COLUMNS])
    # One score alone is no comparison.
    return table[table.groupby(["study", "part", "model", "level"]).score.transform("size") > 1].reset_index(drop=True)


def largest_models(table: pd.DataFrame, models: dict[str, dict]) -> pd.DataFrame:
    """Return the rows that are drawn: of each study its official part, or else its first, and its largest model."""
    parts = []
    for _, rows in table.groupby("study", sort=False):
        rows = rows[rows.part == ("official" if "official" in set(rows.part) else rows.part.iloc[0])]
        sizes = {name: models.get(name, {}).get("parameters") or 0 for name in dict.fromkeys(rows.model)}
        parts.append(rows[rows.model == max(sizes, key=lambda name: sizes[name])])
    return pd.concat(parts, ignore_index=True) if parts else table


@plotting.style()
def draw(frame: pd.DataFrame) -> Figure:
    """Draw a panel for each study: a line for each level, and in it a mark for each score with its interval."""
    frame = plotting.drop_small_cells(frame)
    if frame.empty:
        return plotting.nothing_drawn()
    groups = [rows for _, rows in frame.groupby("study", sort=False)]
    lines = [list(dict.fromkeys(rows.level)) for rows in groups]
    counts = [len(levels) for levels in lines]
    drawn = plotting.figure(plotting.COLUMN, 0.3 * sum(counts) + 0.35 * len(groups) + 0.4)
    axes = drawn.subplots(len(groups), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": counts})[:, 0]
    for ax, rows, levels in zip(axes, groups, lines, strict=True):
        scores = [name for name in SCORES if name in set(rows.score)]
        for place, name in enumerate(scores):
            of_score = rows[rows.score == name]
            y = [levels.index(level) + 0.7 * ((place + 0.5) / len(scores) - 0.5) for level in of_score.level]
            bars = plotting.error_bars(of_score.accuracy, of_score.low, of_score.high)
            colour, marker = LOOKS[name]
            look = {"color": colour, "marker": marker, "markersize": 3.5, "elinewidth": 0.8}
            ax.errorbar(of_score.accuracy, y, xerr=bars, linestyle="none", **look)
        chance = rows.chance.iloc[0]
        if pd.notna(chance):
            plotting.chance_line([ax], chance, along="x")
        study, model = rows.study_label.iloc[0], rows.label.iloc[0]
        ax.set_title(study if frame.label.nunique() == 1 else "\n".join(textwrap.wrap(f"{study}: {model}", WIDTH)))
        ax.set_yticks(range(len(levels)), levels)
        ax.set_ylim(len(levels) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x")
        plotting.fraction_axis(ax.xaxis)
    axes[-1].set_xlabel("Accuracy")
    met = set(frame.score)
    handles = [
        plotting.handle({"color": LOOKS[name][0], "marker": LOOKS[name][1], "linestyle": "none"}, label)
        for name, label in SCORES.items()
        if name in met
    ]
    if frame.chance.notna().any():
        handles.append(plotting.interval_handle("chance"))
    if frame.low.notna().any():
        handles.append(plotting.interval_handle("95% interval", "_"))
    plotting.legend_below(drawn, handles, 2)
    return drawn


def cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table's cells: accuracies in percent over all instances, a row for each study and model.

    A study of more than :data:`FEW` models has one row with the lowest and the highest.
    """
    pooled = table.drop_duplicates(["study", "part", "model", "score"])
    found = []
    for (_, part), rows in pooled.groupby(["study", "part"], sort=False):
        several = pooled[pooled.study == rows.study.iloc[0]].part.nunique() > 1
        study = rows.study_label.iloc[0] + (f" ({part})" if several else "")
        wide = rows.pivot(index="model", columns="score", values="accuracy").reindex(rows.model.drop_duplicates())
        if len(wide) > FEW:
            ends = wide.reindex(columns=list(SCORES)).agg(["min", "max"])
            told = [" to ".join(dict.fromkeys(percent(end, 1) for end in ends[name])) for name in SCORES]
            found.append([study, f"{len(wide)} models", *told])
            continue
        labels: Any = rows.drop_duplicates("model").set_index("model").label
        for model, values in wide.iterrows():
            told = [percent(values.get(name, np.nan), 1) for name in SCORES]
            found.append([study, labels[model], *told])
    made = pd.DataFrame(found, columns=["Study", "Model", *SCORES.values()])
    made = made.loc[:, [name in ("Study", "Model") or (made[name] != MISSING_MARK).any() for name in made]]
    return made.assign(Study=made.Study.where(made.Study != made.Study.shift(), ""))


def main(
    *, summary_csv: str, template: str, pdf: str, png: str, csv: str, table_tex: str, table_csv: str, scores_tex: str,
    studies: list, models: dict,
) -> None:  # fmt: skip
    """Draw the figure and write the table and the section; without a study that has other scores the section is empty.

    Args:
        summary_csv: The summary over all studies.
        template: Of the section.
        pdf, png, csv: The figure and what it draws.
        table_tex, table_csv: The table, and all accuracies by each score.
        scores_tex: The section.
        studies: ``key``, ``label`` and ``chances`` (metric to chance).
        models: The models of the run and what figures say of them.
    """
    table = select(estimate_rows.read([summary_csv]), studies)
    frame = largest_models(table, models)
    plotting.save(draw(frame), frame, pdf, png, csv)
    write_table(table_tex, table_csv, cells(table), left=2, rows=table)
    context = {
        "there": list(dict.fromkeys(table.study)),
        "drawing": sections.drawing(pdf, Path(scores_tex).parents[1]),
        "cells": latex.Raw(Path(table_tex).read_text(encoding="utf-8").strip()),
        "figure": sections.figure,
        "table": sections.table,
        "few": FEW,
        "models": list(dict.fromkeys(frame.label)),
        "listed": sections.list_words,
        "units": {
            rows.study_label.iloc[0]: f"{number(rows.n.max(), 0)} {rows.n_unit.iloc[0]}"
            for _, rows in frame.groupby("study", sort=False)
        },
    }
    sections.write(scores_tex, template, context)


if __name__ == "__main__":
    run(main)
