"""Runs of the real workflow compared: with themselves, and after one change of a kind."""

import json
import shutil

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.provenance.job_records import checksum
from tests import forks
from tests.workflow.conftest import Workflow

pytestmark = pytest.mark.workflow


def compare(finished, a, b, folder):
    """Compare two runs with the command; return its exit status, what it printed, and the tables."""
    arguments = [a, b, "--exit-code", "--output", folder]
    done = forks.run_module("scripts.compare", arguments, finished.folder, kind="job", apart=True)
    assert "Traceback" not in done.stderr, done.stderr
    tables = {path.stem: pd.read_csv(path) for path in folder.glob("*.csv")}
    return done.returncode, done.stdout + done.stderr, tables


@pytest.fixture
def copied(finished, tmp_path):
    return Workflow.of(shutil.copytree(finished.folder, tmp_path / "copy", symlinks=True))


def test_a_run_is_the_same_as_itself_and_every_headline_is_compared_on_instances(finished, tmp_path):
    status, printed, tables = compare(finished, finished.folder, finished.folder, tmp_path)
    assert status == 0, printed
    assert f"{finished.folder.name} and {finished.folder.name} have the same results." in printed
    headlines = tables["estimates"][tables["estimates"].headline]
    assert set(headlines.study) == {"ruff", "counter_gap", "misgendered", "underspecification", "winopron"}
    assert headlines.note.dropna().tolist() == []
    assert (headlines.n > 0).all()
    assert tables["records"].empty
    # Two models of one run are compared on the same instances.
    models = [f"{finished.folder}:tiny-opt", f"{finished.folder}:tiny-llama"]
    status, printed, tables = compare(finished, *models, tmp_path / "models")
    assert status == 1
    headlines = tables["estimates"][tables["estimates"].headline & tables["estimates"].value_b.notna()]
    assert headlines.p.notna().sum() > 3
    assert "weights" in set(tables["records"].kind)


def test_a_package_of_another_version_changes_no_result(finished, copied, tmp_path):
    for path in (copied.folder / "results/provenance/score").glob("*study=ruff*.json"):
        record = json.loads(path.read_text())
        record["packages"]["torch"] = "9.9"
        path.write_text(json.dumps(record | {"checksum": checksum(record)}))
    status, printed, tables = compare(finished, finished.folder, copied.folder, tmp_path / "out")
    assert status == 0, printed
    assert tables["records"][["kind", "name", "b"]].to_numpy().tolist() == [["package", "torch", 9.9]]
    assert "have the same results, although their records differ in package." in printed


def test_scores_pictures_and_records_that_were_changed_by_hand_are_said(finished, copied, tmp_path):
    scores = sorted((copied.folder / "results/ruff/scores/replica").glob("*.parquet"))
    aside = copied.folder / "aside"
    scores[0].rename(aside), scores[1].rename(scores[0]), aside.rename(scores[1])
    picture = next((copied.folder / "results/ruff/figures").rglob("*.png"))
    picture.write_bytes(picture.read_bytes() + b" ")
    table = next((copied.folder / "results/ruff/figures").rglob("*.csv"))
    frame = files.read_csv(table, dtype=str)
    files.write_csv(table, frame.assign(**{frame.columns[0]: "another"}))
    edited = next((copied.folder / "results/provenance/score").glob("*study=ruff*.json"))
    record = json.loads(edited.read_text())
    edited.write_text(json.dumps(record | {"ended": record["started"]}))
    status, printed, tables = compare(finished, finished.folder, copied.folder, tmp_path / "out")
    assert status == 1
    told = tables["files"].groupby("file").what.agg("; ".join)
    names = [path.relative_to(copied.folder).as_posix() for path in (*scores[:2], picture, table, edited)]
    assert all("tampered in B" in told[name] for name in names[:4]), told
    assert "values are different" in told[names[0]] and "values are different" in told[names[3]]
    assert told[names[4]] == "record of B: it was edited"
    assert "is tampered in B" in printed


@pytest.mark.nightly
def test_one_edited_template_row_is_named(finished, copied, tmp_path):
    path = copied.folder / "templates/misgendered/templates.tsv"
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[9] = lines[9].replace(" the ", " that ", 1)
    path.write_text("\n".join(lines), encoding="utf-8")
    done = copied.snakemake("results/paper/summary.csv")
    assert done.returncode == 0, done.stdout
    status, _, tables = compare(finished, finished.folder, copied.folder, tmp_path / "out")
    assert status == 1
    templates = tables["records"][tables["records"].kind == "templates"]
    assert set(templates.name) == {"templates/misgendered/templates.tsv"}, templates
    apart = tables["estimates"][tables["estimates"].differs & tables["estimates"].headline]
    assert set(apart.study) == {"misgendered"}
    assert apart.note.str.startswith("other instances").all()
