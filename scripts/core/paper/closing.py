"""The end of every study's section: how often verdicts on published numbers fell.

The functions return what a template prints, numbers marked as links (:mod:`scripts.core.paper.sections`).
"""

from pathlib import Path

import pandas as pd

from scripts.core.paper import latex, sections
from scripts.core.paper.sections import number, value

ROWS = {
    "total": "all that are printed",
    "as_printed": "as printed",
    "within_interval": "in our interval",
    "within_tolerance": "in the tolerance",
    "differs": "different",
    "not_covered": "not covered",
}
"""What published numbers are counted by, to the names of the rows of that table."""


def counts(beside: dict, titles: dict[str, str]):
    """Return the table of how often each verdict on published numbers fell, as LaTeX.

    It has a column for the results and one for the sizes and choices of each part, and no row for a verdict that fell
    nowhere.

    Args:
        beside: The numbers across the parts (:func:`scripts.core.paper.sections.context`).
        titles: The run's parts of the study to what the table calls them.
    """
    columns = {
        f"{title}: {head}": f"published.{key}.{part}."
        for key, title in titles.items()
        for part, head in (("results", "results"), ("settings", "sizes"))
    }
    cells = {"": list(ROWS.values())}
    cells |= {head: [number(beside, prefix + name) for name in ROWS] for head, prefix in columns.items()}
    told = [any(value(beside, prefix + name) for prefix in columns.values()) for name in ROWS]
    return latex.Raw(latex.latex_table(pd.DataFrame(cells)[told], align="l" + "r" * len(columns)))


def write(path: str | Path, template: str | Path, context: dict, figures: list[str | Path], tables: list[str | Path]):
    """Render a section as :func:`scripts.core.paper.sections.write` does.

    Args:
        figures, tables: All that the study makes; a section's template says which of them it shows, and where.
    """
    sections.write(path, template, context)
