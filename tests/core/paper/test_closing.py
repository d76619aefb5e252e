"""The end of a study's section: how often verdicts fell, and the list of what is made but not shown."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.paper import closing, latex, published
from scripts.core.paper.sections import linked

VERDICTS = ("total", "as_printed", "within_interval", "within_tolerance", "differs", "not_covered")


def beside(**parts):
    """Return the numbers across parts: of each, those of its results and of its settings, in the order of VERDICTS."""
    numbers = {}
    for key, (results, settings) in parts.items():
        for part, values in (("results", results), ("settings", settings)):
            for name, value in zip(VERDICTS, values, strict=True):
                numbers[f"published.{key}.{part}.{name}"] = {"value": value, "text": f"{value:,}"}
    return {"id": "s", "numbers": numbers, "tables": {}}


def test_verdicts_are_counted_side_by_side_and_those_that_never_fell_are_left_out():
    made = beside(replica=((9, 2, 0, 0, 3, 4), (5, 5, 0, 0, 0, 0)), official=((9, 0, 0, 0, 0, 9), (5, 0, 0, 0, 0, 5)))
    text = linked(closing.counts(made, {"replica": "replica_1", "official": "official"}))
    assert r"\multicolumn{2}{c}{replica\_1} & \multicolumn{2}{c}{official}" in text
    assert r"\sourced{s.published.replica.results.differs}{3}" in text
    rows = [row.split(" & ")[0] for row in text.splitlines() if "sourced" in row]
    assert rows == ["all that are printed", "as printed", "different", "not covered"]


@pytest.fixture
def made(tmp_path):
    """A section's template and what its study makes: two figures, and three tables of which one is empty."""
    for name in ("drawn", "left_out"):
        files.write_text(tmp_path / f"results/s/figures/replica/{name}.pdf", "")
        files.write_text(
            tmp_path / f"results/s/tables/replica/{name}.tex", latex.latex_table(pd.DataFrame({name: [1]}))
        )
    files.write_text(tmp_path / "results/s/figures/official/drawn.pdf", "")
    files.write_text(tmp_path / "results/s/tables/nothing.tex", published.NONE)
    template = tmp_path / "s.tex.j2"
    template.write_text(
        r"\VAR{path} \VAR{cells | raw} figures: \VAR{not_shown.figures}; tables: \VAR{not_shown.tables}; "
        r"\VAR{not_shown.others} \VAR{cut_off}",
        encoding="utf-8",
    )
    return tmp_path, template


@pytest.mark.parametrize("differing", [1, published.MOST + 1])
def test_what_a_section_leaves_out_is_named_at_its_end(made, differing):
    folder, template = made
    tables = sorted((folder / "results/s/tables").rglob("*.tex"))
    cells = (folder / "results/s/tables/replica/drawn.tex").read_text(encoding="utf-8").strip()
    number = {"published.differing": {"value": differing, "text": ""}}
    context = {"path": "../s/figures/replica/drawn.pdf", "cells": cells, "beside": {"id": "s", "numbers": number}}
    section = folder / "results/paper/sections/s.tex"
    closing.write(section, template, context, sorted((folder / "results/s/figures").rglob("*.pdf")), tables)
    said = section.read_text(encoding="utf-8").split("figures: ")[1]
    assert said == f"left out; tables: left out; True {differing > published.MOST}"


def test_a_section_that_shows_everything_names_nothing(made):
    folder, template = made
    number = {"published.differing": {"value": 0, "text": ""}}
    context = {"path": "", "cells": "", "beside": {"id": "s", "numbers": number}}
    section = folder / "results/paper/sections/s.tex"
    closing.write(section, template, context, [], [])
    assert section.read_text(encoding="utf-8").split("figures: ")[1] == "; tables: ; False False"
