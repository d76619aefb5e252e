"""Table files: cells as LaTeX for the paper, and as CSV beside it."""

from scripts.core import files
from scripts.core.paper import latex


def changes(column):
    """Return the positions at which a column's cell differs from the one above, the first left out."""
    cells = list(column)
    return [position for position in range(1, len(cells)) if cells[position] != cells[position - 1]]


def named_once(column, again=()):
    """Return a column (Series of str) whose cells are empty where they repeat the cell above.

    ``again`` are positions at which a cell is printed although it repeats the one above.
    """
    kept = {0, *changes(column), *again}
    return column.where([position in kept for position in range(len(column))], "")


def write_table(tex, csv, cells, left=1, *, rows=None, align=None, midrules=(), symbols=None):
    """Write a table as LaTeX and CSV.

    Parameters
    ----------
    tex, csv : str or Path
    cells : DataFrame of str
        What is printed; column names are the heads.
    left : int
        The first columns, which are text; the others are numbers and are set flush right.
    rows : DataFrame, optional
        What the CSV file holds, if it is not the cells.
    align : str, optional
        LaTeX column types (:func:`scripts.core.paper.latex.latex_table`), where ``left`` does not say them.
    midrules : sequence of int
        Rows before which a rule is drawn.
    symbols : dict of str to str, optional
        Escaped text to the LaTeX that stands for it, in heads and cells.
    """
    files.write_csv(csv, cells if rows is None else rows)
    align = align or "l" * left + "r" * (cells.shape[1] - left)
    text = latex.latex_table(cells, align=align, midrules=midrules)
    for escaped, symbol in (symbols or {}).items():
        text = text.replace(escaped, symbol)
    files.write_text(tex, text)
