"""LaTeX from data: escaping, tables, templates, and the reading of build logs."""

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
