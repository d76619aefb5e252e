"""The rules that every figure of every study keeps, checked on its artists and not on pixels."""

import numpy as np
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from scripts.core import plotting

# Ends of error bars, and marks that are lines themselves.
STROKES = ("None", "none", "", " ", None, "|", "_", (6, 2, 0))
PRONOUN_COLOURS = {to_hex(colour) for colour in plotting.pronoun_colours(plotting.PRONOUNS).values()}
NEARLY = 1e-6


def problems(drawn, pronouns: bool = False) -> list[str]:
    """Return what a figure does against the rules, one line each.

    Its width is that of a column or of the page; texts have 7 points or more, markers 3; on an axis of shares nothing
    lies below 0 or above 1; a pronoun's colour stands for pronouns alone; no legend lies on a panel; all is visible.

    Args:
        drawn (matplotlib.figure.Figure)
        pronouns: Whether its colours stand for pronoun sets.
    """
    with plotting.style():
        drawn.draw_without_rendering()
    found = []
    width = drawn.get_size_inches()[0]
    if min(abs(width - plotting.COLUMN), abs(width - plotting.PAGE)) > NEARLY:
        found.append(f"the figure is {width:.2f} inches wide")
    for text in drawn.findobj(Text):
        if shown(text) and text.get_text().strip() and text.get_fontsize() < plotting.SMALLEST_TEXT - NEARLY:
            found.append(f"text of {text.get_fontsize():g} points: {text.get_text()!r}")
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
    box, (width, height) = drawn.get_tightbbox(), drawn.get_size_inches()
    beyond = max(-box.x0, -box.y0, box.x1 - width, box.y1 - height)
    if beyond > 0.02:
        found.append(f"{beyond:.2f} inches are cut off")
    return found


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
