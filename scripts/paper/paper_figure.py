"""Draw the headlines of all studies: points with intervals beside chance."""

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import RELEASED_OUTPUTS
from scripts.core.paper import palette, plotting
from scripts.core.paper.formats import format_number
from scripts.core.workflow.job import run
from scripts.paper import front
from scripts.paper.summary import describe_levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ["label", "group", "row", "value", "low", "high", "n", "n_unit", "chance"]
"""What is drawn of a row of the summary, besides its identity."""
SHARES, DIFFERENCES = "Percent", "Percentage points"
LINE, AXIS, LEGEND = 0.155, 0.42, 8
"""Height of a line and of an axis in inches, and up to how many models have a colour and a place in the legend."""
LEFT, RIGHT = 0.37, 0.88
"""Where axes begin and end, as shares of the width."""
LETTERS, LABEL = 52, 21
"""Letters in a line of the whole width, and left of the axes."""
APART, HIGHEST, GAP = 0.25, 2.4, 0.3
"""How far apart the models of a row are, how high a row of many is, and the gap above a heading, in lines."""
UNKNOWN = [marker for marker in palette.MARKERS if marker != "D"]
"""Markers of models and systems that are known by name alone; released outputs have the one that is missing."""


def select(frame: pd.DataFrame, studies: list[dict]) -> pd.DataFrame:
    """Return what is drawn, a row for each headline and model, shares in percent: its identity and :data:`COLUMNS`.

    Args:
        frame: The summary over all studies.
        studies: ``key``, ``label`` and ``chances``: metric to chance, which is 0 for differences.
    """
    found, identity = [], estimate_rows.identity(frame)
    for study in studies:
        rows = front.subject_rows(frame[frame.study == study["key"]])
        rows = rows[rows.headline & rows.value.notna()]
        several = rows.part.nunique() > 1
        for row in rows.to_dict("records"):
            factor = 100 if row["unit"] == "share" else 1
            chance = study["chances"].get(row["metric"])
            group = f"{study['label']}: {row['metric']}" + (f" ({row['part']})" if several else "")
            numbers = [factor * row[name] for name in ("value", "low", "high")]
            count = [int(row["n"]), row["n_unit"], None if chance is None else factor * chance]
            facts = [row[name] for name in [*identity, "label"]]
            found.append([*facts, group, describe_levels(row), *numbers, *count])
    return pd.DataFrame(found, columns=[*identity, *COLUMNS])


def panel_rows(frame: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame | None]]:
    """Yield the rows of a panel: text left and right of the axes, and what is drawn; None in the heading of a study.

    What all rows of a study share is said in its heading, and what n counts.
    """
    for group, rows in frame.groupby("group", sort=False):
        levels = {text: text.split(", ") for text in rows.row.unique()}
        everywhere = [
            level for level in next(iter(levels.values())) if all(level in other for other in levels.values())
        ]
        shared = everywhere[: min(map(len, levels.values())) - 1]
        counted = f"n ({rows.n_unit.iloc[0].partition(' of ')[0]})"
        yield wrap(", ".join([str(group), *shared]), LETTERS - len(counted)), counted, None
        for text, same in rows.groupby("row", sort=False):
            own = ", ".join(level for level in levels[str(text)] if level not in shared)
            ends = dict.fromkeys(format_number(n, 0) for n in (same.n.min(), same.n.max()))
            # A legend that does not name models says nothing of their order.
            yield wrap(own, LABEL), "–".join(ends), same.sort_values("value") if len(same) > LEGEND else same


def wrap(text: str, letters: int) -> str:
    """Break a text into lines between its phrases, and a phrase that is longer than a line between its words."""
    unbroken = text.replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", ")
    parts = textwrap.wrap(unbroken, letters, break_long_words=False)
    return "\n".join(line for part in parts for line in textwrap.wrap(part.replace("\N{NO-BREAK SPACE}", " "), letters))


def spacing(values: pd.DataFrame | None) -> tuple[float, float]:
    """Return how far apart the models of a row are, and how much of its height they take, in lines."""
    gaps = 0 if values is None else len(values) - 1
    apart = min(APART, HIGHEST / max(gaps, 1))
    return apart, gaps * apart


@plotting.figure_style()
def draw(frame: pd.DataFrame, models: dict[str, dict]) -> "Figure":
    """Draw a panel for shares and one for differences; in each a row for every headline, under its study.

    Args:
        frame: From :func:`select`.
        models: Name to what figures say of it.
    """
    panels = [(SHARES, frame[frame.chance != 0]), (DIFFERENCES, frame[frame.chance == 0])]
    panels = [(name, list(panel_rows(rows))) for name, rows in panels if len(rows)]
    own = list(dict.fromkeys(frame[frame.kind != RELEASED_OUTPUTS].model))
    looks = {name: model_look(name, own, models) for name in dict.fromkeys(frame.model)}
    legend = handles(frame, own, looks)
    # A row is a line high, or as high as its text or its models.
    heights = [
        [
            max(1 + left.count("\n"), 0.5 + spacing(values)[1]) + (GAP if values is None else 0)
            for left, _, values in rows
        ]
        for _, rows in panels
    ]
    total = sum(LINE * sum(lines) + AXIS for lines in heights) + LINE * -(-len(legend) // 2) + 0.1
    drawn = plotting.new_figure(plotting.COLUMN, total)
    # Labels are as wide as they are, and names of studies reach over the axes: places are set by hand.
    drawn.set_layout_engine("none")
    top = total
    for (name, rows), lines in zip(panels, heights, strict=True):
        height = LINE * sum(lines)
        ax = drawn.add_axes((LEFT, (top - height) / total, RIGHT - LEFT, height / total))
        top -= height + AXIS
        ends = np.cumsum(lines)
        for (left, right, values), y in zip(rows, ends - np.array(lines) / 2, strict=True):
            write_texts(ax, y, left, right, heading=values is None)
            if values is not None:
                draw_values(ax, y, values, looks)
        ax.set(ylim=(ends[-1] + 0.2, 0), xlabel=name, yticks=[])
        ax.spines["left"].set_visible(False)
        ax.grid(visible=True, axis="x")
        if name == SHARES:
            ax.set(xlim=(-2, 102), xticks=range(0, 101, 25))
    drawn.legend(handles=legend, loc="lower center", ncols=2, bbox_to_anchor=(0.5, 0.0))
    return drawn


def write_texts(ax: "Axes", y: float, left: str, right: str, heading: bool) -> None:
    """Write what stands beside the axes; the heading of a study reaches over them and hides what is behind it."""
    edges = -LEFT / (RIGHT - LEFT) + 0.01, 1 + (1 - RIGHT) / (RIGHT - LEFT) - 0.01
    font = {"fontsize": 7, "linespacing": 1.05, "transform": ax.get_yaxis_transform()}
    if not heading:
        ax.text(-0.03, y, left, va="center", ha="right", **font)
        ax.text(edges[1], y, right, va="center", ha="right", **font)
        return
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    ax.text(edges[0], y + GAP / 2, left, va="center", fontweight="bold", bbox=box, **font)
    # On the last line of the heading.
    ax.text(edges[1], y + GAP / 2 + 0.38 * left.count("\n"), right, va="center", ha="right", bbox=box, **font)


def draw_values(ax: "Axes", place: float, rows: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Draw the values of a row, several models one below the other, over the mark of chance."""
    apart, height = spacing(rows)
    y = place - height / 2 + apart * np.arange(len(rows))
    chance = rows.chance.iloc[0]
    if pd.notna(chance):
        reach = max(0.35, height / 2 + 0.15)
        ax.vlines(chance, place - reach, place + reach, color=plotting.GREY, linewidth=1.3)
    colours = [looks[name]["color"] for name in rows.model]
    ax.hlines(y, rows.low, rows.high, colours, linewidth=min(0.9, 5 * apart))
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.3}
    for name, value, at in zip(rows.model, rows.value, y, strict=True):
        ax.plot(value, at, linestyle="", markersize=3.6, **edge, **looks[name])


def model_look(name: str, own: list[str], models: dict[str, dict]) -> dict:
    """Return colour and marker of a model: black if it is the only one or nothing is known of it, grey if released."""
    if name not in own:
        return {"color": "#767676", "marker": "D"}
    unknown = [other for other in own if other not in models]
    if len(own) == 1 or len(own) > LEGEND:
        return {"color": "#000000", "marker": "o"}
    if name in unknown:
        return {"color": "#000000", "marker": UNKNOWN[unknown.index(name)]}
    return {key: value for key, value in palette.model_style(models[name]).items() if key != "linestyle"}


def handles(frame: pd.DataFrame, own: list[str], looks: dict[str, dict]) -> list:
    """Return legend handles of what is drawn, and of nothing else."""
    labels = frame.drop_duplicates("model").set_index("model").label
    made = []
    if 0 < len(own) <= LEGEND:
        made = [plotting.line_handle(looks[name] | {"linestyle": ""}, labels[name]) for name in own]
    elif own:
        made = [plotting.line_handle(looks[own[0]] | {"linestyle": ""}, f"{len(own)} models and systems")]
    released = [name for name in looks if name not in own]
    if released:
        made.append(plotting.line_handle(looks[released[0]] | {"linestyle": ""}, "released outputs"))
    if frame.chance.notna().any():
        made.append(plotting.interval_handle("chance"))
    if frame.low.notna().any():
        made.append(plotting.interval_handle("95% interval", "_"))
    return made


def main(*, summary_csv: str, pdf: str, png: str, csv: str, studies: list, models: dict) -> None:
    """Draw the figure.

    Args:
        summary_csv: The summary over all studies.
        pdf, png, csv: The outputs.
        studies: ``key``, ``label`` and ``chances`` (metric to chance, 0 for differences).
        models: The models and systems of the run and what figures say of them.
    """
    frame = select(estimate_rows.read_estimates([summary_csv]), studies)
    plotting.save_figure(draw(frame, models) if len(frame) else plotting.nothing_drawn(), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
