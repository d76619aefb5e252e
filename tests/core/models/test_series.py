"""A registry entry with several revisions stands for as many models."""

import pytest

from scripts.core.errors import UserError
from scripts.core.models import series

ENTRY = {"label": "Tiny", "source": {"path": "checkpoints"}, "architecture": "decoder"}


@pytest.mark.parametrize(
    ("source", "sources"),
    [
        ({"path": "a"}, [{"path": "a/step20"}, {"path": "a/Step_3"}]),
        (
            {"hub": "a/b", "revision": None},
            [{"hub": "a/b", "revision": "step20"}, {"hub": "a/b", "revision": "Step_3"}],
        ),
    ],
)
def test_each_revision_is_a_model(source, sources):
    entry = ENTRY | {"source": source, "revisions": ["step20", "Step_3"]}
    made = series.expand_series({"t": entry, "other": ENTRY}, "models.yaml")
    assert list(made) == ["t-step20", "t-step-3", "other"] and made["other"] == ENTRY
    assert series.members_of(made, "t") == ["t-step20", "t-step-3"] and series.members_of(made, "other") == ["other"]
    assert [made[name]["source"] for name in ("t-step20", "t-step-3")] == sources
    assert made["t-step-3"]["label"] == "Tiny Step_3" and "revisions" not in made["t-step-3"]


def test_two_revisions_of_one_name_are_refused():
    with pytest.raises(UserError, match=r"models.t.revisions make 't-step-1', which is another entry; rename one"):
        series.expand_series({"t": ENTRY | {"revisions": ["step_1", "Step-1"]}}, "models.yaml")


def test_models_are_listed_by_two_keys():
    configured = {"models": ["a"], "cards": ["b,c"], "ruff": {"prompting": {"models": ["d"], "kinds": ["x"]}}}
    assert list(series.model_lists(configured | {"misgendered": {"models": "all"}})) == [["a"], ["b,c"], ["d"]]
