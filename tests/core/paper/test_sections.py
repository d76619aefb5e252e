"""What the sections of the paper share: context, numbers as links, figures, lists."""

import pytest
from matplotlib.figure import Figure

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import latex, sections
from scripts.core.paper.sections import link_numbers, list_words, number


def part(**values):
    numbers = {name: {"value": v, "text": f"{v}"} for name, v in values.items()}
    return {"id": "ruff.replica", "numbers": numbers}


def draw(path, inches):
    path.parent.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(inches, 1))
    figure.subplots().plot([0, 1])
    figure.savefig(path)


@pytest.fixture
def made(tmp_path):
    """The arguments of a section's context: two parts with a table and a figure each, and what they share."""
    results = tmp_path / "results"
    for key in ("replica", "official"):
        files.write_text(results / f"s/tables/{key}/accuracy.tex", f"{key} cells\n")
    files.write_text(results / "s/tables/findings.tex", "findings\n")
    files.write_json(results / "s/tables/findings.json", {"findings.total": {"value": 3, "text": "3"}})
    figures = [results / f"s/figures/{name}.pdf" for name in ("replica/a", "official/a", "toy", "comparison/b")]
    for path, inches in zip(figures, (3.27, 3.27, 6.77, 6.77), strict=True):
        draw(path, inches)
    return {
        "tables": sorted((results / "s/tables").rglob("*.tex")),
        "figures": figures,
        "comparison_numbers": [results / "s/tables/findings.json"],
        "section_tex": results / "paper/sections/s.tex",
    }


def test_every_part_has_what_is_its_own(made):
    context = sections.context("s", ["replica", "official"], **made)
    assert list(context["sets"]) == ["replica", "official"] and context["any_set"] is context["sets"]["replica"]
    official = context["sets"]["official"]
    assert official["tables"] == {"accuracy": "official cells"}
    assert official["figures"] == {"a": "../s/figures/official/a.pdf"}
    official["numbers"]["n"] = {"value": 8, "text": "eight"}
    assert link_numbers(context["number"](official, "n")) == r"\sourced{s.official.n}{eight}"
    assert context["value"](official, "n") == 8
    assert context["shared"] == {"toy": "../s/figures/toy.pdf", "b": "../s/figures/comparison/b.pdf"}
    assert context["demonstration"] == []


def test_what_stands_beside_the_parts_is_apart(made):
    beside = sections.context("s", ["replica", "official"], **made)["beside"]
    assert beside["tables"] == {"findings": "findings"}
    assert link_numbers(number(beside, "findings.total")) == r"\sourced{s.findings.total}{3}"
    with pytest.raises(UserError, match=r"paper/: s has no number 'findings\.totl'; did you mean"):
        number(beside, "findings.totl")


def test_a_study_of_sources_calls_them_so(made):
    models = {"a": {"label": "A", "demonstration": True}, "b": {"label": "B", "demonstration": False}}
    context = sections.context("s", ["replica", "official"], **made, called="source", models=models)
    assert list(context["sources"]) == ["replica", "official"] and "sets" not in context
    assert context["any_source"]["id"] == "s.replica"
    assert context["demonstration"] == ["A"]


def test_numbers_and_captions_are_links():
    made = part(**{"a_b.0": 1})
    caption = latex.escape(f"50 % of {number(made, 'a_b.0')} {{braces}}")
    text = link_numbers(rf"\caption{{{caption}}}" + "\n" + r"\label{fig:x_y}")
    expected = (
        r"\caption{50 \% of \sourced{ruff.replica.a_b.0}{1} \{braces\} \origin{fig:x_y}}" + "\n" + r"\label{fig:x_y}"
    )
    assert text == expected
    with pytest.raises(UserError, match=r"'Alone\}.*' has no label behind it"):
        link_numbers(r"\caption{Alone} Text.")
    with pytest.raises(UserError, match="not closed"):
        link_numbers(r"\caption{Open \} Text.")


def test_lists_in_prose_escape_what_is_not_latex():
    assert list_words(["a_b"]) == r"a\_b"
    assert list_words(["a", "b", latex.Raw(r"\c")]) == r"a, b and \c"


def test_an_unknown_number_names_the_nearest():
    with pytest.raises(UserError, match=r"no number 'scored.1'; did you mean 'scored.0'"):
        number(part(**{"scored.0": 1}), "scored.1")


def test_a_figure_takes_both_columns_if_it_is_wider_than_one(made, tmp_path):
    context = sections.context("s", ["replica", "official"], **made)
    narrow, wide = context["sets"]["replica"]["figures"]["a"], context["shared"]["toy"]
    assert sections.figure(narrow, "x").startswith(r"\begin{figure}[tbp]")
    assert sections.figure(wide, "x").startswith(r"\begin{figure*}[tp]")
    assert round(sections.width(made["figures"][2]), 2) == 6.77
    (tmp_path / "cut.pdf").write_bytes(b"%PDF-1.4")
    with pytest.raises(UserError, match=r"cut\.pdf: has no page size that can be read"):
        sections.width(tmp_path / "cut.pdf")


def test_floats_take_a_column_or_the_page_and_have_their_captions_below():
    drawn = sections.figure(sections.Drawing("../a.pdf"), "x", "50 % of it")
    assert drawn.splitlines()[0] == r"\begin{figure}[tbp]" and drawn.splitlines()[-1] == r"\end{figure}"
    assert drawn.index("a.pdf") < drawn.index(r"\caption{50 \% of it}") < drawn.index(r"\label{fig:x}")
    wide = sections.table(r"\begin{tabular}{l}a\end{tabular}", "x", "Cells", wide=True, size="scriptsize")
    assert wide.startswith(r"\begin{table*}[tp]") and wide.rstrip().endswith(r"\end{table*}")
    assert wide.index(r"\scriptsize") < wide.index("tabular") < wide.index(r"\caption{Cells}")
    assert r"\label{tab:x}" in wide


def test_a_caption_may_be_latex(tmp_path):
    template = tmp_path / "s.tex.j2"
    template.write_text(
        r"\BLOCK{call table(cells, 'x', wide=true)}" "\nIn \\emph{%} \\VAR{n}.\n" r"\BLOCK{endcall}" "\n"
    )
    made = latex.render(tmp_path, "s.tex.j2", {"table": sections.table, "cells": r"\rule", "n": "5_0"})
    assert r"\caption{In \emph{%} 5\_0.}" in made


def test_a_table_without_rows_is_empty_and_a_plain_one_fits_its_place(made):
    files.write_text(made["tables"][0], "% No rows.\n")
    files.write_text(made["tables"][1], r"\begin{tabular}{l}a\end{tabular}")
    context = sections.context("s", ["replica", "official"], **made)
    assert not context["beside"]["tables"]["findings"]
    tables = {key: part["tables"]["accuracy"] for key, part in context["sets"].items()}
    assert sorted(text.startswith(r"\begin{adjustbox}{max width=\linewidth}") for text in tables.values()) == [0, 1]


def counted(**values):
    numbers = {name: {"value": v, "text": f"{v}", "cell": {"missing": "BERT_base"}} for name, v in values.items()}
    return {"id": "s", "numbers": numbers}


def test_findings_are_counted_in_words_that_fit():
    numbers = {
        "findings.total": 20,
        "findings.replica.holds": 1,
        "findings.replica.fails": 2,
        "findings.replica.undecided": 17,
    }
    said = link_numbers(sections.findings(counted(**numbers), "replica", "a_b"))
    assert said.startswith(r"Of the study's \sourced{s.findings.total}{20} findings, ")
    for piece in ("{1} holds,", "{2} fail and", r"{17} are undecided on a\_b."):
        assert piece in said
    nothing = numbers | {"findings.replica.holds": 0, "findings.replica.fails": 0, "findings.replica.undecided": 20}
    said = link_numbers(sections.findings(counted(**nothing), "replica"))
    assert said.startswith("All ") and said.endswith("{20} findings of the study are undecided on this run.")


def test_a_table_that_would_get_too_small_in_a_column_takes_both():
    cells = latex.Raw(r"\begin{adjustbox}{max width=\linewidth}" + "\n" + " & ".join(["word"] * 9) + r" \\")
    assert r"\begin{table}" in sections.table(cells, "a")
    wider = latex.Raw(cells.replace("word", "some words"))
    assert r"\begin{table*}" in sections.table(wider, "a") and r"\begin{table*}" in sections.table(
        cells, "a", wide=True
    )


def test_findings_say_of_how_many_models_of_the_study_they_are():
    counts = {
        "findings.total": 20,
        "findings.replica.holds": 0,
        "findings.replica.fails": 1,
        "findings.replica.undecided": 0,
    }
    some = link_numbers(sections.findings(counted(**counts | {"findings.replica.models": 3}), "replica"))
    assert "undecided on this run, with " in some and some.endswith("{3} of the study's models in the run.")
    without = counted(**counts | {"findings.replica.fails": 0, "findings.replica.models": 0})
    assert link_numbers(sections.findings(without, "replica")).endswith("with none of the study's models in the run.")
