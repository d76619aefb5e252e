"""Table files: cells as LaTeX for the paper, and as CSV beside it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core import files
from scripts.core.paper import latex
from scripts.core.paper.formats import MISSING_MARK, NOT_RELEASED, NOT_RUN

if TYPE_CHECKING:
    import pandas as pd

PLACEHOLDERS = ("", MISSING_MARK, NOT_RUN, NOT_RELEASED)
"""Cells that say nothing."""


def change_points(column: Iterable[Any]) -> list[int]:
    """Return the positions at which a column's cell differs from the one above, the first left out."""
    cells = list(column)
    return [position for position in range(1, len(cells)) if cells[position] != cells[position - 1]]


def blank_repeats(column: Any, again: Iterable[int] = ()) -> "pd.Series":
    """Return a column (Series of str) whose cells are empty where they repeat the cell above.

    ``again`` are positions at which a cell is printed although it repeats the one above.
    """
    kept = {0, *change_points(column), *again}
    return column.where([position in kept for position in range(len(column))], "")


def drop_uninformative(cells: "pd.DataFrame", keep: Sequence[str] = ()) -> "tuple[pd.DataFrame, dict[str, str]]":
    """Return cells without the rows and columns that tell nothing, and what the constant columns said.

    Args:
        cells: All are text.
        keep: Columns that name the rows. They stay, and a row in which only they have content is left out.

    Returns:
        Left out are rows of :data:`PLACEHOLDERS`, columns of :data:`PLACEHOLDERS` and, where there are several rows,
        columns with one content in all rows, unless no other would be left. The dictionary has head and content of the
        latter, for the line below the table.

    Examples:
        >>> import pandas as pd
        >>> cells = pd.DataFrame({"Model": ["a", "b", "c"], "n": ["12", "12", "–"], "r": ["1", "2", ""], "p": [""] * 3})
        >>> left, constant = drop_uninformative(cells, ["Model"])
        >>> left.to_dict("list"), constant
        ({'Model': ['a', 'b'], 'r': ['1', '2']}, {'n': '12'})
    """
    silent = cells.astype(str).isin(PLACEHOLDERS) | cells.isna()
    others = [column for column in cells if column not in keep]
    rows = ~silent[others].all(axis=1)
    left, silent = cells[rows], silent[rows]
    constant = {}
    for column in others:
        if silent[column].all():
            left = left.drop(columns=column)
        elif len(left) > 1 and left[column].nunique(dropna=False) == 1:
            constant[column] = left[column].iloc[0]
            left = left.drop(columns=column)
    if constant and set(left) <= set(keep):
        # Names alone would be no table.
        return cells.loc[rows, [column for column in cells if column in {*left, *constant}]], {}
    return left, constant


def write_table(
    tex: str | Path,
    csv: str | Path,
    cells: "pd.DataFrame",
    left: int = 1,
    *,
    rows: "pd.DataFrame | None" = None,
    align: str | None = None,
    midrules: Sequence[int] = (),
    symbols: dict[str, str] | None = None,
    constant: dict[str, str] | None = None,
) -> None:
    """Write a table as LaTeX and CSV.

    Args:
        cells: What is printed, all of it text; column names are the heads.
        left: The first columns, which are text; the others are numbers and are set flush right.
        rows: What the CSV file holds, if it is not the cells.
        align: LaTeX column types (:func:`scripts.core.paper.latex.latex_table`), where ``left`` does not say them.
        midrules: Rows before which a rule is drawn.
        symbols: Escaped text to the LaTeX that stands for it, in heads and cells.
        constant: Head and content of columns that are not printed because all rows agree
            (:func:`drop_uninformative`). A line below the table states them.
    """
    files.write_csv(csv, cells if rows is None else rows)
    align = align or "l" * left + "r" * (cells.shape[1] - left)
    text = latex.latex_table(cells, align=align, midrules=midrules)
    if constant:
        shared = "; ".join(f"{head}: {content}" for head, content in constant.items())
        text += rf"\tablenote{{In all rows, {latex.escape(shared)}.}}" + "\n"
    for escaped, symbol in (symbols or {}).items():
        text = text.replace(escaped, symbol)
    files.write_text(tex, text)


def write_cells(
    tex: str | Path,
    csv: str | Path,
    cells: "pd.DataFrame",
    left: int,
    keep: Sequence[str],
    printed: "pd.DataFrame | None" = None,
) -> None:
    """Write all cells (CSV), and those that say something (LaTeX): no empty or constant columns, no repeated labels.

    Args:
        cells: All text.
        left: How many of the first columns are text.
        keep: Columns that name the rows, those of them that are there; the first column is printed once for each block.
        printed: What is typeset, if it is less than ``cells``; without a row the LaTeX file is a comment.
    """
    shown, constant = drop_uninformative(
        cells if printed is None else printed, [name for name in keep if name in cells]
    )
    if shown.empty:
        files.write_csv(csv, cells)
        files.write_text(tex, "% This table has no rows in this run.\n")
        return
    first = shown.columns[0]
    starts = change_points(shown[first])
    # Lines between blocks help where blocks have several rows.
    midrules = starts if len(shown) >= 2 * (len(starts) + 1) else ()
    text = sum(name in shown for name in cells.columns[:left])
    shown = shown.assign(**{first: blank_repeats(shown[first])})
    write_table(tex, csv, shown, text, rows=cells, midrules=midrules, constant=constant)
