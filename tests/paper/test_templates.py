"""Templates of the paper: no typed results, no number without interval and n, and citations that exist."""

import re

import pytest

from tests.paper.typeset import ROOT

SECTIONS = sorted((ROOT / "paper/sections").glob("*.tex.j2"))


def prose(template):
    """Return a template's text without commands, expressions, squares and numbers of the paper's figures and tables."""
    text = re.sub(r"\\#\{.*?\}", "", template, flags=re.DOTALL)
    text = re.sub(r"\\(VAR|BLOCK)\{.*?\}", "", text, flags=re.DOTALL)
    text = re.sub(r"(Figures?|Tables?) \d+((,| and| to) \d+)* of the\s+study|(Method|Table) \d\b", "", text)
    text = re.sub(r"\)\^2\$", ")$", text)
    # The level of every interval, which the code fixes, and the name of a model.
    text = re.sub(r"\b95 ?\\?%|\bUL2\b", "", text)
    return re.sub(r"\\(cite\w*|ref|label|includegraphics)(\[.*?\])?\{.*?\}", "", text)


@pytest.mark.parametrize("path", SECTIONS, ids=lambda p: p.name)
def test_no_result_is_typed(path):
    text = prose(path.read_text(encoding="utf-8"))
    # The level of all intervals.
    names = re.sub(r"MiniLM-L6-MLM|SmolLM2-135M-Instruct|95\\%", "", text)
    assert not re.findall(r".{0,30}\d.{0,30}", names)
    # Captions are arguments of an expression: the digits there may only name the study's figures and ids of numbers.
    calls = r"^\\VAR\{((?:figure|table)\(.*)\}$"
    captions = re.findall(calls, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert captions or "_front." in path.name or r"\BLOCK{call " in path.read_text(encoding="utf-8")
    for caption in captions:
        literal = " ".join(re.findall(r'"([^"]*)"', re.sub(r'number\(\w+, "[\w.]+"\)', "", caption)))
        assert not re.search(r"\d", re.sub(r"Figures? \d+( to \d+)? of the study|\b95%", "", literal)), literal


@pytest.mark.parametrize("path", sorted((ROOT / "paper/sections").glob("*_front.tex.j2")), ids=lambda p: p.name)
def test_the_first_page_says_no_number_without_interval_and_n(path):
    """Its sentences take numbers from the summary alone, whose text has both; counts of models are of these rows."""
    expressions = re.findall(r"\\VAR\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", path.read_text(encoding="utf-8"))
    known = r"front\.(estimate|against|names|counted|differing)\(|how\[|words\[|area$|most$"
    assert expressions and [one for one in expressions if not re.match(known, one)] == []


@pytest.mark.parametrize("path", sorted((ROOT / "paper").rglob("*.j2")), ids=lambda p: p.name)
def test_no_template_takes_a_method_of_a_dictionary_for_a_value(path):
    """`best.clear` is the method of a dictionary whatever its key `clear` holds, and a method is true."""
    methods = "|".join(name for name in dir(dict) if not name.startswith("_"))
    expressions = re.findall(r"(?:\\(?:VAR|BLOCK)\{|\{[{%])(.*?)(?:\}|%\})", path.read_text(encoding="utf-8"))
    unquoted = [re.sub(r'"[^"]*"', "", one) for one in expressions]
    assert [one for one in unquoted if re.search(rf"\w\.({methods})\b(?!\()", one)] == []


def test_every_entry_of_the_bibliography_has_an_address():
    entries = re.split(r"^@", (ROOT / "paper/references.bib").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert [entry.partition(",")[0] for entry in entries if not re.search(r"^\s*url\s*= \{https://", entry, re.M)] == []


def test_every_citation_is_in_the_bibliography_and_used():
    text = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "paper").rglob("*.j2"))
    cited = {key for group in re.findall(r"\\cite\w*\{([\w,]+)\}", text) for key in group.split(",")}
    # Families of models are cited where they are run.
    cited |= {key for _, key in re.findall(r'\("([\w-]+)", "([a-z]+\d+)"\)', text)}
    listed = set(
        re.findall(r"^@\w+\{(\w+),", (ROOT / "paper/references.bib").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    assert cited == listed
