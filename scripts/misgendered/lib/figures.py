"""What several figures of MISGENDERED share: their rows, looks of pronoun types, points and rows of accuracies."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import plotting
from scripts.misgendered.lib.labels import ALL, TYPES, present

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Tol's high-contrast colours, which also differ in print without colour; no pronoun set and no model of the study has
# them.
TYPE_LOOKS = {
    "binary": {"color": "#004488", "marker": "o", "linestyle": "-"},
    "neutral": {"color": "#BB5566", "marker": "s", "linestyle": (0, (4, 1.5))},
    "neo": {"color": "#DDAA33", "marker": "^", "linestyle": (0, (1, 1))},
}
INTERVAL = "95% interval"
FEW = 3
"""Up to this many models have panels of their own; of more the mean is drawn."""
ACCURACY = "Accuracy"


def read(path: str | Path, columns: Iterable[str]) -> pd.DataFrame:
    """Read a tidy table that a figure draws.

    Raises:
        UserError: If a column or every row is missing.
    """
    frame = files.read_csv(path, dtype={"declaration_number": str, "group": str, "level": str, "reason": str})
    missing = [c for c in columns if c not in frame]
    if missing:
        raise UserError(f"{path}: column {missing[0]} is missing; delete the file and run the workflow again")
    if frame.empty:
        raise UserError(f"{path}: has no rows, so there is nothing to draw; check what the run scores")
    return frame


def pooled_rows(frame: pd.DataFrame, templates: str, kept: Collection[str], shots: int | None = 0) -> pd.DataFrame:
    """Return the rows of accuracies in which the columns ``kept`` have levels and all other ones are pooled.

    Args:
        frame: From :func:`scripts.misgendered.analyses.accuracies`.
        kept: Of the columns that can be pooled; a pronoun group has its type as well.
        shots: None: with every number of examples.
    """
    columns = ("declaration_type", "declaration_number", "pronoun_type", "group", "form", "name_class")
    chosen = frame.templates == templates
    if shots is not None:
        chosen &= frame.shots == shots
    for column in columns:
        chosen &= (frame[column] != ALL) == (column in kept)
    return frame[chosen]


def by_examples(frame: pd.DataFrame, summary: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Return accuracies by the number of examples in the prompt.

    Args:
        frame: From :func:`scripts.misgendered.analyses.accuracies`; without examples its rows count, of the declaration
            that examples use (explicit, all five forms).
        summary: From :func:`scripts.misgendered.analyses.over_draws`; with examples its rows count.

    Returns:
        ``model``, ``shots``, ``pronoun_type``, ``accuracy``, ``n`` (instances of a draw), ``draws``, ``sd``.
    """
    base = pooled_rows(frame, templates, {"declaration_type", "declaration_number", "pronoun_type"})
    base = base[(base.declaration_type == "explicit") & (base.declaration_number == "5")]
    base = base[base.model.isin(set(summary.model))].assign(draws=1, sd=float("nan"))
    columns = ["model", "shots", "pronoun_type", "accuracy", "n", "draws", "sd"]
    together = pd.concat([base[columns], summary.loc[summary.shots > 0, columns]])
    return together.sort_values(["model", "pronoun_type", "shots"], ignore_index=True)


def panels(models: dict[str, dict]) -> dict[str, str]:
    """Return the panels of a figure with their titles: its models, or their mean where there are more than a few."""
    if len(models) <= FEW:
        return {name: plotting.model_title(name, models) for name in models}
    return {ALL: f"Mean over {len(models)} models"}


def type_handles(types: Mapping[str, str]) -> "list[Line2D]":
    """Return legend handles of the types of pronouns."""
    return [plotting.handle(TYPE_LOOKS[kind] | {"linestyle": "none"}, label) for kind, label in types.items()]


def curve_handles(types: Mapping[str, str], frame: pd.DataFrame) -> "list[Line2D]":
    """Return legend handles of curves by type of pronouns; one of a single point in every panel has no line."""
    handles = []
    for kind, label in types.items():
        longest = frame[frame.pronoun_type == kind].groupby("model").size().max()
        look = TYPE_LOOKS[kind] if longest > 1 else TYPE_LOOKS[kind] | {"linestyle": "none"}
        handles.append(plotting.handle(look, label))
    return handles


def draw_point(ax: "Axes", x: float, y: float, low: float, high: float, look: dict[str, Any]) -> None:
    """Draw a value with its interval, if it has one."""
    style = {"color": look["color"], "linewidth": 1}
    if low == low:
        ax.hlines(y, low, high, **style)
    look = look | {"linestyle": "none"}
    ax.plot([x], [y], markersize=4, markeredgecolor="white", markeredgewidth=0.3, **look)


def label_rows(ax: "Axes", labels: Collection[str]) -> None:
    """Name the rows of a panel, the first on top, and draw lines for values instead of rows."""
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(max(len(labels), 1) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.grid(visible=True, axis="x")


def accuracy_rows(frame: pd.DataFrame, rows: dict[str, str], models: dict, chance: float, key: str) -> "Figure":
    """Draw accuracies as rows, a panel for each model; a point for each type of pronouns.

    Args:
        frame: ``model``, ``pronoun_type``, ``accuracy``, ``ci_low``, ``ci_high`` and the column ``key``.
        rows: Values of ``key`` to their labels, from the top.
    """
    if frame.empty:
        return plotting.nothing_drawn()
    shown, types = panels(models), present(TYPES, frame.pronoun_type)
    together = frame.groupby(["model", key]).size().max() > 1
    height = 0.3 if together else 0.19
    width = plotting.COLUMN if len(shown) < FEW else plotting.PAGE
    drawn = plotting.figure(width, height * len(rows) + 0.6)
    grid = drawn.subplots(1, len(shown), sharex=True, sharey=True, squeeze=False)[0]
    row: Any
    for ax, (model, title) in zip(grid, shown.items(), strict=True):
        of_model = frame[frame.model == model]
        for y, value in enumerate(rows):
            part = of_model[of_model[key] == value].set_index("pronoun_type")
            for i, kind in enumerate(kind for kind in types if kind in part.index):
                row = part.loc[kind]
                beside = 0.25 * (i - (len(part) - 1) / 2) if together else 0
                draw_point(ax, row.accuracy, y + beside, row.ci_low, row.ci_high, TYPE_LOOKS[kind])
        ax.set_title(title)
        label_rows(ax, rows.values())
        plotting.fraction_axis(ax.xaxis)
        ax.set_xlabel(ACCURACY)
    handles = [*type_handles(types), plotting.interval_handle(INTERVAL, "_")]
    handles.append(plotting.chance_line(grid, chance, along="x"))
    plotting.legend_below(drawn, handles, 3)
    return drawn
