"""Draw the headlines of all studies: points with intervals beside chance."""

import textwrap
from typing import TYPE_CHECKING

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import RELEASED_OUTPUTS
from scripts.core.paper import front, palette, plotting
from scripts.core.paper.formats import number
from scripts.core.paper.summary import describe_levels
from scripts.core.workflow.job import run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ["label", "group", "row", "value", "low", "high", "n", "n_unit", "chance"]
"""What is drawn of a row of the summary, besides its identity."""
SHARES, DIFFERENCES = "Percent", "Percentage points"
LINE, AXIS, LEFT, LETTERS, HEADING, LEGEND = 0.145, 0.42, 0.47, 29, 54, 8
"""Height of a line and of an axis in inches, share of the width for labels, letters in a line of these and of the name
of a study, and up to how many models have a colour."""
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


def label(rows: pd.DataFrame) -> str:
    """Return what stands before a line: what the values are, and their number of units."""
    ends = sorted({number(n, 0) for n in (rows.n.min(), rows.n.max())}, key=len)
    unit = rows.n_unit.iloc[0].partition(" of ")[0]
    text = f"{rows.row.iloc[0]}, n = {' to '.join(ends)}" + ("" if unit == "instances" else f" {unit}")
    return "\n".join(textwrap.wrap(text, LETTERS))


def lines(rows: pd.DataFrame) -> list[tuple[float, str, pd.DataFrame | None]]:
    """Return the lines of a panel: place, label, and what is drawn; None for the name of a study and its metric."""
    found, place = [], 0.0
    for group, of_group in rows.groupby("group", sort=False):
        heading = "\n".join(textwrap.wrap(str(group), HEADING))
        half = heading.count("\n") / 2
        found.append((place + half, heading, None))
        place += 1 + 2 * half
        for _, same in of_group.groupby("row", sort=False):
            text = label(same)
            half = max(text.count("\n"), 0.25 * (len(same) - 1)) / 2
            found.append((place + half, text, same))
            place += 1 + 2 * half
    return found


@plotting.style()
def draw(frame: pd.DataFrame, models: dict[str, dict], alone: bool = False) -> "Figure":
    """Draw a panel for shares and one for differences; in each a line for every headline, under its study.

    Args:
        frame: From :func:`select`.
        models: Name to what figures say of it.
        alone: Whether models have colours by their order, as on a card.
    """
    panels = [
        (name, lines(rows))
        for name, rows in ((SHARES, frame[frame.chance != 0]), (DIFFERENCES, frame[frame.chance == 0]))
        if len(rows)
    ]
    own = list(dict.fromkeys(frame[frame.kind != RELEASED_OUTPUTS].model))
    looks = (
        palette.in_order(list(models))
        if alone
        else {name: model_look(name, own, models) for name in dict.fromkeys(frame.model)}
    )
    legend = handles(frame, own, looks)
    heights = [LINE * (listed[-1][0] + 1.6) for _, listed in panels]
    total = sum(heights) + AXIS * len(panels) + LINE * -(-len(legend) // 2) + 0.1
    drawn = plotting.figure(plotting.COLUMN, total)
    # Labels are as wide as they are, and names of studies reach over the axes: places are set by hand.
    drawn.set_layout_engine("none")
    top = total
    for (name, listed), height in zip(panels, heights, strict=True):
        ax = drawn.add_axes((LEFT, (top - height) / total, 0.98 - LEFT, height / total))
        top -= height + AXIS
        for place, text, rows in listed:
            if rows is None:
                ax.annotate(text, (0, place), (-LEFT * plotting.COLUMN * 72 + 2, 0), xycoords=("axes fraction", "data"),
                            textcoords="offset points", va="center", fontsize=7, fontweight="bold", linespacing=1.05,
                            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})  # fmt: skip
                continue
            ax.annotate(text, (0, place), (-4, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                        va="center", ha="right", fontsize=7, linespacing=1.05)  # fmt: skip
            draw_points(ax, place, rows, looks)
        ax.set(ylim=(listed[-1][0] + 0.9, -0.7), xlabel=name, yticks=[])
        ax.spines["left"].set_visible(False)
        ax.grid(visible=True, axis="x")
        if name == SHARES:
            ax.set(xlim=(-2, 102), xticks=range(0, 101, 25))
        else:
            ax.axvline(0, color=plotting.GREY, linewidth=1.3, zorder=1.5)
    drawn.legend(handles=legend, loc="lower center", ncols=2, bbox_to_anchor=(0.5, 0.0))
    return drawn


def draw_points(ax: "Axes", place: float, rows: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Draw the values of a line, several models one below the other, and chance."""
    chance = rows.chance.iloc[0]
    if pd.notna(chance) and chance:
        ax.plot([chance] * 2, [place - 0.45, place + 0.45], color=plotting.GREY, linewidth=1.3)
    for index, row in enumerate(files.rows(rows)):
        y = place + (index - (len(rows) - 1) / 2) * min(0.25, 1 / len(rows))
        if pd.notna(row.low):
            ax.plot([row.low, row.high], [y, y], color=looks[row.model]["color"], linewidth=0.9)
        ax.plot(row.value, y, linestyle="", markersize=3.4, **looks[row.model])


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
        made = [plotting.handle(looks[name] | {"linestyle": ""}, labels[name]) for name in own]
    elif own:
        made = [plotting.handle(looks[own[0]] | {"linestyle": ""}, f"{len(own)} models and systems")]
    released = [name for name in looks if name not in own]
    if released:
        made.append(plotting.handle(looks[released[0]] | {"linestyle": ""}, "released outputs"))
    if frame.chance.notna().any():
        made.append(plotting.interval_handle("chance"))
    if frame.low.notna().any():
        made.append(plotting.interval_handle("95% interval", "_"))
    return made


def main(
    *, summary_csv: str | list, pdf: str, png: str, csv: str, studies: list, models: dict, alone: bool = False
) -> None:
    """Draw the figure.

    Args:
        summary_csv: The summary over all studies, or those of some.
        pdf, png, csv: The outputs.
        studies: ``key``, ``label`` and ``chances`` (metric to chance, 0 for differences).
        models: The models and systems of the run and what figures say of them.
        alone: Whether nothing but ``models`` is drawn, demonstrations too.
    """
    rows = estimate_rows.read([summary_csv] if isinstance(summary_csv, str) else summary_csv)
    if alone:
        rows = front.of_models(rows, models)
    frame = select(rows, studies)
    drawn = draw(frame, models, alone) if len(frame) else plotting.nothing_drawn()
    plotting.save(drawn, frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
