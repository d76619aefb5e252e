"""Configuration files are checked by themselves, without Snakemake."""

import pytest

from scripts import check_config
from tests.conftest import ROOT

# The registry and the list of coreference systems are no overlays.
OTHERS = ("models", "coreference_training")
OVERLAYS = sorted(path.stem for path in (ROOT / "config").glob("*.yaml") if path.stem not in OTHERS)


def test_the_overlays_of_this_project_pass(capsys, monkeypatch):
    """By themselves; the workflow takes all of them together below."""
    monkeypatch.setattr(check_config, "ask_the_workflow", lambda *_: None)
    for name in OVERLAYS:
        path = f"{ROOT}/config/{name}.yaml"
        assert check_config.main([path]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        command = f"run with: snakemake --cores 2 --directory runs/{name} --configfile={path}\n"
        assert printed.out == ("" if name == "test" else command)


def test_the_workflow_takes_the_largest_configuration():
    assert check_config.main([f"{ROOT}/config/all.yaml"]) == 0


def test_coreference_systems_alone_are_a_run(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("models: []\nstudies: [winopron, counter_gap]\nwinopron: {prompting: {models: []}}\ncards: []\n")
    assert check_config.main([str(path)]) == 0


REGISTRY = """models:
  {name}:
    label: Mine
    family: X
    size: 1B
    architecture: decoder
    parameters: 100
    licence: MIT
    gated: false
    demonstration: false
    studies: {{}}
    precision: float32
    gpus: 0
    source: {{path: nowhere/to/be/found}}
"""


@pytest.mark.parametrize(
    ("text", "registry", "message"),
    [
        ("models: [nosuch]", None, "models: 'nosuch' is not in config/models.yaml"),
        ("models: [nosuch]", "mine", "models: 'nosuch' is not in config/models.yaml or {folder}/models.yaml"),
        ("models: [mine]", "mine", "models.mine.source.path: nowhere/to/be/found holds no config.json"),
        ("models: [gpt2]", "gpt2", "{folder}/models.yaml: 'gpt2' is another entry in config/models.yaml"),
        ("studies: [roff]", None, "studies: 'roff'"),
        ("pronoun_sets: [he, she, thay]", None, "has no set 'thay'; did you mean 'they'?"),
        ("ruff: {sample_size: 7}", None, "ruff.sample_size"),
        ("counter_gap: {clusters: [{system: Mine, debiasing: none, data: replica, file: no/clusters.jsonl}]}", None,
         "counter_gap.clusters[0].file: no/clusters.jsonl: no such file; correct the path"),
        ("models: []", None, "models: RUFF reads what models score, and none is named; name one, or leave ruff out of"),
    ],
)  # fmt: skip
def test_what_the_workflow_refuses_is_refused_in_one_line(tmp_path, capsys, text, registry, message):
    if registry:
        (tmp_path / "models.yaml").write_text(REGISTRY.format(name=registry))
        text += f"\nregistry: {tmp_path}/models.yaml"
    path = tmp_path / "mine.yaml"
    path.write_text(f"{text}\n")
    assert check_config.main([str(path)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Error: ") and message.format(folder=tmp_path) in said and said.count("\n") == 1
    assert len(said) < 600


def test_the_folder_of_a_run_is_checked_where_it_is_given(capsys):
    overlay = str(ROOT / "config/ruff.yaml")
    assert check_config.main([overlay, "--directory", "runs/ruff"]) == 0
    assert check_config.main([overlay, "--directory", "runs/other"]) == 1
    assert "rerun with: --directory runs/ruff" in capsys.readouterr().err
    assert check_config.main(["--directory", "runs/none-such"]) == 1
    assert "runs/none-such is the folder of a run" in capsys.readouterr().err


def test_a_run_has_a_name_that_a_folder_can_have(tmp_path, capsys):
    path = tmp_path / "mine.yaml"
    for name in ("../mine", "a/b", "''", ".hidden", "1"):
        path.write_text(f"run: {name}\n")
        assert check_config.main([str(path)]) == 1, name
    assert "run is" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ruff: [1,\n", "line 2: not valid YAML"),
        ("ruff: {alhpa: 0.1}\n", "line 1: unknown key 'ruff.alhpa'"),
    ],
)
def test_bad_overlays_are_named(tmp_path, capsys, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert check_config.main([str(ROOT / "config/test.yaml"), str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Error: ") and "mine.yaml" in line and message in line
