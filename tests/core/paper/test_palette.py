"""Colours and markers that stay whatever else is in a run, and can be told apart."""

import colorsys
from itertools import combinations

import numpy as np
import pytest
import yaml
from matplotlib.colors import to_rgb

from scripts.core.paper import palette


def look(family="OPT", parameters=1_000_000_000, architecture="decoder", **facts):
    return palette.model_style(
        {"family": family, "parameters": parameters, "architecture": architecture, "demonstration": False} | facts
    )


@pytest.fixture(scope="module")
def registry(root):
    content = yaml.safe_load((root / "config/models.yaml").read_text())
    # Systems have the look of encoders.
    return content["models"] | {name: e | {"architecture": "encoder"} for name, e in content["systems"].items()}


def luminance(colour):
    return colorsys.rgb_to_hls(*to_rgb(colour))[1]


def distance(one, other):
    return np.abs(np.subtract(to_rgb(one), to_rgb(other))).sum()


@pytest.mark.parametrize("sets", [["he", "she", "they", "xe"], ["xe", "they"], ["ey", "xe", "he", "ze"]])
def test_known_pronoun_sets_keep_their_colour_and_others_take_the_next(sets):
    colours, markers = palette.pronoun_colours(sets), palette.pronoun_markers(sets)
    places = {name: palette.PRONOUNS.index(name) if name in palette.PRONOUNS else 3 for name in sets}
    places |= {"ey": 4, "ze": 5} if "ey" in sets else {}
    assert colours == {name: palette.PALETTE[place] for name, place in places.items()}
    assert markers == {name: palette.MARKERS[place] for name, place in places.items()}


def test_many_pronoun_sets_stay_distinct():
    many = palette.pronoun_colours([*palette.PRONOUNS, *(f"set{i}" for i in range(14))])
    assert len(set(many.values())) == len(many)


def test_the_colours_of_pronouns_belong_to_no_model_and_no_category():
    others = [*(hue for hue, _, _ in palette.FAMILIES.values()), *palette.CATEGORIES]
    pairs = [(pronoun, other) for pronoun in palette.pronoun_colours(palette.PRONOUNS).values() for other in others]
    assert [pair for pair in pairs if distance(*pair) <= 0.2] == []


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
    shown = [name for name in registry if name in shown or registry[name].get("demonstration")]
    looks = {name: palette.model_style(registry[name]) for name in shown}
    for a, b in combinations(looks, 2):
        assert looks[a]["color"] != looks[b]["color"], (a, b)
        if registry[a]["family"] == registry[b]["family"]:
            assert looks[a]["marker"] != looks[b]["marker"], (a, b)
        elif looks[a]["marker"] == looks[b]["marker"]:
            assert distance(looks[a]["color"], looks[b]["color"]) > 0.2, (a, b)


def test_larger_models_of_a_family_are_darker(registry):
    pythia = sorted((e for e in registry.values() if e["family"] == "Pythia"), key=lambda e: e["parameters"])
    shades = [luminance(palette.model_style(e)["color"]) for e in pythia]
    assert shades == sorted(set(shades), reverse=True)


@pytest.mark.parametrize(
    ("family", "parameters"),
    [("MiniLM coreference", 2.4e7), ("BERT coreference", 1.1e8), ("BERT coreference", 3.3e8)],
)
def test_debiased_systems_are_told_from_the_one_without(family, parameters):
    plain, anonymous, named = (
        look(family, parameters, "encoder", debiasing=method) for method in ("none", "a-CDA", "n-CDA")
    )
    assert plain == look(family, parameters, "encoder")
    assert luminance(anonymous["color"]) > luminance(plain["color"]) > luminance(named["color"])
    assert len({style["marker"] for style in (plain, anonymous, named)}) == 3


def test_a_model_looks_the_way_its_own_facts_say():
    assert look() == look(demonstration=True)
    assert look("New")["color"] != look("New", 5_000_000_000)["color"]
    assert len({look(architecture=name)["linestyle"] for name in palette.ARCHITECTURES}) == 3
    assert look("GPT-3", None)["color"] == palette.FAMILIES["GPT-3"][0]
    family = palette.family_style({"family": "OPT", "architecture": "decoder"})
    assert family["color"] == palette.FAMILIES["OPT"][0]


def test_text_can_be_read_on_its_background():
    assert [palette.text_colour(colour) for colour in ("#000000", "#F0E442")] == ["white", "black"]
