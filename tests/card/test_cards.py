"""From what is asked for to the run of a card."""

import json
from pathlib import Path

import pytest

from scripts.card import __main__ as command
from scripts.core.config import configuration_schema, load_overlay, load_yaml, merge, validate
from scripts.core.errors import UserError
from scripts.core.models import cards
from tests.core.models.test_descriptions import BERT

ROOT = Path(__file__).parents[2]


def test_a_card_has_a_run_of_its_own():
    run = cards.plan_run(["lab/My_Model-7B@v2"], {})
    assert (list(run.models), run.name) == (["my-model-7b-v2"], "card-my-model-7b-v2")
    assert cards.plan_run(["bert-base"], {"bert-base": {}}).unknown == {}
    several = cards.plan_run(["lab/M", "bert-base"], {"bert-base": {}})
    assert (several.name, several.unknown) == ("card-m-and-bert-base", {"m": "lab/M"})


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        (["lab/m", "other/M"], "lab/m and other/M are both called m; list each model once"),
        (["a", "b", "c", "d", "e"], "5 models do not fit on a card; list up to 4"),
    ],
)
def test_what_has_no_card_is_refused_in_one_line(requests, said):
    with pytest.raises(UserError, match=said):
        cards.plan_run(requests, {})


def test_facts_about_one_model_are_not_stated_of_two(tmp_path):
    run = cards.plan_run(["lab/a", "lab/b"], {})
    with pytest.raises(UserError, match="label: a and b cannot have the same; describe the models in a registry"):
        cards.described_entries(run, {"label": "Mine", "licence": "MIT"}, tmp_path, tmp_path / "none")


@pytest.mark.parametrize("asked", ["checkpoints/tiny", "exp@2/tiny"])
def test_the_command_writes_overlay_and_registry(tmp_path, monkeypatch, capsys, asked):
    """A checkpoint is found where the command is typed, and the run's folder is that of its card alone."""
    for name in ("config", "config.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / asked
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(BERT), encoding="utf-8")
    assert command.main([asked, "licence=MIT", "--size", "brief"]) == 0
    place = "runs/card-tiny"
    assert capsys.readouterr().out == f"snakemake --cores 8 card --directory {place} --configfile={place}/card.yaml\n"
    overlay = load_overlay(tmp_path / place / "card.yaml")
    assert (overlay["run"], overlay["cards"], overlay["models"]) == ("card-tiny", ["tiny"], ["tiny"])
    entry = load_yaml(tmp_path / overlay["registry"])["models"]["tiny"]
    assert (entry["source"], entry["architecture"], entry["licence"]) == ({"path": str(folder)}, "encoder", "MIT")
    (folder / "config.json").rename(tmp_path / "config.json")
    elsewhere = tmp_path / "elsewhere/tiny"
    elsewhere.mkdir(parents=True)
    (tmp_path / "config.json").rename(elsewhere / "config.json")
    assert command.main(["elsewhere/tiny", "licence=MIT"]) == 1
    said = capsys.readouterr().err
    assert f"runs/card-tiny is the run of {folder}, not of elsewhere/tiny" in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "nothing is no folder, no owner/name of the Hub and no model"),
        (["licence=MIT"], "name a model"),
        (["lab/m", "parameters=many"], "parameters: 'many' is not a whole number"),
    ],
)
def test_what_is_no_model_is_refused(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    assert command.main(words) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("size", cards.SIZES)
def test_the_sizes_are_valid_configurations(size):
    laid = cards.card_overlay(cards.plan_run(["lab/m"], {}), load_yaml(ROOT / f"config/cards/{size}.yaml"), ["m"])
    merged = merge(load_overlay(ROOT / "config.yaml"), laid)
    validate(merged, configuration_schema(ROOT / "config/schemas"), "card")
    assert (merged["models"], merged["run"], merged["cards"]) == (["m"], "card-m", ["m"])
    assert merged["ruff"]["prompting"]["models"] == (["m"] if size != "brief" else [])
