"""Escaping, templates, tables, and the problems that a LaTeX log can hold."""

import pandas as pd
import pytest

from scripts.core.paper import latex
from tests.refusals import refused


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a_b", r"a\_b"),
        ("50 % & more", r"50 \% \& more"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("$#~^", r"\$\#\textasciitilde{}\textasciicircum{}"),
        ("−1 ± 2 × 3 < 4", r"\ensuremath{-}1 \ensuremath{\pm} 2 \ensuremath{\times} 3 \textless{} 4"),
    ],
)
def test_escape(text, escaped):
    assert latex.escape(text) == escaped


def test_templates_escape_data_but_not_latex(tmp_path):
    (tmp_path / "a.tex").write_text(r"\VAR{name} \VAR{ready | raw} \BLOCK{if yes}in\BLOCK{endif} \#{ gone }\emph{x}")
    made = latex.render(tmp_path, "a.tex", {"name": "a_b", "ready": r"\bf", "yes": True})
    assert made == r"a\_b \bf in \emph{x}"


@pytest.mark.parametrize(
    ("text", "named"),
    [(r"\VAR{nothing}", ["a.tex", "nothing"]), ("one\n\\BLOCK{if}\n", ["a.tex, line 2", "correct the template"])],
    ids=["unknown name", "syntax"],
)
def test_a_broken_template_is_named(tmp_path, text, named):
    (tmp_path / "a.tex").write_text(text)
    with refused(*named):
        latex.render(tmp_path, "a.tex", {})


def test_table_escapes_cells_and_leaves_missing_ones_empty():
    frame = pd.DataFrame({"Model": ["a_b", "c"], "x": [0.5, None]})
    made = latex.latex_table(frame, align="lr", midrules=[1])
    assert r"a\_b & 0.5 \\" in made
    assert "c &  \\\\" in made
    assert made.count(r"\midrule") == 2
    assert made.startswith(r"\begin{tabular}{lr}")
    wide = latex.latex_table(frame, align="Xr")
    assert wide.startswith(r"\begin{tabularx}{\linewidth}{>{\raggedright\arraybackslash}Xr}")
    with pytest.raises(ValueError, match="2 columns"):
        latex.latex_table(frame, align="l")


@pytest.mark.parametrize(
    ("log", "problem"),
    [
        ("! Emergency stop.", "main.tex: LaTeX error: Emergency stop."),
        ("./a/b.tex:12: Undefined control sequence.", "a/b.tex, line 12: LaTeX error: Undefined control sequence."),
        ("Warning: Reference `x' on page 1 undefined on input line 3.", "main.tex, line 3: undefined reference x"),
        ("Warning: Citation `gone' on page 1 undefined on input line 3.", "main.tex, line 3: undefined citation gone"),
        ("LaTeX Warning: Label `a' multiply defined.", "main.tex: label defined twice: a"),
        ("Missing character: There is no x in font y!", "main.tex: missing glyph: There is no x in font y!"),
        ("Overfull \\hbox (12.5pt too wide) at lines 3--4", "main.tex, line 3: Overfull \\hbox, 12.5 pt too large"),
        ("Overfull \\vbox (11.0pt too high) has occurred", "main.tex: Overfull \\vbox, 11.0 pt too large"),
        ("LaTeX Warning: Float too large for page by 11.5pt on input line 9.",
         "main.tex, line 9: Float too large for page, 11.5 pt too large"),
        ("Overfull \\hbox (9.9pt too wide) in paragraph", None),
        ("Underfull \\hbox (badness 10000)", None),
    ],
)  # fmt: skip
def test_problems_of_a_log(log, problem):
    found = latex.check_log(f"This is pdfTeX\n{log}\n{log}\nOutput written")
    assert found == ([problem] if problem else [])


def test_a_problem_belongs_to_the_file_that_is_being_read():
    warning = "LaTeX Warning: Reference `{}' on page 1 undefined on input line {}."
    log = [
        ">>> /article.cls", "<<< /article.cls", warning.format("a", 1),
        ")>>> sections/one.tex", warning.format("b", 2), "<<< sections/one.tex", warning.format("c", 3),
    ]  # fmt: skip
    assert latex.check_log("\n".join(log), main="paper.tex") == [
        "paper.tex, line 1: undefined reference a",
        "sections/one.tex, line 2: undefined reference b",
        "paper.tex, line 3: undefined reference c",
    ]


def test_cells_of_a_wrapped_table_break_into_lines():
    table = latex.wrapped_table(pd.DataFrame({"a_b": ["1 & 2", None], "c": ["x", "y"]}), [0.5, 0.25])
    assert r"p{0.5\linewidth}" in table and r"p{0.25\linewidth}" in table
    assert table.splitlines()[2:6] == [r"a\_b & c \\", r"\midrule", r"1 \& 2 & x \\", r" & y \\"]
    with pytest.raises(ValueError, match="2 columns, but 1 widths"):
        latex.wrapped_table(pd.DataFrame({"a": [1], "b": [2]}), [1])


def test_heads_stand_under_their_groups():
    table = latex.latex_table(pd.DataFrame([range(5)], columns=["Model", "dates: f", "dates: m_1", "n", "places: f"]))
    lines = table.splitlines()
    assert lines[2] == r" & \multicolumn{2}{c}{dates} &  & \multicolumn{1}{c}{places} \\"
    assert lines[3] == r"\cmidrule(lr){2-3}\cmidrule(lr){5-5}"
    assert lines[4] == r"Model & f & m\_1 & n & f \\"
    assert "multicolumn" not in latex.latex_table(pd.DataFrame({"a": [1], "b": [2]}))


def test_pages_are_read_from_the_log():
    assert latex.count_pages("This is pdfTeX\nOutput written on .latex/main.pdf (14 pages, 9 bytes).\n") == 14
    assert latex.count_pages("Output written on a (1).pdf (1 page, 9 bytes).") == 1
    assert latex.count_pages("No pages of output.") is None
