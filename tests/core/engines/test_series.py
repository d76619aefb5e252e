"""A registry entry with several revisions stands for as many models."""

import pytest

from scripts.core.engines import series

ENTRY = {"label": "Tiny", "source": {"path": "checkpoints"}, "architecture": "decoder"}


@pytest.mark.parametrize(
    ("revisions", "names", "positions", "unit"),
    [
        (["step1000", "step20"], ["t-step20", "t-step1000"], [20, 1000], "steps"),
        (["stage1-step5-tokens1B", "stage1-step10-tokens2B"], None, [5, 10], "steps"),
        (["tokens-200B", "tokens-3B"], ["t-tokens-3b", "t-tokens-200b"], [3, 200], "billions of tokens"),
        (["epoch_2", "epoch_1"], ["t-epoch-1", "t-epoch-2"], [1, 2], "checkpoint"),
        # The first number that all names have and no two share.
        (["step1-tokens4B", "step1-tokens2B"], None, [2, 4], "billions of tokens"),
    ],
)
def test_members_come_in_the_order_of_training(revisions, names, positions, unit):
    made = series.expand_series({"t": ENTRY | {"revisions": revisions}, "other": ENTRY}, "models.yaml")
    members = series.members_of(made, "t")
    assert names is None or members == names
    assert list(made) == [*members, "other"]
    assert [made[name]["series"]["position"] for name in members] == positions
    assert {made[name]["series"]["unit"] for name in members} == {unit}
    first = made[members[0]]
    assert first["source"]["path"].startswith("checkpoints/") and first["label"].startswith("Tiny ")
    assert "revisions" not in first


def test_revisions_of_the_hub():
    entry = ENTRY | {"source": {"hub": "a/b", "revision": None}, "revisions": ["step1", "step2"]}
    made = series.expand_series({"t": entry}, "models.yaml")
    assert [entry["source"] for entry in made.values()] == [
        {"hub": "a/b", "revision": "step1"}, {"hub": "a/b", "revision": "step2"}
    ]  # fmt: skip


def test_a_series_stands_for_its_members_wherever_models_are_named():
    models = series.expand_series({"t": ENTRY | {"revisions": ["step1", "step2"]}, "other": ENTRY}, "models.yaml")
    configured = {"models": ["other", "t"], "cards": ["t"], "ruff": {"prompting": {"models": ["t"], "kinds": ["t"]}}}
    assert series.spelled_out(configured | {"misgendered": {"models": "all"}}, models) == {
        "models": ["other", "t-step1", "t-step2"],
        "cards": ["t-step2"],
        "ruff": {"prompting": {"models": ["t-step1", "t-step2"], "kinds": ["t"]}},
        "misgendered": {"models": "all"},
    }
