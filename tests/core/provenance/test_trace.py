"""What a target of the audit names."""

import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.provenance import trace


def test_a_cell_of_a_numbered_figure_is_asked_for_by_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"there is no figure 3; make the paper: snakemake paper"):
        trace.find("figure 3", [])
    files.write_text(trace.PAPER, "kind,result,shown,file\nfigure,fig:f,Figure 3,results/ruff/figures/scaling.pdf\n")
    with pytest.raises(UserError, match=r"fig. 3:: name a cell by its file, .*/scaling\.csv:ROW:COLUMN"):
        trace.find("fig. 3:", [])
    (found,) = trace.find("Figure 3", [])
    assert found == {"title": "figure 3 (fig:f)", "path": "results/ruff/figures/scaling.pdf", "rows": []}
