"""One file to upload, packed from a small repository with a finished run."""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ("scripts/release.sh", "CITATION.cff", "CHANGELOG.md", "LICENSE", "requirements.lock", "models.lock")
RESULTS = ("results/paper/main.pdf", "results/paper/manifest.sha256", "results/crate/run.crate.zip")


def run(*command, folder):
    who = {f"GIT_{role}_{field}": "x@y" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **who}, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def repository(tmp_path):
    for name in SOURCE:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    for command in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "All")):
        done = run("git", *command, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    for name in RESULTS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def test_a_release_holds_source_locks_and_results_with_their_digests(repository):
    done = run("bash", "scripts/release.sh", folder=repository)
    assert done.returncode == 0, done.stderr
    with tarfile.open(repository / done.stdout.strip()) as packed:
        packed.extractall(repository / "unpacked", filter="data")
    (folder,) = (repository / "unpacked").iterdir()
    assert done.stdout == f"release/{folder.name}.tar.gz\n"
    named = {Path(name).name for name in (*SOURCE[1:], *RESULTS)} | {"source.tar.gz", "SHA256SUMS"}
    assert {path.name for path in folder.iterdir()} == named
    assert (folder / "main.pdf").read_text() == "results/paper/main.pdf"
    assert run("sha256sum", "--check", "--strict", "SHA256SUMS", folder=folder).stdout.count(": OK\n") == len(named) - 1
    with tarfile.open(folder / "source.tar.gz") as source:
        files = {member.name.removeprefix(f"{folder.name}/") for member in source if member.isfile()}
    assert files == set(SOURCE)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("rm results/crate/run.crate.zip", "results/crate/run.crate.zip is missing; make it: snakemake"),
        ("echo >> LICENSE", "files differ from the last commit; commit them"),
        ("sed -i s/^version:.*/version:\\ 99/ CITATION.cff", "CHANGELOG.md has no heading '## 99 (DATE)'; add it"),
    ],
    ids=["no crate", "uncommitted", "no heading"],
)
def test_what_is_incomplete_is_not_released(repository, spoil, said):
    assert run("bash", "-c", spoil, folder=repository).returncode == 0
    done = run("bash", "scripts/release.sh", folder=repository)
    assert done.returncode == 1 and said in done.stderr
    assert not (repository / "release").exists()
