"""LaTeX from data: escaping, tables, templates, and the reading of build logs."""

import itertools
import re
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from scripts.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

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


def escape(value: Any) -> str:
    """Return ``value`` as LaTeX text: every character of it is shown, none is a command.

    Examples:
        >>> print(escape("[3pt] a--b"))
        {}[3pt] a-{}-b
    """
    text = "".join(_ESCAPES.get(character, character) for character in str(value))
    # The end of a row takes a bracket or a star behind it as its argument, and the typeface joins some signs to others.
    return re.sub(r"^(?=\s*[\[*])|([-',`])(?=\1)|[?!](?=`)", r"\g<0>{}", text)


class Raw(str):
    """Text that is LaTeX already and must not be escaped."""


def link_address(address: str) -> Raw:
    r"""Return an address as a link in LaTeX that shows it; what no address holds is encoded in percents.

    Examples:
        >>> print(link_address("https:a}"))
        \href{https:a\%7D}{\texttt{https:a\%7D}}
    """
    encoded = escape(urllib.parse.quote(address, safe="%:/?#@!&'()*+,;=[]").replace("~", "%7E"))
    shown = encoded.replace("/", r"/\allowbreak{}")
    return Raw(rf"\href{{{encoded}}}{{\texttt{{{shown}}}}}")


SYMBOLS = {
    r"\bDelta I\b|\bdelta\\_i\b": r"$\Delta I$",
    r"\b[Aa]cc\\_[Dd]iff\b": r"$\mathrm{Acc}_\mathrm{Diff}$",
    r"\b[Ii]\\_(within|across)(\\_diff)?\b": r"$I_\mathrm{\1}$",
}
"""Names of metrics in escaped text, as regular expressions, to their symbols."""


def typeset_symbols(text: str) -> Raw:
    """Return text as LaTeX with the names of metrics as symbols.

    Examples:
        >>> typeset_symbols("Acc_Diff of BERT-base is 3 %")
        '$\\\\mathrm{Acc}_\\\\mathrm{Diff}$ of BERT-base is 3 \\\\%'
    """
    made = escape(text)
    for name, symbol in SYMBOLS.items():
        made = re.sub(name, lambda m, symbol=symbol: symbol.replace(r"\1", m[1] if m.lastindex else ""), made)
    return Raw(made)


def make_environment(folder: str | Path) -> jinja2.Environment:
    """Return a jinja2 environment for LaTeX templates.

    ``\\VAR{...}`` prints an expression, escaped unless it is :class:`Raw`; ``\\BLOCK{...}`` is a statement;
    ``\\#{...}`` a comment. A name that is not defined is an error.

    Args:
        folder: Where templates and what they include are.
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


def render(folder: str | Path, name: str, context: Mapping[str, Any]) -> str:
    """Render one template.

    Raises:
        UserError: If the template is not valid or uses a name that ``context`` lacks; names file and line.
    """
    try:
        return make_environment(folder).get_template(name).render(context)
    except jinja2.TemplateSyntaxError as error:
        raise UserError(
            f"{error.filename or name}, line {error.lineno}: {error.message}; correct the template"
        ) from error
    except jinja2.UndefinedError as error:
        raise UserError(f"{name}: {error.message}; the template uses a name that is not given") from error


MARKS = (
    r"\AddToHook{file/before}{\wlog{>>> \CurrentFilePathUsed/\CurrentFileUsed}}"
    r"\AddToHook{file/after}{\wlog{<<< \CurrentFilePathUsed/\CurrentFileUsed}}"
)
"""LaTeX code to run before a document so that its log says which file is read; :func:`check_log` looks for it."""

# What makes a built paper unfit, each with the group that says what is wrong.
_PROBLEMS = (
    (r"^! (.+)$", "LaTeX error: {}"),
    (r"Reference `([^']+)' on page", "undefined reference {}"),
    (r"Citation [`']([^']+)' on page", "undefined citation {}"),
    (r"Citation `([^']+)' undefined", "undefined citation {}"),
    (r"Label `([^']+)' multiply defined", "label defined twice: {}"),
    (r"Missing character: (.+)", "missing glyph: {}"),
    (r"name\{([^}]+)\} has been referenced but does not exist", "link without a target: {}"),
)


def check_log(text: str, overfull: float = 10.0, main: str = "main.tex") -> list[str]:
    """Return the problems that a LaTeX log reports, one line each, after the file and the line where they are known.

    Args:
        text: The log of the last run, its lines not wrapped (``max_print_line``). Errors name their file with
            ``-file-line-error``, everything else with :data:`MARKS`.
        overfull: Boxes and floats that are too large by more than this many points are a problem.
        main: The file that is read where no mark says otherwise.
    """
    problems, reading = [], [main]
    for line in text.splitlines():
        mark = re.search(r"(>>>|<<<) (\S*\.tex)$", line)
        if mark:
            if mark[1] == ">>>":
                reading.append(mark[2].lstrip("/"))
            elif len(reading) > 1:
                reading.pop()
            continue
        error = re.match(r"(?:\./)?(\S+\.\w+):(\d+): (.+)$", line)
        if error:
            problems.append(f"{error[1]}, line {error[2]}: LaTeX error: {error[3]}")
            continue
        told = next((message.format(m[1]) for pattern, message in _PROBLEMS if (m := re.search(pattern, line))), None)
        box = re.search(r"(Overfull \\[hv]box|Float too large for page)(?: \(| by )([\d.]+)pt", line)
        if box and float(box[2]) > overfull:
            told = f"{box[1]}, {box[2]} pt too large"
        if told:
            at = re.search(r"(?:on input line|at lines?) (\d+)", line)
            problems.append(f"{reading[-1]}, line {at[1]}: {told}" if at else f"{reading[-1]}: {told}")
    return list(dict.fromkeys(problems))


def count_pages(text: str) -> int | None:
    """Return how many pages a document has, from the log of its last run; None if it was not written."""
    written = re.search(r"^Output written on .*\((\d+) pages?", text, flags=re.MULTILINE)
    return int(written[1]) if written else None


def _heads(heads: Iterable[str]) -> list[str]:
    """Return the lines of a table's heads, groups above them where there are any."""
    pairs = [head.rpartition(": ")[::2] for head in heads]
    groups, rules, column = [], [], 1
    for group, members in itertools.groupby(group for group, _ in pairs):
        width = len(list(members))
        groups.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(group)}}}" if group else " & " * (width - 1))
        if group:
            rules.append(rf"\cmidrule(lr){{{column}-{column + width - 1}}}")
        column += width
    above = [" & ".join(groups) + r" \\", "".join(rules)] if rules else []
    return [*above, " & ".join(escape(head) for _, head in pairs) + r" \\"]


def _cell(value: Any, broken: bool = False) -> str:
    """Return a cell as LaTeX; ``broken``: its line breaks are kept."""
    if isinstance(value, Raw):
        return value
    text = "" if value is None or value != value else escape(value)
    return text.replace("\n", r"\newline{}") if broken else text


def latex_table(frame: "pd.DataFrame", align: str | None = None, midrules: Sequence[int] = ()) -> str:
    """Return a booktabs table of escaped cells.

    Args:
        frame: Cells; missing values become empty cells. A column ``group: head`` has its head under that of a group,
            which neighbours of one group share.
        align: LaTeX column types, one letter a column; ``X`` takes the width that is left, set ragged right, and keeps
            line breaks. By default ``l`` for all.
        midrules: Rows before which a rule is drawn.

    Returns:
        A ``tabular`` environment, or a ``tabularx`` one of the text's width if a column is ``X``.
    """
    heads = list(frame.columns)
    align = align or "l" * len(heads)
    if len(align) != len(heads):
        raise ValueError(f"{len(heads)} columns, but the alignment {align!r} has {len(align)}")
    begin, end = (r"\begin{tabular}{" + align + "}", r"\end{tabular}")
    if "X" in align:
        columns = align.replace("X", r">{\raggedright\arraybackslash}X")
        begin, end = (r"\begin{tabularx}{\linewidth}{" + columns + "}", r"\end{tabularx}")
    lines = [begin, r"\toprule", *_heads(heads), r"\midrule"]
    for index, row in enumerate(frame.itertuples(index=False)):
        if index in midrules:
            lines.append(r"\midrule")
        lines.append(" & ".join(_cell(cell, kind == "X") for cell, kind in zip(row, align, strict=True)) + r" \\")
    return "\n".join([*lines, r"\bottomrule", end]) + "\n"


def wrapped_table(frame: "pd.DataFrame", widths: Sequence[float]) -> str:
    """Return a booktabs table of escaped cells that break into lines, set ragged right.

    Args:
        frame: Cells; missing values become empty cells. Cells that are :class:`Raw` stay as they are, in columns of
            objects (pandas' own strings forget it).
        widths: Width of each column in parts of the width of the float that the table is in, without the space between
            columns.

    Returns:
        A ``tabular`` environment.
    """
    if len(widths) != len(frame.columns):
        raise ValueError(f"{len(frame.columns)} columns, but {len(widths)} widths")
    columns = "".join(rf">{{\raggedright\arraybackslash}}p{{{width:.4g}\linewidth}}" for width in widths)
    lines = [rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", r"\toprule", *_heads(frame.columns), r"\midrule"]
    lines += [" & ".join(map(_cell, row)) + r" \\" for row in frame.itertuples(index=False)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"
