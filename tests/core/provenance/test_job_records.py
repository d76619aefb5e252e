"""Records can be found, are checked when they are read, and digests are never out of date.

What a record holds is tested in test_recorder.py; that each key of its schema is checked, in tests of the schemas.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from scripts.core import files
from scripts.core.models import loading
from scripts.core.provenance import audit, job_records, reporting
from scripts.core.provenance.environment import Present
from tests.core.provenance.state import make_job
from tests.core.provenance.test_recorder import NAME, run_job

HERE = Path(__file__).parents[3]


def test_record_names_differ_with_wildcards_and_are_file_names():
    a = job_records.record_path("score", {"model": "m", "study": "ruff"}, ["x"])
    assert a == "results/provenance/score/model=m,study=ruff.json"
    assert job_records.record_path("fetch", {"path": "a/b c.zip"}, ["x"]).endswith("/fetch/path=a%2Fb%20c.zip.json")
    outputs = ["results/paper/main.pdf", "results/paper/main.log"]
    assert job_records.record_path("paper_pdf", {}, outputs).endswith("/paper_pdf/main.log.json")
    long = [job_records.record_path("r", {"path": "x" * 300 + end}, ["x"]) for end in "ab"]
    assert long[0] != long[1]
    assert all(len(Path(path).name) < 255 for path in long)


@pytest.fixture(scope="module")
def finished_job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    assert run_job(folder, "well") == 0
    return folder


@pytest.fixture
def record(finished_job, tmp_path, monkeypatch):
    """The path of a complete record below the working directory, and its content."""
    shutil.copytree(finished_job, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / NAME, json.loads((tmp_path / NAME).read_text())


def says(**changed):
    """Return what writes a record with other parts, None for one that is left out, and a fresh checksum."""

    def write(path, content):
        content = {key: value for key, value in (content | changed).items() if value is not None or key != "packages"}
        path.write_text(json.dumps(content | {"checksum": job_records.checksum(content)}))

    return write


def holds(content):
    return lambda path, _: path.write_bytes(content)


def names_a_key_twice(path, content):
    whole = json.dumps(content)
    path.write_text(whole.replace('"outputs": {', '"outputs": {"results/out.txt": "", ', 1))
    assert json.loads(path.read_text()) == content


def is_a_folder(path, _):
    path.unlink()
    path.mkdir()


# What the record is made to say, what is told of it, and the line of docs/audit.md.
BROKEN = {
    "a part is missing": (says(packages=None), "lacks the key 'packages'",
        ("a record lacks a part, with a fresh checksum", "`tampered`: cannot be used: it lacks the key 'packages'")),
    "another format": (says(format=99), "is of format 99, not 3",
        ("a record claims another format", "`tampered`: cannot be used: it is of format 99, not 3")),
    "a format that only looks so": (says(format=True), "is of format True, not 3"),
    "a digest is cut off": (says(outputs={"results/out.txt": "00"}), "out.txt is '00'; expected a SHA-256 dig"),
    "it names the machine": (says(machine={"host": "h", "system": "", "python": "", "cpu": "", "gpus": []}),
        "'machine.host'"),
    "it ends before the beginning": (
        says(started="2026-01-02T00:00:01+00:00", ended="2026-01-02T00:00:00+00:00"),
        "its job ended at 2026-01-02T00:00:00+00:00, before it started at 2026-01-02"),
    "another job": (says(wildcards={"templates": "official"}), "is the record of another job of rule copy"),
    "a key twice": (names_a_key_twice, "it has the key 'results/out.txt' twice"),
    "empty": (holds(b""), "is not JSON"),
    "cut off": (holds(b'{"format": 3, '), "is not JSON"),
    "deep": (holds(b"[" * 100_000), "is not JSON"),
    "no text": (holds(b"\xff\xfe"), "is not JSON"),
    "a list": (holds(b"[1]"), "is not a JSON object"),
    "nothing but a format": (holds(b'{"format": 3}'), "lacks the key"),
    "a folder": (is_a_folder, "it cannot be read (Is a directory)"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("write", "told"),
    [
        pytest.param(write, told, id=name, marks=[pytest.mark.attack(*line) for line in attack])
        for name, (write, told, *attack) in BROKEN.items()
    ],
)
def test_a_record_that_cannot_be_used_is_named_in_one_line(record, write, told):
    """The audit calls its results tampered, with and without a plan of its job."""
    write(*record)
    problems = {}
    records = job_records.load_records(problems=problems)
    assert records == {NAME: {}}
    assert told in problems[NAME] and len(problems[NAME]) < 300 and "\n" not in problems[NAME]
    planned = make_job("copy", ["in.txt"], ["results/out.txt", "results/log.txt"], {"templates": "replica"})
    digests = {path: files.sha256(path) for path in ("in.txt", "results/out.txt", "results/log.txt")}
    findings = audit.judge([planned], records, Present(digests, {}, {}, {}, {}, {}), problems)
    assert findings["results/out.txt"]["verdict"] == "tampered"
    assert f"          record {NAME} cannot be used: {problems[NAME]}" in reporting.report_findings(findings)
    assert audit.orphaned_records(problems, findings) == {}
    assert list(audit.orphaned_records(problems, {})) == [NAME]


def test_files_are_where_the_run_is_or_in_the_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.tsv").write_text("")
    assert job_records.locate_path("here.tsv", "/repository") == Path("here.tsv")
    assert job_records.locate_path("templates/a.tsv", "/repository") == Path("/repository/templates/a.tsv")
    assert job_records.locate_path("results/gone.csv", "/repository") == Path("results/gone.csv")


@pytest.mark.parametrize("path", [".", "clusters.jsonl", "folder.jsonl", "a.parquet"])
def test_what_is_no_file_of_a_model_has_no_facts(tmp_path, monkeypatch, path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    (tmp_path / "clusters.jsonl").write_text("{}\n")
    (tmp_path / "folder.jsonl").mkdir()
    # Metadata of another program.
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({"other": "no JSON"}), "a.parquet")
    assert job_records.model_facts([path]) == {}


def test_the_digest_cache_sees_every_change(tmp_path, monkeypatch):
    path, cache = tmp_path / "a.txt", tmp_path / "cache"
    path.write_text("one")
    first = job_records.digest_path(path, cache)
    assert first == files.sha256(path)
    path.write_text("two")
    os.utime(path, ns=(1, 1))
    assert job_records.digest_path(path, cache) == files.sha256(path) != first
    # Not even one of the same length whose time was put back goes unseen.
    state = path.stat()
    path.write_text("six")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert job_records.digest_path(path, cache) == files.sha256(path)
    monkeypatch.setattr(files, "sha256", lambda _: pytest.fail("read again"))
    job_records.digest_path(path, cache)


def test_the_digest_of_a_folder_is_that_of_its_files(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "a").write_text("1")
    before = job_records.digest_path(folder, tmp_path / "cache")
    assert before == files.sha256(folder)
    (folder / "b").write_text("2")
    assert job_records.digest_path(folder, tmp_path / "cache") == files.sha256(folder) != before


def test_the_cache_of_digests_names_no_folder_of_the_machine(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.prefix", str(tmp_path / "env"))
    for folder in ("env", "site"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "weights").write_text(folder)
    monkeypatch.chdir(tmp_path / "site")
    # A name need not be UTF-8.
    odd = os.fsdecode(os.fsencode(tmp_path / "site") + b"/\xff.csv")
    Path(odd).write_text("a")
    for path in (tmp_path / "env/weights", tmp_path / "site/weights", "weights", HERE / "config.yaml", odd):
        job_records.digest_path(path, "cache")
    named = {json.loads(path.read_text())["path"] for path in Path("cache").iterdir()}
    assert named == {"<environment>/weights", "weights", "config.yaml", "\\udcff.csv"}


@pytest.fixture
def checkpoint(tmp_path):
    """A folder with what a checkpoint's digest covers, and a file that it does not."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"0" * 64)
    (folder / "config.json").write_text("{}")
    (folder / "README.md").write_text("old")
    return folder


def test_weights_that_were_overwritten_in_place_have_another_digest(checkpoint, tmp_path, monkeypatch):
    """Of the same size and with the same time of modification, too."""
    source, weights = str(checkpoint), checkpoint / "model.safetensors"
    first = job_records.local_weights(source, tmp_path / "cache")
    assert first == loading.weights_digest(loading.Location(checkpoint, None, None))
    with monkeypatch.context() as patch:
        patch.setattr(files, "sha256", lambda path: pytest.fail(f"{path} was read again"))
        assert job_records.local_weights(source, tmp_path / "cache") == first
    times = weights.stat()
    weights.write_bytes(b"1" * 64)
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = job_records.local_weights(source, tmp_path / "cache")
    assert second == loading.weights_digest(loading.Location(checkpoint, None, None)) != first
    # Neither a new time alone nor a file that is not loaded makes other weights.
    weights.touch()
    (checkpoint / "README.md").write_text("new")
    assert job_records.local_weights(source, tmp_path / "cache") == second


def test_weights_that_are_away_are_those_that_were_there(checkpoint, tmp_path):
    """Where scores are there and the checkpoint is not, nothing is scored again, whatever a plan saw."""
    source = str(checkpoint)
    known = job_records.local_weights(source, tmp_path / "cache")
    (checkpoint / "model.safetensors").write_bytes(b"2" * 64)
    assert job_records.local_weights(source, tmp_path / "cache", remember=False) != known
    assert job_records.last_weights(source, tmp_path / "cache") == known
    shutil.rmtree(checkpoint)
    assert job_records.local_weights(source, tmp_path / "cache") == known
    assert job_records.local_weights(str(tmp_path / "never"), tmp_path / "cache") is None
