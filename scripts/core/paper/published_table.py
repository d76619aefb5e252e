"""The table of published results that differ from ours."""

import math
from decimal import Decimal

import pandas as pd

from scripts.core.paper import formats, latex

WIDTHS = {"Quantity": 0.37, "Templates": 0.15, "Published": 0.16, "Ours": 0.12, "Interval": 0.14}
"""Columns, in parts of a page's width."""
MOST = 20
"""Up to this many rows are typeset."""
EMPTY_TABLE = "% No number that could be compared differs.\n"
"""Stands in the LaTeX file for a table without rows."""
SIGNS = {"=": "", "<": "under ", ">": "over "}
WHOLE = ("count", "year")
"""Units of whole numbers."""
UNITS = {"fraction": "", "count": "", "year": "", "percent": "%", "percentage points": " points",
         "million parameters": " M", "billion parameters": " B", "million instances": " million"}  # fmt: skip
"""What follows a number of a unit; of others a blank and the unit."""


def typeset(different: pd.DataFrame, study: str, parts: str, several: bool) -> str:
    """Return the table of results that differ, each once, as LaTeX.

    ``study`` is the word that items start with, ``parts`` what the table calls the template sets, and ``several`` tells
    whether several were compared.
    """
    shown = make_cells(different, study, several)
    widths = [WIDTHS[str(head)] for head in shown]
    return EMPTY_TABLE if shown.empty else latex.wrapped_table(shown.rename(columns={"Templates": parts}), widths)


def make_cells(different: pd.DataFrame, study: str, several: bool) -> pd.DataFrame:
    """Return the cells: a row for each result, those with the same number on several sets sharing one.

    Returns:
        ``Quantity``, ``Templates`` (of several sets), ``Published``, ``Ours``, ``Interval`` (if any has one); of more
        than :data:`MOST` those with the largest difference in parts of the published number. All cells are text.
    """
    rows, rank = [], []
    for _, same in different.groupby(["item", "row", "column", "published", "ours"], sort=False):
        row = same.iloc[0]
        published = float(row.published)
        # One digit more than the study prints shows on which side of it we are.
        places = max(0, count_decimals(row.published)) + (row.unit not in WHOLE)
        unit = UNITS.get(row.unit, f" {row.unit}")
        printed = (
            f"{SIGNS[row.comparison]}{formats.format_number(published, max(0, count_decimals(row.published)))}{unit}"
        )
        bounds = "" if math.isnan(row.low) else formats.format_interval(row.low, row.high, places)
        names = ", ".join(dict.fromkeys(same.templates))
        rows.append(
            (describe_result(row, study), names, printed, f"{formats.format_number(row.ours, places)}{unit}", bounds)
        )
        rank.append(-abs(row.ours - published) / (abs(published) or 1))
    table = pd.DataFrame(rows, columns=list(WIDTHS))
    kept = sorted(sorted(range(len(rows)), key=rank.__getitem__)[:MOST])
    left_out = [*([] if several else ["Templates"]), *(["Interval"] if (table.Interval == "").all() else [])]
    return table.iloc[kept].drop(columns=left_out).reset_index(drop=True)


def count_decimals(text: str) -> int:
    """Return how many decimals a published number has; negative where it ends before the point, as in 2e3."""
    exponent = Decimal(text).as_tuple().exponent
    assert isinstance(exponent, int), "what is published is finite"
    return -exponent


def describe_result(row: pd.Series, study: str) -> str:
    """Return what a published number measures, in words made from its item, row and column."""
    item = row["item"].removeprefix(f"{study}_").replace("_", " ")
    parts = [part for part in (*row["row"].split(" | "), row["column"]) if part not in item]
    return f"{item}: {', '.join(parts)}"
