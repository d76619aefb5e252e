"""The conda environments, the lock files and the direct requirements name the same versions."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]


def pins(path):
    found = re.findall(
        r"^([a-zA-Z0-9_.-]+)==([^\s\\;]+)", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    return {name.lower().replace("_", "-"): version for name, version in found}


LOCKED = pins("requirements.lock") | pins("requirements.in") | pins("models.lock")


@pytest.mark.parametrize("path", sorted((ROOT / "envs").glob("*.yaml")), ids=lambda p: p.name)
def test_conda_environment_has_the_versions_of_the_lock(path):
    environment = yaml.safe_load(path.read_text(encoding="utf-8"))
    listed = next(d["pip"] for d in environment["dependencies"] if isinstance(d, dict))
    assert listed
    for requirement in listed:
        name, _, version = requirement.partition("==")
        assert LOCKED.get(name) == version, f"{path.name}: {requirement}, but the lock has {LOCKED.get(name)}"


def test_post_deploy_installs_the_locked_model_packages():
    text = (ROOT / "envs/scoring.post-deploy.sh").read_text(encoding="utf-8")
    assert dict(re.findall(r"([a-z0-9-]+)==([0-9.]+)", text)) == pins("models.lock")


def test_registry_packages_are_locked():
    registry = yaml.safe_load((ROOT / "config/models.yaml").read_text(encoding="utf-8"))["models"]
    sources = [entry.get("source", {}) for entry in registry.values()]
    packaged = {source["package"]: source["version"] for source in sources if "package" in source}
    assert packaged == pins("models.lock")


def test_lock_names_no_index_and_hashes_everything_but_torch():
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in text
    assert "torch" not in pins("requirements.lock")
    for line in re.findall(r"^\S+==.*$", text, flags=re.MULTILINE):
        following = text[text.index(line) + len(line) :].lstrip()
        assert following.startswith("--hash=sha256:"), line


@pytest.mark.parametrize("script", sorted((ROOT / "envs").glob("*.sh")), ids=lambda p: p.name)
def test_shell_scripts_parse(script):
    subprocess.run(["bash", "-n", script], check=True)
