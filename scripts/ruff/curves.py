"""What several figures of RUFF share: what they are told, rows for models, curves over distractors."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from scripts.core.paper import palette, plotting
from scripts.ruff import study

DISTRACTORS = "Distractors (sentences)"
BOOTSTRAP = "95% bootstrap over occupations"
"""What the intervals of accuracies are."""

FEW = 8
"""Up to this many models a figure gives each its own room; above, it takes the page or aggregates."""


@dataclass(frozen=True)
class Drawn:
    """What is told of a run's figures.

    Attributes:
        models: Those of the figure, each with its facts.
        labels: Pronoun set to its label.
        chance: The accuracy of a random pick.
        human: People's accuracy, as :func:`scripts.core.paper.plotting.human_line` takes it.
        methods: Ways of asking, the one without chains of thought first.
        drawn: Those models that have enough instances to be drawn.
        dropped: A legend handle that names the others, in a list; empty for none.
    """

    models: dict[str, dict]
    labels: dict[str, str]
    chance: float
    human: float | dict
    methods: list
    drawn: dict[str, dict] = field(default_factory=dict)
    dropped: list = field(default_factory=list)

    def references(self, axes: Iterable[Axes], along: str = "y") -> list[Line2D]:
        """Draw the accuracies of chance and of people on ``axes``; return their legend handles."""
        axes = list(axes)
        return [plotting.chance_line(axes, self.chance, along), plotting.human_line(axes, self.human, along)]


def draws(function: Callable[[pd.DataFrame, Drawn], Figure]) -> Callable[[pd.DataFrame, Drawn], Figure]:
    """Let a function draw what rests on enough instances; without any such share the figure says why it is empty.

    Rows without a number of instances, such as means over models, stay.
    """

    @plotting.figure_style()
    @wraps(function)
    def draw(frame: pd.DataFrame, run: Drawn) -> Figure:
        rows = frame[frame.n.isna() | (frame.n >= plotting.FEWEST)]
        models = {name: facts for name, facts in run.models.items() if name in set(rows.model)}
        if not models:
            return plotting.nothing_drawn()
        return function(rows, replace(run, drawn=models, dropped=dropped_note(frame, run.models)))

    return draw


def prepare_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return estimates as figures take them: distractors are counted, and ``n`` is of how many a share is."""
    return rows.rename(columns={"below": "n"}).astype({"n_distractors": int})


def select_accuracies(tables: dict[str, pd.DataFrame], run: Drawn, **levels: Any) -> pd.DataFrame:
    """Return the accuracies of scored models on all instances of each number of distractors, or of some."""
    rows = study.pick(tables["estimates"], **({"n_distractors": ...} | levels), **study.SCORED)
    return study.in_order(prepare_rows(rows), model=run.models, n_distractors=None)


def write_beside(ax: Axes, inches: float, y: float, text: str, ha: str = "center", va: str = "center") -> None:
    """Write ``text`` to the right of the axes, ``inches`` from their edge, at the row ``y``."""
    ax.annotate(
        text, (1, y), (72 * inches, 0), xycoords=("axes fraction", "data"), textcoords="offset points", ha=ha, va=va,
        fontsize=7, annotation_clip=False,
    )  # fmt: skip


def by_architecture(models: dict[str, dict]) -> dict[str, list[str]]:
    """Return ``{architecture: [names]}``: decoders first, as in the paper's figures, and models in registry order."""
    groups = {a: [m for m, facts in models.items() if facts["architecture"] == a] for a in palette.ARCHITECTURES}
    return {a: names for a, names in groups.items() if names}


def order_models(models: dict[str, dict]) -> list[str]:
    """Return the names of the models by architecture, each in registry order."""
    return [m for names in by_architecture(models).values() for m in names]


MOST = 24
"""Models of one architecture that a figure shows at most; a legend of more is higher than its panel."""


def shown_models(models: dict, names: list[str]) -> tuple[list[str], str]:
    """Return those of ``names`` that a figure has room for, and in words which they are; no words if it has all.

    Of more than :data:`MOST` models it has the smallest and the largest of each family, or else the largest of each,
    or else as many of these as there is room for. The CSV file beside the figure has every model.

    Args:
        names: Models of one architecture.
    """
    if len(names) <= MOST:
        return names, ""
    families = {}
    for name in sorted(names, key=lambda name: models[name]["parameters"] or 0):
        families.setdefault(models[name]["family"], []).append(name)
    largest = [members[-1] for members in families.values()]
    both = {*largest, *(members[0] for members in families.values())}
    if len(both) <= MOST:
        kept, words = both, "smallest and largest of each family"
    elif len(largest) <= MOST:
        kept, words = set(largest), "largest of each family"
    else:
        kept, words = (
            set(sorted(largest, key=lambda name: models[name]["parameters"] or 0)[-MOST:]),
            f"largest of {MOST} families",
        )
    return [name for name in names if name in kept], words


def panel_title(architecture: str, groups: Collection[str]) -> str:
    """Return the title of an architecture's panel; there is none if all models have that architecture."""
    return palette.ARCHITECTURES[architecture] if len(groups) > 1 else ""


def model_handles(models: dict[str, dict], names: Iterable[str]) -> list[Artist]:
    """Return legend handles for the models ``names``, in their order; none for the only model of a run."""
    if len(models) == 1:
        return []
    return [plotting.line_handle(palette.model_style(models[m]), models[m]["label"]) for m in names]


def distractor_axis(ax: Axes) -> None:
    """Let the x axis count distractors."""
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=1))
    ax.margins(x=0.04)


def draw_curves(run: Drawn, label: str, panels: list[tuple], shaded: str | None, references: bool = False) -> Figure:
    """Draw curves over the number of distractors, a row of panels for each architecture, with shaded intervals.

    Up to :data:`FEW` models fit one column and share one legend; more take the page, with a
    legend beside each row.

    Args:
        label: Of the y axis.
        panels: A title and the rows of each column of panels: ``model``, ``n_distractors``, ``value`` (a share),
            ``low`` and ``high``.
        shaded: What lies between ``low`` and ``high``.
        references: Whether chance and people have lines.
    """
    models = run.models
    rooms = {a: shown_models(models, names) for a, names in by_architecture(run.drawn).items()}
    groups = {architecture: names for architecture, (names, _) in rooms.items()}
    few = len(models) <= FEW
    height = 1.35 if few else 2.15
    drawn = plotting.new_figure(plotting.COLUMN if few else plotting.PAGE, height * len(groups) + 0.25)
    grid = drawn.subplots(len(groups), len(panels), sharex=True, sharey=True, squeeze=False)
    for row, (architecture, names) in zip(grid, groups.items(), strict=True):
        for ax, (title, part) in zip(row, panels, strict=True):
            for name in names:
                rows = part[part.model == name]
                look = palette.model_style(models[name])
                draw_curve(ax, rows.n_distractors, rows.value, rows.low, rows.high, look)
            # Beside another panel in one column there is no room for both on a line.
            between = ":\n" if few and len(panels) > 1 else ": "
            ax.set_title(between.join(filter(None, [panel_title(architecture, groups), title])))
            plotting.fraction_axis(ax.yaxis)
            distractor_axis(ax)
        row[0].set_ylabel(label)
        if not few:
            told = [note_handle(words) for words in [rooms[architecture][1]] if words]
            beside = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5), "ncols": 1 + (len(names) > 12)}
            row[-1].legend(handles=model_handles(models, names) + told, **beside)
    for ax in grid[-1]:
        ax.set_xlabel(DISTRACTORS)
    handles = model_handles(models, order_models(run.drawn)) if few else []
    handles += (run.references(grid.flat) if references else []) + shading_handles(shaded) + run.dropped
    if handles:
        plotting.legend_below(drawn, handles, 2 if few else 4)
    return drawn


@dataclass(frozen=True)
class RowPanel:
    """A panel of horizontal rows: its title, and what stands at each row from the top down."""

    title: str | None
    keys: list
    labels: list


def model_rows(models: dict, first: tuple[str, str] | None = None) -> list[RowPanel]:
    """Return the panels of a figure with one row per model of :func:`shown_models`, by architecture.

    Args:
        first: Key and label of a row that comes before the models.
    """
    panels = [RowPanel(None, [first[0]], [first[1]])] if first else []
    groups = by_architecture(models)
    for architecture, every in groups.items():
        names, words = shown_models(models, every)
        title = ":\n".join(filter(None, [panel_title(architecture, groups), words]))
        panels.append(RowPanel(title, names, [plotting.model_title(m, models) for m in names]))
    return panels


def rows_figure(panels: list, width: float, row_height: float, extra: float) -> tuple:
    """Return a figure with one axes for each of ``panels``, as high as its number of rows.

    Args:
        width, row_height, extra: Inches; ``extra`` is for the x axis and what stands above the panels.

    Returns:
        The figure and the list of its axes, which share x; rows stand at y = 0, 1, ... from the top.
    """
    counts = [len(p.keys) for p in panels]
    broken = sum("\n" in (panel.title or "") for panel in panels)
    height = row_height * sum(counts) + 0.28 * max(1, sum(bool(p.title) for p in panels)) + 0.12 * broken + extra
    drawn = plotting.new_figure(width, height)
    grid = drawn.subplots(
        len(panels), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": [c + 0.2 for c in counts]}
    )[:, 0]
    for ax, panel in zip(grid, panels, strict=True):
        ax.set_yticks(range(len(panel.keys)), panel.labels)
        ax.set_ylim(len(panel.keys) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x")
        if panel.title:
            ax.set_title(panel.title)
    for ax in grid[:-1]:
        ax.tick_params(axis="x", length=0, labelbottom=False)
    return drawn, list(grid)


def dropped_note(frame: pd.DataFrame, models: dict[str, dict]) -> list[Line2D]:
    """Return a legend handle that names the models with too few instances to be drawn; in a list, empty for none."""
    few = frame[frame.n < plotting.FEWEST]
    names = [models[name]["label"] for name in models if name in set(few.model)]
    if not names:
        return []
    counts = sorted(few.n.unique())
    told = f"{counts[0]:.0f}" if len(counts) == 1 else f"{counts[0]:.0f} to {counts[-1]:.0f}"
    text = f"not drawn, with {told} instances: {', '.join(names)}"
    return [note_handle(text)]


def note_handle(text: str) -> Line2D:
    """Return a legend handle that is text alone."""
    return Line2D([], [], linestyle="none", label=text)


def draw_curve(ax: Axes, x: pd.Series, y: pd.Series, low: pd.Series, high: pd.Series, look: dict[str, Any]) -> None:
    """Draw a curve over shares, with what lies between ``low`` and ``high`` shaded.

    Missing values are gaps; without any bound there is no shading.
    """
    if not len(x):
        return
    ax.plot(x, y, markeredgecolor="white", markeredgewidth=0.3, **look)
    if low.notna().any():
        ax.fill_between(x, *map(plotting.clip_bounds, (low, high)), color=look["color"], alpha=0.18, linewidth=0)


def shading_handles(label: str | None) -> list[Patch]:
    """Return legend handles that say what the shading is; none for the label None."""
    return [Patch(facecolor=plotting.GREY, alpha=0.25, linewidth=0, label=label)] if label else []
