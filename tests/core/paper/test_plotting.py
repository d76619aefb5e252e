"""Colours that stay, files that are the same byte for byte, notes that cannot be missed."""

import colorsys
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib.colors import to_rgb

from scripts.core.paper import palette, plotting
from scripts.ruff import curves
from tests.figures import problems


def facts(family="OPT", parameters=1_000_000_000, architecture="decoder", demonstration=False):
    return {
        "family": family,
        "parameters": parameters,
        "architecture": architecture,
        "demonstration": demonstration,
    }


@pytest.fixture(scope="module")
def registry(root):
    content = yaml.safe_load((root / "config/models.yaml").read_text())
    # Systems have the look of encoders.
    return content["models"] | {name: e | {"architecture": "encoder"} for name, e in content["systems"].items()}


def luminance(colour):
    return colorsys.rgb_to_hls(*to_rgb(colour))[1]


def simple(title=""):
    with plotting.style():
        drawn = plotting.figure(plotting.COLUMN, 1.5)
        ax = drawn.subplots()
        ax.plot([0, 1], [0, 1])
        ax.set_title(title)
    return drawn


@pytest.mark.parametrize("sets", [["he", "she", "they", "xe"], ["xe", "they"], ["ey", "xe", "he", "ze"]])
def test_known_pronoun_sets_keep_their_colour_in_every_run(sets):
    colours = palette.pronoun_colours(sets)
    assert list(colours) == sets
    for index, known in enumerate(palette.PRONOUNS):
        assert colours.get(known, palette.PALETTE[index]) == palette.PALETTE[index]


def test_further_pronoun_sets_take_the_next_colours_and_stay_distinct():
    sets = ["he", "ey", "xe", "ze"]
    assert palette.pronoun_colours(sets)["ey"] == palette.PALETTE[4]
    assert palette.pronoun_colours(sets)["ze"] == palette.PALETTE[5]
    many = palette.pronoun_colours([*palette.PRONOUNS, *(f"set{i}" for i in range(14))])
    assert len(set(many.values())) == len(many)
    markers = palette.pronoun_markers(["xe", "ey"])
    assert markers == {"xe": palette.MARKERS[3], "ey": palette.MARKERS[4]}


def test_every_family_of_the_registry_has_a_hue_of_its_own(registry):
    assert {entry["family"] for entry in registry.values()} == set(palette.FAMILIES)
    hues = [hue for hue, _, _ in palette.FAMILIES.values()]
    assert len(set(hues)) == len(hues)


@pytest.mark.parametrize("compared", ["ruff", "winopron", "counter_gap", "misgendered", "config/modern.yaml"])
def test_models_that_are_compared_look_different_from_each_other(root, registry, compared):
    if compared.endswith(".yaml"):
        shown = yaml.safe_load((root / compared).read_text())["models"]
    else:
        shown = [name for name, entry in registry.items() if compared in entry.get("studies", {})]
    assert len(shown) > 3
    shown = {name: registry[name] for name in registry if name in shown or registry[name].get("demonstration")}
    looks = {name: palette.model_style(entry) for name, entry in shown.items()}
    for a, b in combinations(looks, 2):
        assert looks[a]["color"] != looks[b]["color"], (a, b)
        if registry[a]["family"] == registry[b]["family"]:
            assert looks[a]["marker"] != looks[b]["marker"], (a, b)
        elif looks[a]["marker"] == looks[b]["marker"]:
            distance = np.abs(np.subtract(to_rgb(looks[a]["color"]), to_rgb(looks[b]["color"]))).sum()
            assert distance > 0.2, (a, b, distance)


def test_larger_models_of_a_family_are_darker(registry):
    pythia = [e for e in registry.values() if e["family"] == "Pythia"]
    shades = [luminance(palette.model_style(e)["color"]) for e in sorted(pythia, key=lambda e: e["parameters"])]
    assert shades == sorted(shades, reverse=True)
    assert len(set(shades)) == len(shades)


def test_debiased_systems_are_told_from_the_one_without():
    for family, parameters in (("MiniLM coreference", 2.4e7), ("BERT coreference", 1.1e8), ("BERT coreference", 3.3e8)):
        made = facts(family, parameters, "encoder")
        plain, anonymous, named = (
            palette.model_style(made | {"debiasing": method}) for method in ("none", "a-CDA", "n-CDA")
        )
        assert plain == palette.model_style(made)
        assert luminance(anonymous["color"]) > luminance(plain["color"]) > luminance(named["color"])
        assert len({look["marker"] for look in (plain, anonymous, named)}) == 3


def test_a_model_looks_the_way_its_own_facts_say():
    assert palette.model_style(facts()) == palette.model_style(facts(demonstration=True))
    assert palette.model_style(facts("New"))["color"] != palette.model_style(facts("New", 5_000_000_000))["color"]
    lines = {palette.model_style(facts(architecture=a))["linestyle"] for a in palette.ARCHITECTURES}
    assert len(lines) == 3
    assert palette.model_style(facts("GPT-3", None))["color"] == palette.FAMILIES["GPT-3"][0]
    assert palette.family_style(facts("OPT"))["color"] == palette.FAMILIES["OPT"][0]


@pytest.mark.parametrize("hue", [hue for hue, _, _ in palette.FAMILIES.values()])
@pytest.mark.parametrize("lightness", [32.0, 50.0, 72.0])
def test_lightness_is_reached(hue, lightness):
    colour = palette._with_lightness(hue, lightness)
    luminance = palette._luminance(palette._linear(colour))
    # Clipping a channel that is full makes the brightest colours slightly darker.
    assert 116 * np.cbrt(luminance) - 16 == pytest.approx(lightness, abs=4)


def test_text_can_be_read_on_its_background():
    assert palette.text_colour("#000000") == "white"
    assert palette.text_colour("#F0E442") == "black"


def test_files_are_the_same_bytes_and_carry_no_date(tmp_path):
    frame = pd.DataFrame({"x": [0, 1], "y": [0.1 + 0.2, np.nan]})
    for run in "ab":
        paths = {k: str(tmp_path / run / f"figure.{k}") for k in ("pdf", "png", "csv")}
        plotting.save(simple("same"), frame, **paths)
    for kind in ("pdf", "png", "csv"):
        first, second = ((tmp_path / run / f"figure.{kind}").read_bytes() for run in "ab")
        assert first == second
        assert first
    pdf = (tmp_path / "a/figure.pdf").read_bytes()
    assert b"CreationDate" not in pdf
    assert b"/CIDFontType2" in pdf  # embedded TrueType, not Type 3
    assert b"/Type3" not in pdf
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "a/figure.csv"), frame)


def test_different_figures_differ(tmp_path):
    frame = pd.DataFrame({"x": [0]})
    for title in ("one", "two"):
        plotting.save(simple(title), frame, *(str(tmp_path / f"{title}.{k}") for k in ("pdf", "png", "csv")))
    assert (tmp_path / "one.png").read_bytes() != (tmp_path / "two.png").read_bytes()
    assert (tmp_path / "one.pdf").read_bytes() != (tmp_path / "two.pdf").read_bytes()


def broken(change):
    """Return a figure that keeps every rule, and what the rules say after a change of its only panel."""
    with plotting.style():
        drawn = plotting.figure(plotting.COLUMN, 2)
        ax = drawn.subplots()
        ax.plot([0, 1], [0.2, 0.4], marker="o", color=palette.FAMILIES["OPT"][0])
        plotting.fraction_axis(ax.yaxis)
        plotting.legend_below(drawn, [plotting.handle({"color": palette.FAMILIES["OPT"][0]}, "label")], 1)
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
        (
            lambda drawn, ax: ax.fill_between([0, 1], [-0.2, 0], [0.5, 0.5], color="black"),
            "shares from -0.200 to 0.500",
        ),
        (lambda drawn, ax: ax.vlines([0], -0.1, 0.4, color="black"), "shares from -0.100 to 0.400"),
        (
            lambda drawn, ax: ax.bar([0], [0.5], color=palette.PALETTE[0]),
            "colours of pronouns for something else: #0072b2",
        ),
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
        plotting.handle({"color": "#D4526E", "marker": "s"}, "curve"),
        plotting.handle({"color": plotting.GREY, "linestyle": "--"}, "reference"),
        *curves.shading_handles("shading"),
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


def test_the_colours_of_pronouns_belong_to_no_model_and_no_category():
    others = [*(hue for hue, _, _ in palette.FAMILIES.values()), *palette.CATEGORIES]
    for pronoun in palette.pronoun_colours(palette.PRONOUNS).values():
        for other in others:
            assert np.abs(np.subtract(to_rgb(pronoun), to_rgb(other))).sum() > 0.2, (pronoun, other)


def test_bars_end_at_the_ends_of_the_scale_and_at_missing_bounds():
    lengths = plotting.error_bars([0.05, 0.9, 0.5], [-0.1, 0.8, np.nan], [0.2, 1.2, np.nan])
    assert lengths == pytest.approx(np.array([[0.05, 0.1, 0], [0.15, 0.1, 0]]))


def test_shares_of_too_few_instances_are_named_instead_of_drawn():
    frame = pd.DataFrame({"model": ["a", "a", "b"], "n": [180, 180, 9], "accuracy": 0.5})
    assert plotting.drop_small_cells(frame).model.tolist() == ["a", "a"]
    (handle,) = curves.dropped_note(frame, {"a": {"label": "A"}, "b": {"label": "B"}})
    assert handle.get_label() == "not drawn, with 9 instances: B"
    assert curves.dropped_note(frame[:2], {"a": {"label": "A"}}) == []


def test_legends_fit_the_width_and_leave_the_axes_alone():
    with plotting.style():
        drawn = plotting.figure(plotting.COLUMN, 2)
        ax = drawn.subplots()
        handles = [plotting.patch_handle("#000000", f"a rather long label {i}") for i in range(6)]
        plotting.legend_below(drawn, handles, 6)
        drawn.draw_without_rendering()
        (legend,) = drawn.legends
        box = legend.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= drawn.bbox.width
        assert box.y0 >= 0
        assert box.y1 <= ax.get_tightbbox().y0
        assert drawn.get_size_inches()[1] > 2


def test_reference_lines_stand_where_they_say():
    drawn = simple()
    ax = drawn.axes[0]
    chance, human = plotting.chance_line([ax], 0.2), plotting.human_line([ax], 0.998, along="x")
    assert (chance.get_label(), human.get_label()) == ("chance (0.2)", "human (0.998)")
    assert list(ax.lines[-2].get_ydata()) == [0.2, 0.2]
    assert list(ax.lines[-1].get_xdata()) == [0.998, 0.998]


def test_shading_stays_on_the_scale_and_is_left_out_where_there_is_no_bound():
    drawn = simple()
    ax = drawn.axes[0]
    x, y, gaps = pd.Series([0, 1]), pd.Series([0.5, 0.4]), pd.Series([np.nan, np.nan])
    curves.curve(ax, x, y, gaps, gaps, {"color": "#000000"})
    assert not ax.collections
    curves.curve(ax, x, y, y - 0.45, y + 0.1, {"color": "#000000"})
    (area,) = ax.collections
    assert area.get_paths()[0].vertices[:, 1].min() == 0
    assert curves.over_samples(pd.DataFrame({"sd": gaps, "n_seeds": 1})) is None
    assert curves.over_samples(pd.DataFrame({"sd": [0.1], "n_seeds": 3})) == "± SD over 3 samples"
    assert curves.shading_handles(None) == []
