"""The rules that every figure of every study keeps, checked on its artists and not on pixels."""

import itertools
import re

import numpy as np
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.lines import AxLine, Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.transforms import BlendedAffine2D, BlendedGenericTransform

from scripts.core.paper import palette, plotting

# Ends of error bars, and marks that are lines themselves.
STROKES = ("None", "none", "", " ", None, "|", "_", (6, 2, 0))
PRONOUN_COLOURS = {to_hex(colour) for colour in palette.pronoun_colours(palette.PRONOUNS).values()}
NEARLY = 1e-6
SUBSCRIPT = 0.7
"""Size of sub- and superscripts in mathtext, as a share of the text's."""
CONTRAST = 4.5
"""Least contrast of text with what is behind it (WCAG 2.1, level AA)."""


def problems(drawn, pronouns: bool = False, alone: str | None = None) -> list[str]:
    """Return what a figure does against the rules, one line each.

    Its width is that of a column or of the page; texts have 7 points or more, subscripts too, and can be read on what
    is behind them; markers have 3; on an axis of shares nothing lies below 0 or above 1; a pronoun's colour stands for
    pronouns alone; every panel has something drawn and every entry of a legend is drawn; a figure of one model does not
    name it; no legend lies on a panel, and no label of an axis on another; all is visible.

    Args:
        drawn (matplotlib.figure.Figure)
        pronouns: Whether its colours stand for pronoun sets.
        alone: Label of the only model.
    """
    with plotting.figure_style():
        drawn.draw_without_rendering()
    found = []
    width = drawn.get_size_inches()[0]
    if min(abs(width - plotting.COLUMN), abs(width - plotting.PAGE)) > NEARLY:
        found.append(f"the figure is {width:.2f} inches wide")
    for text in drawn.findobj(Text):
        if shown(text) and text.get_text().strip() and text.get_fontsize() < plotting.SMALLEST_TEXT - NEARLY:
            found.append(f"text of {text.get_fontsize():g} points: {text.get_text()!r}")
        found += [f"{told}: {text.get_text()!r}" for told in unreadable(text)]
    found += ["a panel has nothing drawn" for ax in drawn.axes if ax.axison and ax.get_visible() and is_empty(ax)]
    found += [f"a legend promises what is not drawn: {label!r}" for label in unfulfilled(drawn)]
    if alone:
        found += [f"the only model is named: {text!r}" for text in texts(drawn) if names_the_only_model(text, alone)]
    for line in drawn.findobj(Line2D):
        small = line.get_markersize() < plotting.SMALLEST_MARKER - NEARLY
        # The ticks of an axis are markers whose kind is a number.
        stroke = isinstance(line.get_marker(), int) or line.get_marker() in STROKES
        if shown(line) and not stroke and small:
            found.append(f"marker of {line.get_markersize():g} points")
    for points in drawn.findobj(PathCollection):
        smallest = np.sqrt(points.get_sizes().min()) if len(points.get_sizes()) else np.inf
        if smallest < plotting.SMALLEST_MARKER - NEARLY:
            found.append(f"points of {smallest:g} points")
    for ax in drawn.axes:
        for which, axis in ((0, ax.xaxis), (1, ax.yaxis)):
            if getattr(axis, "of_shares", False):
                values = [part[:, which] for part in data(ax)]
                values = np.concatenate(values) if values else np.zeros(0)
                values = values[np.isfinite(values)]
                if len(values) and (values.min() < -NEARLY or values.max() > 1 + NEARLY):
                    found.append(f"shares from {values.min():.3f} to {values.max():.3f}")
    if not pronouns and (used := PRONOUN_COLOURS & colours(drawn)):
        found.append(f"colours of pronouns for something else: {', '.join(sorted(used))}")
    panels = [ax.get_window_extent() for ax in drawn.axes if ax.axison]
    legends = [*drawn.legends, *(ax.get_legend() for ax in drawn.axes if ax.get_legend())]
    for legend in legends:
        box = legend.get_window_extent()
        if any(inside(box, panel) for panel in panels):
            found.append("a legend lies on a panel")
        found += [
            f"a legend lies on {text.get_text()!r}" for text in drawn.texts if inside(box, text.get_window_extent())
        ]
    labels = [ax.xaxis.label for ax in drawn.axes if ax.axison and shown(ax.xaxis.label) and ax.get_xlabel()]
    for one, other in itertools.combinations(labels, 2):
        if inside(one.get_window_extent(), other.get_window_extent()):
            found.append(f"labels of axes run into each other: {one.get_text()!r}")
    box, (width, height) = drawn.get_tightbbox(), drawn.get_size_inches()
    beyond = max(-box.x0, -box.y0, box.x1 - width, box.y1 - height)
    if beyond > 0.01:
        found.append(f"{beyond:.2f} inches are cut off")
    return found


def texts(drawn):
    """Return all visible texts of a figure."""
    return [text.get_text() for text in drawn.findobj(Text) if shown(text) and text.get_text().strip()]


def names_the_only_model(text, label):
    """Tell whether a text of a figure names its only model, the kind of model it is, or a mean over it."""
    said = " ".join(text.split())
    return said.startswith(label) or said in {*palette.ARCHITECTURES.values(), "All models", "all models"}


def unreadable(text):
    """Return why a text cannot be read: its subscripts are too small, or its colour is too much like what is behind."""
    if not shown(text) or not text.get_text().strip():
        return []
    found = []
    subscript = re.search(r"\$[^$]*[_^][^$]*\$", text.get_text())
    if subscript and SUBSCRIPT * text.get_fontsize() < plotting.SMALLEST_TEXT - NEARLY:
        found.append(f"a subscript of {SUBSCRIPT * text.get_fontsize():.1f} points")
    ratio = contrast(text.get_color(), behind(text))
    if ratio < CONTRAST:
        found.append(f"text with a contrast of {ratio:.1f}")
    return found


def contrast(colour, background):
    """Return the contrast of two colours (WCAG 2.1): from 1 to 21."""
    lights = [palette._luminance(palette._linear(one)) + 0.05 for one in (colour, background)]
    return max(lights) / min(lights)


def behind(text):
    """Return the colour under the middle of a text: of its box, or of the bars and cells of its panel, else white."""
    box = text.get_bbox_patch()
    if box is not None:
        return on_white(box.get_facecolor())
    if text.axes is None:
        return "white"
    extent = text.get_window_extent()
    middle = ((extent.x0 + extent.x1) / 2, (extent.y0 + extent.y1) / 2)
    colour = "white"
    for patch in text.axes.patches:
        if patch.get_window_extent().contains(*middle) and patch.get_facecolor()[3] > 0:
            colour = on_white(patch.get_facecolor())
    for image in text.axes.images:
        if image.get_window_extent().contains(*middle):
            row, column = (round(value) for value in text.axes.transData.inverted().transform(middle)[::-1])
            colour = image.cmap(image.norm(image.get_array()[row, column]))[:3]
    return colour


def on_white(colour):
    """Return what a colour with transparency looks like on white."""
    *parts, alpha = to_rgba(colour)
    return tuple(alpha * np.array(parts) + 1 - alpha)


def is_empty(ax):
    """Tell whether a panel has no mark, bar, area or cell; lines across the whole panel are none."""
    # Marks may stand beside their data; a line across the whole panel is placed along one axis alone, or has a slope.
    across = BlendedAffine2D | BlendedGenericTransform
    beside = [one for one in ax.lines if not isinstance(one, AxLine) and not isinstance(one.get_transform(), across)]
    points = [part[np.isfinite(part).all(axis=1)] for part in [*data(ax), *(line.get_xydata() for line in beside)]]
    meshes = [marks for marks in ax.collections if isinstance(marks, QuadMesh)]
    return not (any(map(len, points)) or ax.patches or ax.images or meshes)


def unfulfilled(drawn):
    """Return the labels of legend entries that stand for nothing in the figure.

    An entry in grey stands for marks of any colour: bars of errors, open points, areas, lines of its dashes.
    """
    lines = [line for ax in drawn.axes for line in ax.lines]
    areas = [marks for ax in drawn.axes for marks in ax.collections if isinstance(marks, PolyCollection)]
    bars = [marks for ax in drawn.axes for marks in ax.collections if isinstance(marks, LineCollection)]
    dots = [marks for ax in drawn.axes for marks in ax.collections if isinstance(marks, PathCollection)]
    patches = [patch for ax in drawn.axes for patch in ax.patches]
    fills = {to_hex(colour) for marks in [*areas, *dots] for colour in marks.get_facecolor()}
    fills |= {to_hex(patch.get_facecolor()) for patch in patches}
    # A scale is shown whole.
    fills |= {to_hex(colour) for ax in drawn.axes for marks in ax.collections if isinstance(marks, QuadMesh)
              for colour in marks.cmap(range(marks.cmap.N))}  # fmt: skip
    strokes = {to_hex(line.get_color()) for line in lines} | {
        to_hex(colour) for one in bars for colour in one.get_color()
    }
    strokes |= {to_hex(patch.get_edgecolor()) for patch in patches}
    marks = {(line.get_marker(), to_hex(line.get_color())) for line in lines}
    edges = {to_hex(line.get_markeredgecolor()) for line in lines if line.get_marker() not in STROKES}
    edges |= {to_hex(line.get_markerfacecolor()) for line in lines if line.get_marker() not in STROKES}
    texts = {to_hex(text.get_color()) for ax in drawn.axes for text in ax.texts}
    grey = to_hex(plotting.GREY)
    found = []
    for legend in [*drawn.legends, *(ax.get_legend() for ax in drawn.axes if ax.get_legend())]:
        for handle, label in zip(legend.legend_handles, legend.get_texts(), strict=True):
            if isinstance(handle, Patch):
                colour = to_hex(handle.get_facecolor())
                there = colour in fills or (areas and is_grey(colour))
            elif handle.get_marker() in ("|", "_", "+"):
                mark = handle.get_marker(), to_hex(handle.get_color())
                there = bool(bars) or mark in marks or mark[1] in strokes - {grey}
            elif handle.get_marker() not in STROKES:
                colour = {to_hex(handle.get_markerfacecolor()), to_hex(handle.get_markeredgecolor())} - {"#ffffff"}
                open_ = to_hex(handle.get_markerfacecolor()) == "#ffffff"
                joined = handle.get_linestyle() not in ("None", "none", "", " ")
                used = edges | fills | texts | (strokes if joined else set())
                there = bool(colour & used) or (any(map(is_grey, colour)) and (not open_ or "#ffffff" in used))
            elif handle.get_linestyle() not in ("None", "none", "", " ") and handle.get_linewidth():
                dashes = {line.get_linestyle() for line in lines if to_hex(handle.get_color()) == grey}
                there = to_hex(handle.get_color()) in strokes or handle.get_linestyle() in dashes - {"-"}
            elif handle.get_marker() == (6, 2, 0):
                there = bool(texts)
            else:
                there = True
            if not there:
                found.append(label.get_text())
    return found


def is_grey(colour):
    """Tell whether a colour has no hue."""
    return np.ptp(to_rgb(colour)) < 0.02 and 0.2 < to_rgb(colour)[0] < 0.95


def shown(artist):
    """Tell whether an artist, and whatever it belongs to, is visible."""
    return artist.get_visible() and (artist.axes is None or (artist.axes.get_visible()))


def inside(box, panel):
    """Tell whether two boxes share more than an edge."""
    return min(box.x1, panel.x1) - max(box.x0, panel.x0) > 1 and min(box.y1, panel.y1) - max(box.y0, panel.y0) > 1


def data(ax):
    """Return the points of all marks of a panel that are placed by its data, one array of shape (points, 2) each."""
    # What runs across a whole panel is placed by its data along one axis alone.
    parts = [line.get_xydata() for line in ax.lines if line.get_transform() == ax.transData]
    for marks in ax.collections:
        if isinstance(marks, PathCollection):
            parts.append(np.asarray(marks.get_offsets(), dtype=float))
        elif isinstance(marks, LineCollection | PolyCollection):
            parts += [path.vertices for path in marks.get_paths()]
    return [np.asarray(part, dtype=float).reshape(-1, 2) for part in parts if len(part)]


def colours(drawn):
    """Return the colours of lines, marks and areas, as hexadecimal text."""
    used = set()
    kinds = Line2D | Patch | LineCollection | PathCollection | PolyCollection
    for artist in drawn.findobj(lambda member: isinstance(member, kinds)):
        if isinstance(artist, Line2D):
            given = [artist.get_color(), artist.get_markerfacecolor(), artist.get_markeredgecolor()]
        elif isinstance(artist, Patch):
            given = [artist.get_facecolor(), artist.get_edgecolor()]
        else:
            given = [*artist.get_facecolor(), *artist.get_edgecolor()]
        used |= {to_hex(to_rgba(colour)[:3]) for colour in given if to_rgba(colour)[3] > 0}
    return used
