"""What a target of the audit names."""

import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.provenance import trace


def test_a_cell_of_a_numbered_figure_is_asked_for_by_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"there is no figure 3; make the paper: snakemake paper"):
        trace.find_target("figure 3", [])
    files.write_text(trace.PAPER, "kind,result,shown,file\nfigure,fig:f,Figure 3,results/ruff/figures/scaling.pdf\n")
    with pytest.raises(UserError, match=r"fig. 3:: name a cell by its file, .*/scaling\.csv:ROW:COLUMN"):
        trace.find_target("fig. 3:", [])
    (found,) = trace.find_target("Figure 3", [])
    assert found == {"title": "figure 3 (fig:f)", "path": "results/ruff/figures/scaling.pdf", "rows": []}


@pytest.mark.parametrize("row", ["2", "model=b", "model=b,size=3"])
def test_a_cell_is_chosen_by_its_rows_number_from_one_or_by_columns(tmp_path, monkeypatch, row):
    monkeypatch.chdir(tmp_path)
    files.write_text("t.csv", "model,size,value\na,3,0.1\nb,3,0.2\nc,3,0.3\n")
    (found,) = trace.find_target(f"t.csv:{row}:value", [])
    assert found["title"].startswith("cell value = 0.2 of t.csv") and found["rows"][0]["model"] == "b"


def test_ids_that_only_contain_the_target_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    numbers = "results/s/analysis/replica/paper_numbers.json"
    entry = {"value": 1, "text": "1", "source": "t.csv", "cell": {}}
    files.write_json(numbers, {f"score.xe.{n}": entry for n in range(7)})
    jobs = [{"outputs": [numbers], "inputs": [], "wildcards": {}}]
    with pytest.raises(UserError, match=r"; 7 ids with it: s\.replica\.score\.xe\.0, .* and 2 more$"):
        trace.find_target("score.xe", jobs)
    (found,) = trace.find_target("xe.3", jobs)
    assert found["title"].startswith("number s.replica.score.xe.3 = 1, ")
