"""Texts of Snakemake's HTML report."""

import base64
import re

import jinja2
import numpy as np
import pandas as pd
import pytest
from docutils.core import publish_parts
from matplotlib.figure import Figure

from scripts.core.paper import report


def html(text):
    """Return what Snakemake makes of a text: rendered by jinja2, then as HTML."""
    settings = {"report_level": 2, "halt_level": 2}
    rendered = jinja2.Environment().from_string(text).render()
    return publish_parts(rendered, writer_name="html", settings_overrides=settings)["html_body"]


def test_the_page_has_questions_table_findings_and_pictures_in_this_order(tmp_path):
    drawn = Figure(figsize=(2, 2))
    drawn.figimage(np.random.default_rng(0).random((200, 200)))
    drawn.savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 20_000  # as long as a real figure's data
    cells = pd.DataFrame({"Study": ["S*", ""], "Value": ["0.5 [0.4, 0.6]", "{{ 7 }}"]})
    findings = [("S, replica", "Of 3 findings 1 holds.", {"holds": ["It_ rises."], "fails": []})]
    made = html(report.page("A run", [("S*", "Does it?")], cells, "run: of |this| run.", findings, [
        ("The figure", str(tmp_path / "a.png")),
    ]))  # fmt: skip
    places = [made.index(word) for word in ("A run", "Does it?", "<table", "of |this| run", "It_ rises.", "The figure")]
    assert places == sorted(places)
    assert made.count("<tr>") == 3 and "S*" in made and "{{ 7 }}" in made and "Fails" not in made
    (data,) = re.findall(r'src="data:image/png;base64,([^"]*)"', made)
    assert base64.b64decode(data) == (tmp_path / "a.png").read_bytes()


def test_a_run_without_numbers_has_a_page():
    made = html(report.page("A run", [], pd.DataFrame(), "", [], []))
    assert "A run" in made and "<table" not in made


def test_captions_are_shown_as_they_are():
    assert "<strong>Figure 1.</strong> 5 * a_b {{ c }}" in html(report.caption("Figure 1", "5 * a_b {{ c }}"))


@pytest.mark.attack("a model's label is a template of the report", "shown as text")
@pytest.mark.parametrize("block", ["{% endraw %}", "{%- endraw -%}", "{%endraw%}"])
def test_no_label_makes_a_template_of_a_caption_or_the_page(block):
    label = block + "{{ 7 * 7 }}{% for x in 'ab' %}{{ x }}{% endfor %}"
    assert html(report.caption(label, label)).count(f"{block}{{{{ 7 * 7 }}}}") == 2
    found = html(report.page("A run", [(label, label)], pd.DataFrame({"Model": [label]}), "", [], []))
    assert found.count(f"{block}{{{{ 7 * 7 }}}}") == 3 and "49" not in found


def test_latex_becomes_one_line_of_text():
    text = "Of \\sourced{a.b}{5}\\,\\% in $\\Delta I$\nit is \\emph{all}. \\origin{fig:x}"
    assert report.plain(text) == "Of 5 % in Δ I it is all."
