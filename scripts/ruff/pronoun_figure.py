"""Accuracy by pronoun set, with the tests between neighbouring sets (paper Figure 6)."""

from itertools import pairwise
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scripts.core.paper import palette, plotting
from scripts.core.paper.formats import MISSING_MARK
from scripts.core.statistics.ratios import POOLED
from scripts.ruff import curves, study
from scripts.ruff.curves import Drawn, select_accuracies, write_beside


def accuracy_by_pronoun(tables: dict[str, pd.DataFrame], run: Drawn) -> pd.DataFrame:
    """Each model's accuracy without distractors by pronoun set, with the test against the next one (paper Figure 6).

    With more than one model, the rows of no model come first: the means that the tests over all models compare, which
    have no interval. Tests are ``next_pronoun``, ``p_holm`` and ``significant_holm``, missing for the last set.
    """
    rows, tests = select_accuracies(tables, run, n_distractors="0", pronoun=list(run.labels)), tables["pronoun_tests"]
    if len(run.models) > 1:
        pooled = tests[tests.model == POOLED]
        means = dict(zip(pooled.pronoun_b, pooled.mean_b, strict=True))
        means |= dict(zip(pooled.pronoun_a, pooled.mean_a, strict=True))
        shared = ["templates", "kind", "scoring", "setting", "n_distractors", "metric"]
        facts: dict[Any, Any] = rows.iloc[:1][shared].iloc[0].to_dict()
        over = pd.DataFrame({"pronoun": list(means), "value": list(means.values())}).assign(model=POOLED, **facts)
        rows = pd.concat([rows, over])
    adjacent = pd.DataFrame(list(pairwise(run.labels)), columns=["pronoun_a", "pronoun_b"])
    marks = tests.drop(columns="pronoun").merge(adjacent)
    marks = marks.rename(columns={"pronoun_a": "pronoun", "pronoun_b": "next_pronoun"})
    columns = ["model", "pronoun", "next_pronoun", "p_holm", "significant_holm"]
    rows = rows.merge(marks[columns], on=columns[:2], how="left").astype({"n": "Int64"})
    return study.in_order(rows, model=[POOLED, *curves.order_models(run.models)], pronoun=run.labels)


MARKS = {
    "∗": "differ (after Holm's correction)",
    "n.s.": "no significant difference",
    MISSING_MARK: "too few occupations for a test",
}
"""What stands in the columns of tests."""


def _mark(row: Any):
    if pd.isna(row.next_pronoun):
        return None
    if pd.isna(row.p_holm):
        return MISSING_MARK
    return "∗" if row.significant_holm else "n.s."


@curves.draws
def draw_accuracy_by_pronoun(frame: pd.DataFrame, run: Drawn) -> Figure:
    """Draw one point for each model and pronoun set with its interval.

    Columns beside the axes say whether neighbouring sets differ significantly.
    """
    labels = run.labels
    few = len(run.models) <= curves.FEW
    pooled = len(study.pooled_models(run.models))
    first = (POOLED, f"mean of {pooled} model{'' if pooled == 1 else 's'}") if POOLED in set(frame.model) else None
    panels = curves.model_rows(run.drawn, first)
    row_height, width = (0.42, plotting.COLUMN) if few else (0.19, plotting.PAGE)
    drawn, grid = curves.rows_figure(panels, width, row_height, 0.55)
    colours, markers = palette.pronoun_colours(labels), palette.pronoun_markers(labels)
    sets = list(labels)
    column = 0.3 if few else 0.5
    for ax, panel in zip(grid, panels, strict=True):
        for y, key in enumerate(panel.keys):
            if y % 2:
                ax.axhspan(y - 0.5, y + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
            for row in frame[frame.model == key].itertuples(index=False):
                place = sets.index(row.pronoun)
                at = y + 0.6 * ((place + 0.5) / len(sets) - 0.5)
                look = {"color": colours[row.pronoun], "marker": markers[row.pronoun]}
                bars = plotting.error_bars([row.value], [row.low], [row.high])
                ax.errorbar(row.value, at, xerr=bars, elinewidth=0.8, **look)
                mark = _mark(row)
                if mark:
                    write_beside(ax, column * (place + 0.6), y, mark)
        plotting.fraction_axis(ax.xaxis)
    for place, (a, b) in enumerate(pairwise(sets)):
        head = f"{a}–\n{b}" if few else f"{a}–{b}"
        write_beside(grid[0], column * (place + 0.6), -0.6, head, va="bottom")
    grid[-1].set_xlabel("Accuracy without distractors")
    handles = [Line2D([], [], color=colours[p], marker=markers[p], linestyle="none", label=labels[p]) for p in sets]
    handles += run.references(grid, "x")
    if frame.low.notna().any():
        handles.append(plotting.interval_handle(curves.BOOTSTRAP, "_"))
    marks = {_mark(row) for row in frame.itertuples(index=False)}
    handles += [curves.note_handle(f"{mark}  {label}") for mark, label in MARKS.items() if mark in marks]
    plotting.legend_below(drawn, handles + run.dropped, 2 if few else 4)
    return drawn
