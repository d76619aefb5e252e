"""A registry entry with several revisions stands for as many models."""

import pytest

from scripts.core.engines import series
from scripts.core.errors import UserError

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
    assert series.members_of(made, "t") == ["t-step20", "t-step-3"] and not series.members_of(made, "other")
    assert [made[name]["source"] for name in ("t-step20", "t-step-3")] == sources
    assert made["t-step-3"]["label"] == "Tiny Step_3" and "revisions" not in made["t-step-3"]


def test_two_revisions_of_one_name_are_refused():
    with pytest.raises(UserError, match=r"models.t.revisions make 't-step-1', which is another entry; rename one"):
        series.expand_series({"t": ENTRY | {"revisions": ["step_1", "Step-1"]}}, "models.yaml")


def test_a_series_stands_for_its_members_wherever_models_are_named():
    models = series.expand_series({"t": ENTRY | {"revisions": ["step1", "step2"]}, "other": ENTRY}, "models.yaml")
    members = ["t-step1", "t-step2"]
    configured = {"models": ["other", "t"], "cards": ["t"], "ruff": {"prompting": {"models": ["t"], "kinds": ["t"]}}}
    assert series.spelled_out(configured | {"misgendered": {"models": "all"}}, models) == {
        "models": ["other", *members],
        "cards": members,
        "ruff": {"prompting": {"models": members, "kinds": ["t"]}},
        "misgendered": {"models": "all"},
    }
