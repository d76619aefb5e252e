"""Table files."""

import pandas as pd

from scripts.core import files
from scripts.core.paper import printed_tables, tables

CELLS = pd.DataFrame({"System": ["a_1", "a_1", "b"], "Scoring": ["x", "y", "y"], "ΔI": ["1", "−2", "3"]})


def test_changes_and_repeated_names():
    assert tables.change_points(CELLS.System) == [2] and tables.change_points(CELLS.Scoring) == [1]
    assert tables.change_points([]) == [] and tables.change_points(["a"]) == []
    assert tables.blank_repeats(CELLS.System).tolist() == ["a_1", "", "b"]
    assert tables.blank_repeats(CELLS.System, again=[1]).tolist() == ["a_1", "a_1", "b"]
    # Positions count, not the labels of the index.
    assert tables.blank_repeats(CELLS.System[1:]).tolist() == ["a_1", "b"]


def test_a_table_is_latex_and_csv(tmp_path):
    tex, csv = tmp_path / "t.tex", tmp_path / "t.csv"
    tables.write_table(tex, csv, CELLS, 2, midrules=[1], symbols={"ΔI": r"$\Delta I$"})
    assert files.read_csv(csv).columns.tolist() == ["System", "Scoring", "ΔI"]
    lines = tex.read_text(encoding="utf-8").splitlines()
    assert lines[0] == r"\begin{tabular}{llr}"
    assert r"System & Scoring & $\Delta I$ \\" in lines
    assert lines.index(r"a\_1 & x & 1 \\") + 1 == lines.index(r"\midrule", 4)


def test_a_table_may_print_less_than_its_csv_holds(tmp_path):
    tex, csv = tmp_path / "t.tex", tmp_path / "t.csv"
    tables.write_table(tex, csv, CELLS[:1], rows=CELLS, align="lXr")
    assert len(files.read_csv(csv)) == 3
    assert r"b & y" not in tex.read_text(encoding="utf-8") and "tabularx" in tex.read_text(encoding="utf-8")


def test_what_all_rows_agree_on_is_said_below_the_table(tmp_path):
    tex, csv = tmp_path / "t.tex", tmp_path / "t.csv"
    tables.write_table(tex, csv, CELLS, constant={"n_unit": "pairs", "ΔI": "3%"}, symbols={"ΔI": r"$\Delta I$"})
    below = r"\tablenote{In all rows, n\_unit: pairs; $\Delta I$: 3\%.}"
    assert tex.read_text(encoding="utf-8").splitlines()[-2:] == [r"\end{tabular}", below]
    # Scaled down is the table, not the line.
    printed = printed_tables.fit_table(tex.read_text(encoding="utf-8"))
    assert printed.index(r"\end{adjustbox}") < printed.index(below)


def test_rows_and_columns_that_tell_nothing_are_left_out():
    cells = pd.DataFrame(
        {"Model": ["a", "b", "c"], "n": ["12", "12", "–"], "r": ["1", "2", "not run"], "p": ["", "–", None]}
    )
    left, constant = tables.drop_uninformative(cells, ["Model"])
    assert left.to_dict("list") == {"Model": ["a", "b"], "r": ["1", "2"]} and constant == {"n": "12"}
    # One row has nothing to differ from, and what names the rows stays though it is the same in all.
    assert tables.drop_uninformative(cells[:1], ["Model"])[0].columns.tolist() == ["Model", "n", "r"]
    assert tables.drop_uninformative(cells.assign(Model="a"), ["Model"])[0].columns.tolist() == ["Model", "r"]
    assert tables.drop_uninformative(cells[2:], ["Model"])[0].empty
    # Values that are the same in all rows stay where the table would have names alone.
    alike = cells[:2].assign(r="1")
    left, constant = tables.drop_uninformative(alike, ["Model"])
    assert (left.columns.tolist(), constant) == (["Model", "n", "r"], {})
