"""What the paper prints of a table's file: without rows of baselines, and scaled to the width of its place."""

import itertools
import re
from pathlib import Path

from scripts.core.paper import latex

BASELINE = re.compile(r"\((rule|demonstration)\)")
"""What the labels of heuristics and of demonstration models and systems hold."""
COLUMN_POINTS, PAGE_POINTS, SMALLEST = 236, 489, 7
"""Widths of a column and of the page, and size of the smallest type, in points."""
PAGE_LINES = 76
"""Lines of the smallest type in a table that fills a page, whose caption takes the rest."""
SIZES = {"footnotesize": 8, "scriptsize": 7}
LETTER, GAP = 0.47, 7.0
"""Width of a letter in parts of its size, and the space between columns of a table in points."""


def read_printed_table(path: str | Path) -> latex.Raw:
    """Return what the paper prints of a table's file, below a comment with its path; nothing of a table without rows.

    Rows of heuristics and demonstrations are printed only where the table has no others.
    """
    text = Path(path).read_text(encoding="utf-8").strip()
    return latex.Raw("" if text.startswith("%") else f"% {path}\n{fit_table(_without_baselines(text))}")


def _without_baselines(text: str) -> str:
    """Return a table without rows of heuristics and demonstrations, unless these are all.

    A cell of the first two columns is empty where it repeats the one above. Where the row goes that has the label of a
    block, the next row that stays gets it.
    """
    heads, rule, body = text.partition("\\midrule\n")
    body, end, note = body.partition(r"\bottomrule")
    kept: list[str] = []
    block = label = system = ""
    for line in body.splitlines():
        if line == r"\midrule":
            kept += [line] if kept and kept[-1] != line else []
            continue
        first, _, cells = line.partition(" & ")
        second = cells.partition(" & ")[0]
        if first:
            block, label, system = first, first, second
        system = second or system
        if not BASELINE.search(block + system):
            kept.append(f"{label} & {cells}")
            label = ""
    if kept and kept[-1] == r"\midrule":
        kept.pop()
    return "\n".join([heads + rule.strip(), *kept, end + note]) if kept else text


def count_rows(cells: str) -> int:
    """Return how many rows a table prints, heads left out."""
    _, _, body = cells.partition("\\midrule\n")
    return sum(line.endswith(r"\\") for line in body.partition(r"\bottomrule")[0].splitlines())


def fit_table(text: str) -> latex.Raw:
    """Return the LaTeX of a table, scaled down to the width of its place where it could be wider.

    The line below it (``\\tablenote``) is not scaled.
    """
    if r"\begin{tabularx}" in text or r"p{0." in text or r"\begin{tabular}" not in text:
        return latex.Raw(text)
    rows, end, note = text.partition(r"\end{tabular}")
    return latex.Raw(f"\\begin{{adjustbox}}{{max width=\\linewidth}}\n{rows}{end}\n\\end{{adjustbox}}{note}")


def fits_column(cells: str, size: str) -> bool:
    """Tell whether a table in type of a size keeps at least :data:`SMALLEST` points in one column."""
    scaled = r"\begin{adjustbox}" in cells
    return not scaled or natural_width(cells, size) * SMALLEST / SIZES[size] <= COLUMN_POINTS


def split_table(cells: str) -> list[latex.Raw]:
    """Return the rows of a table with columns of set widths as tables that each fit a page in the smallest type."""
    head, rule, rest = cells.partition("\\midrule\n")
    body, bottom, end = rest.partition(r"\bottomrule")
    letters = [
        float(width) * PAGE_POINTS / (LETTER * SMALLEST) for width in re.findall(r"p\{([\d.]+)\\linewidth", head)
    ]
    pages: list[list[str]] = []
    free = 0
    for row in body.splitlines():
        lines = max(-(-len(cell) // room) for cell, room in zip(_plain_cells(row), letters, strict=True))
        if lines > free:
            pages.append([])
            free = PAGE_LINES
        pages[-1].append(row)
        free -= int(lines)
    return [latex.Raw("\n".join([f"{head}{rule}".strip(), *rows, f"{bottom}{end}"])) for rows in pages]


def _plain_cells(row: str) -> list[str]:
    return [re.sub(r"\\\w+|[{}$\\]", "", cell).strip() for cell in row.split(" & ")]


def natural_width(cells: str, size: str) -> float:
    """Return about how wide a table is before it is scaled down, in points."""
    rows = [line for line in cells.splitlines() if line.endswith(r"\\") and r"\multicolumn" not in line]
    widest = [max(map(len, column)) for column in itertools.zip_longest(*map(_plain_cells, rows), fillvalue="")]
    return sum(LETTER * SIZES[size] * letters + GAP for letters in widest)
