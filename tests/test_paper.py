"""The paper: no typed results, citations that exist, and a build that refuses what is broken."""

import re
import shutil
from pathlib import Path

import pytest

from scripts import paper_pdf, paper_source
from scripts.core.errors import UserError

ROOT = Path(__file__).parents[1]
SECTIONS = sorted((ROOT / "paper/sections").glob("*.tex.j2"))
needs_tex = pytest.mark.skipif(shutil.which("latexmk") is None, reason="latexmk is not installed: nothing is typeset")

DOCUMENT = r"\documentclass{article}\begin{document}%s\end{document}"


def prose(template):
    """Return a template's text without its commands, expressions and the numbers of the paper's figures and tables."""
    text = re.sub(r"\\#\{.*?\}", "", template, flags=re.DOTALL)
    text = re.sub(r"\\(VAR|BLOCK)\{.*?\}", "", text, flags=re.DOTALL)
    text = re.sub(r"(Figure|Table) \d+ of the paper", "", text)
    return re.sub(r"\\(cite\w*|ref|label|includegraphics)(\[.*?\])?\{.*?\}", "", text)


@pytest.mark.parametrize("path", SECTIONS, ids=lambda p: p.name)
def test_no_result_is_typed(path):
    text = prose(path.read_text(encoding="utf-8"))
    names = re.sub(r"MiniLM-L6-MLM|SmolLM2-135M-Instruct", "", text)
    assert not re.findall(r".{0,30}\d.{0,30}", names)
    # Captions are arguments of an expression: the digits there may only name the paper's figures.
    for caption in re.findall(r'figure\(set, "\w+", (.*?)\) \| raw', path.read_text(encoding="utf-8")):
        literal = " ".join(re.findall(r'"([^"]*)"', caption))
        literal = re.sub(r"Figure \d+ of the paper|scored\.0|errors\.n_unambiguous", "", literal)
        assert not re.search(r"\d", literal), literal


def test_every_citation_is_in_the_bibliography_and_used():
    text = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "paper").rglob("*.j2"))
    cited = {key for group in re.findall(r"\\cite\w*\{([\w,]+)\}", text) for key in group.split(",")}
    listed = set(
        re.findall(r"^@\w+\{(\w+),", (ROOT / "paper/references.bib").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    assert cited == listed


def test_words_follow_the_numbers():
    part = {
        "numbers": {
            "a": {"value": 0.3},
            "test.m.he.she": {"value": 0.01},
            "test.m.she.xe": {"value": None},
            "setting.alpha": {"value": 0.05},
            "context_free.m.he": {"value": 5},
            "context_free.m.she": {"value": 7},
        }
    }
    assert paper_source.compare(part, "a", 0.25, "above", "below", "at") == "above"
    assert paper_source.compare(part, "a", 0.3, "above", "below", "at") == "at"
    assert paper_source.significant(part, "m", "he", "she")
    assert not paper_source.significant(part, "m", "she", "xe")
    assert paper_source.favourite_set(part, "m", ["he", "she"]) == "she"


def build(folder, body):
    (folder / "main.tex").write_text(DOCUMENT % body, encoding="utf-8")
    paper_pdf.main(
        main_tex=str(folder / "main.tex"),
        sections=[],
        bibliography="",
        figures=[],
        pdf=str(folder / "main.pdf"),
        overfull=10,
    )


@needs_tex
def test_a_good_paper_is_built_reproducibly(tmp_path):
    build(tmp_path, "Text.")
    first = (tmp_path / "main.pdf").read_bytes()
    build(tmp_path, "Text.")
    assert first == (tmp_path / "main.pdf").read_bytes()
    assert {p.name for p in tmp_path.iterdir()} == {"main.tex", "main.pdf"}


@needs_tex
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (r"See \ref{fig:gone}.", "undefined reference fig:gone"),
        (r"See \cite{gone}.", "undefined citation gone"),
        (r"\undefinedcommand", "LaTeX error"),
        (r"\noindent\rule{50cm}{1pt}", "overfull hbox"),
    ],
)
def test_a_broken_paper_leaves_no_pdf(tmp_path, body, words):
    with pytest.raises(UserError, match=words):
        build(tmp_path, body)
    assert [p.name for p in tmp_path.iterdir()] == ["main.tex"]


def test_missing_tex_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"latexmk is not installed.*apt-get install latexmk texlive"):
        build(tmp_path, "Text.")
