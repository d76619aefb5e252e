"""Runs side by side: each in its own folder, none disturbs another, and each is audited as the others are."""

import re
import shutil

import pytest

from scripts.core import files
from tests.workflow.conftest import TARGETS, audit, type_command

pytestmark = pytest.mark.workflow

# One study, on other settings than those of config/test.yaml; the registry is the repository's.
OTHER = """run: other
studies: [counter_gap]
models: [tiny-opt]
registry: zoo/models.yaml
counter_gap:
  baselines: [nearest, gendered]
  bootstrap: {draws: 300, seed: 2}
"""
FIGURE = "results/counter_gap/figures/replica/cancellation"
IN_FOLDER = ("--directory", "runs/other")


def digests(folder):
    """Return the digest of every file but those in which digests are kept for the next time."""
    return {
        path.relative_to(folder).as_posix(): files.sha256(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != ".digests"
    }


@pytest.fixture(scope="module")
def side_by_side(finished):
    """A finished run and, after it, another one in a folder of its own; with the first one's files before it."""
    (finished.folder / "config/other.yaml").write_text(OTHER, encoding="utf-8")
    before = digests(finished.folder / "results")
    done = finished.snakemake(*IN_FOLDER, "--", *TARGETS, overlay="config/other.yaml")
    assert done.returncode == 0, done.stdout[-6000:]
    return finished, before


def test_two_runs_do_not_disturb_each_other(side_by_side):
    workflow, before = side_by_side
    assert digests(workflow.folder / "results") == before
    assert workflow.planned(*TARGETS) == {}
    assert workflow.planned(*IN_FOLDER, "--", *TARGETS, overlay="config/other.yaml") == {}
    status, printed = audit(workflow.folder)
    assert status == 0, printed
    status, printed = audit(workflow.folder, *IN_FOLDER, f"{FIGURE}.pdf", overlay="config/other.yaml")
    assert status == 0 and "templates/counter_gap/quadruples.tsv: lines" in printed and "../" not in printed, printed
    assert digests(workflow.folder / "results") == before
    assert files.sha256(workflow.folder / f"runs/other/{FIGURE}.csv") != files.sha256(workflow.folder / f"{FIGURE}.csv")
    assert not (workflow.folder / "runs/other/results/ruff").exists()


def test_the_command_of_an_audit_names_the_folder(side_by_side):
    workflow, _ = side_by_side
    figure = workflow.folder / f"runs/other/{FIGURE}.csv"
    kept = figure.read_bytes()
    figure.write_bytes(kept + b"\n")
    (figure.parent / "mine.txt").write_text("x", encoding="utf-8")
    status, printed = audit(workflow.folder, *IN_FOLDER, overlay="config/other.yaml")
    assert status == 1
    commands = [line.partition(", run: ")[2] for line in printed.splitlines() if ", run: " in line]
    assert len(commands) == 1, printed
    done = type_command(commands[0], workflow.folder)
    assert done.returncode == 0, done.stdout
    # What no rule makes is listed, and the user deletes it.
    (figure.parent / "mine.txt").unlink()
    assert figure.read_bytes() == kept
    status, printed = audit(workflow.folder, *IN_FOLDER, overlay="config/other.yaml")
    assert status == 0, printed


def test_the_wrong_folder_is_refused_in_one_line(side_by_side):
    workflow, before = side_by_side
    told = "which has its own folder; rerun with: --directory runs/other"
    done = workflow.snakemake("plan", overlay="config/other.yaml")
    assert done.returncode == 1
    assert re.search(rf"^Error: .*{re.escape(told)}$", done.stdout, flags=re.MULTILINE), done.stdout
    status, printed = audit(workflow.folder, overlay="config/other.yaml")
    assert status == 2
    assert told in printed
    done = workflow.snakemake(*IN_FOLDER, "--", "figures")
    assert done.returncode == 1
    assert "runs/other is the folder of a run, and this configuration has no key run" in done.stdout
    assert digests(workflow.folder / "results") == before


@pytest.mark.nightly
def test_a_moved_repository_takes_its_runs_with_it(side_by_side, tmp_path):
    workflow, _ = side_by_side
    moved = type(workflow).of(tmp_path / "moved")
    shutil.copytree(workflow.folder, moved.folder, symlinks=True)
    assert moved.planned(*IN_FOLDER, "--", *TARGETS, overlay="config/other.yaml") == {}
    status, printed = audit(moved.folder, *IN_FOLDER, overlay="config/other.yaml")
    assert status == 0, printed
