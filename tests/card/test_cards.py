"""From what is asked for to the run of a card."""

import json
from pathlib import Path

import pytest

from scripts.core.config import configuration_schema, load_overlay, load_yaml, merge, validate
from scripts.core.engines import cards, descriptions
from scripts.core.errors import UserError
from tests.card.test_descriptions import BERT, LLAMA, described

ROOT = Path(__file__).parents[2]
ENCODER = {"architecture": "encoder"}
CHAT = {"architecture": "decoder", "prompt_wrapping": "chat_template"}


class Unreachable:
    """A hub that must not be asked."""

    def model_info(self, *arguments, **options):
        raise AssertionError("asked the hub again")


def test_a_card_has_a_run_of_its_own(tmp_path):
    run = cards.plan_run({"card": "lab/My_Model-7B@v2"}, tmp_path, tmp_path, {})
    assert (list(run.models), run.run, run.size) == (["my-model-7b"], "card-my-model-7b", "quick")
    assert run.folder == tmp_path / "runs/card-my-model-7b"
    # A job runs in that folder.
    assert cards.plan_run({"card": "lab/My_Model-7B@v2"}, run.folder, tmp_path, {}).folder == run.folder
    registered = cards.plan_run({"card": "bert-base", "card_size": "full"}, tmp_path, tmp_path, {"bert-base": {}})
    assert (registered.models, registered.size) == ({"bert-base": "bert-base"}, "full")
    several = cards.plan_run({"card": "lab/M, bert-base"}, tmp_path, tmp_path, {"bert-base": {}})
    assert (several.run, several.unknown) == ("card-m-and-bert-base", ("m",))


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


def test_models_that_cannot_share_a_card(tmp_path):
    with pytest.raises(UserError, match=r"no study in common \(a: RUFF; b: none\); make a card for each"):
        cards.check_studies({"a": ["RUFF"], "b": []})
    cards.check_studies({"a": ["RUFF", "WinoPron"], "b": ["WinoPron"]})
    run = cards.plan_run({"card": "lab/a,lab/b"}, tmp_path, tmp_path, {})
    with pytest.raises(UserError, match="label: a and b cannot have the same; describe the models in a registry"):
        cards.entries(run, {"label": "Mine", "licence": "MIT"}, {}, tmp_path)


def test_the_hub_is_asked_once_and_the_commit_is_kept(tmp_path):
    (tmp_path / "hub").mkdir()
    found, hub = described(tmp_path / "hub", LLAMA)
    run = cards.plan_run({"card": "lab/Model-7B"}, tmp_path, tmp_path, {})
    assert cards.describe_checkpoint(run, tmp_path, hub) == {"model-7b": found}
    assert cards.describe_checkpoint(run, tmp_path, Unreachable()) == {"model-7b": found}
    other = cards.plan_run({"card": "other/Model-7B"}, tmp_path, tmp_path, {})
    with pytest.raises(UserError, match="is the run of lab/Model-7B, not of other/Model-7B"):
        cards.describe_checkpoint(other, tmp_path, Unreachable())


def test_what_is_no_model_is_refused(tmp_path):
    run = cards.plan_run({"card": "nothing"}, tmp_path, tmp_path, {})
    with pytest.raises(UserError, match="nothing is no folder"):
        cards.describe_checkpoint(run, tmp_path, Unreachable())


@pytest.mark.parametrize("size", cards.SIZES)
@pytest.mark.parametrize("entry", [ENCODER, CHAT])
def test_the_sizes_are_valid_configurations(tmp_path, size, entry):
    run = cards.plan_run({"card": "lab/m", "card_size": size}, tmp_path, tmp_path, {})
    laid = cards.card_overlay(run, {"m": entry}, load_yaml(ROOT / f"config/cards/{size}.yaml"))
    merged = merge(load_overlay(ROOT / "config.yaml"), laid)
    validate(merged, configuration_schema(ROOT / "config/schemas"), "card")
    assert merged["models"] == ["m"]
    assert merged["run"] == "card-m"
    prompted = entry is CHAT and size != "brief"
    assert merged["ruff"]["prompting"]["models"] == (["m"] if prompted else [])


@pytest.mark.parametrize(
    ("asked", "name"), [("checkpoints/tiny", "tiny"), ("exp@2/ckpt", "ckpt"), ("tiny@3", "tiny-3")]
)
def test_a_folder_is_found_where_the_command_is_typed(tmp_path, asked, name):
    folder = tmp_path / asked
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(BERT), encoding="utf-8")
    run = cards.plan_run({"card": asked}, tmp_path, tmp_path, {})
    found = cards.describe_checkpoint(run, tmp_path)[name]
    assert found["source"] == {"path": str(folder)}
    assert descriptions.entry_of(found, {"licence": "MIT"})["architecture"] == "encoder"
