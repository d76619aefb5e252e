"""What a target of the audit names."""

import pytest

from scripts.core.errors import UserError
from scripts.core.provenance import trace


def test_a_cell_of_a_numbered_figure_is_asked_for_by_its_file(monkeypatch):
    item = {"kind": "figure", "number": 3, "path": "results/ruff/figures/scaling.pdf", "label": "scaling"}
    monkeypatch.setattr(trace, "items_with_paths", lambda jobs, main_tex: [item])
    with pytest.raises(UserError, match=r"figure 3:: name a cell by its file, .*/scaling\.csv:ROW:COLUMN"):
        trace.find("figure 3:", [])
