"""A registry entry with several revisions stands for as many models."""

from dataclasses import replace

import pytest

from scripts.core.models import series
from scripts.core.models.entries import Folder, Hub, Model
from tests.refusals import refused

MODEL = Model(name="other", label="Tiny", licence="MIT", source=Folder("checkpoints"), architecture="decoder")


@pytest.mark.parametrize(
    ("source", "sources"),
    [
        (Folder("a"), [Folder("a/step20"), Folder("a/Step_3")]),
        (Hub("a/b"), [Hub("a/b", "step20"), Hub("a/b", "Step_3")]),
    ],
)
def test_each_revision_is_a_model(source, sources):
    several = replace(MODEL, name="t", source=source, revisions=("step20", "Step_3"))
    made = series.expand_series({"t": several, "other": MODEL}, "models.yaml")
    assert list(made) == [model.name for model in made.values()] == ["t-step20", "t-step-3", "other"]
    assert made["other"] == MODEL
    assert series.members_of(made, "t") == ["t-step20", "t-step-3"] and series.members_of(made, "other") == ["other"]
    assert [made[name].source for name in ("t-step20", "t-step-3")] == sources
    assert made["t-step-3"].label == "Tiny Step_3" and not made["t-step-3"].revisions


@pytest.mark.parametrize(
    ("label", "revisions", "named"),
    [
        ("Tiny", ("step_1", "Step-1"), ["'t-step-1'", "rename"]),
        ("Tiny", ("er",), ["'t-er'", "rename"]),
        ("A" * 32, ("step1", "step1000"), ["label", "revision step1000", "shorten"]),
    ],
    ids=["twice", "another entry", "long label"],
)
def test_names_and_labels_that_revisions_make_are_checked(label, revisions, named):
    several = {"t": replace(MODEL, label=label, revisions=revisions), "t-er": MODEL}
    with refused("models.yaml: models.t.", *named):
        series.expand_series(several, "models.yaml")
    fits = replace(MODEL, label="A" * 31, revisions=("step1", "step1000"))
    assert len(series.expand_series({"t": fits}, "models.yaml")) == 2


def test_models_are_listed_by_two_keys():
    configured = {"models": ["a"], "cards": ["b,c"], "ruff": {"prompting": {"models": ["d"], "kinds": ["x"]}}}
    assert list(series.model_lists(configured | {"misgendered": {"models": "all"}})) == [["a"], ["b,c"], ["d"]]
