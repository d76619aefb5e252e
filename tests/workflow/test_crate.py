"""The research object of a run: what its community's validator says of it, and that nothing of others is inside."""

import json
import platform
import re
import shutil
import subprocess
import urllib.parse
import zipfile
from pathlib import Path

import pytest
import requests
import rocrate
from rocrate_validator import services
from rocrate_validator.models import Severity
from rocrate_validator.utils.http import HttpRequester

from scripts.core.errors import UserError
from scripts.provenance import crate as packing
from tests.workflow.conftest import audit

pytestmark = pytest.mark.workflow

CONTEXT = "https://w3id.org/ro/crate/1.1/context"


@pytest.fixture(scope="module")
def crate(finished, tmp_path_factory):
    if shutil.which("latexmk") is None:
        pytest.skip("latexmk is not installed: there is no paper to pack")
    # The copy that tests run has only what they need.
    for name in set(packing.PACKED) - {path.name for path in finished.folder.iterdir()}:
        (shutil.copytree if (packing.ROOT / name).is_dir() else shutil.copy2)(
            packing.ROOT / name, finished.folder / name
        )
    done = finished.snakemake("crate")
    assert done.returncode == 0, done.stdout[-3000:]
    folder = tmp_path_factory.mktemp("crate")
    with zipfile.ZipFile(finished.folder / "results/crate/run.crate.zip") as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def offline(monkeypatch):
    """Answer the validator's questions for the JSON-LD context from what the library rocrate brings along.

    That is the context of RO-Crate 1.3. Of the terms used here 1.1 has other addresses for these two only.
    """
    content = json.loads((Path(rocrate.__file__).parent / "data/ro-crate.jsonld").read_text(encoding="utf-8"))
    for term in ("ComputationalWorkflow", "FormalParameter"):
        content["@context"][term] = f"https://bioschemas.org/{term}"

    def ask(requester, name):
        def answer(url, *_, **__):
            response = requests.Response()
            response.url, response.status_code = url, 404
            if url == CONTEXT:
                response.status_code, response._content = 200, json.dumps(content).encode()
                response.headers["Content-Type"] = "application/ld+json"
            return response

        return answer

    monkeypatch.setattr(HttpRequester, "__getattr__", ask)


def issues(folder):
    settings = services.ValidationSettings(
        rocrate_uri=str(folder),
        profile_identifier="workflow-run-crate-0.5",
        requirement_severity=Severity.REQUIRED,
        abort_on_first=False,
        skip_availability_check=True,
    )
    return [f"{i.check.identifier}: {i.message}" for i in services.validate(settings).get_issues()]


def test_the_validator_accepts_it_and_not_one_without_its_workflow(crate, offline, tmp_path):
    assert issues(crate) == []
    shutil.copytree(crate, tmp_path / "broken")
    path = tmp_path / "broken/ro-crate-metadata.json"
    metadata = json.loads(path.read_text())
    for entity in metadata["@graph"]:
        entity.pop("mainEntity", None)
    path.write_text(json.dumps(metadata))
    assert any("mainEntity" in issue or "Main Workflow" in issue for issue in issues(tmp_path / "broken"))


def test_the_run_says_what_it_read_and_made_and_every_job_has_its_record(crate):
    graph = {e["@id"]: e for e in json.loads((crate / "ro-crate-metadata.json").read_text())["@graph"]}
    action = graph["#run"]
    assert action["instrument"] == {"@id": "Snakefile"}
    assert {"results/paper/main.pdf", "results/ruff/figures/replica/error_types.csv"} <= {
        e["@id"] for e in action["result"]
    }
    assert "templates/ruff/task.tsv" in {e["@id"] for e in action["object"]}
    records = [name for name in graph if name.startswith("results/provenance/")]
    assert action["description"] == f"{len(records)} jobs; the record of each is in results/provenance."
    assert [name for name in records if not (crate / urllib.parse.unquote(name)).is_file()] == []


def test_weights_and_what_others_own_are_named_and_not_packed(crate):
    graph = {e["@id"]: e for e in json.loads((crate / "ro-crate-metadata.json").read_text())["@graph"]}
    packed = {p.relative_to(crate).as_posix() for p in crate.rglob("*") if p.is_file()}
    assert not [p for p in packed if p.endswith(".safetensors") or p.startswith(("results/upstream", "results/models"))]
    assert {"results/paper/main.pdf", "results/ruff/figures/replica/error_types.pdf", "Snakefile"} <= packed
    assert "results/ruff/instances/replica/selected.parquet" in packed
    weights = [e for e in graph.values() if str(e.get("name", "")).startswith("Weights of tiny-opt")]
    assert len(weights) == 1
    assert len(weights[0]["sha256"]) == 64


def test_a_crate_has_the_whole_workflow(crate):
    """Everything that is in the repository but its tests and what only the repository's forge reads."""
    packed = {p.relative_to(crate).as_posix() for p in crate.rglob("*") if p.is_file()}
    assert {"README.md", "docs/audit.md", "slurm/profile.yaml", "config/test.yaml", "zoo/models.yaml"} <= packed
    listed = subprocess.run(["git", "ls-files"], cwd=packing.ROOT, capture_output=True, text=True, check=True).stdout
    apart = ("tests/", ".", packing.WEIGHTS)
    assert not [name for name in listed.splitlines() if not name.startswith(apart) and name not in packed]


def test_a_crate_names_neither_machine_nor_folders(crate, finished):
    folders = {str(finished.folder), str(Path.home()), str(Path(__file__).parents[2])}
    for path in sorted(path for path in crate.rglob("*") if path.is_file()):
        content = path.read_bytes()
        for secret in {*folders, platform.release()}:
            assert not re.search(rb"(?<![\w.~-])" + re.escape(secret.encode()) + rb"(?![\w-])", content), path
        if path.suffix == ".json":
            assert not re.search(rb"\b" + re.escape(platform.node().encode()) + rb"\b", content), path


@pytest.mark.attack("a crate is repacked with another member", "its own list names it: `sha256sum --check`")
def test_a_crate_holds_the_list_that_it_is_checked_by(crate, finished):
    def check():
        options = ["--check", "--quiet", "--ignore-missing"]
        command = ["sha256sum", *options, "results/paper/manifest.sha256"]
        return subprocess.run(command, cwd=crate, capture_output=True, text=True, check=False).stdout

    assert check() == ""
    table = crate / "results/ruff/figures/replica/error_types.csv"
    kept = table.read_bytes()
    table.write_bytes(kept + b" ")
    assert check() == f"{table.relative_to(crate)}: FAILED\n"
    table.write_bytes(kept)
    targets = ("crate", "figures", "tables")
    status, printed = audit(finished.folder, "--against", crate / "results/paper/manifest.sha256", targets=targets)
    assert status == 0 and ", 0 differences" in printed, printed


@pytest.mark.attack("a result names a folder or host of the machine", "the crate is refused")
@pytest.mark.parametrize("secret", ["folder", "home"])
def test_a_crate_that_would_name_a_folder_is_refused(tmp_path, monkeypatch, secret):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "alice"))
    path = tmp_path / "table.csv"
    path.write_text(f"path\n{tmp_path if secret == 'folder' else Path.home()}/models\n")
    with pytest.raises(UserError, match=r"table\.csv: names .*, which is not to be published; write it relative to"):
        packing.check_private(path)
    path.write_text("path\nmodels\n~/models\n")
    packing.check_private(path)
    monkeypatch.setattr(platform, "node", lambda: "hal")
    path.write_text('{"url": "http://hal:8000"}')
    packing.check_private(path)
    with pytest.raises(UserError, match="names hal, which is not to be published"):
        packing.check_private(path, host=True)
