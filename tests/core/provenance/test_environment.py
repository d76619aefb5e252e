"""What jobs run with: locked and installed packages, weights and data that these carry, and the commit."""

import subprocess

import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.provenance import closure, environment


def distribution(folder, name, version, **members):
    """Install a package of our own in ``folder``."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    for member, content in members.items():
        path = folder / name / member
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def test_installed_versions_are_those_of_this_environment(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(distribution(tmp_path, "scipy", "99.0"))
    found = environment.installed_versions(["scipy", "pandas", "no-such-package"])
    assert found.keys() == {"scipy", "pandas"}
    assert found["scipy"] == "99.0"


@pytest.mark.parametrize("member", ["file", "folder"])
def test_files_that_packages_carry_are_read_as_they_are_installed(tmp_path, monkeypatch, member):
    folder = distribution(tmp_path, "carrier", "1.0", **{"model/weights": b"abc"})
    monkeypatch.syspath_prepend(folder)
    path = "carrier/model/weights" if member == "file" else "carrier/model"
    flat = {"package": "carrier", "version": "1.0", member: path}
    merged = {"entry": {"source": flat | {"delta": "config/weights/d.safetensors"}}}
    expected = {f"carrier:{path}": ("carrier", path, "1.0")}
    assert environment.package_inputs(flat | {"_code": {}}) == expected
    assert environment.package_inputs({"entries": [{"source": flat}]}) == expected
    assert environment.package_inputs(merged) == {}
    before = environment.package_files(expected)
    assert before == {f"carrier:{path}": files.sha256(folder / path)}
    (folder / "carrier/model/weights").write_bytes(b"abd")
    assert environment.package_files(expected) != before
    assert environment.package_files({"gone:x": ("gone", "x", "1")}) == {}


def test_packages_are_those_the_code_reaches(tmp_path):
    (tmp_path / "a.py").write_text("import json\nfrom pandas import DataFrame\n")
    named = closure.top_level_imports("a.py", tmp_path)
    providers = {"pandas": ["pandas"], "numpy": ["numpy"], "yaml": ["PyYAML"], "pytest": ["pytest"]}
    loaded = ["pandas.core", "numpy", "yaml", "json", "os"]
    assert set(environment.reachable_packages(loaded, named, providers)) == {"pandas", "numpy"}


@pytest.mark.attack("the lock file is deleted", "the audit and every job stop: no version can be checked")
def test_pins_prefer_the_lock_and_normalise_names(tmp_path):
    """The audit compares with pins, and each record has the digests of the lock files."""
    (tmp_path / "requirements.lock").write_text("Py_YAML==6.0 \\\n    --hash=sha256:00\n")
    (tmp_path / "requirements.in").write_text("torch==2.0\npy-yaml==5.0\n")
    (tmp_path / "models.lock").write_text("weights==1.0\n")
    assert environment.read_lock_pins(tmp_path) == {"py-yaml": "6.0", "torch": "2.0", "weights": "1.0"}
    assert set(environment.digest_locks(tmp_path)) == set(environment.LOCKS)
    (tmp_path / "requirements.lock").unlink()
    for read in (environment.read_lock_pins, environment.digest_locks):
        with pytest.raises(UserError, match=r"^requirements\.lock: no such file.*restore it$"):
            read(tmp_path)


def test_a_folder_without_git_has_no_commit(tmp_path):
    assert environment.git_state(tmp_path) is None
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", "-C", tmp_path, *identity, "commit", "-qm", "x", "--allow-empty"], check=True)
    assert environment.git_state(tmp_path)["dirty"] is False
    (tmp_path / "new").write_text("")
    assert environment.git_state(tmp_path)["dirty"] is True
    (tmp_path / "inner").mkdir()
    assert environment.git_state(tmp_path / "inner") is None
