"""What the sections of the paper share: context, numbers as links, figures, lists."""

import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import latex, sections
from scripts.core.paper.sections import linked, listed, number


def part(**values):
    numbers = {name: {"value": v, "text": f"{v}"} for name, v in values.items()}
    return {"id": "ruff.replica", "numbers": numbers}


@pytest.fixture
def made(tmp_path):
    """The arguments of a section's context: two parts with a table and a figure each, and what they share."""
    results = tmp_path / "results"
    for key in ("replica", "official"):
        files.write_json(results / f"s/analysis/{key}/paper_numbers.json", {"n": {"value": len(key), "text": key}})
        files.write_text(results / f"s/tables/{key}/accuracy.tex", f"{key} cells\n")
    files.write_text(results / "s/tables/claims.tex", "claims\n")
    files.write_json(results / "s/tables/claims.json", {"claims.total": {"value": 3, "text": "3"}})
    return {
        "numbers": [results / f"s/analysis/{key}/paper_numbers.json" for key in ("replica", "official")],
        "tables": sorted((results / "s/tables").rglob("*.tex")),
        "figures": [results / f"s/figures/{name}.pdf" for name in ("replica/a", "official/a", "toy", "comparison/b")],
        "comparison_numbers": [results / "s/tables/claims.json"],
        "section_tex": results / "paper/sections/s.tex",
    }


def test_every_part_has_what_is_its_own(made):
    context = sections.context("s", ["replica", "official"], **made)
    assert list(context["sets"]) == ["replica", "official"] and context["any_set"] is context["sets"]["replica"]
    official = context["sets"]["official"]
    assert official["tables"] == {"accuracy": "official cells"}
    assert official["figures"] == {"a": "../s/figures/official/a.pdf"}
    assert linked(context["number"](official, "n")) == r"\sourced{s.official.n}{official}"
    assert context["value"](official, "n") == 8
    assert context["shared"] == {"toy": "../s/figures/toy.pdf", "b": "../s/figures/comparison/b.pdf"}
    assert context["demonstration"] == []


def test_what_stands_beside_the_parts_is_apart(made):
    beside = sections.context("s", ["replica", "official"], **made)["beside"]
    assert beside["tables"] == {"claims": "claims"}
    assert linked(number(beside, "claims.total")) == r"\sourced{s.claims.total}{3}"
    with pytest.raises(UserError, match=r"paper/: s has no number 'claims\.totl'; did you mean"):
        number(beside, "claims.totl")


def test_a_study_of_sources_calls_them_so(made):
    models = {"a": {"label": "A", "demonstration": True}, "b": {"label": "B", "demonstration": False}}
    context = sections.context("s", ["replica", "official"], **made, called="source", models=models)
    assert list(context["sources"]) == ["replica", "official"] and "sets" not in context
    assert context["any_source"]["id"] == "s.replica"
    assert context["demonstration"] == ["A"]
    with pytest.raises(ValueError, match="zip"):
        sections.context("s", ["replica"], **made)


def test_numbers_and_captions_are_links():
    made = part(**{"a_b.0": 1})
    caption = latex.escape(f"50 % of {number(made, 'a_b.0')} {{braces}}")
    text = linked(rf"\caption{{{caption}}}" + "\n" + r"\label{fig:x_y}")
    expected = (
        r"\caption{50 \% of \sourced{ruff.replica.a_b.0}{1} \{braces\} \origin{fig:x_y}}" + "\n" + r"\label{fig:x_y}"
    )
    assert text == expected
    assert linked(r"\captionof{table}{A}\label{t}") == r"\captionof{table}{A \origin{t}}\label{t}"
    with pytest.raises(UserError, match=r"'Alone\}.*' has no label behind it"):
        linked(r"\caption{Alone} Text.")
    with pytest.raises(UserError, match="not closed"):
        linked(r"\caption{Open \} Text.")


def test_lists_in_prose_escape_what_is_not_latex():
    assert listed(["a_b"]) == r"a\_b"
    assert listed(["a", "b", latex.Raw(r"\c")]) == r"a, b and \c"


def test_an_unknown_number_names_the_nearest():
    with pytest.raises(UserError, match=r"no number 'scored.1'; did you mean 'scored.0'"):
        number(part(**{"scored.0": 1}), "scored.1")
