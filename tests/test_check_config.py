"""Configuration files are checked by themselves, without Snakemake."""

import pytest

from scripts import check_config
from tests.conftest import ROOT


@pytest.mark.parametrize("name", ["full", "underspecification", "test"])
def test_the_overlays_of_this_project_pass(name, capsys):
    assert check_config.main([str(ROOT / f"config/{name}.yaml")]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ruff: [1,\n", "line 2: not valid YAML"),
        ("", "has no key; write one or leave the file out"),
        ("ruff:\n  alpha: 0.1\n  alpha: 0.2\n", "line 3: not valid YAML: the key 'alpha' is given twice"),
        ("ruff: {alhpa: 0.1}\n", "unknown key 'ruff.alhpa'; did you mean 'alpha'?"),
        ("ruff: {alpha: .inf}\n", "ruff.alpha is '.inf'; expected a finite number"),
    ],
)
def test_bad_overlays_are_named(tmp_path, capsys, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert check_config.main([str(ROOT / "config/test.yaml"), str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Error: ") and "mine.yaml" in line and message in line
