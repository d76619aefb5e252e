"""What several figures of RUFF share: reading their tables, rows for models, curves over distractors."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import plotting

DISTRACTORS = "Distractors (sentences)"
BOOTSTRAP = "95% bootstrap over occupations"
"""What the intervals of accuracies are."""


def read(path: str, columns: list[str], **known: Iterable[str]) -> pd.DataFrame:
    """Read a tidy table and check that a figure can show it.

    Args:
        columns: Columns that the table must have; the others are dropped.
        known: Column name to the values it may have.

    Returns:
        Rows in file order.

    Raises:
        UserError: If a column or every row is missing, a value is unknown, or a model of the run has no row.
    """
    frame = files.read_csv(path)
    missing = [c for c in columns if c not in frame]
    if missing:
        raise UserError(f"{path}: column {missing[0]} is missing; delete the file and run the workflow again")
    if frame.empty:
        raise UserError(f"{path}: has no rows, so there is nothing to draw; check that the run scores such instances")
    for column, values in known.items():
        strange = ~frame[column].isin(list(values))
        if strange.any():
            row: Any = strange.idxmax()
            raise UserError(
                f"{path}: row {row + 2}: {column} {frame[column][row]!r} is not in this run; "
                "delete the file and run the workflow again"
            )
    absent = [m for m in known.get("model", ()) if m not in set(frame.model)]
    if absent:
        raise UserError(f"{path}: model {absent[0]} has no row; delete the file and run the workflow again")
    return frame[columns]


def in_order(frame: pd.DataFrame, **orders: Iterable | None) -> pd.DataFrame:
    """Sort a frame by columns whose values have an order of their own, such as models and pronoun sets.

    Args:
        orders: Column name to its values in order; ``None`` sorts the column as it is.
    """
    keys: dict[Any, Any] = {
        c: None if order is None else {v: i for i, v in enumerate(order)} for c, order in orders.items()
    }
    return frame.sort_values(
        list(orders),
        key=lambda column: column if keys[column.name] is None else column.map(keys[column.name]),
        kind="stable",
        ignore_index=True,
    )


def by_architecture(models: dict[str, dict]) -> dict[str, list[str]]:
    """Return ``{architecture: [names]}``: decoders first, as in the paper's figures, and models in registry order."""
    groups = {a: [m for m, facts in models.items() if facts["architecture"] == a] for a in plotting.ARCHITECTURES}
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
    return plotting.ARCHITECTURES[architecture] if len(groups) > 1 else ""


def model_handles(models: dict[str, dict], names: Iterable[str]) -> list[Artist]:
    """Return legend handles for the models ``names``, in their order; none for the only model of a run."""
    if len(models) == 1:
        return []
    return [plotting.handle(plotting.model_style(models[m]), models[m]["label"]) for m in names]


def distractor_axis(ax: Axes) -> None:
    """Let the x axis count distractors."""
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=1))
    ax.margins(x=0.04)


def curves(
    frame: pd.DataFrame,
    models: dict,
    value: str,
    label: str,
    panels: list[tuple],
    shaded: str | None,
    references: Sequence[Callable] = (),
) -> Figure:
    """Draw curves over the number of distractors, a row of panels for each architecture, with shaded intervals.

    Up to :data:`scripts.core.paper.plotting.FEW` models fit one column and share one legend; more take the page, with a
    legend beside each row.

    Args:
        frame: ``model``, ``n_distractors``, ``n``, the column ``value``, ``low`` and ``high``.
        value: What is on the y axis; a share.
        label: Of the y axis.
        panels: A title and the rows of each column of panels.
        shaded: What lies between ``low`` and ``high``.
        references: Each draws a reference line on the axes it is given and returns a legend handle.
    """
    drawn_models = {
        name: facts for name, facts in models.items() if name in set(plotting.drop_small_cells(frame).model)
    }
    if not drawn_models:
        return plotting.nothing_drawn()
    rooms = {a: shown_models(models, names) for a, names in by_architecture(drawn_models).items()}
    groups = {architecture: names for architecture, (names, _) in rooms.items()}
    few = len(models) <= plotting.FEW
    height = 1.35 if few else 2.15
    drawn = plotting.figure(plotting.COLUMN if few else plotting.PAGE, height * len(groups) + 0.25)
    grid = drawn.subplots(len(groups), len(panels), sharex=True, sharey=True, squeeze=False)
    for row, (architecture, names) in zip(grid, groups.items(), strict=True):
        for ax, (title, part) in zip(row, panels, strict=True):
            for name in names:
                rows = plotting.drop_small_cells(part[part.model == name])
                look = plotting.model_style(models[name])
                plotting.curve(ax, rows.n_distractors, rows[value], rows.low, rows.high, look)
            # Beside another panel in one column there is no room for both on a line.
            between = ":\n" if few and len(panels) > 1 else ": "
            ax.set_title(between.join(filter(None, [panel_title(architecture, groups), title])))
            plotting.fraction_axis(ax.yaxis)
            distractor_axis(ax)
        row[0].set_ylabel(label)
        if not few:
            told = [plotting.note_handle(words) for words in [rooms[architecture][1]] if words]
            plotting.legend_right(row[-1], model_handles(models, names) + told, 1 + (len(names) > 12))
    for ax in grid[-1]:
        ax.set_xlabel(DISTRACTORS)
    lines = [line(grid.flat) for line in references] + plotting.shading_handles(shaded)
    handles = (
        (model_handles(models, order_models(drawn_models)) if few else [])
        + lines
        + plotting.dropped_note(frame, models)
    )
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
    drawn = plotting.figure(width, height)
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
