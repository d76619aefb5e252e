"""Runs of the real workflow compared: with themselves, and after one change of a kind."""

import json
import shutil

import pytest

from scripts.core.provenance.job_records import checksum
from tests import forks
from tests.workflow.conftest import PAPER, Workflow

pytestmark = pytest.mark.workflow
TARGETS = ("results/paper/summary.csv", "results/misgendered/tables/findings.csv")


def compare(code, a, b, folder):
    """Compare two runs with the command; return its exit status, what it printed, and the comparison."""
    arguments = [a, b, "--exit-code", "--no-pdf", "--directory", folder]
    done = forks.run_module("scripts.compare", arguments, code, kind="job", apart=True)
    assert "Traceback" not in done.stderr, done.stderr
    written = folder / "results/compare/comparison.json"
    return done.returncode, done.stdout + done.stderr, json.loads(written.read_text()) if written.is_file() else None


@pytest.fixture
def copied(finished, tmp_path):
    return Workflow.of(shutil.copytree(finished.folder, tmp_path / "copy", symlinks=True))


def named(result):
    return [(cause["kind"], cause["name"], list(cause["results"])) for cause in result["causes"]]


def test_a_run_is_the_same_as_itself_and_every_headline_is_compared_on_instances(finished, tmp_path):
    status, printed, result = compare(finished.folder, finished.folder, finished.folder, tmp_path)
    assert (status, result["differs"], result["causes"]) == (0, False, [])
    assert f"{finished.folder.name} and {finished.folder.name} do not differ." in printed
    assert {entry["study"] for entry in result["estimates"]} == {
        "ruff", "counter_gap", "misgendered", "underspecification", "winopron",
    }  # fmt: skip
    assert [entry["note"] for entry in result["estimates"] if entry["note"] or not entry["paired"]] == []


def test_a_package_of_another_version_is_the_only_cause(finished, copied, tmp_path):
    for path in (copied.folder / "results/provenance/score").glob("*study=ruff*.json"):
        record = json.loads(path.read_text())
        record["packages"]["torch"] = "9.9"
        path.write_text(json.dumps(record | {"checksum": checksum(record)}))
    status, printed, result = compare(finished.folder, finished.folder, copied.folder, tmp_path / "out")
    assert (status, named(result)) == (0, [("package", "torch", ["ruff"])])
    assert "have the same results, although their records differ: package torch" in printed


def test_a_seed_is_the_only_cause(finished, copied, tmp_path):
    overlay = copied.folder / "config/test.yaml"
    text, mark, rest = overlay.read_text().partition("misgendered:\n")
    overlay.write_text(text + mark + rest.replace("draws: 200, seed: 1", "draws: 200, seed: 2", 1))
    done = copied.snakemake(*TARGETS)
    assert done.returncode == 0, done.stdout
    _, _, result = compare(finished.folder, finished.folder, copied.folder, tmp_path / "out")
    assert named(result) == [("parameter", "seed", ["misgendered"])]


def test_one_edited_template_row_is_named_by_the_target(finished, copied):
    path = copied.folder / "templates/misgendered/templates.tsv"
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[9] = lines[9].replace(" the ", " that ", 1)
    path.write_text("\n".join(lines), encoding="utf-8")
    done = copied.snakemake(*TARGETS)
    assert done.returncode == 0, done.stdout
    done = finished.snakemake("compare", "--config", f"run_a={finished.folder}", f"run_b={copied.folder}")
    assert done.returncode == 0, done.stdout
    folder = finished.folder / f"runs/compare-default-{copied.folder.name}/results/compare"
    assert {path.suffix for path in folder.iterdir()} >= {".html", ".json"} | ({".pdf"} if PAPER == "paper" else set())
    result = json.loads((folder / "comparison.json").read_text())
    assert named(result) == [("template row", "templates/misgendered/templates.tsv:10", ["misgendered"])]
    apart = [entry for entry in result["estimates"] if entry["differs"]]
    assert apart
    assert {(entry["study"], entry["paired"]) for entry in apart} == {("misgendered", False)}
    # The models of one run, and what the target says where there is nothing to compare.
    done = finished.snakemake("compare")
    assert "compare takes two runs: snakemake compare --cores 2 --config run_a=runs/A run_b=runs/B" in done.stdout
    assert done.returncode == 1
    models = [f"{finished.folder}:tiny-opt", f"{finished.folder}:tiny-llama"]
    _, printed, result = compare(finished.folder, *models, copied.folder / "runs/models")
    assert named(result)[0][:2] == ("model", "model")
    assert all(entry["paired"] for entry in result["estimates"])
    assert "Cause on record: model (tiny-opt → tiny-llama)." in printed
