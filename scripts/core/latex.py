"""LaTeX from data: escaping, tables, templates, and the reading of build logs."""

import re

import jinja2

from scripts.core.errors import UserError

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "−": r"\ensuremath{-}",
}


def escape(value):
    """Return ``value`` as LaTeX text: every character of it is shown, none is a command."""
    return "".join(_ESCAPES.get(character, character) for character in str(value))


class Raw(str):
    """Text that is LaTeX already and must not be escaped."""


def environment(folder):
    """Return a jinja2 environment for LaTeX templates.

    ``\\VAR{...}`` prints an expression, escaped unless it is :class:`Raw`; ``\\BLOCK{...}`` is a statement;
    ``\\#{...}`` a comment. A name that is not defined is an error.

    Parameters
    ----------
    folder : str or Path
        Where templates and what they include are.
    """
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(folder)),
        block_start_string=r"\BLOCK{",
        block_end_string="}",
        variable_start_string=r"\VAR{",
        variable_end_string="}",
        comment_start_string=r"\#{",
        comment_end_string="}",
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: value if isinstance(value, Raw) else escape(value),
    )
    made.filters["raw"] = Raw
    return made


def render(folder, name, context):
    """Render one template.

    Raises
    ------
    UserError
        If the template is not valid or uses a name that ``context`` lacks; names file and line.
    """
    try:
        return environment(folder).get_template(name).render(context)
    except jinja2.TemplateSyntaxError as error:
        raise UserError(
            f"{error.filename or name}, line {error.lineno}: {error.message}; correct the template"
        ) from error
    except jinja2.UndefinedError as error:
        raise UserError(f"{name}: {error.message}; the template uses a name that is not given") from error


# What makes a built paper unfit, each with the group that says what is wrong.
_PROBLEMS = (
    (r"^! (.+)$", "LaTeX error: {}"),
    (r"Reference `([^']+)' on page", "undefined reference {}"),
    (r"Citation [`']([^']+)' on page", "undefined citation {}"),
    (r"Citation `([^']+)' undefined", "undefined citation {}"),
    (r"Label `([^']+)' multiply defined", "label defined twice: {}"),
    (r"Missing character: (.+)", "missing glyph: {}"),
)


def check_log(text, overfull=10.0):
    """Return the problems that a LaTeX log reports, one line each.

    Parameters
    ----------
    text : str
        The log of the last run, its lines not wrapped (``max_print_line``).
    overfull : float
        Boxes that stick out by more than this many points are a problem.

    Returns
    -------
    list of str
    """
    problems = []
    for pattern, message in _PROBLEMS:
        problems += [message.format(found) for found in re.findall(pattern, text, flags=re.MULTILINE)]
    for kind, size, where in re.findall(r"Overfull \\([hv])box \(([\d.]+)pt too \w+\)(.*)", text):
        if float(size) > overfull:
            problems.append(f"overfull {kind}box, {size} pt too large{where}")
    return list(dict.fromkeys(problems))


def latex_table(frame, header=None, align=None, midrules=()):
    """Return a booktabs table of escaped cells.

    Parameters
    ----------
    frame : DataFrame
        Cells; missing values become empty cells.
    header : list of str, optional
        Heads; by default the column names.
    align : str, optional
        LaTeX column types, one letter a column; ``X`` takes the width that is left. By default ``l`` for all.
    midrules : sequence of int
        Rows before which a rule is drawn.

    Returns
    -------
    str
        A ``tabular`` environment, or a ``tabularx`` one of the text's width if a column is ``X``.
    """
    heads = list(header or frame.columns)
    align = align or "l" * len(heads)
    if len(align) != len(heads):
        raise ValueError(f"{len(heads)} columns, but the alignment {align!r} has {len(align)}")
    begin, end = (r"\begin{tabular}{" + align + "}", r"\end{tabular}")
    if "X" in align:
        begin, end = (r"\begin{tabularx}{\linewidth}{" + align + "}", r"\end{tabularx}")
    lines = [begin, r"\toprule", " & ".join(map(escape, heads)) + r" \\", r"\midrule"]
    for index, row in enumerate(frame.itertuples(index=False)):
        if index in midrules:
            lines.append(r"\midrule")
        lines.append(" & ".join("" if cell is None or cell != cell else escape(cell) for cell in row) + r" \\")
    return "\n".join([*lines, r"\bottomrule", end]) + "\n"
