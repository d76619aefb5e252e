"""Tables whose cells are a grid over a tidy table: factors make the rows; levels and measures make the columns."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from scripts.core.paper.formats import MISSING_MARK, interval, number
from scripts.core.paper.tables import blank_repeats, change_points, write_table

Cell = Callable[[Mapping], str]
"""Prints a row of the tidy table, which is a dictionary."""


@dataclass(frozen=True)
class Factor:
    """A factor whose levels make rows.

    Attributes:
        head: What the table calls it.
        column: Its column of the tidy table.
        levels: Its levels in their order, and how each is printed.
        alone: Whether its column is printed although it has one level only.
    """

    head: str
    column: str
    levels: Mapping
    alone: bool = True


@dataclass(frozen=True)
class Column:
    """A column of cells.

    Attributes:
        head: What the table calls it.
        cell: How a cell is printed.
        where: Columns of the tidy table, and the levels that its cells have there.
    """

    head: str
    cell: Cell
    where: Mapping = field(default_factory=dict)


def level_columns(column: str, levels: Mapping, cell: Cell) -> list[Column]:
    """Return a column of the table for each level of a factor, its label being the head."""
    return [Column(label, cell, {column: level}) for level, label in levels.items()]


def value(
    column: str,
    decimals: int = 1,
    *,
    scale: float = 100,
    signed: bool = False,
    ends: Sequence[str] = (),
    between: str = " to ",
) -> Cell:
    """Return how a value is printed: a share in percent or, with a ``scale`` of 1, a number as it is.

    Args:
        column: Where the tidy table has it.
        decimals: Of the value and of the ends of its interval.
        scale: What it is multiplied by.
        signed: Print the sign of a positive number too.
        ends: Columns with the ends of its interval, which stands behind it in parentheses if there is one.
        between: What stands between the ends.
    """

    def cell(row: Mapping) -> str:
        text = number(scale * row[column], decimals, signed)
        around = MISSING_MARK
        if ends:
            low, high = (scale * row[end] for end in ends)
            around = interval(low, high, decimals, signed, between)
        return text if around == MISSING_MARK else f"{text} ({around})"

    return cell


def grid(table: pd.DataFrame, rows: Sequence[Factor], columns: Sequence[Column], slowest: str = "") -> pd.DataFrame:
    """Return header and cells of a table.

    Args:
        table: The tidy table.
        rows: Factors of the rows, from the left. The first varies slowest, and a label that repeats the one above is
            left out, but in the last of them. Combinations without any row in the tidy table are left out.
        columns: The other columns.
        slowest: Column of the factor that varies slowest, if that is not the first.

    Returns:
        Text; :data:`~scripts.core.paper.formats.MISSING_MARK` where the tidy table has no row for a cell.

    Raises:
        ValueError: If it has several rows for a cell.
    """
    found: dict[tuple, list[dict]] = {}
    for row in table.to_dict("records"):
        found.setdefault(tuple(row[factor.column] for factor in rows), []).append(row)
    keys = [key for key in itertools.product(*(factor.levels for factor in rows)) if key in found]
    for factor, levels in zip(rows, zip(*keys, strict=True), strict=False):
        if factor.column == slowest:
            order = [list(factor.levels).index(level) for level in levels]
            keys = [keys[place] for place in sorted(range(len(keys)), key=order.__getitem__)]
    printed = pd.DataFrame(
        [
            [factor.levels[level] for factor, level in zip(rows, key, strict=True)]
            + [_print(column, found[key]) for column in columns]
            for key in keys
        ],
        columns=[part.head for part in (*rows, *columns)],
    )
    again: set[int] = set()
    for factor in rows[:-1]:
        labels = printed[factor.head]
        printed[factor.head] = blank_repeats(labels, again)
        again |= set(change_points(labels))
    return printed.drop(columns=[factor.head for factor in rows if len(factor.levels) == 1 and not factor.alone])


def _print(column: Column, rows: list[dict]) -> str:
    chosen = [row for row in rows if all(row[name] == level for name, level in column.where.items())]
    if len(chosen) > 1:
        raise ValueError(f"{len(chosen)} rows for a cell of {column.head!r}, such as {chosen[0]}; name how they differ")
    return column.cell(chosen[0]) if chosen else MISSING_MARK


def write_grid(
    tex: str | Path,
    csv: str | Path,
    tidy: pd.DataFrame,
    rows: Sequence[Factor],
    columns: Sequence[Column],
    *,
    printed: pd.DataFrame | None = None,
) -> None:
    """Write a grid (LaTeX) and the tidy table behind it (CSV).

    Args:
        tex: Where to.
        csv: Where to.
        tidy: What the CSV file has.
        rows: As for :func:`grid`.
        columns: As for :func:`grid`.
        printed: The tidy table of the grid, if it is another.
    """
    cells = grid(tidy if printed is None else printed, rows, columns)
    write_table(tex, csv, cells, left=cells.shape[1] - len(columns), rows=tidy)
