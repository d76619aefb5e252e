"""Folders of runs: which configuration may run where, and by which paths a run names files of the repository."""

from pathlib import Path

import pytest

from scripts.core.workflow import runs
from tests.refusals import refused

ROOT = Path("/project")


@pytest.mark.parametrize(
    ("name", "folder"),
    [(None, "/project"), (None, "/elsewhere"), ("ruff", "/project/runs/ruff"), ("ruff", "/scratch/ruff")],
)
def test_a_run_belongs_into_the_folder_of_its_name(name, folder):
    runs.check_folder(name, folder, ROOT)


@pytest.mark.parametrize(
    ("name", "folder", "told"),
    [
        ("ruff", "/project", "rerun with: --directory runs/ruff"),
        ("ruff", "/project/runs/all", "rerun with: --directory runs/ruff"),
        (None, "/project/runs/all", "runs/all is the folder of a run, and this configuration has no key run"),
    ],
)
def test_any_other_folder_is_refused_in_one_line(name, folder, told):
    with refused(told):
        runs.check_folder(name, folder, ROOT)


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("config.yaml", "/project", "config.yaml"),
        ("config.yaml", "/project/runs/ruff", "../../config.yaml"),
        ("config.yaml", "/", "project/config.yaml"),
        ("config.yaml", "/elsewhere", "/project/config.yaml"),
        ("/data/x", "/project/runs/ruff", "/data/x"),
    ],
)
def test_paths_survive_a_move_of_the_repository_where_they_can(path, folder, expected):
    assert runs.in_repository(path, folder, ROOT) == expected


def test_files_that_a_configuration_names_are_the_runs_or_the_repositorys(tmp_path):
    own = tmp_path / "runs/mine"
    own.mkdir(parents=True)
    assert runs.resolve_path("models.yaml", own, tmp_path) == "../../models.yaml"
    (own / "models.yaml").write_text("")
    assert runs.resolve_path("models.yaml", own, tmp_path) == "models.yaml"
    assert runs.resolve_path("~/models", own, tmp_path) == "~/models"


def test_a_setting_comes_from_the_last_file_that_has_it(tmp_path):
    (tmp_path / "config.yaml").write_text("a: {b: 1, c: 2}\n")
    (tmp_path / "one.yaml").write_text("a: {b: 3}\n")
    (tmp_path / "two.yaml").write_text("d: 1\n")
    overlays = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    assert runs.set_in("a.b", overlays, tmp_path) == str(tmp_path / "one.yaml")
    assert runs.set_in("a.c", overlays, tmp_path) == str(tmp_path / "config.yaml")
