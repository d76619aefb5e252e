"""Tables as a grid over a tidy table."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.paper.grid import Column, Factor, grid, level_columns, value, write_grid

TIDY = pd.DataFrame(
    [
        ("a", "x", "one", 0.5, 0.4, 0.6, 10), ("a", "x", "two", 0.25, None, None, 20), ("a", "y", "one", 1, 1, 1, 3000),
        ("b", "y", "one", 0, 0, 0.1, 5), ("b", "y", "two", 0.75, 0.7, 0.8, 6), ("c", "y", "two", 0.9, 0.8, 1, 7),
    ],
    columns=["model", "group", "kind", "share", "low", "high", "n"],
)  # fmt: skip
MODELS = Factor("Model", "model", {"b": "B", "a": "A"}, alone=False)
GROUPS = Factor("Group", "group", {"x": "X", "y": "Y"})
SHARES = level_columns("kind", {"one": "One", "two": "Two"}, value("share"))


def test_factors_make_rows_and_levels_columns():
    """In the order of the declaration; levels that are not declared, and combinations without a row, are left out."""
    cells = grid(TIDY, [MODELS, GROUPS], SHARES)
    assert cells.columns.tolist() == ["Model", "Group", "One", "Two"]
    assert cells.to_numpy().tolist() == [
        ["B", "Y", "0.0", "75.0"], ["A", "X", "50.0", "25.0"], ["", "Y", "100.0", "–"],
    ]  # fmt: skip


def test_another_factor_varies_slowest():
    cells = grid(TIDY, [MODELS, GROUPS], SHARES[:1], slowest="group")
    assert cells.to_numpy().tolist() == [["A", "X", "50.0"], ["B", "Y", "0.0"], ["A", "Y", "100.0"]]


def test_a_label_stands_again_below_another_one_to_its_left():
    kinds = Factor("Kind", "kind", {"one": "One", "two": "Two"})
    cells = grid(TIDY, [MODELS, GROUPS, kinds], [Column("n", value("n", 0, scale=1))])
    assert cells.to_numpy().tolist() == [
        ["B", "Y", "One", "5"], ["", "", "Two", "6"], ["A", "X", "One", "10"], ["", "", "Two", "20"],
        ["", "Y", "One", "3,000"],
    ]  # fmt: skip
    only = Factor("Group", "group", {"y": "Y"})
    assert grid(TIDY, [MODELS, only, kinds], SHARES[:0]).Group.tolist() == ["Y", "", "Y"]


def test_one_level_alone_needs_no_column():
    one = Factor("Model", "model", {"b": "B"}, alone=False)
    assert grid(TIDY, [one, GROUPS], SHARES).columns.tolist() == ["Group", "One", "Two"]
    assert grid(TIDY, [Factor("Model", "model", {"b": "B"}), GROUPS], SHARES).columns[0] == "Model"
    assert grid(TIDY[:0], [MODELS, GROUPS], SHARES).columns.tolist() == ["Model", "Group", "One", "Two"]


def test_values_have_intervals_signs_and_scales():
    row = TIDY.iloc[0].to_dict()
    ends = ("low", "high")
    assert value("share", ends=ends, between="–")(row) == "50.0 (40.0–60.0)"
    assert value("share", 2, scale=1, signed=True, ends=ends)(row) == "+0.50 (+0.40 to +0.60)"
    assert value("share", ends=ends)(TIDY.iloc[1].to_dict()) == "25.0"


def test_two_rows_for_a_cell_are_refused():
    with pytest.raises(ValueError, match="2 rows for a cell of 'Share'"):
        grid(TIDY, [MODELS, GROUPS], [Column("Share", value("share"))])


def test_a_grid_is_latex_and_its_rows_are_csv(tmp_path):
    write_grid(tmp_path / "t.tex", tmp_path / "t.csv", TIDY, [MODELS, GROUPS], SHARES)
    assert (tmp_path / "t.tex").read_text(encoding="utf-8").startswith(r"\begin{tabular}{llrr}")
    assert len(files.read_csv(tmp_path / "t.csv")) == len(TIDY)
