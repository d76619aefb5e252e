"""Configuration files are checked by themselves, without Snakemake."""

import pytest

from scripts import check_config
from tests.conftest import ROOT

# The registry and the lists of coreference systems are no overlays.
OTHERS = ("models", "coreference_training", "coreference_conversion")
OVERLAYS = sorted(path.stem for path in (ROOT / "config").glob("*.yaml") if path.stem not in OTHERS)


@pytest.mark.parametrize("name", OVERLAYS)
def test_the_overlays_of_this_project_pass(name, capsys):
    path = f"{ROOT}/config/{name}.yaml"
    assert check_config.main([path]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    command = f"run it with: snakemake --cores 2 --directory runs/{name} --configfile {path}\n"
    assert printed.out == ("" if name == "test" else command)


def test_the_folder_of_a_run_is_checked_where_it_is_given(capsys):
    overlay = str(ROOT / "config/ruff.yaml")
    assert check_config.main([overlay, "--directory", "runs/ruff"]) == 0
    assert check_config.main([overlay, "--directory", "runs/other"]) == 1
    assert "add to the command: --directory runs/ruff" in capsys.readouterr().err


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
        ("", "has no key; write one or leave the file out"),
        ("ruff:\n  alpha: 0.1\n  alpha: 0.2\n", "line 3: not valid YAML: the key 'alpha' is given twice"),
        ("ruff: {alhpa: 0.1}\n", "unknown key 'ruff.alhpa'; did you mean 'alpha'?"),
        ("ruff: {alpha: .inf}\n", "ruff.alpha is '.inf'; expected a finite number"),
        ("ruff: {alpha: .nan}\n", "ruff.alpha is '.nan'; expected a finite number"),
        ("ruff: {seeds: [13, 17, 13]}\n", "ruff.seeds: '13' is listed twice; remove one"),
        ("ruff: {distractors: [0]}\n", "ruff.distractors has 1 entry; expected at least 2"),
        ("scoring: {minutes_per_job: 1.0e-9}\n", "minutes_per_job is '1e-09'; expected at least 0.0001"),
    ],
)
def test_bad_overlays_are_named(tmp_path, capsys, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert check_config.main([str(ROOT / "config/test.yaml"), str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Error: ") and "mine.yaml" in line and message in line
