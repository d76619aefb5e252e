"""What a person writes (titles, labels, names, addresses) stays text in every format that it is set in."""

import re
from collections import Counter

import jinja2
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.core.paper import latex, plotting, report
from tests.paper.test_paper import SETS, source_without_models

PIECES = (
    "}\\input{/any/file}{", "\\write18{ls}", "^^5cinput", "\\\\", "\\end{document}", "%", "&", "#", "~", "$x$", "$",
    "\n\n.. raw:: html\n\n   <script>alert(1)</script>\n", "\n\n.. include:: /any/file\n\n", ".. include:: /any/file",
    "{% endraw %}{{ 7 * 7 }}", "{{ 7 * 7 }}", "`a <javascript:alert(1)>`_", "javascript:alert(1)", "**", "|a|_", "::",
    "https://example.org", "a_", "[1]_", ":math:`x`", "<b>", "- ", "1. ", "===", "Äö", "李", "'", '"', " ", "x",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map(lambda parts: "x" + "".join(parts) + "x")


def one_line(text):
    return " ".join(text.split())


def document(text):
    """Return what Snakemake's report reads: the text rendered by jinja2, as a tree of reStructuredText."""
    rendered = jinja2.Environment().from_string(text).render()
    return publish_doctree(rendered, settings_overrides={"report_level": 5, "file_insertion_enabled": True})


@given(TEXTS, TEXTS)
@settings(max_examples=150, deadline=None)
def test_a_caption_of_the_report_is_text(title, text):
    tree = document(report.caption(title, text))
    assert {type(node) for node in tree.findall()} == {nodes.document, nodes.paragraph, nodes.strong, nodes.Text}
    assert tree.astext() == one_line(f"{title}. {text}")


@given(TEXTS, TEXTS)
@settings(max_examples=150, deadline=None)
def test_the_page_of_the_report_is_text(title, text):
    tree = document(report.page(title, [(text, text, [text], [])]))
    assert next(tree.findall(nodes.title)).astext() == one_line(title)
    assert len(list(tree.findall(nodes.raw))) == 1 and not list(tree.findall(nodes.system_message))
    assert [node.astext() for node in tree.findall(nodes.paragraph)][1:] == [
        one_line(f"{text}. {text}"), one_line(f"{text}, findings. {text}"),
    ]  # fmt: skip


SHOWN = {"textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "allowbreak"}


def commands(text):
    """Return how often each command and brace is in LaTeX, without those that stand for a sign of the text."""
    found = Counter(re.findall(r"\\[A-Za-z]+|\\.|[{}]|(?<!\\)[%#&$~^]", text))
    empty = sum(found.pop(f"\\{name}", 0) for name in SHOWN)
    for brace in "{}":
        found[brace] -= empty
    return {name: count for name, count in found.items() if not re.fullmatch(r"\\[^A-Za-z]", name)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


@given(TEXTS, st.sampled_from(["title", "authors", "code", "system", "pronouns"]))
@settings(max_examples=60, deadline=None)
def test_the_paper_has_no_command_that_a_person_wrote(folder, text, field):
    def paper(written):
        chosen = dict.fromkeys(("title", "authors", "code", "system", "pronouns"), "plain") | {field: written}
        systems = {"a": {"label": chosen["system"], "demonstration": True}}
        sets = [*SETS[:3], SETS[3] | {"label": chosen["pronouns"]}]
        stated = {"authors": [chosen["authors"]], "date": "2026-11-24", "code": f"https://a.org/{chosen['code']}"}
        return source_without_models(folder, sets, systems=systems, title=chosen["title"], settings=stated)

    assert commands(paper(text)) == commands(paper("plain"))


def test_an_address_is_a_link_that_sets_no_file():
    made = latex.link("https://a.org/}\\input{/any/file}{ b%20#c~d")
    address, shown = re.fullmatch(r"\\href\{(.*)\}\{\\texttt\{(.*)\}\}", made).groups()
    assert address == r"https://a.org/\%7D\%5Cinput\%7B/any/file\%7D\%7B\%20b\%20\#c\%7Ed"
    assert shown.replace(r"\allowbreak{}", "") == address


@given(TEXTS)
@settings(max_examples=20, deadline=None)
def test_a_label_of_a_figure_is_text(text):
    with plotting.style():
        drawn = plotting.figure(3, 1)
        label = drawn.text(0, 0, text)
        drawn.draw_without_rendering()
        assert not label.get_parse_math()
