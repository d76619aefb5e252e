"""The figures of RUFF on prompted models; others are in ``figures.py``, which draws them all.

Boxes are over prompts. Those that are no figure of the study say so.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from scripts.core.data.estimate_rows import PROMPTED
from scripts.core.paper import palette, plotting
from scripts.ruff import curves, study
from scripts.ruff.curves import Drawn, prepare_rows
from scripts.ruff.study import VANILLA


def _method_label(method: str):
    """Return how a method is called in legends."""
    return "vanilla" if method == VANILLA else f"chain of thought ({method.capitalize()})"


def _boxes(ax: Axes, frame: pd.DataFrame, series: str, colours: dict):
    """Draw a box over prompts for each number of distractors and each level of a column, and every prompt as a point.

    Boxes run from the first to the third quartile with a line at the median; whiskers reach the farthest prompts.

    Args:
        frame: ``n_distractors``, ``value`` and the column ``series``; a row for each prompt.
        colours: Level of ``series`` to its colour, in the order of the boxes.
    """
    counts = sorted(frame.n_distractors.unique())
    width = 0.8 / len(colours)
    for i, (level, colour) in enumerate(colours.items()):
        for x, count in enumerate(counts):
            values = frame[(frame[series] == level) & (frame.n_distractors == count)].value.to_numpy()
            if not len(values):
                continue
            at = x + (i - (len(colours) - 1) / 2) * width
            look = {"color": colour, "linewidth": 0.9}
            ax.boxplot(
                values, positions=[at], widths=0.75 * width, whis=(0, 100), showfliers=False, patch_artist=True,
                manage_ticks=False, medianprops=look | {"linewidth": 1.6}, whiskerprops=look, capprops=look,
                boxprops={"facecolor": to_rgba(colour, 0.25), "edgecolor": colour, "linewidth": 0.9},
            )  # fmt: skip
            # Prompts with the same accuracy stand beside each other, around the middle of the box.
            same = [values == value for value in values]
            rank = np.array([mask[:j].sum() - (mask.sum() - 1) / 2 for j, mask in enumerate(same)])
            step = width * min(0.07, 0.6 / max(mask.sum() for mask in same))
            look = {"markersize": plotting.SMALLEST_MARKER, "markeredgecolor": "white", "markeredgewidth": 0.2}
            points = {"linestyle": "none", "marker": "o", "color": colour, "clip_on": False, "zorder": 3}
            ax.plot(at + step * rank, values, **points, **look)
    ax.set_xticks(range(len(counts)), [str(count) for count in counts])
    ax.set_xlim(-0.6, len(counts) - 0.4)
    plotting.fraction_axis(ax.yaxis)


def _box_handle(colour: str, label: str):
    """Return the legend handle of boxes in ``colour``."""
    return Patch(facecolor=to_rgba(colour, 0.25), edgecolor=colour, linewidth=0.9, label=label)


def _panels(titles: list[str], x: str, y: str, columns: int = 3):
    """Return a figure with a panel for each title, the panels, which share their y axis, and how many are in a row.

    Args:
        x, y: Labels of the axes.
        columns: Panels in a row at most.
    """
    columns = min(len(titles), columns)
    lines = -(-len(titles) // columns)
    drawn = plotting.new_figure(plotting.COLUMN if columns == 1 else plotting.PAGE, 1.7 * lines + 0.2)
    grid = drawn.subplots(lines, columns, sharey=True, squeeze=False)
    for i, (ax, title) in enumerate(zip(grid.flat, titles, strict=False)):
        ax.set_title(title)
        ax.set_xlabel(x)
        if i % columns == 0:
            ax.set_ylabel(y)
    for ax in grid.flat[len(titles) :]:
        ax.set_axis_off()
    return drawn, list(grid.flat[: len(titles)]), columns


def answers(tables: dict[str, pd.DataFrame], run: Drawn) -> pd.DataFrame:
    """Return the accuracies of prompted models with each prompt."""
    rows = tables["estimates"]
    rows = rows[(rows.scoring == PROMPTED) & (rows.prompt != "") & ~rows.prompt.str.contains("|", regex=False)]
    rows = prepare_rows(study.pick(rows, n_distractors=..., prompt=...))
    return study.in_order(rows, model=run.models, method=run.methods, n_distractors=None, prompt=None)


def vanilla(tables: dict[str, pd.DataFrame], run: Drawn) -> pd.DataFrame:
    """Return accuracies without chains of thought by number of distractors (paper Figures 11a and 11b)."""
    rows = answers(tables, run)
    return rows[rows.method == VANILLA]


def chains(tables: dict[str, pd.DataFrame], run: Drawn, answer: str) -> pd.DataFrame:
    """Return accuracies with and without a chain of thought: ``final`` answers, or in the ``chain`` (Figures 12, 13).

    They are those with which chains were elicited, of models that were asked for some. Vanilla answers come first.
    """
    rows = answers(tables, run)
    chained = rows[rows.method != VANILLA]
    # Vanilla answers on more samples than chains were elicited on are no comparison.
    asked = pd.MultiIndex.from_frame(rows[["model", "n_distractors"]]).isin(
        list(zip(chained.model, chained.n_distractors, strict=True))
    )
    wanted = rows.answer == answer if answer == "final" else (rows.answer == answer) | (rows.method == VANILLA)
    return rows[asked & wanted]


def against_scored(tables: dict[str, pd.DataFrame], run: Drawn) -> pd.DataFrame:
    """Return prompted accuracy and accuracy by likelihood on the same instances (cf. paper Figure 11a)."""
    return prepare_rows(tables["against_scored"])


@curves.draws
def draw_vanilla(frame: pd.DataFrame, run: Drawn) -> Figure:
    """Draw a panel for each architecture, with a box for each of its models."""
    models = run.drawn
    groups = curves.by_architecture(models)
    few = len(models) <= 2
    drawn = plotting.new_figure(plotting.COLUMN if few else plotting.PAGE, 1.9 * len(groups) + 0.2)
    axes = drawn.subplots(len(groups), 1, squeeze=False)[:, 0]
    handles = []
    for ax, (architecture, names) in zip(axes, groups.items(), strict=True):
        colours = {name: palette.model_style(models[name])["color"] for name in names}
        _boxes(ax, frame[frame.model.isin(names)], "model", colours)
        ax.set_title(curves.panel_title(architecture, groups))
        ax.set_ylabel("Accuracy")
        if len(models) > 1:
            handles += [_box_handle(colours[name], models[name]["label"]) for name in names]
    axes[-1].set_xlabel(curves.DISTRACTORS)
    handles += run.references(axes)
    plotting.legend_below(drawn, handles, 2 if few else 5)
    return drawn


@curves.draws
def draw_methods(frame: pd.DataFrame, run: Drawn) -> Figure:
    """Draw a panel for each model, with a box for each method."""
    names = curves.order_models(run.drawn)
    # None is the colour of a model beside it.
    hues = palette.CATEGORIES
    there = set(frame.method)
    colours = {one: hues[i % len(hues)] for i, one in enumerate(run.methods) if one in there}
    titles = [plotting.model_title(name, run.drawn) for name in names]
    drawn, axes, columns = _panels(titles, curves.DISTRACTORS, "Accuracy", 2)
    for ax, name in zip(axes, names, strict=True):
        _boxes(ax, frame[frame.model == name], "method", colours)
    handles = [_box_handle(colour, _method_label(one)) for one, colour in colours.items()]
    handles += run.references(axes)
    plotting.legend_below(drawn, handles, 2 if columns == 1 else 4)
    return drawn


SCORED = {"color": "#000000", "marker": "s", "linestyle": (0, (4, 1.5)), "markersize": 3.5}


@curves.draws
def draw_against_scored(frame: pd.DataFrame, run: Drawn) -> Figure:
    """Draw a panel for each pair of a prompted and a scored model."""
    models = run.models
    pairs = list(dict.fromkeys(zip(frame.prompted, frame.scored, strict=True)))
    titles = [" and\n".join(plotting.model_title(name, models) for name in dict.fromkeys(pair)) for pair in pairs]
    drawn, axes, columns = _panels(titles, curves.DISTRACTORS, "Accuracy")
    for ax, (prompted, scored) in zip(axes, pairs, strict=True):
        pair = frame[(frame.prompted == prompted) & (frame.scored == scored)]
        rows, likelihoods = (part[1] for part in pair.groupby(pair.scoring != PROMPTED))
        colour = palette.model_style(models[prompted])["color"]
        ax.plot(rows.n_distractors, rows.value, color=colour, marker="o", markersize=3.5)
        ax.fill_between(rows.n_distractors, rows.lowest, rows.highest, color=colour, alpha=0.18, linewidth=0)
        ax.plot(likelihoods.n_distractors, likelihoods.value, **SCORED)
        curves.distractor_axis(ax)
        plotting.fraction_axis(ax.yaxis)
    handles = [
        plotting.line_handle({"color": plotting.GREY, "marker": "o", "markersize": 3.5}, "prompted, mean over prompts"),
        plotting.line_handle(SCORED, "scored by likelihood"),
        Patch(facecolor=plotting.GREY, alpha=0.25, linewidth=0, label="range over prompts"),
        *run.references(axes),
    ]
    plotting.legend_below(drawn, handles, 2 if columns == 1 else 5)
    return drawn
