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

    The template finds it as ``not_shown``: the names of ``figures`` and ``tables`` that it shows of no part, a list in
    prose each, empty if there are none, and ``others``, whether it leaves out some that it shows of another part.
    ``cut_off`` tells whether more published numbers differ than are typeset.

    Parameters
    ----------
    path, template : str or Path
    context : dict
    figures, tables : list of str or Path
        All that the study makes.
    """
    template = Path(template)
    context = context | {"cut_off": value(context["beside"], "published.differing") > MOST}
    nothing = {"figures": "", "tables": "", "others": False}
    text = linked(latex.render(template.parent, template.name, context | {"not_shown": nothing}))
    cells = {Path(table): Path(table).read_text(encoding="utf-8").strip() for table in tables}
    shown = {
        "figures": {path: "/".join(path.parts[-3:]) in text for path in map(Path, figures)},
        "tables": {path: made in text for path, made in cells.items() if not made.startswith("%")},
    }
    not_shown = {"others": False}
    for kind, paths in shown.items():
        known = {path.stem for path, here in paths.items() if here}
        left_out = [path.stem for path, here in paths.items() if not here]
        not_shown["others"] |= any(name in known for name in left_out)
        not_shown[kind] = listed(dict.fromkeys(name.replace("_", " ") for name in left_out if name not in known))
    sections.write(path, template, context | {"not_shown": not_shown})
