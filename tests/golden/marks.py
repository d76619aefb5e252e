"""What figures show is what their tables say: every value has its mark, and every interval both ends at that mark."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle


def marks(figure: Figure) -> list[dict[str, Any]]:
    """Return the marks of a figure that its data place, each with ``panel``, ``kind``, ``colour`` and ``xy``.

    ``kind`` is point, line, segment, area, bar (``xy``: two corners) or cells (``xy``: its values). The colour is that
    of lines, areas and bars.
    """
    found = []

    def add(panel: int, kind: str, colour: Any, xy: Any) -> None:
        found.append({"panel": panel, "kind": kind, "colour": to_hex(colour), "xy": np.asarray(xy, float).tolist()})

    for panel, ax in enumerate(figure.axes):
        for line in ax.lines:
            if line.get_transform() == ax.transData and len(line.get_xydata()):
                kind = "point" if line.get_linestyle() in ("None", "none") else "line"
                add(panel, kind, line.get_color(), line.get_xydata())
        for drawn in ax.collections:
            if isinstance(drawn, QuadMesh):
                add(panel, "cells", "black", drawn.get_array().filled(np.nan))
            elif isinstance(drawn, PathCollection):
                if len(drawn.get_offsets()):
                    add(panel, "point", "black", drawn.get_offsets())
            elif isinstance(drawn, LineCollection):
                for segment in drawn.get_segments():
                    add(panel, "segment", "black", segment)
            elif isinstance(drawn, PolyCollection):
                for path in drawn.get_paths():
                    add(panel, "area", drawn.get_facecolor()[0], path.vertices)
        for patch in ax.patches:
            if isinstance(patch, Rectangle):
                (x, y), width, height = patch.get_xy(), patch.get_width(), patch.get_height()
                add(panel, "bar", patch.get_facecolor(), [[x, y], [x + width, y + height]])
    return found


@dataclass(frozen=True)
class Shown:
    """Columns of a figure's table, the axis that they lie on, and the rows that are drawn."""

    value: str
    low: str | None = None
    high: str | None = None
    axis: str = "x"
    scale: float = 1
    rows: str = "index == index"


ACCURACY = Shown("accuracy", "low", "high")
VALUES, CURVES = Shown("value", "low", "high"), Shown("value", "low", "high", "y")
SHOWN = {
    "headlines": [VALUES],
    "scores": [ACCURACY],
    "accuracy_by_distractors": [CURVES],
    "accuracy_by_pronoun": [VALUES],
    "introduction_accuracy": [VALUES],
    "prompting": [Shown("value", axis="y")],
    "error_types": [CURVES],
    "who_becomes_whom": [Shown("value", "low", "high", "y", rows="value > 0")],
    "context_free": [Shown("count", axis="y", rows="model != model")],
    "scaling": [CURVES, Shown("parameters")],
    "accuracy_by_group": [VALUES],
    "few_shot": [Shown("value", "sd_low", "sd_high", "y")],
    "model_size": [CURVES, Shown("parameters")],
    "accuracy": [VALUES],
    "consistency": [VALUES],
    "bias": [
        Shown("value", "low", "high", "y", rows="metric == 'positive'"),
        Shown("value", "low", "high", "y", -1, rows="metric == 'negative'"),
    ],
    "cancellation": [
        Shown("value", "low", "high", scale=100, rows="metric in ['acc_diff', 'delta_i']"),
        Shown("value", scale=100, rows="metric == 'lean_masculine'"),
        Shown("value", scale=-100, rows="metric == 'lean_feminine'"),
    ],
    "correlations": [
        Shown("fit", "low", "high", "y", rows="0 <= fit <= 100"), Shown("band_low", axis="y"),
        Shown("band_high", axis="y"),
    ],
    "occupations": [Shown("value", rows="not undefined")],
}  # fmt: skip
"""Kind of figure to what it shows; the kind of a figure is the beginning of its file's name."""
OTHERS = {"toy_model": "its table has correlations of the points", "example": "asks for distributions over tokens",
          "inconsistencies": "nothing is drawn for one system"}  # fmt: skip
NEARLY = 1e-6


def shown(name: str) -> list[Shown]:
    """Return what a figure shows, by the longest kind that its name begins with."""
    return SHOWN[max((kind for kind in SHOWN if name.startswith(kind)), key=len)]


def missing(table: pd.DataFrame, marks: list[dict], what: Shown) -> Iterator[str]:
    """Name the rows of a figure's table whose value or interval is not drawn where it belongs."""
    table = table.query(what.rows)
    if what.axis == "cells":
        drawn = np.concatenate([np.ravel(mark["xy"]) for mark in marks if mark["kind"] == "cells"])
        for value in set(table[what.value].dropna()):
            if np.isclose(drawn, value).sum() != np.isclose(table[what.value], value).sum():
                yield f"{what.value} {value:g}"
        return
    along = "xy".index(what.axis)
    for row in table[table[what.value].notna()].to_dict("records"):
        places = marked(marks, along, what.scale * row[what.value])
        if what.low and not np.isnan(row[what.low]):
            ends = sorted(what.scale * row[end] for end in (what.low, what.high))
            places = {place for place in places if has_interval(marks, along, place, ends)}
        if not places:
            yield f"{what.value} {row}"


def marked(marks: list[dict], along: int, value: float) -> set[tuple]:
    """Return panel, place on the other axis, and colour if it is a line, wherever a mark has a value on an axis."""
    found = set()
    for mark in marks:
        xy = mark["xy"]
        if mark["kind"] == "bar":
            ends, (start, end) = xy[:, along], xy[:, 1 - along]
            if np.isclose([*ends, np.ptp(ends)], value, atol=NEARLY).any():
                found.add((mark["panel"], round((start + end) / 2, 6), None))
        elif mark["kind"] in ("point", "line"):
            if mark["kind"] == "line" and len(xy) == 2 and along == 1 and 0 < np.ptp(xy[:, 0]) < 100:
                # A straight line has a value at every whole place.
                places = np.arange(np.ceil(xy[:, 0].min() - NEARLY), xy[:, 0].max() + NEARLY)
                xy = np.column_stack([places, np.interp(places, *xy[xy[:, 0].argsort()].T)])
            colour = mark["colour"] if mark["kind"] == "line" else None
            places = xy[np.isclose(xy[:, along], value, atol=NEARLY), 1 - along]
            found |= {(mark["panel"], round(place, 6), colour) for place in places}
    return found


def has_interval(marks: list[dict], along: int, place: tuple, ends: list[float]) -> bool:
    """Tell whether a bar of errors, or an area of the same colour as the line, has both ends at a place."""
    panel, where, colour = place
    for mark in marks:
        if mark["panel"] != panel or mark["kind"] not in ("segment", "area", "line"):
            continue
        if mark["kind"] == "area" and colour not in (None, mark["colour"]):
            continue
        here = mark["xy"][np.isclose(mark["xy"][:, 1 - along], where, atol=NEARLY), along]
        if len(here) and np.allclose([here.min(), here.max()], ends, atol=NEARLY):
            return True
    return False


def undrawn(name: str, table: pd.DataFrame, marks: list[dict[str, Any]]) -> list[str]:
    """Name what a figure's table has and the figure has not, or not where it belongs."""
    marks = [mark | {"xy": np.array(mark["xy"])} for mark in marks]
    if name.startswith("correlations"):
        # Percentages.
        table = table.assign(
            low=table.low.clip(0, 100), high=table.high.clip(0, 100),
            band_low=(table.fit - table.study_band).clip(0, 100), band_high=(table.fit + table.study_band).clip(0, 100),
        )  # fmt: skip
    if name == "few_shot":
        # A standard deviation is drawn as far as a share can be.
        ends = (table.value - table.sd).clip(lower=0), (table.value + table.sd).clip(upper=1)
        table = table.assign(sd_low=ends[0], sd_high=ends[1])
    return [row for what in shown(name) for row in missing(table, marks, what)]
