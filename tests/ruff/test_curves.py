"""Curves of accuracy: shading, and what a legend says of it and of what is not drawn."""

import numpy as np
import pandas as pd

from scripts.core.paper import plotting
from scripts.ruff import curves


def test_shading_stays_on_the_scale_and_is_left_out_where_there_is_no_bound():
    ax = plotting.figure(plotting.COLUMN, 1.5).subplots()
    x, y, gaps = pd.Series([0, 1]), pd.Series([0.5, 0.4]), pd.Series([np.nan, np.nan])
    curves.curve(ax, x, y, gaps, gaps, {"color": "#000000"})
    assert not ax.collections
    curves.curve(ax, x, y, y - 0.45, y + 0.1, {"color": "#000000"})
    (area,) = ax.collections
    assert area.get_paths()[0].vertices[:, 1].min() == 0


def test_the_legend_says_what_is_shaded_and_what_is_not_drawn():
    assert curves.shading_handles(None) == []
    frame = pd.DataFrame({"model": ["a", "a", "b"], "n": [180, 180, 9], "accuracy": 0.5})
    labels = {"a": {"label": "A"}, "b": {"label": "B"}}
    (handle,) = curves.dropped_note(frame, labels)
    assert handle.get_label() == "not drawn, with 9 instances: B"
    assert curves.dropped_note(frame[:2], labels) == []
