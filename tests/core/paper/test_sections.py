"""What the sections of the paper share: context, numbers as links, figures, lists."""

import pytest
from matplotlib.figure import Figure

from scripts.core import files
from scripts.core.paper import latex, sections
from scripts.core.paper.sections import link_numbers, list_words, print_number
from tests.refusals import refused


def part(identifier="ruff.replica", **values):
    return {"id": identifier, "numbers": {name: {"value": v, "text": f"{v}"} for name, v in values.items()}}


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
        path.parent.mkdir(parents=True, exist_ok=True)
        Figure(figsize=(inches, 1)).savefig(path)
    return {
        "tables": sorted((results / "s/tables").rglob("*.tex")),
        "figures": figures,
        "comparison_numbers": [results / "s/tables/findings.json"],
        "section_tex": results / "paper/sections/s.tex",
    }


def test_every_part_has_what_is_its_own_and_what_stands_beside_them_is_apart(made):
    models = {"a": {"label": "A", "demonstration": True}, "b": {"label": "B", "demonstration": False}}
    context = sections.make_context("s", ["replica", "official"], **made, models=models)
    assert list(context["sets"]) == ["replica", "official"] and context["any_set"] is context["sets"]["replica"]
    official = context["sets"]["official"]
    path = made["section_tex"].parents[2] / "s/tables/official/accuracy.tex"
    assert official["tables"] == {"accuracy": f"% {path}\nofficial cells"}
    assert official["figures"] == {"a": "../s/figures/official/a.pdf"}
    official["numbers"]["n"] = {"value": 8, "text": "eight"}
    assert link_numbers(context["number"](official, "n")) == r"\sourced{s.official.n}{eight}"
    assert context["value"](official, "n") == 8
    assert context["demonstration"] == ["A"]
    assert context["beside"]["tables"]["findings"].endswith("\nfindings")
    assert link_numbers(print_number(context["beside"], "findings.total")) == r"\sourced{s.findings.total}{3}"
    assert sections.make_context("s", ["replica"], **made)["demonstration"] == []


def test_a_table_without_rows_is_empty_and_a_plain_one_fits_its_place(made):
    files.write_text(made["tables"][0], "% No rows.\n")
    files.write_text(made["tables"][1], r"\begin{tabular}{l}a\end{tabular}")
    context = sections.make_context("s", ["replica", "official"], **made)
    assert not context["beside"]["tables"]["findings"]
    tables = {key: part["tables"]["accuracy"] for key, part in context["sets"].items()}
    assert sorted(r"\begin{adjustbox}{max width=\linewidth}" in text for text in tables.values()) == [0, 1]


def test_numbers_and_captions_are_links():
    numbered = part(**{"a_b.0": 1})
    caption = latex.escape(f"50 % of {print_number(numbered, 'a_b.0')} {{braces}}")
    linked = r"\caption{50 \% of \sourced{ruff.replica.a_b.0}{1} \{braces\} \origin{fig:x_y}}" "\n" r"\label{fig:x_y}"
    assert link_numbers(rf"\caption{{{caption}}}" "\n" r"\label{fig:x_y}") == linked
    with refused("'Alone}", "no label"):
        link_numbers(r"\caption{Alone} Text.")
    with refused(r"'Open \}", "not closed"):
        link_numbers(r"\caption{Open \} Text.")
    with refused("ruff.replica", "'a_c.0'", "did you mean 'a_b.0'"):
        print_number(numbered, "a_c.0")


def test_lists_in_prose_escape_what_is_not_latex():
    assert list_words(["a_b"]) == r"a\_b" and list_words(["a", "b", latex.Raw(r"\c")]) == r"a, b and \c"


def test_a_figure_takes_both_columns_if_it_is_wider_than_one(made, tmp_path):
    context = sections.make_context("s", ["replica", "official"], **made)
    drawn = sections.float_figure(context["sets"]["replica"]["figures"]["a"], "x", "50 % of it")
    assert drawn.splitlines()[0] == r"\begin{figure}[tbp]" and drawn.splitlines()[-1] == r"\end{figure}"
    assert drawn.index("a.pdf") < drawn.index(r"\caption{50 \% of it}") < drawn.index(r"\label{fig:x}")
    wide = sections.read_drawing(made["figures"][2], made["section_tex"].parents[1])
    assert sections.float_figure(wide, "x").startswith(r"\begin{figure*}[tp]")
    (tmp_path / "cut.pdf").write_bytes(b"%PDF-1.4")
    with refused("cut.pdf", "page size"):
        sections.read_width(tmp_path / "cut.pdf")


def test_a_table_takes_both_columns_if_it_is_asked_or_would_get_too_small_in_one():
    wide = sections.float_table(r"\begin{tabular}{l}a\end{tabular}", "x", "Cells", wide=True, size="scriptsize")
    assert wide.startswith(r"\begin{table*}[tp]") and wide.rstrip().endswith(r"\end{table*}")
    assert wide.index(r"\scriptsize") < wide.index("tabular") < wide.index(r"\caption{Cells}")
    assert r"\label{tab:x}" in wide
    cells = latex.Raw(r"\begin{adjustbox}{max width=\linewidth}" + "\n" + " & ".join(["word"] * 9) + r" \\")
    assert r"\begin{table}" in sections.float_table(cells, "a")
    assert r"\begin{table*}" in sections.float_table(latex.Raw(cells.replace("word", "some words")), "a")


def test_a_caption_may_be_latex(tmp_path):
    template = tmp_path / "s.tex.j2"
    template.write_text(r"\BLOCK{call table(cells, 'x')}" "\nIn \\emph{%} \\VAR{n}.\n" r"\BLOCK{endcall}" "\n")
    made = latex.render(tmp_path, "s.tex.j2", {"table": sections.float_table, "cells": r"\rule", "n": "5_0"})
    assert r"\caption{In \emph{%} 5\_0.}" in made


@pytest.mark.parametrize(
    ("holds", "fails", "undecided", "models", "said"),
    [
        (1, 2, 17, {}, r"Of the study's 20 findings, 1 holds, 2 fail and 17 are undecided on a\_b."),
        (0, 1, 1, {"models": 3}, r"1 fails and 1 is undecided on a\_b, with 3 of the study's models in the run."),
        (0, 0, 20, {}, r"All 20 findings of the study are undecided on a\_b."),
        (0, 0, 20, {"models": 0}, r"undecided on a\_b, with none of the study's models in the run."),
    ],
)  # fmt: skip
def test_findings_are_counted_in_words_that_fit(holds, fails, undecided, models, said):
    counts = {"holds": holds, "fails": fails, "undecided": undecided, **models}
    beside = part("s", **{"findings.total": 20}, **{f"findings.replica.{name}": n for name, n in counts.items()})
    text = sections.describe_findings(beside, "replica", "a_b")
    assert sections.unmark_numbers(text).endswith(said)
    assert rf"\sourced{{s.findings.replica.undecided}}{{{undecided}}}" in link_numbers(text)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"total": 5, "as_printed": 1, "differs": 2, "not_covered": 2},
         "Of its 5 published results, 1 comes out as printed, 2 differ and 2 are not covered."),
        ({"total": 5, "not_covered": 5}, "No result of this run can be compared with its 5 published results."),
    ],
)  # fmt: skip
def test_published_results_are_counted_by_how_they_compare(counts, said):
    usual = dict.fromkeys(("as_printed", "within_interval", "within_tolerance", "differs", "not_covered"), 0)
    beside = part("s", **{f"published.replica.results.{name}": n for name, n in (usual | counts).items()})
    assert sections.unmark_numbers(sections.published_results(beside, "replica")) == said
    # A study of which nothing is decided or compared says nothing of it.
    beside["numbers"] |= part(**{f"findings.replica.{name}": 0 for name in ("holds", "fails")})["numbers"]
    beside["numbers"] |= part(**{"findings.replica.undecided": 3, "findings.total": 3})["numbers"]
    told = sections.unmark_numbers(sections.describe_evidence(beside, "replica"))
    assert told == (
        "" if counts["not_covered"] == 5 else f"All 3 findings of the study are undecided on this run. {said}"
    )


def test_wide_floats_of_an_appendix_follow_its_heading(tmp_path):
    body = "\\section{A}\nText.\n\\begin{table}\nn\n\\end{table}\n\\begin{table*}\nw\n\\end{table*}\nEnd.\n"
    for name in ("one.tex.j2", "one_appendix.tex.j2"):
        files.write_text(tmp_path / name, body)
    sections.write_all([tmp_path / "a", tmp_path / "b"], sorted(tmp_path.glob("*.j2")), {})
    section, appendix = (files.read_text(tmp_path / name, "").split() for name in "ab")
    assert sorted(section) == sorted(appendix) and section == body.split()
    assert appendix[:3] == [r"\section{A}", r"\begin{table*}", "w"]
