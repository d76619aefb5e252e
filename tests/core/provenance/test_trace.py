"""What a target of the audit names."""

import pytest

from scripts.core.errors import UserError
from scripts.core.provenance import trace


def test_a_figure_with_a_colon_and_no_cell_behind_it_is_refused_in_one_line(monkeypatch):
    item = {"kind": "figure", "number": 3, "path": "results/ruff/figures/scaling.pdf", "label": "scaling"}
    monkeypatch.setattr(trace, "items_with_paths", lambda jobs, main_tex: [item])
    with pytest.raises(UserError, match=r"scaling\.csv:: is not a cell; write FILE\.csv:ROW:COLUMN"):
        trace.find("figure 3:", [])
