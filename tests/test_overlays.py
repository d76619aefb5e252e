"""The overlays that are shipped: their heads say what a plan says, and their commands work as printed."""

import functools
import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest

from scripts.core.config import load_yaml
from scripts.core.models import costs
from scripts.planning import plan
from tests import forks
from tests.workflow.conftest import Workflow, bring_ontonotes

ROOT = Path(__file__).parents[1]
OTHERS = ("models", "test", "coreference_training")
NAMES = sorted(path.stem for path in (ROOT / "config").glob("*.yaml") if path.stem not in OTHERS)
NO_MODEL = "no study of this run reads a model: nothing to plan, no weights to download"


def head(name):
    """Return the comment that an overlay begins with: its paragraphs, each in one line."""
    lines = (ROOT / f"config/{name}.yaml").read_text(encoding="utf-8").splitlines()
    comment = [
        line.removeprefix("#").strip() for line in lines[: next(n for n, line in enumerate(lines) if line[:1] != "#")]
    ]
    return [" ".join(part.split("\n")) for part in "\n".join(comment).split("\n\n")]


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """Returns the params of the rule ``plan`` under an overlay; nothing is fetched or made."""

    @functools.cache
    def params(name):
        place = tmp_path_factory.mktemp("runs") / name
        place.mkdir()
        arguments = ["plan", "--configfile", ROOT / f"config/{name}.yaml"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = forks.run_module("scripts.provenance.expected_jobs", arguments, place, environment, apart=True)
        assert done.returncode == 0, done.stderr
        (job,) = json.loads(done.stdout)["jobs"]
        assert not job["inputs"]
        return job["params"]

    return params


def rows(params):
    """Return the plan of an overlay."""
    return pd.DataFrame(params["rows"], columns=costs.PLAN_COLUMNS)


@pytest.mark.parametrize("name", NAMES)
def test_the_head_tells_the_plan(planned, name):
    params = planned(name)
    frame = rows(params)
    told = NO_MODEL if frame.empty else plan.describe_totals(frame)
    (said,) = [part for part in head(name) if part.startswith("Plan: ")]
    assert said.startswith(f"Plan: {told}."), f"{name}.yaml should say: Plan: {told}."


def test_one_gpu_works_for_a_night(planned):
    frame = rows(planned("one_gpu"))
    mine = frame[frame.device == "RTX-4090"]
    assert set(frame.device) == set(load_yaml(ROOT / "config.yaml")["planning"]["gpus"])
    assert (mine.gpus == 1).all()
    assert 5 < mine.hours.sum() <= 10


def test_all_has_each_study_s_models(planned):
    """Nothing of MISGENDERED's is scored for RUFF or WinoPron, nor of theirs for MISGENDERED."""
    jobs = {}
    for part in planned("all")["rows"]:
        if part["rule"] == "score":
            jobs.setdefault(f"{part['study']}/{part['set']}", set()).add(part["model"])
    ruff, misgendered = (load_yaml(ROOT / f"config/{name}.yaml") for name in ("ruff", "misgendered"))
    few_shot = misgendered["misgendered"]["few_shot"]
    assert jobs == {
        "ruff/official": set(ruff["models"]),
        "winopron/official": set(ruff["models"]),
        "misgendered/official": set(misgendered["models"]),
        **{f"misgendered/official_few_{shots}": set(few_shot["models"]) for shots in few_shot["shots"]},
    }
    assert load_yaml(ROOT / "config/all.yaml")["misgendered"] == {
        "models": misgendered["models"], **misgendered["misgendered"]
    }  # fmt: skip


def test_every_overlay_is_a_run_of_its_studies():
    overlays = {name: load_yaml(ROOT / f"config/{name}.yaml") for name in NAMES}
    assert {name: overlay["run"] for name, overlay in overlays.items()} == {name: name for name in NAMES}
    assert all(overlay["studies"] for overlay in overlays.values())
    assert load_yaml(ROOT / "config.yaml").get("run") is None


def commands(name):
    text = (ROOT / f"config/{name}.yaml").read_text(encoding="utf-8")
    return [shlex.split(line) for line in re.findall(r"^#   (snakemake .+)$", text, flags=re.MULTILINE)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    workflow = Workflow(tmp_path_factory.mktemp("site"))
    shutil.copytree(ROOT / "slurm", workflow.folder / "slurm")
    bring_ontonotes(workflow.folder)
    return workflow.folder


@pytest.mark.workflow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in ("all", "one_gpu") else [pytest.mark.nightly]) for name in NAMES]
)
def test_the_commands_of_the_head_work_as_printed(site, name):
    assert commands(name)
    for command in commands(name):
        assert command[-3:] == ["--directory", f"runs/{name}", f"--configfile=config/{name}.yaml"]
        module, *arguments = command
        done = forks.run_module(module, [*arguments, "--dry-run", "--quiet", "rules"], site)
        assert done.returncode == 0, done.stdout
        jobs = dict(re.findall(r"^(\S+) +(\d+)$", done.stdout, flags=re.MULTILINE))
        assert int(jobs["total"]) > 20
        chosen = load_yaml(ROOT / f"config/{name}.yaml")["studies"]
        others = [
            study for study in ("ruff", "counter_gap", "underspecification") if study not in chosen and chosen != "all"
        ]
        assert not [rule for rule in jobs if rule.startswith(tuple(f"{study}_" for study in others))]
        assert (site / "runs" / name).is_dir()
    assert not (site / "results").exists()
