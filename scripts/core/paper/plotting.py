"""One form for every figure: sizes, type, axes, reference lines, legends, and files that are the same byte for byte."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.style import library
from matplotlib.ticker import MultipleLocator, StrMethodFormatter
from numpy.typing import ArrayLike

from scripts.core import files
from scripts.core.paper.formats import FEWEST, have_sizes

if TYPE_CHECKING:
    import contextlib

    import pandas as pd
    import seaborn.objects as so

COLUMN, PAGE = 3.27, 6.77
"""Widths of one column and of the whole page of the paper (paper/proceedings.sty), in inches; every figure has one."""
SMALLEST_TEXT, SMALLEST_MARKER = 7.0, 3.0
"""In points, at these widths."""
CHANCE = (0, (1, 1.2))
"""Dashes of the line at chance."""
GREY = "#595959"
THEME = {
    **library["seaborn-v0_8-ticks"],
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    # A label is text, whatever signs of money it has.
    "text.parse_math": False,
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.columnspacing": 1.2,
    "legend.borderaxespad": 0.3,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.5,
    "xtick.bottom": True,
    "ytick.left": True,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "lines.linewidth": 1.2,
    # Intervals end where they end.
    "lines.solid_capstyle": "butt",
    "lines.markersize": 4,
    "hatch.linewidth": 0.5,
    "figure.constrained_layout.h_pad": 0.04,
    "figure.constrained_layout.w_pad": 0.04,
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
}
"""Settings of every figure; the typeface ships with matplotlib, so figures do not depend on the fonts of a machine."""


def figure_style() -> "contextlib._GeneratorContextManager[None]":
    """Return a context manager (or decorator) under which figures are made and saved."""
    return matplotlib.rc_context(THEME)  # pyright: ignore[reportArgumentType]: all are names that matplotlib knows


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of ``width`` times ``height`` inches that makes room for its own labels and legends."""
    drawn = Figure(figsize=(width, height), layout="constrained")
    # Gives the figure a renderer, so that legends can be measured before it is saved.
    FigureCanvasAgg(drawn)
    return drawn


def draw_plot(plot: "so.Plot", width: float, panel_height: float, extra: float = 0.2) -> Figure:
    """Return the figure of a plot of seaborn in this look, without its legends (:func:`legend_below` makes one).

    ``panel_height`` and ``extra`` are inches for each row of panels, and for what stands above and below them.
    """
    drawn = new_figure(width, panel_height + extra)
    plot.on(drawn).theme(THEME).plot()
    drawn.legends.clear()
    for marks in drawn.findobj(PathCollection):
        # Points lie over lines of reference, and are whole at the edges of a panel.
        marks.set(zorder=2, clip_on=False)
    grids = [ax.get_gridspec() for ax in drawn.axes]
    rows = max(grid.nrows for grid in grids if grid)
    drawn.set_size_inches(width, panel_height * rows + extra)
    return drawn


def panel_columns(number: int) -> int:
    """Return how many panels stand side by side: at most four."""
    return min(number, 4 if number > 9 or number in (7, 8) else 3 if number > 4 or number == 3 else 2)


LOOK = ("color", "marker", "fillcolor")
"""What tells series of a plot apart, a scale for each (:func:`scales`)."""


def scales(looks: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the scales :data:`LOOK` of a plot of seaborn: how the marks of each series look, by its label."""
    return {
        "color": {label: look["color"] for label, look in looks.items()},
        "marker": {label: look["marker"] for label, look in looks.items()},
        "fillcolor": {label: look.get("markerfacecolor", look["color"]) for label, look in looks.items()},
    }


def save_figure(drawn: Figure, frame: "pd.DataFrame", pdf: str, png: str, csv: str) -> None:
    """Write a figure as PDF and PNG, and exactly what it shows as CSV, one row for each mark; none carries a date."""
    with figure_style():
        with files.write_atomically(pdf) as temporary:
            drawn.savefig(temporary, format="pdf", metadata={"Creator": None, "Producer": None, "CreationDate": None})
        with files.write_atomically(png) as temporary:
            drawn.savefig(temporary, format="png", metadata={"Software": None})
    files.write_csv(csv, frame)


def fraction_axis(axis: Any, step: float = 0.25) -> None:
    """Let ``xaxis`` or ``yaxis`` show a share: 0 to 1 with room for a mark at either end, a tick at every ``step``."""
    axis.axes.set(**{f"{axis.axis_name}lim": (-0.02, 1.03)})
    axis.of_shares = True
    axis.set_major_locator(MultipleLocator(step))
    axis.set_major_formatter(StrMethodFormatter("{x:.2g}"))


def reference_line(
    axes: Iterable[Axes], value: float, label: str, linestyle: str | tuple[float, Sequence[float]], along: str = "y"
) -> Line2D:
    """Draw a grey line at ``value`` across each of ``axes``; return its legend handle, which says ``label``.

    ``along`` is ``y`` for a horizontal line at that y, ``x`` for a vertical one.
    """
    look = {"color": GREY, "linestyle": linestyle, "linewidth": 0.9}
    for ax in axes:
        (ax.axhline if along == "y" else ax.axvline)(value, zorder=1.5, **look)
    return Line2D([], [], label=label, **look)


def chance_line(axes: Iterable[Axes], chance: float, along: str = "y") -> Line2D:
    """Draw the accuracy of a random pick (``options.chance_accuracy``); return its legend handle."""
    return reference_line(axes, chance, f"chance ({chance:.3g})", CHANCE, along)


def human_line(axes: Iterable[Axes], human: float | dict, along: str = "y") -> Line2D:
    """Draw the share of instances that people fill correctly; return its legend handle.

    ``human`` is the share that a study publishes, or ``accuracy`` and ``label`` of the people of a run.
    """
    given = human if isinstance(human, dict) else {"accuracy": human, "label": "human"}
    label = f"{given['label']} ({given['accuracy']:.3g})"
    return reference_line(axes, given["accuracy"], label, (0, (6, 1.5, 1, 1.5)), along)


def clip_bounds(values: ArrayLike) -> Any:
    """Return the bounds of intervals clipped to the scale: no share is below 0 or above 1."""
    return np.clip(values, 0.0, 1.0)


def drop_small_cells(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of shares that rest on :data:`FEWEST` instances or more, their number being the column ``n``."""
    return frame[frame.n >= FEWEST]


def nothing_drawn(reason: str = f"each value rests on fewer than {FEWEST} instances") -> Figure:
    """Return the figure of a run that has nothing to draw: it gives the reason."""
    with figure_style():
        drawn = new_figure(COLUMN, 0.7)
        ax = drawn.subplots()
        ax.set_axis_off()
        note = "\n".join(textwrap.wrap(f"Nothing is drawn: {reason}.", 52))
        ax.text(0.5, 0.5, note, ha="center", va="center", fontsize=7, transform=ax.transAxes)
    return drawn


def one_size(models: dict) -> Figure | None:
    """Return the figure by size of models of one size, which says that it is none; None for several sizes."""
    return None if have_sizes(models) else nothing_drawn("accuracies by size need models of two sizes")


def model_title(name: str, models: dict) -> str:
    """Return the label of a model as the title of its panel; a figure of one model has none."""
    return models[name]["label"] if len(models) > 1 else ""


def error_bars(values: ArrayLike, low: ArrayLike, high: ArrayLike) -> np.ndarray:
    """Return the lengths of bars from ``values`` to ``low`` and ``high`` on the scale of shares, shape (2, n).

    Where a bound is missing there is no bar.
    """
    values = np.asarray(values, dtype=float)
    lengths = np.array([values - clip_bounds(np.asarray(low, float)), clip_bounds(np.asarray(high, float)) - values])
    return np.nan_to_num(np.maximum(lengths, 0))


def line_handle(look: dict[str, Any], label: str) -> Line2D:
    """Return the legend handle of a curve that is drawn with ``look``."""
    return Line2D([], [], markeredgecolor="white", markeredgewidth=0.3, label=label, **look)


def interval_handle(label: str, marker: str = "|") -> Line2D:
    """Return the legend handle that says what error bars are; ``marker`` is ``|``, ``_`` or ``+`` as they run."""
    look = {"marker": marker, "markersize": 7, "markeredgewidth": 0.9}
    return Line2D([], [], color=GREY, linestyle="none", label=label, **look)


def point_handle(label: str) -> Line2D:
    """Return the legend handle of an open grey point."""
    look = {"marker": "o", "markerfacecolor": "white", "markeredgecolor": GREY, "markeredgewidth": 0.6}
    return Line2D([], [], linestyle="none", label=label, **look)


def patch_handle(colour: str | tuple[float, float, float, float], label: str) -> Patch:
    """Return the legend handle of an area in ``colour``."""
    return Patch(facecolor=colour, linewidth=0, label=label)


def legend_below(drawn: Figure, handles: list, columns: int) -> None:
    """Put one legend under the panels, in ``columns`` or as many as fit the width, and make the figure higher."""
    for n in range(min(columns, len(handles)), 0, -1):
        legend = drawn.legend(handles=handles, loc="outside lower center", ncols=n)
        assert isinstance(drawn.canvas, FigureCanvasAgg), "figure() gave it one"
        size = legend.get_window_extent(drawn.canvas.get_renderer())
        if n == 1 or size.width <= 0.98 * drawn.bbox.width:
            break
        legend.remove()
    width, height = drawn.get_size_inches()
    drawn.set_size_inches(width, height + size.height / drawn.dpi + 0.05)
