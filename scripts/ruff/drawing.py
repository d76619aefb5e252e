"""What the figures of RUFF share: what they know of a run, rows for models, curves over distractors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from scripts.core.paper import palette, plotting
from scripts.core.statistics.ratios import POOLED
from scripts.ruff import study

DISTRACTORS = "Distractors (sentences)"
BOOTSTRAP = "95% bootstrap over occupations"
"""What the intervals of accuracies are."""
FEW = 8
"""Up to this many models share one legend in a column of the paper; more take the page."""
Drawn = tuple[Figure, Sequence[Artist]]
"""A figure without its legend, and the legend's handles."""


@dataclass(frozen=True)
class Run:
    """What figures know of a run: ``models`` with their facts, pronoun sets with their ``labels``, the accuracy of a
    random pick and of people (:func:`scripts.core.paper.plotting.human_line`), and ``methods`` of prompting.
    """

    models: dict[str, dict]
    labels: dict[str, str]
    chance: float
    human: float | dict
    methods: list[str]

    def references(self, axes: Iterable[Axes], along: str = "y") -> list[Line2D]:
        """Draw the accuracies of chance and of people on ``axes``; return their legend handles."""
        axes = list(axes)
        return [plotting.chance_line(axes, self.chance, along), plotting.human_line(axes, self.human, along)]

    def by_architecture(self, rows: pd.DataFrame) -> dict[str, list[str]]:
        """Return the models of some rows by architecture, decoders first as in the study, in registry order."""
        there = [name for name in self.models if name in set(rows.model)]
        groups = {a: [m for m in there if self.models[m]["architecture"] == a] for a in palette.ARCHITECTURES}
        return {a: names for a, names in groups.items() if names}

    def handles(self, names: Iterable[str]) -> list[Artist]:
        """Return legend handles of models; none for the only model of a run."""
        facts = [self.models[name] for name in names if len(self.models) > 1]
        return [plotting.line_handle(palette.model_style(one), one["label"]) for one in facts]


def prepare_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return estimates as figures take them: distractors are counted, and ``n`` is of how many a share is."""
    return rows.rename(columns={"below": "n"}).astype({"n_distractors": int})


def select_accuracies(tables: dict[str, pd.DataFrame], run: Run, **levels: Any) -> pd.DataFrame:
    """Return the accuracies of scored models on all instances of each number of distractors, or of some."""
    rows = study.select_rows(tables["estimates"], **({"n_distractors": ...} | levels), **study.SCORED)
    return study.sort_rows(prepare_rows(rows), model=run.models, n_distractors=None)


def draw_enough(draw: Any, rows: pd.DataFrame, run: Run) -> Figure:
    """Draw the rows that rest on enough instances, and name the models that have too few in the legend.

    Rows without a number of instances, such as means over models, stay.

    Args:
        draw: Returns :data:`Drawn` of rows and a run.
    """
    enough = rows[rows.n.isna() | (rows.n >= plotting.FEWEST)]
    if not run.by_architecture(enough):
        return plotting.nothing_drawn()
    with plotting.figure_style():
        drawn, handles = draw(enough, run)
        few = rows[rows.n < plotting.FEWEST]
        if names := [facts["label"] for name, facts in run.models.items() if name in set(few.model)]:
            counts = " to ".join(f"{n:.0f}" for n in sorted({few.n.min(), few.n.max()}))
            handles = [*handles, note_handle(f"not drawn, with {counts} instances: {', '.join(names)}")]
        if handles:
            plotting.legend_below(drawn, handles, 2 if drawn.get_figwidth() < plotting.PAGE else 4)
    return drawn


def note_handle(text: str) -> Line2D:
    """Return a legend handle that is text alone."""
    return Line2D([], [], linestyle="none", label=text)


def shading_handle(label: str) -> Patch:
    """Return the legend handle that says what the shading is."""
    return Patch(facecolor=plotting.GREY, alpha=0.25, linewidth=0, label=label)


def panel_title(architecture: str, groups: dict) -> str:
    """Return the title of an architecture's panel; there is none if all models have that architecture."""
    return palette.ARCHITECTURES[architecture] if len(groups) > 1 else ""


def write_right(ax: Axes, inches: float, y: float, text: str, ha: str = "center", va: str = "center") -> None:
    """Write ``text`` to the right of the axes, ``inches`` from their edge, at the row ``y``."""
    ax.annotate(
        text, (1, y), (72 * inches, 0), xycoords=("axes fraction", "data"), textcoords="offset points", ha=ha, va=va,
        fontsize=7, annotation_clip=False,
    )  # fmt: skip


def draw_curves(rows: pd.DataFrame, run: Run, label: str, titles: dict[str, str]) -> Drawn:
    """Draw curves over the number of distractors: a row of panels for each architecture, a column for each metric.

    What lies between ``low`` and ``high`` is shaded, and a missing value is a gap.

    Args:
        label: Of the y axis.
        titles: Metrics to their titles.
    """
    groups, few = run.by_architecture(rows), len(run.models) <= FEW
    width, height = (plotting.COLUMN, 1.35) if few else (plotting.PAGE, 2.15)
    drawn = plotting.new_figure(width, height * len(groups) + 0.25)
    grid = drawn.subplots(len(groups), len(titles), sharex=True, sharey=True, squeeze=False)
    for line, (architecture, names) in zip(grid, groups.items(), strict=True):
        for ax, (metric, title) in zip(line, titles.items(), strict=True):
            for name in names:
                part = rows[(rows.model == name) & (rows.metric == metric)]
                look = palette.model_style(run.models[name])
                ax.plot(part.n_distractors, part.value, markeredgecolor="white", markeredgewidth=0.3, **look)
                if part.low.notna().any():
                    bounds = map(plotting.clip_bounds, (part.low, part.high))
                    ax.fill_between(part.n_distractors, *bounds, color=look["color"], alpha=0.18, linewidth=0)
            # Two panels in one column have no room for both titles on a line.
            ax.set_title((":\n" if few else ": ").join(filter(None, [panel_title(architecture, groups), title])))
            plotting.fraction_axis(ax.yaxis)
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=1))
            ax.margins(x=0.04)
        line[0].set_ylabel(label)
        if not few:
            beside = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5), "ncols": -(-len(names) // 12)}
            line[-1].legend(handles=run.handles(names), **beside)
    for ax in grid[-1]:
        ax.set_xlabel(DISTRACTORS)
    return drawn, run.handles(name for names in groups.values() for name in names if few)


def draw_rows(
    rows: pd.DataFrame, run: Run, width: float, row_height: float, extra: float
) -> tuple[Figure, dict[Axes, list[str]]]:
    """Return a figure with axes for each architecture and a row for each model; rows of no model come first.

    Args:
        width, row_height, extra: Inches; ``extra`` is for the x axis and what stands above the axes.

    Returns:
        The figure, and its axes with the models whose rows they have, at y = 0, 1, ... from the top.
    """
    groups = run.by_architecture(rows)
    panels = {panel_title(architecture, groups): names for architecture, names in groups.items()}
    pooled = len(study.pooled_models(run.models))
    labels = {name: plotting.model_title(name, run.models) for name in run.models}
    if POOLED in set(rows.model):
        panels = {None: [POOLED]} | panels
        labels[POOLED] = f"mean of {pooled} model{'' if pooled == 1 else 's'}"
    counts = [len(names) for names in panels.values()]
    height = row_height * sum(counts) + 0.28 * max(1, sum(map(bool, panels))) + extra
    drawn = plotting.new_figure(width, height)
    ratios = {"height_ratios": [count + 0.2 for count in counts]}
    grid = drawn.subplots(len(panels), 1, sharex=True, squeeze=False, gridspec_kw=ratios)[:, 0]
    for ax, (title, names) in zip(grid, panels.items(), strict=True):
        ax.set_yticks(range(len(names)), [labels[name] for name in names])
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x")
        if title:
            ax.set_title(title)
    for ax in grid[:-1]:
        ax.tick_params(axis="x", length=0, labelbottom=False)
    return drawn, dict(zip(grid, panels.values(), strict=True))
