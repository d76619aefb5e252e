"""What a person writes (titles, labels, names, addresses) stays text in every format that it is set in."""

import functools
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import jinja2
import pandas as pd
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts import compare
from scripts.card import card_page
from scripts.core import files
from scripts.core.data import annotation, estimate_rows
from scripts.core.paper import latex, plotting
from scripts.core.paper.finding_verdicts import OTHER_MODELS
from scripts.core.provenance.differences import Run
from scripts.explorer import page_data
from scripts.misgendered import input_tables as misgendered
from scripts.paper import report
from scripts.ruff import human
from scripts.ruff import tables as ruff
from tests.paper import main_file
from tests.ruff.synthetic import SETS

PIECES = (
    "}\\input{/any/file}{", "\\write18{ls}", "^^5cinput", "\\\\", "\\end{document}", "%", "&", "#", "~", "$x$", "$",
    "\n\n.. raw:: html\n\n   <script>alert(1)</script>\n", "\n\n.. include:: /any/file\n\n", ".. include:: /any/file",
    "{% endraw %}{{ 7 * 7 }}", "{{ 7 * 7 }}", "`a <javascript:alert(1)>`_", "javascript:alert(1)", "**", "|a|_", "::",
    "https://example.org", "a_", "[1]_", ":math:`x`", "<b>", "- ", "1. ", "===", "Äö", "李", "'", '"', " ", "x",
    "</script>", "<!--", "-->", "&lt;", "[3pt]", "*", "--", "''", "``", "?`", "^", "{}", "\\origin{x}",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map(lambda parts: "".join(parts) + "x")


def one_line(text):
    return " ".join(text.split())


def document(text):
    """Return what Snakemake's report reads: the text rendered by jinja2, as a tree of reStructuredText."""
    rendered = jinja2.Environment().from_string(text).render()
    return publish_doctree(rendered, settings_overrides={"report_level": 5, "file_insertion_enabled": True})


@given(TEXTS, TEXTS)
@settings(max_examples=150, deadline=None)
def test_a_caption_of_the_report_is_text(title, text):
    tree = document(report.render_caption(title, text))
    assert {type(node) for node in tree.findall()} == {nodes.document, nodes.paragraph, nodes.strong, nodes.Text}
    assert tree.astext() == one_line(f"{title}. {text}")


SHOWN = {"textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "allowbreak", "newline"}


def commands(text):
    """Return how often each command, brace, joined sign and argument of an end of row is in LaTeX.

    Commands that stand for a sign or a line break of the text are left out, and so are empty groups, which part signs.
    """
    taken = re.findall(r"\\(?:\\|toprule|midrule|item)\s*[\[*]|--|''|``|,,|[?!]`", text)
    found = re.findall(r"\\[A-Za-z]+|\\.|[{}]|(?<!\\)[%#&$~^<>]", text.replace("{}", " "))
    kept = [name for name in found if name[1:] not in SHOWN and not re.fullmatch(r"\\[^A-Za-z]", name)]
    return Counter([*taken, *kept])


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, attrs))

    def handle_endtag(self, tag):
        self.found.append(tag)

    def handle_comment(self, data):
        self.found.append(("comment", data))

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


def entry(text):
    """Return a model's entry whose texts are all the same."""
    written = dict.fromkeys(("label", "family", "size", "licence"), text)
    known = {"architecture": "decoder", "parameters": 10**8, "demonstration": True, "gated": False, "context": None}
    return {**written, **known, "source": {"hub": text}, "precision": "float32"}


def paper(folder, text):
    """Return the main file with a text as title, author, date, address, and all that is said of models and sets."""
    facts = {"model": "m", "label": text, "source": {"hub": text}, "revision": text}
    files.write_parquet(folder / "m.parquet", pd.DataFrame({"x": [1]}), facts)
    return main_file.write(
        folder, settings={"title": text, "authors": [text], "date": text, "code": f"https://a.org/{text}"},
        pronoun_sets=[*SETS[:3], SETS[3] | {"label": text}], models={"m": entry(text)},
        coreference_systems={"a": {"label": text, "demonstration": True}}, made=[str(folder / "m.parquet")],
    )  # fmt: skip


def model_tables(_, text):
    """Return the tables that list models by family and label, and one with labels as heads."""
    models = {"m": entry(text)}
    of_studies = {"lXl": ruff.model_cells(models), "lllr": misgendered.model_cells(models)}
    made = [latex.latex_table(cells, align=align) for align, cells in of_studies.items()]
    # The registry takes no label with a colon and a space, which part a group of heads from a head.
    label = text.replace(":", "")
    heads = pd.DataFrame([[1, 2]], columns=[label, f"{label}: {label}"])
    return "".join([*made, latex.latex_table(heads), latex.wrapped_table(heads, [0.5, 0.5])])


def card(folder, text):
    """Return the LaTeX and the HTML of the card of a model with one estimate and two findings."""
    row = {
        "part": "replica", "model": "m", "kind": "model", "scoring": "probability", "metric": "accuracy", "value": 0.5,
        "low": 0.4, "high": 0.6, "n": 20, "n_unit": "instances", "label": text, "headline": True,
    }  # fmt: skip
    estimate_rows.write_estimates(folder / "summary.csv", "one", [row])
    verdicts = pd.DataFrame({"number": [1, 2], "templates": "replica", "finding": "It is so.", "source": "Table 1"})
    verdicts = verdicts.assign(about="", verdict="holds", evidence=[text, ""], missing=["", OTHER_MODELS])
    files.write_csv(folder / "verdicts.csv", verdicts)
    (folder / "studies.png").write_bytes(b"png")
    (folder / "one_front.tex.j2").write_text(r"\VAR{front.names()} is \VAR{front.estimate('accuracy')}.")
    files.write_parquet(folder / "m.parquet", pd.DataFrame({"x": [1]}), {"revision": text})
    root = Path(__file__).parents[3]
    card_page.main(
        template_tex=str(root / "paper/card.tex.j2"), template_html=str(root / "paper/card.html.j2"),
        style=str(root / "paper/proceedings.sty"), summaries=[str(folder / "summary.csv")],
        findings=[str(folder / "verdicts.csv")], fronts=[str(folder / "one_front.tex.j2")],
        figure=str(folder / "studies.png"),
        made=[str(folder / "m.parquet")], outcomes=[], main_tex=str(folder / "card.tex"),
        html=str(folder / "card.html"), style_copy=str(folder / "card.sty"), findings_csv=str(folder / "findings.csv"),
        differences=str(folder / "differences.csv"), models={"m": entry(text)}, pairs=[["one", "m"]],
        studies=[{"key": "one", "label": "One", "question": "Who?", "chances": {}}], declared={}, audit="audit",
    )  # fmt: skip
    return [(folder / f"card.{kind}").read_text(encoding="utf-8") for kind in ("tex", "html")]


def comparison(_, text):
    """Return the page that compares two runs, with a text as their name and in all cells that are words."""
    run = Run(Path("/") / text.replace("/", "|"), "m", pd.DataFrame(), {}, {})
    words = dict.fromkeys(("study", "part", "model", "model_b", "estimate", "note"), text)
    numbers = dict.fromkeys(("value_a", "value_b", *compare.PAIRED[:-1], "p_holm"), 0.5)
    tables = {name: pd.DataFrame({"text": [text]}) for name in ("files", "records", "flipped")}
    tables["estimates"] = pd.DataFrame([words | numbers | {"differs": True, "headline": True}])
    return compare.render_page(f"{run.name} is the same.", run, run, tables)


TYPESET = {"paper": paper, "tables of models": model_tables, "card": lambda *given: card(*given)[0]}
PAGES = {"card": (lambda *given: card(*given)[1], 10), "comparison": (comparison, 9)}
"""What makes a page, and how often at least it shows the text."""


@functools.cache
def plain_commands(folder, name):
    return commands(TYPESET[name](folder, "plain"))


@functools.cache
def plain_elements(folder, name):
    return Elements(PAGES[name][0](folder, "plain")).found


@pytest.mark.parametrize("name", TYPESET)
@given(text=TEXTS)
@settings(max_examples=15, deadline=None)
def test_latex_has_no_command_that_a_person_wrote(folder, name, text):
    assert commands(TYPESET[name](folder, text)) == plain_commands(folder, name)


@pytest.mark.parametrize("name", PAGES)
@given(text=TEXTS)
@settings(max_examples=15, deadline=None)
def test_a_page_has_no_element_that_a_person_wrote(folder, name, text):
    make, times = PAGES[name]
    page = Elements(make(folder, text))
    assert page.found == plain_elements(folder, name)
    # pandas shows the end of a line as the sign for it.
    shown = one_line(page.text.replace("\\n", "\n"))
    assert shown.count(one_line(text)) >= times


@given(TEXTS)
@settings(max_examples=150, deadline=None)
def test_latex_that_becomes_plain_text_again_keeps_every_sign(text):
    """As on the card's page and in the captions of the report."""
    assert report.plain_text(latex.escape(text)) == one_line(text)


@given(TEXTS)
@settings(max_examples=50, deadline=None)
def test_the_data_of_the_explorer_do_not_end_their_element(text):
    held = page_data.pack_data({"label": text}, text)
    page = f'<script id="data">{held}</script>'
    assert "<" not in held
    assert (page_data.read_page_data(page), json.loads(held)["canary"]) == ({"label": text}, text)


@given(TEXTS)
@settings(max_examples=20, deadline=None)
def test_the_name_of_an_annotator_stays_one_cell(folder, text):
    questions = {"Pronoun": ()}
    annotation.write_sheet(folder / "blank.csv", pd.DataFrame({annotation.ROW: ["a"], "Text": ["b"]}), questions, 0)
    completed = files.read_csv(folder / "blank.csv").assign(Pronoun="she", **{annotation.ANNOTATOR: text})
    files.write_csv(folder / "completed.csv", completed)
    labels = annotation.read_labels(folder / "blank.csv", [str(folder / "completed.csv")], questions)
    files.write_csv(folder / "accuracy.csv", human.accuracy_by_annotator(labels, pd.Series({"a": "she"})))
    (row,) = files.iterate_rows(files.read_csv(folder / "accuracy.csv"))
    assert (row.annotator, row.right) == (text.strip(), 1)


def test_an_address_is_a_link_that_sets_no_file():
    made = latex.link_address("https://a.org/}\\input{/any/file}{ b%20#c~d")
    address, shown = re.fullmatch(r"\\href\{(.*)\}\{\\texttt\{(.*)\}\}", made).groups()
    assert address == r"https://a.org/\%7D\%5Cinput\%7B/any/file\%7D\%7B\%20b\%20\#c\%7Ed"
    assert shown.replace(r"\allowbreak{}", "") == address


@given(TEXTS)
@settings(max_examples=20, deadline=None)
def test_a_label_of_a_figure_is_text(text):
    with plotting.figure_style():
        drawn = plotting.new_figure(3, 1)
        label = drawn.text(0, 0, text)
        drawn.draw_without_rendering()
        assert not label.get_parse_math()
