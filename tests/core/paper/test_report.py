"""Texts of Snakemake's HTML report."""

import base64
import re

import jinja2
import numpy as np
import pytest
from docutils.core import publish_parts
from matplotlib.figure import Figure

from scripts.core.paper import report


def html(text):
    """Return what Snakemake makes of a text: rendered by jinja2, then as HTML."""
    settings = {"report_level": 2, "halt_level": 2}
    rendered = jinja2.Environment().from_string(text).render()
    return publish_parts(rendered, writer_name="html", settings_overrides=settings)["html_body"]


def test_each_study_has_a_sentence_and_a_picture_first_and_its_findings_after_them(tmp_path):
    drawn = Figure(figsize=(2, 2))
    drawn.figimage(np.random.default_rng(0).random((200, 200)))
    for name in "abc":
        drawn.savefig(tmp_path / f"{name}.png")
    assert (tmp_path / "a.png").stat().st_size > 20_000  # as long as a real figure's data
    first, more, other = ((f"Figure {name}", str(tmp_path / f"{name}.png")) for name in "abc")
    studies = [
        ("S*", "It is 5 {{ 7 }}.", ["Of 3 findings 1 |holds|."], [first, more]),
        ("T", "So it is.", [], [other]),
    ]
    made = html(report.render_page("A run", studies))
    words = ("A run", "S*", "It is 5 {{ 7 }}", "Figure a", "So it is", "Figure c", "1 |holds|", "Figure b")
    places = [made.index(word) for word in words]
    assert places == sorted(places)
    data = re.findall(r'src="data:image/png;base64,([^"]*)"', made)
    assert len(data) == 3 and base64.b64decode(data[0]) == (tmp_path / "a.png").read_bytes()
    assert "<table" not in made


@pytest.mark.attack("a model's label is a template of the report", "shown as text")
@pytest.mark.parametrize("block", ["{% endraw %}", "{%- endraw -%}", "{%endraw%}"])
def test_no_label_makes_a_template_of_a_caption_or_the_page(block):
    label = block + "{{ 7 * 7 }}{% for x in 'ab' %}{{ x }}{% endfor %}"
    assert html(report.render_caption(label, label)).count(f"{block}{{{{ 7 * 7 }}}}") == 2
    found = html(report.render_page("A run", [(label, label, [label], [])]))
    assert found.count(f"{block}{{{{ 7 * 7 }}}}") == 4 and "49" not in found


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Of \\sourced{a.b}{5}\\,\\% in $\\Delta I$\nit is \\emph{all}. \\origin{fig:x}", "Of 5 % in Δ I it is all."),
        ("\\citet{holm1979}'s test, as Table~\\ref{tab:x} and Appendix~\\ref{sec:y}",
         "Holm (1979)'s test, as Table 7 and Appendix of the paper"),
        ("they say \\citep{hu2022,lee2018}", "they say (Hu 2022; Lee 2018)"),
    ],
)  # fmt: skip
def test_latex_becomes_one_line_of_text(text, plain):
    assert report.plain_text(text, {"tab:x": "7"}) == plain
