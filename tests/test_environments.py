"""The conda environments, the lock files and the direct requirements name the same versions."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.core.workflow import environments

ROOT = Path(__file__).parents[1]


def pins(path):
    found = re.findall(
        r"^([a-zA-Z0-9_.-]+)==([^\s\\;]+)", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    return {name.lower().replace("_", "-"): version for name, version in found}


LOCKED = pins("requirements.lock") | pins("requirements.in") | pins("models.lock")


def test_conda_environments_have_the_versions_of_the_lock():
    for path in (ROOT / "envs").glob("*.yaml"):
        environment = yaml.safe_load(path.read_text(encoding="utf-8"))
        listed = next(d["pip"] for d in environment["dependencies"] if isinstance(d, dict))
        assert listed, path
        # An environment with a lock of its own has the packages of that.
        own = path.with_suffix(".lock")
        locked = pins(own) | pins(own.with_suffix(".in")) if own.exists() else LOCKED
        for requirement in listed:
            name, _, version = requirement.partition("==")
            assert locked.get(name) == version, f"{path.name}: {requirement}, but the lock has {locked.get(name)}"


def test_post_deploy_installs_the_locked_model_packages():
    text = (ROOT / "envs/scoring.post-deploy.sh").read_text(encoding="utf-8")
    assert dict(re.findall(r"([a-z0-9-]+)==([0-9.]+)", text)) == pins("models.lock")


def test_an_interpreter_in_a_folder_with_blanks_has_a_path_without(tmp_path):
    """Snakemake writes it into a shell command without quotes."""
    assert environments.without_blanks(sys.executable) == sys.executable
    folder = tmp_path / "my project" / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    found = environments.without_blanks(str(folder / "bin/python"))
    assert " " not in found
    done = subprocess.run(f"{found} -c 'import sys; print(sys.prefix)'", shell=True, capture_output=True, text=True)
    assert Path(done.stdout.strip()).resolve() == folder.resolve(), done.stderr


def test_registry_packages_are_locked():
    registry = yaml.safe_load((ROOT / "config/models.yaml").read_text(encoding="utf-8"))["models"]
    sources = [entry.get("source", {}) for entry in registry.values()]
    packaged = {source["package"]: source["version"] for source in sources if "package" in source}
    assert packaged == pins("models.lock")


def test_a_lock_that_cannot_be_renewed_is_named():
    """Before anything is installed or written."""
    command = ["bash", ROOT / "envs/lock.sh", "envs/dosc.lock"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = "Error: envs/dosc.lock: there is no envs/dosc.in to make it from"
    assert done.returncode == 1 and done.stderr.startswith(said)


def test_every_requirement_of_an_in_file_is_in_its_lock():
    """The test of a lock that was forgotten: names and, where the file pins one, the version."""
    for path in [ROOT / "requirements.in", *(ROOT / "envs").glob("*.in")]:
        text = re.sub(r"\[[\w,]+\]", "", path.read_text(encoding="utf-8"))
        locked = pins(path.with_suffix(".lock").relative_to(ROOT))
        for name, pinned in re.findall(r"^([\w.-]+)(?:==([^\s;]+))?", text, flags=re.MULTILINE):
            if name != "torch":
                version = locked.get(name.lower().replace("_", "-"))
                assert version and (not pinned or pinned == version), f"{path.name}: {name}; renew the lock (make lock)"


def test_locks_name_no_index_and_hash_everything_but_torch():
    for lock in ["requirements.lock", *(f"envs/{path.name}" for path in (ROOT / "envs").glob("*.lock"))]:
        text = (ROOT / lock).read_text(encoding="utf-8")
        assert "://" not in text, lock
        assert pins(lock) and "torch" not in pins(lock), lock
        pinned = re.findall(r"^\S+==.*$", text, flags=re.MULTILINE)
        hashed = re.findall(r"^(\S+==.*)\n\s*--hash=sha256:", text, flags=re.MULTILINE)
        assert pinned == hashed, lock


def test_shell_scripts_parse():
    for script in (ROOT / "envs").glob("*.sh"):
        subprocess.run(["bash", "-n", script], check=True)


@pytest.fixture
def checkout(tmp_path):
    """A folder with the set-up, a virtual environment that it takes for finished, and a command in it."""
    folder = tmp_path / "before"
    shutil.copytree(ROOT / "envs", folder / "envs")
    for name in ("requirements.lock", "requirements.in", "models.lock"):
        shutil.copy2(ROOT / name, folder / name)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    for name in ("pip", "hello"):
        command = folder / f".venv/bin/{name}"
        command.write_text(f"#!{folder}/.venv/bin/python3\nimport sys\nprint(sys.prefix)\n", encoding="utf-8")
        command.chmod(0o755)
    (folder / ".venv/bin/binary").write_bytes(b"\x7fELF\0" + f"{folder}/.venv".encode())
    stamp = 'echo "$("$PYTHON" -V) $(cat requirements.lock requirements.in models.lock | sha256sum)" > .venv/stamp'
    subprocess.run(["bash", "-c", stamp], cwd=folder, env=SETUP, check=True)
    return folder


SETUP = {**os.environ, "PYTHON": sys.executable}


def set_up(folder, **environment):
    command = ["bash", "envs/setup.sh"]
    return subprocess.run(
        command, cwd=folder, env=SETUP | environment, capture_output=True, text=True, check=True, timeout=60
    ).stdout


def hello(folder):
    return subprocess.run([folder / ".venv/bin/hello"], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("way", [shutil.copytree, shutil.move])
def test_a_copied_or_moved_checkout_runs_its_own_environment(checkout, way):
    # One name within the other, as when a folder is moved into another.
    after = checkout.parent / "x" / str(checkout).lstrip("/")
    after.parent.mkdir(parents=True)
    way(checkout, after, **({"symlinks": True} if way is shutil.copytree else {}))
    assert "was made in another folder" in set_up(after)
    assert hello(after) == f"{after}/.venv"
    activated = subprocess.run(
        ["bash", "-c", "source .venv/bin/activate && hello"], cwd=after, capture_output=True, text=True, check=True
    )
    assert activated.stdout.strip() == f"{after}/.venv"
    assert (after / ".venv/bin/binary").read_bytes().endswith(f"{checkout}/.venv".encode())
    if way is shutil.copytree:
        assert hello(checkout) == f"{checkout}/.venv"
    # Once is enough.
    assert set_up(after) == ""
    assert hello(after) == f"{after}/.venv"


def test_an_environment_in_its_place_is_left_alone(checkout):
    before = {path: path.read_bytes() for path in (checkout / ".venv/bin").iterdir() if not path.is_symlink()}
    assert set_up(checkout) == ""
    # As on macOS, which has no sha256sum.
    tools = checkout.parent / "tools"
    tools.mkdir()
    for name in ("bash", "dirname", "git", "cat", "sed", "head", "readlink"):
        (tools / name).symlink_to(shutil.which(name))
    (tools / "shasum").write_text(f'#!/bin/bash\n[[ "$*" == "-a 256" ]] && {shutil.which("sha256sum")}\n')
    (tools / "shasum").chmod(0o755)
    assert set_up(checkout, PATH=str(tools)) == ""
    assert {path: path.read_bytes() for path in before} == before


def test_a_linked_environment_is_left_alone(checkout):
    """An environment that several checkouts share belongs to the folder that it is in."""
    other = checkout.parent / "other"
    shutil.copytree(checkout, other, ignore=shutil.ignore_patterns(".venv"))
    (other / ".venv").symlink_to(checkout / ".venv")
    assert set_up(other) == ""
    assert hello(other) == f"{checkout}/.venv"
