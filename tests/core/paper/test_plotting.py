"""Files that are the same byte for byte, notes that cannot be missed, and the rules of figures, each broken once."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.paper import palette, plotting
from scripts.ruff import drawing
from tests.figures import problems


def simple(title=""):
    with plotting.figure_style():
        drawn = plotting.new_figure(plotting.COLUMN, 1.5)
        ax = drawn.subplots()
        ax.plot([0, 1], [0, 1])
        ax.set_title(title)
    return drawn


def test_files_are_the_same_bytes_and_carry_no_date(tmp_path):
    frame = pd.DataFrame({"x": [0, 1], "y": [0.1 + 0.2, np.nan]})
    written = {}
    for run, title in (("one", "same"), ("again", "same"), ("other", "different")):
        paths = {kind: tmp_path / run / f"figure.{kind}" for kind in ("pdf", "png", "csv")}
        plotting.save_figure(simple(title), frame, **{kind: str(path) for kind, path in paths.items()})
        written[run] = {kind: path.read_bytes() for kind, path in paths.items()}
    assert written["one"] == written["again"] and all(written["one"].values())
    assert all(written["one"][kind] != written["other"][kind] for kind in ("pdf", "png"))
    pdf = written["one"]["pdf"]
    # Type is embedded as TrueType, not as Type 3.
    assert b"CreationDate" not in pdf and b"/CIDFontType2" in pdf and b"/Type3" not in pdf
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "one/figure.csv"), frame)


def broken(change):
    """Return a figure that keeps every rule, and what the rules say after a change of its only panel."""
    with plotting.figure_style():
        drawn = plotting.new_figure(plotting.COLUMN, 2)
        ax = drawn.subplots()
        ax.plot([0, 1], [0.2, 0.4], marker="o", color=palette.FAMILIES["OPT"][0])
        plotting.fraction_axis(ax.yaxis)
        plotting.legend_below(drawn, [plotting.line_handle({"color": palette.FAMILIES["OPT"][0]}, "label")], 1)
        kept = problems(drawn, alone="Model A")
        change(drawn, ax)
    return kept, problems(drawn, alone="Model A")


def _bar_with_text(ax):
    ax.bar([0.5], [0.6], color="#6A6A6A")
    ax.text(0.5, 0.3, "on a bar", ha="center", color="black")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda drawn, ax: drawn.set_size_inches(5, 2), "the figure is 5.00 inches wide"),
        (lambda drawn, ax: ax.set_title("small", fontsize=6.5), "text of 6.5 points: 'small'"),
        (lambda drawn, ax: ax.plot([0], [0.5], marker="s", markersize=2, color="black"), "marker of 2 points"),
        (lambda drawn, ax: ax.scatter([0], [0.5], s=4, color="black"), "points of 2 points"),
        (lambda drawn, ax: ax.plot([0, 1], [0.5, 1.1], color="black"), "shares from 0.200 to 1.100"),
        (lambda drawn, ax: ax.fill_between([0, 1], -0.2, 0.5, color="black"), "shares from -0.200 to 0.500"),
        (lambda drawn, ax: ax.vlines([0], -0.1, 0.4, color="black"), "shares from -0.100 to 0.400"),
        (lambda drawn, ax: ax.bar([0], [0.5], color="#0072B2"), "colours of pronouns for something else: #0072b2"),
        (lambda drawn, ax: drawn.supylabel("long " * 40, fontsize=8), "4.48 inches are cut off"),
        (lambda drawn, ax: ax.legend(handles=ax.lines, labels=["x"], loc="center"), "a legend lies on a panel"),
        (lambda drawn, ax: ax.set_title("$x_i$"), "a subscript of 5.6 points: '$x_i$'"),
        (lambda drawn, ax: ax.text(0.5, 0.3, "pale", color="#E69F00"), "text with a contrast of 2.3: 'pale'"),
        (lambda drawn, ax: _bar_with_text(ax), "text with a contrast of 3.9: 'on a bar'"),
        (lambda drawn, ax: ax.set_title("All models"), "the only model is named: 'All models'"),
        (lambda drawn, ax: ax.set_title("Model A"), "the only model is named: 'Model A'"),
        (lambda drawn, ax: ax.set_title("Decoder-only"), "the only model is named: 'Decoder-only'"),
    ],
)
def test_the_rules_of_figures_see_what_breaks_them(change, told):
    assert broken(change) == ([], [told])


@pytest.mark.parametrize(
    "handle",
    [
        plotting.patch_handle("#332288", "area"),
        plotting.interval_handle("interval"),
        plotting.point_handle("open point"),
        plotting.line_handle({"color": "#D4526E", "marker": "s"}, "curve"),
        plotting.line_handle({"color": plotting.GREY, "linestyle": "--"}, "reference"),
        drawing.shading_handle("shading"),
    ],
    ids=lambda handle: handle.get_label(),
)
def test_an_entry_of_a_legend_stands_for_something_drawn(handle):
    label = handle.get_label()
    kept, found = broken(lambda drawn, ax: ax.legend(handles=[handle], loc="upper left", bbox_to_anchor=(0, 1.4)))
    assert kept == [] and f"a legend promises what is not drawn: {label!r}" in found

    def draw_all(drawn, ax):
        ax.axhline(0.3, color=plotting.GREY, linestyle="--")
        ax.fill_between([0, 1], [0.1, 0.1], [0.2, 0.3], color="#332288", alpha=0.2)
        ax.errorbar([0.5], [0.3], yerr=[0.1], color="#D4526E", marker="s", markersize=4)
        ax.plot([0.2], [0.3], "o", color="black", markerfacecolor="white")
        ax.legend(handles=[handle], loc="upper left", bbox_to_anchor=(0, 1.4))

    assert not [told for told in broken(draw_all)[1] if told.startswith("a legend promises")]


def test_a_panel_without_marks_is_seen():
    found = broken(lambda drawn, ax: ax.lines[0].remove() or ax.axhline(0.5, color=plotting.GREY))[1]
    assert "a panel has nothing drawn" in found


def test_notes_and_bare_panels_are_no_broken_promises():
    assert problems(plotting.nothing_drawn()) == [] and problems(plotting.nothing_drawn("a reason " * 12)) == []


def test_bars_end_at_the_ends_of_the_scale_and_at_missing_bounds():
    lengths = plotting.error_bars([0.05, 0.9, 0.5], [-0.1, 0.8, np.nan], [0.2, 1.2, np.nan])
    assert lengths == pytest.approx(np.array([[0.05, 0.1, 0], [0.15, 0.1, 0]]))


def test_shares_of_too_few_instances_are_left_out():
    frame = pd.DataFrame({"model": ["a", "b", "c"], "n": [180, 10, 9]})
    assert plotting.drop_small_cells(frame).model.tolist() == ["a", "b"]


def test_legends_fit_the_width_and_leave_the_axes_alone():
    with plotting.figure_style():
        drawn = plotting.new_figure(plotting.COLUMN, 2)
        ax = drawn.subplots()
        handles = [plotting.patch_handle("#000000", f"a rather long label {i}") for i in range(6)]
        plotting.legend_below(drawn, handles, 6)
        drawn.draw_without_rendering()
        (legend,) = drawn.legends
        box = legend.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= drawn.bbox.width
        assert box.y0 >= 0 and box.y1 <= ax.get_tightbbox().y0
        assert drawn.get_size_inches()[1] > 2


def test_reference_lines_stand_where_they_say():
    drawn = simple()
    ax = drawn.axes[0]
    chance, human = plotting.chance_line([ax], 0.2), plotting.human_line([ax], 0.998, along="x")
    assert (chance.get_label(), human.get_label()) == ("chance (0.2)", "human (0.998)")
    assert list(ax.lines[-2].get_ydata()) == [0.2, 0.2] and list(ax.lines[-1].get_xdata()) == [0.998, 0.998]
