"""The end of every study's section: how often verdicts on published numbers fell, and what is made but not shown.

The functions return what a template prints, numbers marked as links (:mod:`scripts.core.paper.sections`).
"""

from pathlib import Path

import pandas as pd

from scripts.core.paper import latex, sections
from scripts.core.paper.published import MOST
from scripts.core.paper.sections import linked, listed, number, value

ROWS = {
    "total": "all that are printed",
    "as_printed": "as printed",
    "within_interval": "in our interval",
    "within_tolerance": "in the tolerance",
    "differs": "different",
    "not_covered": "not covered",
}
"""What published numbers are counted by, to the names of the rows of that table."""


def counts(beside, titles):
    """Return the table of how often each verdict on published numbers fell, as LaTeX.

    It has a column for the results and one for the sizes and choices of each part, and no row for a verdict that fell
    nowhere.

    Parameters
    ----------
    beside : dict
        The numbers across the parts (:func:`scripts.core.paper.sections.context`).
    titles : dict of str to str
        The run's parts of the study to what the table calls them.
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


def write(path, template, context, figures, tables):
    """Render a section as :func:`scripts.core.paper.sections.write` does, with the list of what it does not show.

    The template finds it as ``not_shown``: the names of ``figures`` and ``tables`` that are made but that it leaves
    out, a list in prose each, empty if there are none. ``cut_off`` tells whether more published numbers differ than
    are typeset.

    Parameters
    ----------
    path, template : str or Path
    context : dict
    figures, tables : list of str or Path
        All that the study makes.
    """
    template = Path(template)
    context = context | {"cut_off": value(context["beside"], "published.differing") > MOST}
    first = latex.render(template.parent, template.name, context | {"not_shown": {"figures": "", "tables": ""}})
    drawn = [figure for figure in map(Path, figures) if "/".join(figure.parts[-3:]) not in first]
    text = linked(first)
    made = {Path(table): Path(table).read_text(encoding="utf-8").strip() for table in tables}
    left_out = [table for table, cells in made.items() if not cells.startswith("%") and cells not in text]
    not_shown = {kind: listed(_names(paths)) for kind, paths in (("figures", drawn), ("tables", left_out))}
    sections.write(path, template, context | {"not_shown": not_shown})


def _names(paths):
    """Return what files show, each once: their names, with spaces."""
    return list(dict.fromkeys(path.stem.replace("_", " ") for path in paths))
