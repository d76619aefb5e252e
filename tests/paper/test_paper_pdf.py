"""Typesetting: a build that is reproducible, runs no program, and refuses what is broken."""

import pytest

from scripts.core.paper import sections
from tests.paper.typeset import build, needs_tex
from tests.refusals import refused


@pytest.mark.attack("a model's label is a TeX command", "typeset as text")
@needs_tex
@pytest.mark.parametrize("label", ["BERT 50% sparse, no. #2", r"\input{secret.tex}", "a_b^c~d&{e}$f$", "é→ü"])
def test_a_label_in_a_numbers_id_is_the_name_of_a_link_and_no_command(tmp_path, label):
    (tmp_path / "secret.tex").write_text(r"\undefined{what was read}", encoding="utf-8")
    part = {"id": "ruff.replica", "numbers": {f"best.{label}": {"text": "18", "value": 18}}}
    text = sections.link_numbers(sections.print_number(part, f"best.{label}"))
    name = sections.link_target(f"ruff.replica.best.{label}")
    assert text == rf"\sourced{{{name}}}{{18}}"
    head = r"\usepackage{hyperref}\DeclareRobustCommand{\sourced}[2]{\hyperlink{#1}{#2}}"
    build(tmp_path, rf"{text} \hypertarget{{{name}}}{{there}}", head)
    assert (tmp_path / "main.pdf").is_file()
    assert len({sections.link_target(other) for other in (label, label + "=", label.replace("#", "=23."))}) >= 2


@needs_tex
def test_a_good_paper_is_built_reproducibly(tmp_path):
    build(tmp_path, "Text.")
    first = (tmp_path / "main.pdf").read_bytes()
    build(tmp_path, "Text.")
    assert first == (tmp_path / "main.pdf").read_bytes()
    assert {p.name for p in tmp_path.iterdir()} == {"main.tex", "main.pdf"}


@needs_tex
@pytest.mark.parametrize("name", [".latexmkrc", "latexmkrc"])
def test_no_configuration_of_latexmk_is_run(tmp_path, monkeypatch, name):
    """Neither one that lies among the results nor one of the user's: it is a program, and it may change the paper."""
    home = tmp_path / "home"
    home.mkdir()
    paper = tmp_path / "paper"
    paper.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    program = f"system('touch', '{tmp_path}/was-run');\n"
    for folder in (paper, home):
        (folder / name).write_text(program)
    build(paper, "Text.")
    assert not (tmp_path / "was-run").exists()


@needs_tex
def test_tex_runs_no_programs(tmp_path, monkeypatch):
    """Also where the site's configuration of TeX would allow it."""
    (tmp_path / "cnf").mkdir()
    (tmp_path / "cnf/texmf.cnf").write_text("shell_escape = t\n")
    monkeypatch.setenv("TEXMFCNF", f"{tmp_path / 'cnf'}:")
    (tmp_path / "paper").mkdir()
    build(tmp_path / "paper", rf"Text.\immediate\write18{{touch {tmp_path}/was-run}}")
    assert not (tmp_path / "was-run").exists()


@needs_tex
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (r"See \ref{fig:gone}.", "main.tex, line 1: undefined reference fig:gone"),
        (r"See \cite{gone}.", "main.tex, line 1: undefined citation gone"),
        (r"\undefinedcommand", "main.tex, line 1: LaTeX error: Undefined control sequence"),
        (r"\noindent\rule{50cm}{1pt}", r"main.tex, line 1: Overfull \hbox"),
        (r"\section{a}\label{a}\section{b}\label{a}", "main.tex: label defined twice: a"),
        (r"\font\x=cmmi10 \x \char255", "main.tex: missing glyph"),
        (r"x\pdfstartlink goto name{gone}\relax x\pdfendlink", "main.tex: link without a target: gone"),
    ],
)
def test_a_broken_paper_leaves_no_pdf(tmp_path, body, words):
    (tmp_path / "main.pdf").write_text("an older paper")
    with refused(words):
        build(tmp_path, body)
    assert [p.name for p in tmp_path.iterdir()] == ["main.tex"]


@needs_tex
def test_a_problem_names_the_file_that_is_included(tmp_path):
    (tmp_path / "sections").mkdir()
    (tmp_path / "sections/one.tex").write_text("Text.\n\nSee \\ref{gone}.\n")
    with refused("sections/one.tex, line 3: undefined reference gone"):
        build(tmp_path, r"Text. \input{sections/one} More.")


def test_missing_tex_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused("latexmk is not installed", "apt-get install latexmk texlive"):
        build(tmp_path, "Text.")
