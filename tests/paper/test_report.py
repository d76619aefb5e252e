"""Texts of Snakemake's HTML report."""

import jinja2
import pytest
from docutils.core import publish_parts

from scripts.paper import report


def html(text):
    """Return what Snakemake makes of a text: rendered by jinja2, then as HTML."""
    settings = {"report_level": 2, "halt_level": 2}
    rendered = jinja2.Environment().from_string(text).render()
    return publish_parts(rendered, writer_name="html", settings_overrides=settings)["html_body"]


@pytest.mark.attack("a model's label is a template of the report", "shown as text")
@pytest.mark.parametrize("block", ["{% endraw %}", "{%- endraw -%}", "{%endraw%}"])
def test_no_label_makes_a_template_of_a_caption(block):
    label = block + "{{ 7 * 7 }}{% for x in 'ab' %}{{ x }}{% endfor %}"
    assert html(report.render_caption(label, label)).count(f"{block}{{{{ 7 * 7 }}}}") == 2


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
