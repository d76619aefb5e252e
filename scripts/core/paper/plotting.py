"""One look for every figure: sizes, type, colours, reference lines, and files that are the same byte for byte."""

import textwrap
import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex, to_rgb
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
    from matplotlib.artist import Artist

COLUMN, PAGE = 3.27, 6.77
"""Widths of one column and of the whole page of the paper (paper/proceedings.sty), in inches; every figure has one."""
SMALLEST_TEXT, SMALLEST_MARKER = 7.0, 3.0
"""In points, at these widths."""
FEW = 8
"""Up to this many models a figure gives each its own room; above, it takes the page or aggregates."""

ARCHITECTURES = {"decoder": "Decoder-only", "encoder": "Encoder-only", "encoder-decoder": "Encoder-decoder"}
"""Architectures in the order of the panels (Gautam et al. 2024, Figures 7 and 9) with their titles."""
LINES = {"decoder": "-", "encoder": (0, (4, 1.5)), "encoder-decoder": (0, (1, 1))}
SHAPES = {"decoder": "o", "encoder": "s", "encoder-decoder": "D"}

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's colours, which people with colour vision deficiencies tell apart; the faintest last."""
PRONOUNS = ("he", "she", "they", "xe")
"""Pronoun sets whose colour never changes: the first of the palette. Nothing but pronouns has these colours."""
CATEGORIES = ("#000000", "#E69F00", "#56B4E9", "#8C8C8C", "#6A3D9A")
"""Colours of what is neither a pronoun set nor a model: methods, outcomes, metrics."""
CHANCE = (0, (1, 1.2))
"""Dashes of the line at chance."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "d")

GREY = "#595959"
ORDERED = ("#000000", "#E69F00", "#6A3D9A", "#009E73")
"""Colours of a few models or methods that a figure compares, in their order."""

# Hue, fewest and most parameters of the registry's families; those with one size keep their hue as it is. Lightness
# depends on a model's place in this range, so a model looks the same whatever else is in the run. Families of one
# study have hues that can be told apart.
FAMILIES = {
    "SmolLM2": ("#332288", None, None),
    "MiniLM": ("#D4526E", None, None),
    "ALBERT-v2": ("#B5179E", 1.1e7, 2.1e8),
    "BERT": ("#E69F00", 1.0e8, 3.4e8),
    "RoBERTa": ("#56B4E9", 1.2e8, 3.6e8),
    "MosaicBERT": ("#444444", None, None),
    "OPT": ("#117733", 1.2e8, 6.6e10),
    "Pythia": ("#8B5A2B", 1.4e7, 1.2e10),
    "Llama-2": ("#7A6BB0", 6.7e9, 7.0e10),
    "FLAN-T5": ("#882255", 7.6e7, 1.2e10),
    "Llama-2-chat": ("#88AA22", 6.7e9, 7.0e10),
    "LingMess": ("#4477AA", None, None),
    "CAW-coref": ("#EE6677", None, None),
    "F-coref": ("#66CCEE", None, None),
    "MiniLM coreference": ("#A14D00", None, None),
    "BERT coreference": ("#CCBB44", 1.0e8, 3.4e8),
    "SpanBERT coreference": ("#228833", 1.0e8, 3.4e8),
    "GPT-2": ("#EE7733", 1.2e8, 1.6e9),
    "GPT-J": ("#CC3311", None, None),
    "BLOOM": ("#AA3377", 5.5e8, 7.1e9),
    "LLaMA": ("#44AA99", None, None),
    "BART": ("#00A0C8", 1.3e8, 4.1e8),
    "T5": ("#661100", 6.0e7, 2.9e9),
    "UL2": ("#6699CC", None, None),
    "GPT-3": ("#999999", None, None),
    "GPT-3.5": ("#DDAA33", None, None),
    "GPT-4o": ("#AA4499", None, None),
    "Llama-3": ("#1E88E5", 1.2e9, 8.1e9),
    "Qwen3": ("#6A3FD0", 5.9e8, 8.2e9),
    "Gemma-3": ("#3F9B2F", 2.6e8, 1.0e9),
    "OLMo-2": ("#C837AB", 1.4e9, 1.4e10),
    "OLMo-3": ("#5B2A5B", None, None),
    "Mistral": ("#FF8C00", None, None),
    "Phi-4": ("#8E8A00", 3.8e9, 1.5e10),
    "SmolLM3": ("#1B1B1B", None, None),
    "Mamba": ("#CC1133", 1.2e8, 2.8e9),
    "Mamba-2": ("#FF5A3C", None, None),
    "Falcon-Mamba": ("#E3B505", None, None),
    "ModernBERT": ("#2F9AA0", 1.4e8, 4.0e8),
    "Own server": ("#777777", None, None),
}
_UNKNOWN_RANGE = (1e7, 1e11)
_LIGHTEST, _DARKEST = 72.0, 32.0
# CIE lightness that a debiased coreference system has more than the same system without.
_DEBIASED = {"none": 0.0, "a-CDA": 12.0, "n-CDA": -12.0}


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


def style() -> "contextlib._GeneratorContextManager[None]":
    """Return a context manager (or decorator) under which figures are made and saved."""
    return matplotlib.rc_context(THEME)  # pyright: ignore[reportArgumentType]: all are names that matplotlib knows


def figure(width: float, height: float) -> Figure:
    """Return an empty figure of ``width`` times ``height`` inches that makes room for its own labels and legends."""
    drawn = Figure(figsize=(width, height), layout="constrained")
    # Gives the figure a renderer, so that legends can be measured before it is saved.
    FigureCanvasAgg(drawn)
    return drawn


def draw(plot: "so.Plot", width: float, panel_height: float, extra: float = 0.2) -> Figure:
    """Return the figure of a plot of seaborn in this look, ``width`` inches wide; it has no legend yet.

    Args:
        plot: Its legends are dropped; :func:`legend_below` makes one that also says what lines and intervals are.
        panel_height, extra: Inches for each row of panels, and for what stands above and below them.
    """
    drawn = figure(width, panel_height + extra)
    plot.on(drawn).theme(THEME).plot()
    drawn.legends.clear()
    for marks in drawn.findobj(PathCollection):
        # Points lie over lines of reference, and are whole at the edges of a panel.
        marks.set(zorder=2, clip_on=False)
    rows = max(ax.get_gridspec().nrows for ax in drawn.axes)
    drawn.set_size_inches(width, panel_height * rows + extra)
    return drawn


def panel_columns(number: int) -> int:
    """Return how many panels stand side by side: at most four."""
    return min(number, 4 if number > 9 or number in (7, 8) else 3 if number > 4 or number == 3 else 2)


LOOK = ("color", "marker", "fillcolor")
"""What tells series of a plot apart, a scale for each (:func:`scales`)."""


def scales(looks: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the scales :data:`LOOK` of a plot of seaborn: how the marks of each series look, by its label."""
    return {
        "color": {label: look["color"] for label, look in looks.items()},
        "marker": {label: look["marker"] for label, look in looks.items()},
        "fillcolor": {label: look.get("markerfacecolor", look["color"]) for label, look in looks.items()},
    }


def save(drawn: Figure, frame: "pd.DataFrame", pdf: str, png: str, csv: str) -> None:
    """Write a figure as PDF and PNG, and what it shows as CSV; none carries a date, the same figure is the same bytes.

    Args:
        frame: Exactly what is drawn, one row for each mark.
        pdf, png, csv: Paths.
    """
    with style():
        with files.write_atomically(pdf) as temporary:
            drawn.savefig(temporary, format="pdf", metadata={"Creator": None, "Producer": None, "CreationDate": None})
        with files.write_atomically(png) as temporary:
            drawn.savefig(temporary, format="png", metadata={"Software": None})
    files.write_csv(csv, frame)


def pronoun_colours(sets: Iterable[str]) -> dict:
    """Return a colour for each pronoun set.

    The four sets of :data:`PRONOUNS` keep theirs in every run; others take the next colours in the given order, and
    after the last colour of :data:`PALETTE` its darker versions.

    Returns:
        Set to a hexadecimal colour.
    """
    sets = list(sets)
    order = [*PRONOUNS, *(s for s in sets if s not in PRONOUNS)]
    return {s: _cycled(order.index(s)) for s in sets}


def pronoun_markers(sets: Iterable[str]) -> dict[str, str]:
    """Return a marker for each pronoun set, as stable as the colours of :func:`pronoun_colours`."""
    sets = list(sets)
    order = [*PRONOUNS, *(s for s in sets if s not in PRONOUNS)]
    return {s: MARKERS[order.index(s) % len(MARKERS)] for s in sets}


def _cycled(index: int) -> str:
    turn, place = divmod(index, len(PALETTE))
    if turn == 0:
        return PALETTE[place]
    # Black has no darker version; it becomes ever lighter greys.
    if PALETTE[place] == "#000000":
        return to_hex((1 - 0.5**turn,) * 3)  # pyright: ignore[reportArgumentType]: three numbers
    return to_hex(np.array(to_rgb(PALETTE[place])) * 0.55**turn)  # pyright: ignore[reportArgumentType]: three numbers


def text_colour(colour: str) -> str:
    """Return black or white, whichever is read more easily on ``colour``."""
    return "white" if _luminance(_linear(colour)) < 0.18 else "black"


def model_style(facts: dict) -> dict:
    """Return the look of one model, which depends on nothing but the model's own facts.

    Hue stands for the family, lightness and marker for the size (larger is darker) where the family has several, the
    line for the architecture. A family that :data:`FAMILIES` does not know gets one of its hues by a checksum of its
    name. A debiased coreference system is lighter (a-CDA) or darker (n-CDA), with the next marker or the one after.

    Args:
        facts: ``family``, ``architecture`` and ``parameters`` (None if they are not published); ``debiasing`` of a
            system.

    Returns:
        Keyword arguments of a line: ``color``, ``marker``, ``linestyle``.
    """
    debiasing = facts.get("debiasing", "none")
    family, count = facts["family"], facts["parameters"]
    colour, fewest, most = _family(family)
    place = 0.5
    if fewest and count:
        place = float(np.clip(np.log(count / fewest) / np.log(most / fewest), 0, 1))
        colour = _with_lightness(colour, _LIGHTEST + place * (_DARKEST - _LIGHTEST))
    if debiasing != "none":
        colour = _with_lightness(colour, _lightness(colour) + _DEBIASED[debiasing])
    names = list(FAMILIES)
    offset = names.index(family) if family in FAMILIES else zlib.crc32(family.encode())
    offset += list(_DEBIASED).index(debiasing)
    marker = MARKERS[(offset + round(place * (len(MARKERS) - 1))) % len(MARKERS)]
    return {"color": colour, "marker": marker, "linestyle": LINES[facts["architecture"]]}


def in_order(labels: Sequence[str]) -> dict[str, dict]:
    """Return looks that few models of one figure have by their order, the first one black, whatever they are."""
    return {label: {"color": ORDERED[n % len(ORDERED)], "marker": MARKERS[n % len(MARKERS)]} for n, label in
            enumerate(dict.fromkeys(labels))}  # fmt: skip


def family_style(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the look of a model's whole family: the hue as it is, with shape and line of the architecture."""
    architecture = facts["architecture"]
    return {
        "color": _family(facts["family"])[0],
        "marker": SHAPES[architecture],
        "linestyle": LINES[architecture],
    }


def _family(name: str):
    if name in FAMILIES:
        return FAMILIES[name]
    hues = [hue for hue, _, _ in FAMILIES.values()]
    return (hues[zlib.crc32(name.encode()) % len(hues)], *_UNKNOWN_RANGE)


def _linear(colour: str) -> np.ndarray:
    """Return the linear-light components of an sRGB colour (IEC 61966-2-1)."""
    value = np.array(to_rgb(colour))
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _luminance(linear: np.ndarray) -> float:
    return float(linear @ (0.2126, 0.7152, 0.0722))


def _lightness(colour: str) -> float:
    """Return the CIE lightness of a colour, which must be above 8."""
    return 116 * _luminance(_linear(colour)) ** (1 / 3) - 16


def _with_lightness(colour: str, lightness: float) -> str:
    """Mix a colour with white, or darken it, until it has a CIE lightness of ``lightness`` (above 8, up to 100)."""
    target = ((lightness + 16) / 116) ** 3
    linear = _linear(colour)
    luminance = _luminance(linear)
    linear = (
        linear * target / luminance
        if target < luminance
        else linear + (1 - linear) * (target - luminance) / (1 - luminance)
    )
    linear = np.clip(linear, 0, 1)
    return to_hex(np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055))  # pyright: ignore[reportArgumentType]: three numbers


def fraction_axis(axis: Any, step: float = 0.25) -> None:
    """Let an axis show a share: 0 to 1 with room for a mark at either end, a tick at every ``step``.

    Args:
        axis: ``xaxis`` or ``yaxis`` of an ``Axes``; gets the mark ``of_shares``, which matplotlib's do not have.
    """
    axis.axes.set(**{f"{axis.axis_name}lim": (-0.02, 1.03)})
    axis.of_shares = True
    axis.set_major_locator(MultipleLocator(step))
    axis.set_major_formatter(StrMethodFormatter("{x:.2g}"))


def reference_line(
    axes: Iterable[Axes], value: float, label: str, linestyle: str | tuple[float, Sequence[float]], along: str = "y"
) -> Line2D:
    """Draw a grey line at ``value`` across each of ``axes``; return its legend handle.

    Args:
        label: Said in the legend.
        linestyle: As matplotlib takes it.
        along: ``y`` for a horizontal line at that y, ``x`` for a vertical one.
    """
    look = {"color": GREY, "linestyle": linestyle, "linewidth": 0.9}
    for ax in axes:
        (ax.axhline if along == "y" else ax.axvline)(value, zorder=1.5, **look)
    return Line2D([], [], label=label, **look)


def chance_line(axes: Iterable[Axes], chance: float, along: str = "y") -> Line2D:
    """Draw the accuracy of a random pick (:func:`scripts.core.data.options.chance`); return its legend handle."""
    return reference_line(axes, chance, f"chance ({chance:.3g})", CHANCE, along)


def human_line(axes: Iterable[Axes], human: float | dict, along: str = "y") -> Line2D:
    """Draw the share of instances that people fill correctly; return its legend handle.

    Args:
        human: The share that a study publishes, or ``accuracy`` and ``label`` of the people of a run.
        along: As in :func:`reference_line`.
    """
    given = human if isinstance(human, dict) else {"accuracy": human, "label": "human"}
    label = f"{given['label']} ({given['accuracy']:.3g})"
    return reference_line(axes, given["accuracy"], label, (0, (6, 1.5, 1, 1.5)), along)


def clip_bounds(values: ArrayLike) -> Any:
    """Return the bounds of intervals clipped to the scale: no share is below 0 or above 1.

    Returns:
        A Series for a Series, an array for other values.
    """
    return np.clip(values, 0.0, 1.0)


def drop_small_cells(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of shares that rest on :data:`FEWEST` instances or more, their number being the column ``n``."""
    return frame[frame.n >= FEWEST]


def nothing_drawn(reason: str = f"each value rests on fewer than {FEWEST} instances") -> Figure:
    """Return the figure of a run that has nothing to draw: it gives the reason."""
    with style():
        drawn = figure(COLUMN, 0.7)
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


def dropped_note(frame: "pd.DataFrame", models: dict[str, dict]) -> list[Line2D]:
    """Return a legend handle that names the models with too few instances to be drawn; in a list, empty for none."""
    few = frame[frame.n < FEWEST]
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


def curve(ax: Axes, x: "pd.Series", y: "pd.Series", low: "pd.Series", high: "pd.Series", look: dict[str, Any]) -> None:
    """Draw a curve over shares, with what lies between ``low`` and ``high`` shaded.

    Missing values are gaps; without any bound there is no shading.
    """
    if not len(x):
        return
    ax.plot(x, y, markeredgecolor="white", markeredgewidth=0.3, **look)
    if low.notna().any():
        ax.fill_between(x, clip_bounds(low), clip_bounds(high), color=look["color"], alpha=0.18, linewidth=0)


def error_bars(values: ArrayLike, low: ArrayLike, high: ArrayLike) -> np.ndarray:
    """Return the lengths of bars from ``values`` down to ``low`` and up to ``high``, clipped to the scale of shares.

    Returns:
        No bar where a bound is missing. Shape (2, n), of float.
    """
    values = np.asarray(values, dtype=float)
    lengths = np.array([values - clip_bounds(np.asarray(low, float)), clip_bounds(np.asarray(high, float)) - values])
    return np.nan_to_num(np.maximum(lengths, 0))


def handle(look: dict[str, Any], label: str) -> Line2D:
    """Return the legend handle of a curve that is drawn with ``look``."""
    return Line2D([], [], markeredgecolor="white", markeredgewidth=0.3, label=label, **look)


def over_samples(frame: "pd.DataFrame") -> str | None:
    """Return ``"± SD over 3 samples"`` for a frame with ``sd`` and ``n_seeds``; None without any SD."""
    if frame.sd.isna().all():
        return None
    return f"± SD over {int(frame.n_seeds.max())} samples"


def shading_handles(label: str | None) -> list[Patch]:
    """Return legend handles that say what the shading is; none for the label None."""
    return [Patch(facecolor=GREY, alpha=0.25, linewidth=0, label=label)] if label else []


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
    """Put one legend for the whole figure under its panels, and make the figure as much higher.

    Args:
        columns: At most; fewer if they would not fit the figure's width.
    """
    for n in range(min(columns, len(handles)), 0, -1):
        legend = drawn.legend(handles=handles, loc="outside lower center", ncols=n)
        assert isinstance(drawn.canvas, FigureCanvasAgg), "figure() gave it one"
        size = legend.get_window_extent(drawn.canvas.get_renderer())
        if n == 1 or size.width <= 0.98 * drawn.bbox.width:
            break
        legend.remove()
    width, height = drawn.get_size_inches()
    drawn.set_size_inches(width, height + size.height / drawn.dpi + 0.05)


def legend_right(ax: Axes, handles: "Sequence[Artist]", columns: int = 1) -> None:
    """Put a legend for one panel to its right."""
    ax.legend(handles=handles, loc="center left", bbox_to_anchor=(1.02, 0.5), ncols=columns)
