"""The figures of RUFF by pronoun set; ``figures.py`` draws them all."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D

from scripts.core import files
from scripts.core.paper import palette, plotting
from scripts.core.paper.formats import MISSING_MARK
from scripts.core.statistics.ratios import POOLED
from scripts.ruff import drawing, study
from scripts.ruff.drawing import Drawn, Run, prepare_rows, select_accuracies


def context_free(tables: dict[str, pd.DataFrame], run: Run) -> pd.DataFrame:
    """How often each pronoun set is picked without any context: means over models, and each model (paper Figures 4
    and 10).
    """
    rows = study.select_rows(tables["estimates"], "picked", preferred=...).rename(
        columns={"above": "count", "below": "n"}
    )
    pooled = rows[rows.model.isin(study.pooled_models(run.models))].groupby("preferred")["count"]
    means = pooled.agg(count="mean", sd="std", n_models="count").reset_index().assign(model=POOLED)
    rows = pd.concat([means, rows.drop(columns="sd").assign(n_models=1)], ignore_index=True)
    return study.sort_rows(rows, preferred=run.labels, model=[POOLED, *run.models])


def draw_context_free(rows: pd.DataFrame, run: Run) -> Drawn:
    """Draw the means as bars, single models as points, and what a random choice would give.

    Error bars are the SD over the models of the mean; one has none. Points are set apart along x in registry order.
    """
    sentences, colours = int(rows.n.max()), palette.pronoun_colours(run.labels)
    drawn = plotting.new_figure(plotting.COLUMN, 2.2)
    ax = drawn.subplots()
    several, pooled = len(run.models) > 1, int(rows.n_models.max())
    for x, pronoun in enumerate(run.labels):
        of_set = rows[rows.preferred == pronoun]
        mean: Any = of_set[of_set.model == POOLED].iloc[0]
        ax.bar(x, mean["count"], width=0.7, color=colours[pronoun], zorder=1)
        if not several:
            # A set that is never picked has no bar to be seen.
            ax.text(x, mean["count"], f"{mean['count']:.0f}", ha="center", va="bottom", fontsize=7)
            continue
        counts = of_set["count"][of_set.model != POOLED]
        apart = x + np.linspace(-0.25, 0.25, len(counts)) if len(counts) > 1 else [x]
        ax.scatter(apart, counts, s=9, color="white", edgecolor=plotting.GREY, linewidth=0.6, zorder=3)
        if pooled > 1:
            # No mean of counts is below 0 or above all sentences.
            bars = sentences * plotting.error_bars(
                *([(mean["count"] + sign * mean.sd) / sentences] for sign in (0, -1, 1))
            )
            ax.errorbar(x, mean["count"], bars, color="black", linewidth=1, capsize=2.5, zorder=4)
    labels = [label.replace("/", "/\n") if len(run.labels) > 3 else label for label in run.labels.values()]
    ax.set_xticks(range(len(labels)), labels)
    ax.set_ylim(bottom=0)
    ax.set_ylabel(f"Predictions (of {sentences} sentences)")
    handles = [plotting.reference_line([ax], sentences / len(labels), "equally often", plotting.CHANCE)]
    handles += [plotting.interval_handle(f"mean ± SD over {pooled} models")] * (pooled > 1)
    return drawn, handles + [plotting.point_handle("one model")] * several


def accuracy_by_pronoun(tables: dict[str, pd.DataFrame], run: Run) -> pd.DataFrame:
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
    order = [name for names in run.by_architecture(rows).values() for name in names]
    return study.sort_rows(rows, model=[POOLED, *order], pronoun=run.labels)


MARKS = {
    "∗": "differ (after Holm's correction)",
    "n.s.": "no significant difference",
    MISSING_MARK: "too few occupations for a test",
}
"""What stands in the columns of tests."""


def _mark(row: Any) -> str:
    """Return the mark of a row's test against the next pronoun set, or nothing for the last set."""
    if pd.isna(row.next_pronoun):
        return ""
    if pd.isna(row.p_holm):
        return MISSING_MARK
    return "∗" if row.significant_holm else "n.s."


def draw_accuracy_by_pronoun(rows: pd.DataFrame, run: Run) -> Drawn:
    """Draw one point for each model and pronoun set with its interval.

    Columns to the right of the axes say whether neighbouring sets differ significantly.
    """
    few = len(run.models) <= drawing.FEW
    row_height, width, column = (0.42, plotting.COLUMN, 0.3) if few else (0.19, plotting.PAGE, 0.5)
    drawn, panels = drawing.draw_rows(rows, run, width, row_height, 0.55)
    colours, markers = palette.pronoun_colours(run.labels), palette.pronoun_markers(run.labels)
    sets = list(run.labels)
    for ax, names in panels.items():
        for y, name in enumerate(names):
            if y % 2:
                ax.axhspan(y - 0.5, y + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
            for row in files.iterate_rows(rows[rows.model == name], index=False):
                place = sets.index(row.pronoun)
                at = y + 0.6 * ((place + 0.5) / len(sets) - 0.5)
                bars = plotting.error_bars([row.value], [row.low], [row.high])
                look = {"color": colours[row.pronoun], "marker": markers[row.pronoun]}
                ax.errorbar(row.value, at, xerr=bars, elinewidth=0.8, **look)
                drawing.write_right(ax, column * (place + 0.6), y, _mark(row))
        plotting.fraction_axis(ax.xaxis)
    for place, (a, b) in enumerate(pairwise(sets)):
        head = f"{a}–\n{b}" if few else f"{a}–{b}"
        drawing.write_right(drawn.axes[0], column * (place + 0.6), -0.6, head, va="bottom")
    drawn.axes[-1].set_xlabel("Accuracy without distractors")
    handles = [
        Line2D([], [], color=colours[name], marker=markers[name], linestyle="none", label=label)
        for name, label in run.labels.items()
    ]
    handles += run.references(panels, "x")
    handles += [plotting.interval_handle(drawing.BOOTSTRAP, "_")] * bool(rows.low.notna().any())
    marks = {_mark(row) for row in rows.itertuples(index=False)}
    return drawn, handles + [drawing.note_handle(f"{mark}  {said}") for mark, said in MARKS.items() if mark in marks]


PALE = 0.35
"""How much of its colour a pronoun set keeps where it is not the one of the introduction."""


def who_becomes_whom(tables: dict[str, pd.DataFrame], run: Run) -> pd.DataFrame:
    """Which set one model prefers after each introduction (not in the paper); the right one has its interval.

    The model is the decoder with the most parameters, else the encoder.
    """
    rows = tables["estimates"][tables["estimates"].model == study.main_model(run.models)]
    rows = prepare_rows(study.select_rows(rows, "preferred", n_distractors=..., pronoun=..., preferred=...))
    other = rows.pronoun != rows.preferred
    rows = rows.assign(low=rows.low.mask(other), high=rows.high.mask(other))
    return study.sort_rows(rows, pronoun=run.labels, n_distractors=None, preferred=run.labels)


def draw_who_becomes_whom(rows: pd.DataFrame, run: Run) -> Drawn:
    """Draw a panel for each introduction: bars of all preferences, the right one below and solid."""
    panels = [name for name in run.labels if name in set(rows.pronoun)]
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    solid = palette.pronoun_colours(run.labels)
    mixed: dict[str, Any] = {name: PALE * np.array(to_rgb(colour)) + (1 - PALE) for name, colour in solid.items()}
    pale = {name: to_hex(colour) for name, colour in mixed.items()}
    drawn = plotting.new_figure(plotting.COLUMN, 1.15 * down + 0.35)
    axes = drawn.subplots(down, across, sharex=True, sharey=True, squeeze=False).flat
    counts = sorted(rows.n_distractors.unique())
    for place, (ax, introduced) in enumerate(zip(axes, panels, strict=False)):
        of_panel = rows[rows.pronoun == introduced]
        base = dict.fromkeys(counts, 0.0)
        # Bars of what was never preferred would only be lines.
        for preferred in [introduced, *(name for name in run.labels if name != introduced)]:
            of_set = of_panel[(of_panel.preferred == preferred) & (of_panel.above > 0)]
            colour = (solid if preferred == introduced else pale)[preferred]
            bottom = of_set.n_distractors.map(base)
            ax.bar(of_set.n_distractors, of_set.value, 0.8, bottom, color=colour, edgecolor="white", linewidth=0.4)
            base |= dict(zip(of_set.n_distractors, bottom + of_set.value, strict=True))
        right = of_panel[of_panel.preferred == introduced]
        bars = plotting.error_bars(right.value, right.low, right.high)
        ax.errorbar(right.n_distractors, right.value, yerr=bars, fmt="none", ecolor="black", elinewidth=0.8)
        ax.set_title(f"introduced with {introduced}")
        ax.set_ylabel("Share" if place % across == 0 else "")
        plotting.fraction_axis(ax.yaxis)
        ax.set_xticks(counts)
        if place + across >= len(panels):
            # The lowest panel of its column.
            ax.set_xlabel(drawing.DISTRACTORS)
            ax.tick_params(labelbottom=True)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    shown = set(rows[rows.above > 0].preferred)
    shades = {name: (solid if name in panels else pale)[name] for name in run.labels if name in shown}
    handles: list[Any] = [plotting.patch_handle(colour, run.labels[name]) for name, colour in shades.items()]
    handles.append(plotting.chance_line(axes[: len(panels)], run.chance))
    return drawn, [*handles, plotting.interval_handle(drawing.BOOTSTRAP)]
