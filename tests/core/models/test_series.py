"""A registry entry with several revisions stands for as many models."""

from dataclasses import replace

import pytest

from scripts.core.errors import UserError
from scripts.core.models import series
from scripts.core.models.entries import Folder, Hub, Model

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


def test_two_revisions_of_one_name_are_refused():
    with pytest.raises(UserError, match=r"models.t.revisions make 't-step-1', which is another entry; rename one"):
        series.expand_series({"t": replace(MODEL, revisions=("step_1", "Step-1"))}, "models.yaml")


def test_models_are_listed_by_two_keys():
    configured = {"models": ["a"], "cards": ["b,c"], "ruff": {"prompting": {"models": ["d"], "kinds": ["x"]}}}
    assert list(series.model_lists(configured | {"misgendered": {"models": "all"}})) == [["a"], ["b,c"], ["d"]]
