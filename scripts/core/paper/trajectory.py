"""The figure of checkpoints in series: what a study's summary says of each, over the course of training.

A study that declares a figure ``trajectory`` has a function ``figure_trajectory``.
"""

from typing import TYPE_CHECKING

import pandas as pd

from scripts.core.data import estimate_rows
from scripts.core.errors import UserError
from scripts.core.paper import plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ["series", "position", "unit", "model", "group", "value", "low", "high", "n"]
WIDE = 30
"""How many times as large as the first the last position is at least where the axis is logarithmic."""


def rows(path: str, models: dict, points: list, templates: str) -> pd.DataFrame:
    """Return what is drawn, one row for each checkpoint and curve, in the order of training.

    Args:
        path: The study's rows of the summary (CSV).
        models: Name to ``label`` and, for a checkpoint, ``series`` (scripts/core/engines/series.py).
        points: ``label``, ``metric`` and ``factors`` of each curve.
        templates: The set of templates, ``part`` of the summary.

    Raises:
        UserError: If the summary lacks a value.
    """
    found = estimate_rows.read([path])
    listed = []
    members = [(name, facts) for name, facts in models.items() if "series" in facts]
    for name, facts in sorted(members, key=lambda member: member[1]["series"]["position"]):
        place = facts["series"]
        for label, metric, factors in points:
            rows = estimate_rows.rows_at(found, part=templates, model=name, metric=metric, **factors)
            if len(rows) != 1:
                raise UserError(
                    f"{path}: nothing on {metric} ({label}) of {facts['label']}; delete the file and run the workflow "
                    "again"
                )
            row = rows.iloc[0]
            listed.append(
                (place["label"], place["position"], place["unit"], facts["label"], label, row.value, row.low, row.high,
                 row.n)
            )  # fmt: skip
    return pd.DataFrame(listed, columns=COLUMNS)


@plotting.style()
def draw(frame: pd.DataFrame, groups: list, chance: float, key: str) -> "Figure":
    """Draw a panel for each series with a curve for each group; return the figure.

    Args:
        frame: As :func:`rows` returns it.
        groups: The curves, in the order of the legend.
        chance: What a random pick comes to.
        key: What the curves differ in, for the legend; may be empty.
    """
    names = list(dict.fromkeys(frame.series))
    drawn = plotting.figure(plotting.COLUMN, 1.75 * len(names) + 0.15)
    panels = drawn.subplots(len(names), 1, squeeze=False)[:, 0]
    looks = {
        group: {"color": plotting.PALETTE[place % len(plotting.PALETTE)], "marker": plotting.MARKERS[place % 12]}
        for place, group in enumerate(groups)
    }
    for ax, name in zip(panels, names, strict=True):
        own = frame[frame.series == name]
        for group, look in looks.items():
            curve = own[own.group == group]
            bars = plotting.error_bars(curve.value, curve.low, curve.high)
            ax.errorbar(curve.position, curve.value, bars, capsize=1.5, elinewidth=0.7, markeredgewidth=0.3, **look)
        if len(names) > 1:
            ax.set_title(name)
        ax.set(xlabel=f"Training ({own.unit.iloc[0]})", ylabel="Accuracy")
        _scale(ax, sorted(set(own.position)))
        plotting.fraction_axis(ax.yaxis)
    handles = [plotting.handle(look, f"{key}: {group}" if key else group) for group, look in looks.items()]
    handles += [plotting.chance_line(panels, chance), plotting.interval_handle("95% interval")]
    plotting.legend_below(drawn, handles, 3)
    return drawn


def _scale(ax: "Axes", positions: list) -> None:
    """Let an axis show positions: logarithmic if they differ much, with a tick at each if they are few."""
    first = next((position for position in positions if position > 0), 1)
    if positions[-1] / first >= WIDE:
        ax.set_xscale("symlog", linthresh=first) if positions[0] == 0 else ax.set_xscale("log")
    if len(positions) <= 6:
        ax.set_xticks(positions, [f"{position:,}" for position in positions])
        ax.minorticks_off()
