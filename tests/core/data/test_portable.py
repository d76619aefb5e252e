"""Values of records and results name no folder of a machine, and no user."""

import sys

import pytest

from scripts.core.data.portable import make_portable
from scripts.core.provenance import job_records

ROOT = "/somewhere/house"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (
            {1: (f"{ROOT}/config/a.tsv", 2.5, None, True), "set": {"b", "a"}},
            {"1": ["config/a.tsv", 2.5, None, True], "set": ["a", "b"]},
        ),
        (f"{ROOT}-other/a", f"{ROOT}-other/a"),
        # Of a checkpoint's folder elsewhere only the name.
        ({"path": "/data/alice/secret/my-model"}, {"path": "<elsewhere>/my-model"}),
        (["/data/alice"], ["/data/alice"]),
        ({f"{ROOT}/templates/a.tsv": "00"}, {"templates/a.tsv": "00"}),
    ],
    ids=["json", "a neighbour", "a checkpoint", "no path", "keys"],
)
def test_values_are_json_below_the_repository(value, shown):
    assert make_portable(value, ROOT) == shown


def test_a_users_home_is_not_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "alice"))
    (tmp_path / "alice/models").mkdir(parents=True)
    name = make_portable({"path": f"{tmp_path}/alice/models"}, ROOT)["path"]
    assert name == "~/models" and job_records.locate_path(name, ROOT) == tmp_path / "alice/models"
    # The repository comes first where it lies in the home.
    assert make_portable(f"{tmp_path}/alice/house/a", f"{tmp_path}/alice/house") == "a"


@pytest.mark.parametrize("folder", ["env", "shared/env"])
def test_an_environment_elsewhere_is_not_named_by_either_path(tmp_path, monkeypatch, folder):
    (tmp_path / "shared/env/lib").mkdir(parents=True)
    (tmp_path / "env").symlink_to(tmp_path / "shared/env")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
    name = make_portable({"path": f"{tmp_path}/{folder}/lib/weights"}, ROOT)["path"]
    assert name == "<environment>/lib/weights"
    assert job_records.locate_path(name, ROOT) == tmp_path / "env/lib/weights"
    assert make_portable(f"{tmp_path}/env/lib", str(tmp_path)) == "env/lib"


def test_files_of_the_repository_are_called_alike_in_every_folder_of_a_run(tmp_path, monkeypatch):
    (tmp_path / "runs/mine").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "runs/mine")
    found = make_portable(["../../templates/a.tsv", "../../../b.tsv", "results/c.csv"], tmp_path)
    assert found == ["templates/a.tsv", "../../../b.tsv", "results/c.csv"]
