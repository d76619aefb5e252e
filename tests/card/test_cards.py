"""From what is asked for to the run of a card."""

import json
from pathlib import Path

import pytest

from scripts.core.config import configuration_schema, load_overlay, load_yaml, merge, validate
from scripts.core.errors import UserError
from scripts.core.models import cards
from tests.core.models.test_descriptions import BERT

ROOT = Path(__file__).parents[2]


def test_a_card_has_a_run_of_its_own(tmp_path):
    run = cards.plan_run({"card": "lab/My_Model-7B@v2"}, tmp_path, tmp_path, {})
    assert (list(run.models), run.size) == (["my-model-7b-v2"], "quick")
    assert run.folder == tmp_path / "runs/card-my-model-7b-v2"
    # A job runs in that folder.
    assert cards.plan_run({"card": "lab/My_Model-7B@v2"}, run.folder, tmp_path, {}).folder == run.folder
    registered = cards.plan_run({"card": "bert-base", "card_size": "full"}, tmp_path, tmp_path, {"bert-base": {}})
    assert (registered.models, registered.size) == ({"bert-base": "bert-base"}, "full")
    several = cards.plan_run({"card": "lab/M, bert-base"}, tmp_path, tmp_path, {"bert-base": {}})
    assert (several.folder.name, several.unknown) == ("card-m-and-bert-base", {"m": "lab/M"})


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"card": "lab/m", "card_size": "ful"}, "'ful' is no size; did you mean 'full'"),
        ({"card": "lab/m,other/M"}, "lab/m and other/M are both called m; list each model once"),
        ({"card": "lab/m,"}, "'lab/m,' has an empty name"),
        ({"card": "a,b,c,d,e"}, "5 models do not fit on a card; list up to 4"),
        ({"card": "lab/m,series"}, "series is a series of checkpoints, which cannot share a card"),
    ],
)
def test_what_has_no_card_is_refused_in_one_line(tmp_path, stated, said):
    with pytest.raises(UserError, match=said):
        cards.plan_run(stated, tmp_path, tmp_path, {"series": {"revisions": ["step0", "step1"]}})


def test_facts_about_one_model_are_not_stated_of_two(tmp_path):
    run = cards.plan_run({"card": "lab/a,lab/b"}, tmp_path, tmp_path, {})
    with pytest.raises(UserError, match="label: a and b cannot have the same; describe the models in a registry"):
        cards.entries(run, {"label": "Mine", "licence": "MIT"}, tmp_path)


@pytest.mark.parametrize("asked", ["checkpoints/tiny", "exp@2/tiny"])
def test_a_checkpoint_is_described_once(tmp_path, asked):
    """It is found where the command is typed, and the run's folder is that of its card alone."""
    folder = tmp_path / asked
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(BERT), encoding="utf-8")
    run = cards.plan_run({"card": asked}, tmp_path, tmp_path, {})
    entry = cards.entries(run, {"licence": "MIT"}, tmp_path)["tiny"]
    assert (entry["source"], entry["architecture"]) == ({"path": str(folder)}, "encoder")
    (folder / "config.json").unlink()
    assert cards.entries(run, {"licence": "MIT"}, tmp_path) == {"tiny": entry}
    other = cards.plan_run({"card": "lab/Tiny"}, tmp_path, tmp_path, {})
    with pytest.raises(UserError, match=f"runs/card-tiny is the run of {asked}, not of lab/Tiny"):
        cards.entries(other, {}, tmp_path)


def test_what_is_no_model_is_refused(tmp_path):
    run = cards.plan_run({"card": "nothing"}, tmp_path, tmp_path, {})
    with pytest.raises(UserError, match="nothing is no folder"):
        cards.entries(run, {}, tmp_path)


@pytest.mark.parametrize("size", cards.SIZES)
def test_the_sizes_are_valid_configurations(tmp_path, size):
    run = cards.plan_run({"card": "lab/m", "card_size": size}, tmp_path, tmp_path, {})
    laid = cards.card_overlay(run, load_yaml(ROOT / f"config/cards/{size}.yaml"))
    merged = merge(load_overlay(ROOT / "config.yaml"), laid)
    validate(merged, configuration_schema(ROOT / "config/schemas"), "card")
    assert (merged["models"], merged["run"], merged["cards"]) == (["m"], "card-m", ["m"])
    prompted = cards.fill(merged, cards.PROMPTED, ["m"])["ruff"]["prompting"]["models"]
    assert prompted == (["m"] if size != "brief" else [])
