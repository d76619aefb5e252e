"""The figures of RUFF on prompted models: boxes over prompts; ``figures.py`` draws them all."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch

from scripts.core.data.estimate_rows import PROMPTED
from scripts.core.paper import palette, plotting
from scripts.ruff import drawing, study
from scripts.ruff.drawing import Drawn, Run, prepare_rows
from scripts.ruff.study import VANILLA


def answers(tables: dict[str, pd.DataFrame], run: Run) -> pd.DataFrame:
    """Return the accuracies of prompted models with each prompt."""
    rows = tables["estimates"]
    rows = rows[(rows.scoring == PROMPTED) & (rows.prompt != "")]
    rows = prepare_rows(study.select_rows(rows, n_distractors=..., prompt=...))
    return study.sort_rows(rows, model=run.models, method=run.methods, n_distractors=None, prompt=None)


def vanilla(tables: dict[str, pd.DataFrame], run: Run) -> pd.DataFrame:
    """Return accuracies without chains of thought by number of distractors (paper Figures 11a and 11b)."""
    rows = answers(tables, run)
    return rows[rows.method == VANILLA]


def with_chains(tables: dict[str, pd.DataFrame], run: Run) -> pd.DataFrame:
    """Return accuracies of models that were asked for chains of thought, where they were; vanilla answers come first.

    Vanilla answers on more samples than chains were elicited on are no comparison.
    """
    rows = answers(tables, run)
    keys = ["model", "n_distractors"]
    return rows.merge(rows[rows.method != VANILLA][keys].drop_duplicates(), on=keys)


def final_answers(tables: dict[str, pd.DataFrame], run: Run) -> pd.DataFrame:
    """Return accuracies with and without a chain of thought by the final answer (paper Figure 12)."""
    rows = with_chains(tables, run)
    return rows[rows.answer == study.FINAL]


def chain_answers(tables: dict[str, pd.DataFrame], run: Run) -> pd.DataFrame:
    """Return accuracies by what the chain of thought itself says, and without one (paper Figure 13)."""
    rows = with_chains(tables, run)
    return rows[(rows.answer != study.FINAL) | (rows.method == VANILLA)]


def draw_vanilla(rows: pd.DataFrame, run: Run) -> Drawn:
    """Draw a panel for each architecture, with a box for each of its models."""
    groups = run.by_architecture(rows)
    panels = {drawing.panel_title(a, groups): rows[rows.model.isin(names)] for a, names in groups.items()}
    names = [name for group in groups.values() for name in group]
    looks = {name: (palette.model_style(run.models[name])["color"], run.models[name]["label"]) for name in names}
    return draw_boxes(panels, "model", looks, run, 1)


def draw_methods(rows: pd.DataFrame, run: Run) -> Drawn:
    """Draw a panel for each model, with a box for each method."""
    names = [name for group in run.by_architecture(rows).values() for name in group]
    panels = {plotting.model_title(name, run.models): rows[rows.model == name] for name in names}
    labels = {one: "vanilla" if one == VANILLA else f"chain of thought ({one.capitalize()})" for one in run.methods}
    hues = palette.CATEGORIES
    looks = {one: (hues[i % len(hues)], labels[one]) for i, one in enumerate(run.methods) if one in set(rows.method)}
    return draw_boxes(panels, "method", looks, run, min(len(panels), 2))


def draw_boxes(panels: dict[str, pd.DataFrame], series: str, looks: dict, run: Run, across: int) -> Drawn:
    """Draw panels with a box over prompts for each number of distractors and level of the column ``series``.

    Args:
        panels: Titles to rows, one for each prompt.
        looks: Levels of ``series`` to colour and label, in the order of the boxes.
        across: Panels side by side.
    """
    down = -(-len(panels) // across)
    width = plotting.COLUMN if across == 1 and len(looks) <= 3 else plotting.PAGE
    drawn = plotting.new_figure(width, 1.8 * down + 0.2)
    axes = drawn.subplots(down, across, sharey=True, squeeze=False).flat
    for place, (ax, (title, rows)) in enumerate(zip(axes, panels.items(), strict=False)):
        counts = {n: x for x, n in enumerate(sorted(rows.n_distractors.unique()))}
        rows = rows.assign(x=rows.n_distractors.map(counts))
        levels = [level for level in looks if level in set(rows[series])]
        for i, level in enumerate(levels):
            draw_series(ax, rows[rows[series] == level], looks[level][0], i - (len(levels) - 1) / 2, 0.8 / len(levels))
        ax.set(title=title, xlim=(-0.6, len(counts) - 0.4))
        ax.set_xticks(range(len(counts)), map(str, counts))
        ax.set_xlabel(drawing.DISTRACTORS if place + across >= len(panels) else "")
        ax.set_ylabel("Accuracy" if place % across == 0 else "")
        plotting.fraction_axis(ax.yaxis)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    handles = [
        Patch(facecolor=to_rgba(colour, 0.25), edgecolor=colour, linewidth=0.9, label=label)
        for colour, label in looks.values()
    ]
    alone = series == "model" and len(run.models) == 1
    return drawn, [*handles[: 0 if alone else None], *run.references(axes[: len(panels)])]


def draw_series(ax: Axes, rows: pd.DataFrame, colour: str, shift: float, width: float) -> None:
    """Draw the boxes of one series, ``shift`` times their ``width`` from their tick ``x``, and each prompt as a point.

    Boxes run from the first to the third quartile with a line at the median; whiskers reach the farthest prompts.
    """
    boxes: dict[Any, Any] = {x: values.to_numpy() for x, values in rows.groupby("x").value}
    look = {"color": colour, "linewidth": 0.9}
    ax.boxplot(
        list(boxes.values()), positions=[x + shift * width for x in boxes],
        widths=0.75 * width, whis=(0, 100), showfliers=False, patch_artist=True, manage_ticks=False, whiskerprops=look,
        medianprops=look | {"linewidth": 1.6}, capprops=look,
        boxprops={"facecolor": to_rgba(colour, 0.25), "edgecolor": colour, "linewidth": 0.9},
    )  # fmt: skip
    # Prompts with the same accuracy stand side by side, around the middle of the box.
    same = rows.groupby(["x", "value"]).value
    sizes = same.transform("size")
    apart = (same.cumcount() - (sizes - 1) / 2) * min(0.07, 0.6 / sizes.max())
    points = {"marker": "o", "markersize": plotting.SMALLEST_MARKER, "markeredgecolor": "white"}
    points |= {"markeredgewidth": 0.2, "linestyle": "none", "color": colour, "clip_on": False, "zorder": 3}
    ax.plot(rows.x + (shift + apart) * width, rows.value, **points)
