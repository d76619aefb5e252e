"""Records are complete, portable and checked; verdicts follow from plain data."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.core import config as configuration
from scripts.core import files
from scripts.core.data.portable import portable
from scripts.core.errors import UserError
from scripts.core.models import loading
from scripts.core.provenance import audit, closure, environment, job_records, reporting

HERE = Path(__file__).parents[3]
ROOT = "/somewhere/house"


def test_portable_values_are_json_and_know_no_machine():
    value = {1: (f"{ROOT}/config/a.tsv", 2.5, None, True), "set": {"b", "a"}}
    assert portable(value, ROOT) == {"1": ["config/a.tsv", 2.5, None, True], "set": ["a", "b"]}
    assert portable(f"{ROOT}-other/a", ROOT) == f"{ROOT}-other/a"
    # Of a checkpoint's folder elsewhere only the name.
    folder = {"source": {"path": "/data/alice/secret/my-model"}, "others": ["/data/alice"]}
    assert portable(folder, ROOT) == {
        "source": {"path": "<elsewhere>/my-model"}, "others": ["/data/alice"]
    }  # fmt: skip
    # Inputs of a run outside the repository.
    assert portable({f"{ROOT}/templates/a.tsv": "00"}, ROOT) == {"templates/a.tsv": "00"}


def test_a_users_home_is_not_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "alice"))
    (tmp_path / "alice/models").mkdir(parents=True)
    name = portable({"path": f"{tmp_path}/alice/models"}, ROOT)["path"]
    assert name == "~/models"
    assert job_records.resolve(name, ROOT) == tmp_path / "alice/models"
    assert portable(f"{tmp_path}/alice/house/a", f"{tmp_path}/alice/house") == "a"


def test_an_environment_outside_project_and_home_is_not_named(tmp_path, monkeypatch):
    """It may be a link: packages are named below either path."""
    (tmp_path / "shared/env/lib").mkdir(parents=True)
    (tmp_path / "env").symlink_to(tmp_path / "shared/env")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
    for folder in ("env", "shared/env"):
        name = portable({"path": f"{tmp_path}/{folder}/lib/weights"}, ROOT)["path"]
        assert name == "<environment>/lib/weights"
    assert job_records.resolve(name, ROOT) == tmp_path / "env/lib/weights"
    # Below the project or the home a path is relative to those, as any other.
    assert portable(f"{tmp_path}/env/lib", str(tmp_path)) == "env/lib"


def test_the_cache_of_digests_names_no_folder_of_the_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
    for folder in ("env", "site"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "weights").write_text(folder)
    monkeypatch.chdir(tmp_path / "site")
    for path in (tmp_path / "env/weights", tmp_path / "site/weights", "weights", HERE / "config.yaml"):
        job_records.digest(path, "cache")
    named = {json.loads(path.read_text())["path"] for path in Path("cache").iterdir()}
    assert named == {"<environment>/weights", "weights", "config.yaml"}


def test_record_names_differ_with_wildcards_and_are_file_names():
    a = job_records.record_path("score", {"model": "m", "study": "ruff"}, ["x"])
    assert a == "results/provenance/score/model=m,study=ruff.json"
    assert job_records.record_path("fetch", {"path": "a/b c.zip"}, ["x"]).endswith("/fetch/path=a%2Fb%20c.zip.json")
    assert job_records.record_path("paper_pdf", {}, ["results/paper/main.pdf"]).endswith("/paper_pdf/main.pdf.json")
    long = [job_records.record_path("r", {"path": "x" * 300 + end}, ["x"]) for end in "ab"]
    assert long[0] != long[1]
    assert all(len(Path(path).name) < 255 for path in long)


@pytest.fixture(scope="module")
def finished_job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    assert job(folder, "well") == 0
    return folder


@pytest.fixture
def record(finished_job, tmp_path, monkeypatch):
    """The path of a complete record below the working directory, and its content."""
    shutil.copytree(finished_job, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "results/provenance/copy/templates=replica.json"
    return path, json.loads(path.read_text())


def written(path, record):
    """Write a record with the checksum of its content, as whoever forges one does."""
    path.write_text(json.dumps(record | {"checksum": job_records.checksum(record)}))


REQUIRED = configuration.load_schema("record")["required"]
MALFORMED = {
    **{f"without {key}": ({key: None}, "lacks the key") for key in REQUIRED if key not in ("format", "checksum")},
    "inputs a list": ({"inputs": ["in.txt"]}, "inputs is a list"),
    "outputs empty": ({"outputs": {}}, "outputs has 0 entries; expected at least 1"),
    "a digest cut off": ({"outputs": {"results/out.txt": "00"}}, "results/out.txt is '00'; expected a SHA-256 digest"),
    "a digest that is a number": ({"inputs": {"in.txt": 5}}, "inputs.in.txt is '5'"),
    "packages a list": ({"packages": [1]}, "packages is a list"),
    "a version that is a number": ({"packages": {"numpy": 2}}, "packages.numpy is '2'"),
    "models text": ({"models": "m"}, "models is 'm'"),
    "facts without weights": ({"models": {"results/out.txt": {"model": "m"}}}, "lacks the key"),
    "params a list": ({"params": []}, "params is a list"),
    "code a list": ({"params": {"_code": ["scripts/a.py"]}}, "params._code is a list"),
    "wildcards with a number": ({"wildcards": {"templates": 1}}, "wildcards.templates is '1'"),
    "machine text": ({"machine": "m"}, "machine is 'm'"),
    "a host name": ({"machine": {"host": "h", "system": "", "python": "", "cpu": "", "gpus": []}}, "'machine.host'"),
    "git without a commit": ({"git": {"dirty": False}}, "git lacks the key 'commit'"),
    "a time in words": ({"ended": "now"}, "ended is 'now'; expected a time in UTC"),
    "an end before the beginning": (
        {"started": "2026-01-02T00:00:00+00:00", "ended": "2026-01-01T23:59:59+00:00"},
        "its job ended at 2026-01-01T23:59:59+00:00, before it started at 2026-01-02",
    ),
    "an unknown key": ({"root": "/somewhere"}, "unknown key 'root'"),
    "format 99": ({"format": 99}, "is of format 99, not 3"),
    "format true": ({"format": True}, "is of format True, not 3"),
    "format 3 as text": ({"format": "3"}, "is of format 3, not 3"),
    "no format": ({"format": None}, "is of format None, not 3"),
    "another job's": ({"wildcards": {"templates": "official"}}, "is the record of another job of rule copy"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_record_is_named_in_one_line(record, name):
    path, content = record
    changed, told = MALFORMED[name]
    content |= changed
    if name.startswith("without"):
        del content[next(iter(changed))]
    written(path, content)
    tell(path, told)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is not JSON"),
        ('{"format": 3, ', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("\xff\xfe", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ('{"format": 3}', "lacks the key"),
    ],
    ids=["empty", "cut off", "deep", "no text", "list", "nothing but a format"],
)
def test_what_is_no_record_is_named_in_one_line(record, content, told):
    path, _ = record
    path.write_bytes(content.encode("latin-1"))
    tell(path, told)


def test_a_record_with_a_key_twice_is_named(record):
    path, content = record
    whole = json.dumps(content)
    path.write_text(whole.replace('"outputs": {', '"outputs": {"results/out.txt": "", ', 1))
    assert json.loads(path.read_text()) == content
    tell(path, "it has the key 'results/out.txt' twice")


def tell(path, told):
    """Check that the audit calls the output tampered and says why in one line, with and without a plan of its job."""
    name, problems = "results/provenance/copy/templates=replica.json", {}
    records = job_records.load(problems=problems)
    assert records == {name: {}}
    assert told in problems[name]
    assert len(problems[name]) < 300 and "\n" not in problems[name]
    planned = make("copy", ["in.txt"], ["results/out.txt"], {"templates": "replica"})
    digests = {"in.txt": files.sha256("in.txt"), "results/out.txt": files.sha256("results/out.txt")}
    findings = audit.judge([planned], records, digests, {}, {}, {}, problems=problems)
    assert findings["results/out.txt"]["verdict"] == "tampered"
    lines = reporting.report(findings)
    assert f"          record {name} cannot be used: {problems[name]}" in lines
    assert len(lines) == 3
    assert audit.orphaned_records(problems, findings) == {}
    assert list(audit.orphaned_records(problems, {})) == [name]


def test_a_record_that_cannot_be_read_is_named(record, monkeypatch):
    path, _ = record
    path.unlink()
    path.mkdir()
    problems = {}
    assert list(job_records.load(problems=problems).values()) == [{}]
    assert list(problems.values()) == ["it cannot be read (Is a directory)"]


def test_a_foreign_parquet_file_has_no_facts(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({"other": "no JSON"}), path)
    assert job_records.model_facts([path]) == {}


def test_a_record_says_nothing_of_the_machine_or_its_folders(record, finished_job):
    text = record[0].read_text()
    for secret in (str(HERE), str(finished_job), str(Path.home()), platform.release()):
        assert secret not in text
    assert not re.search(rf"\b{re.escape(platform.node())}\b", text)


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


def test_the_digest_cache_sees_every_change(tmp_path, monkeypatch):
    path, cache = tmp_path / "a.txt", tmp_path / "cache"
    path.write_text("one")
    first = job_records.digest(path, cache)
    assert first == files.sha256(path)
    path.write_text("two")
    os.utime(path, ns=(1, 1))
    assert job_records.digest(path, cache) == files.sha256(path) != first
    # Not even one of the same length whose time was put back goes unseen.
    state = path.stat()
    path.write_text("six")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert job_records.digest(path, cache) == files.sha256(path)
    monkeypatch.setattr(files, "sha256", lambda _: pytest.fail("read again"))
    job_records.digest(path, cache)


def test_the_digest_of_a_folder_is_that_of_its_files(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "a").write_text("1")
    before = job_records.digest(folder, tmp_path / "cache")
    assert before == files.sha256(folder)
    (folder / "b").write_text("2")
    assert job_records.digest(folder, tmp_path / "cache") == files.sha256(folder) != before


def test_packages_are_those_the_code_reaches(tmp_path):
    (tmp_path / "a.py").write_text("import json\nfrom pandas import DataFrame\n")
    named = closure.top_level_imports("a.py", tmp_path)
    providers = {"pandas": ["pandas"], "numpy": ["numpy"], "yaml": ["PyYAML"], "pytest": ["pytest"]}
    used, runner = environment.packages(["pandas.core", "numpy", "yaml", "json", "os"], named, providers)
    assert set(used) == {"pandas", "numpy"}
    assert set(runner) == {"pyyaml"}


def test_pins_prefer_the_lock_and_normalise_names(tmp_path):
    (tmp_path / "requirements.lock").write_text("Py_YAML==6.0 \\\n    --hash=sha256:00\n")
    (tmp_path / "requirements.in").write_text("torch==2.0\npy-yaml==5.0\n")
    (tmp_path / "models.lock").write_text("weights==1.0\n")
    assert environment.pins(tmp_path) == {"py-yaml": "6.0", "torch": "2.0", "weights": "1.0"}
    assert set(environment.lock_digest(tmp_path)) == set(environment.LOCKS)
    (tmp_path / "requirements.lock").unlink()
    for read in (environment.pins, environment.lock_digest):
        with pytest.raises(UserError, match=r"^requirements\.lock: no such file.*restore it$"):
            read(tmp_path)


def test_files_are_where_the_run_is_or_in_the_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.tsv").write_text("")
    assert job_records.resolve("here.tsv", "/repository") == Path("here.tsv")
    assert job_records.resolve("templates/a.tsv", "/repository") == Path("/repository/templates/a.tsv")
    assert job_records.resolve("results/gone.csv", "/repository") == Path("results/gone.csv")


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


JOB = """
import sys
from types import SimpleNamespace
from scripts.core.errors import UserError
from scripts.core.workflow.job import run

class Named(dict):
    def __iter__(self):
        return iter(self.values())
    def __len__(self):
        return len(self.values())
    def __getitem__(self, n):
        return list(self.values())[n]

snakemake = SimpleNamespace(
    rule="copy", wildcards={"templates": "replica"}, input=Named(source="in.txt"),
    output=Named(target="results/out.txt"), params=Named(n=3, _code={"scripts/core/files.py": "0"}),
    log=["job.log"], threads=1, resources={},
)

def main(*, source, target, n):
    from pathlib import Path
    import pandas
    if sys.argv[1] == "fail":
        raise UserError("no")
    if sys.argv[1] != "nothing":
        Path(target).parent.mkdir(exist_ok=True)
        Path(target).write_text(Path(source).read_text() * n)

run(main)
"""


def job(folder, how):
    (folder / "in.txt").write_text("text")
    (folder / "job.py").write_text(JOB)
    environment = {**os.environ, "PYTHONPATH": str(HERE), "SLURM_JOB_ID": "42"}
    return subprocess.run([sys.executable, "job.py", how], cwd=folder, env=environment, check=False).returncode


def test_a_finished_job_leaves_a_complete_record_and_a_failed_one_none(tmp_path, monkeypatch):
    assert job(tmp_path, "well") == 0
    path = tmp_path / "results/provenance/copy/templates=replica.json"
    record = json.loads(path.read_text())
    assert record["inputs"] == {"in.txt": files.sha256(tmp_path / "in.txt")}
    assert record["outputs"] == {"results/out.txt": files.sha256(tmp_path / "results/out.txt")}
    assert record["params"] == {"n": 3, "_code": {"scripts/core/files.py": "0"}}
    paths = {"source": "in.txt", "target": "results/out.txt"}
    assert record["call"] == {"script": "job.py", "function": "main", "paths": paths}
    assert record["packages"]["pandas"]
    assert record["scheduler_job"] == "42"
    assert record["machine"]["cpu"]
    assert record["started"] <= record["ended"]
    assert record["peak_memory_mb"] > 10
    assert record["lock"]["requirements.lock"]
    assert record["checksum"] == job_records.checksum(record)
    monkeypatch.chdir(tmp_path)
    problems = {}
    records = job_records.load(problems=problems)
    assert problems == {}
    assert job_records.index(records) == {"results/out.txt": "results/provenance/copy/templates=replica.json"}
    assert job(tmp_path, "fail") == 1
    assert not path.exists()
    assert job(tmp_path, "well") == 0
    (tmp_path / "results/out.txt").unlink()
    job(tmp_path, "nothing")
    assert not path.exists()


# A run of two models' scores and the analysis of both, as plain data.


COMMIT = "c0" * 20


def make(rule, inputs, outputs, wildcards=None, **params):
    return {
        "rule": rule, "wildcards": wildcards or {}, "inputs": inputs, "outputs": outputs,
        "params": {"_code": {"scripts/a.py": "00"}, **params},
    }  # fmt: skip


def run_of_two(revision=COMMIT):
    jobs = [
        make("analyse", ["results/a.parquet", "results/b.parquet"], ["results/t.csv"], level=0.05),
        *(
            make("score", ["in.txt"], [f"results/{m}.parquet"], {"model": m},
                 entry={"source": {"hub": f"org/{m}", "revision": revision}})
            for m in "ab"
        ),
    ]  # fmt: skip
    digests = {"in.txt": "1" * 64, "results/a.parquet": "a" * 64, "results/b.parquet": "b" * 64,
               "results/t.csv": "7" * 64}  # fmt: skip
    facts = {
        f"results/{m}.parquet": dict.fromkeys(job_records.MODEL_FACTS, "x") | {"model": m, "revision": COMMIT}
        for m in "ab"
    }
    records = {}
    for job in jobs:
        record = {
            "rule": job["rule"], "wildcards": job["wildcards"], "params": json.loads(json.dumps(job["params"])),
            "inputs": {p: digests[p] for p in job["inputs"]}, "outputs": {p: digests[p] for p in job["outputs"]},
            "models": {p: facts[p] for p in [*job["inputs"], *job["outputs"]] if p in facts},
            "packages": {"numpy": "2.0", "torch": "2.1+cpu"}, "machine": {"python": "3.11.2", "cpu": "c"},
            "git": None, "ended": "now", "package_files": {},
        }  # fmt: skip
        records[job_records.record_path(job["rule"], job["wildcards"], job["outputs"])] = record
    add_checksums(records)
    return jobs, records, digests, facts, {"numpy": "2.0", "torch": "2.1"}, {}


def add_checksums(records):
    for record in records.values():
        record["checksum"] = job_records.checksum(record)


def verdicts(state, **here):
    return {path: finding["verdict"] for path, finding in audit.judge(*state, **here).items()}


def test_an_untouched_run_is_current():
    assert set(verdicts(run_of_two()).values()) == {"current"}


def test_stale_names_the_cause_and_goes_downstream():
    state = run_of_two()
    state[0][1]["params"]["_code"]["scripts/a.py"] = "11"
    found = audit.judge(*state)
    assert found["results/a.parquet"]["verdict"] == "stale"
    assert found["results/a.parquet"]["reasons"] == [audit.make_reason("module", "scripts/a.py", "00", "11")]
    assert found["results/b.parquet"]["verdict"] == "current"
    assert found["results/t.csv"]["reasons"] == [audit.make_reason("upstream", "results/a.parquet", None, "stale")]
    assert "scripts/a.py: was 00, now 11" in "\n".join(reporting.report(found))


def test_a_job_depends_on_the_rows_that_it_uses(tmp_path):
    table = tmp_path / "pronouns.tsv"
    table.write_text("# CANARY\nset\tform\nhe\the\nxe\txe\n")
    state = run_of_two()
    job, *_ = (job for job in state[0] if job["wildcards"] == {"model": "a"})
    record = state[1][job_records.record_path(job["rule"], job["wildcards"], job["outputs"])]
    for entry in (job, record):
        entry["params"]["_rows"] = {"in.txt": job_records.row_digests(table, ["he"])}
    add_checksums(state[1])
    state[2]["in.txt"] = "2" * 64
    assert verdicts(state)["results/a.parquet"] == "current"
    assert verdicts(state)["results/b.parquet"] == "stale"
    table.write_text("# CANARY\nset\tform\nhe\the\nxe\txem\nthon\tthon\n")
    assert job_records.row_digests(table, ["he"]) == record["params"]["_rows"]["in.txt"]
    # An instance names the line of its row.
    for text in ("# CANARY\nset\tform\nhe\tHe\n", "# CANARY\nset\tform\nxe\txe\nhe\the\n"):
        table.write_text(text)
        job["params"]["_rows"] = {"in.txt": job_records.row_digests(table, ["he"])}
        (reason,) = audit.judge(*state)["results/a.parquet"]["reasons"]
        assert (reason["kind"], reason["name"]) == ("row", "in.txt.he")
    job["params"]["_rows"] = {"in.txt": job_records.row_digests(table, ["they"])}
    assert verdicts(state)["results/a.parquet"] == "stale"
    del state[2]["in.txt"]
    assert {reason["name"] for reason in audit.judge(*state)["results/a.parquet"]["reasons"]} >= {"in.txt"}


def test_package_input_and_parameter_changes_are_told_apart():
    state = run_of_two()
    state[4]["numpy"] = "2.2"
    assert audit.make_reason("package", "numpy", "2.0", "2.2") in audit.judge(*state)["results/t.csv"]["reasons"]
    state = run_of_two()
    state[2]["in.txt"] = "2" * 64
    assert audit.judge(*state)["results/a.parquet"]["reasons"][0]["kind"] == "input"
    state = run_of_two()
    state[0][0]["params"]["level"] = 0.01
    assert audit.judge(*state)["results/t.csv"]["reasons"] == [audit.make_reason("parameter", "level", 0.05, 0.01)]


def test_installed_packages_are_compared_with_the_record():
    state = run_of_two()
    same = {"numpy": "2.0", "torch": "2.1+cu130", "python": "3.11.9"}
    assert set(verdicts(state, installed=same).values()) == {"current"}
    found = audit.judge(*state, installed=same | {"numpy": "2.2"})
    assert found["results/t.csv"]["reasons"][0] == audit.make_reason("installed package", "numpy", "2.0", "2.2")
    assert "installed package numpy: was 2.0, now 2.2" in "\n".join(reporting.report(found))
    assert reporting.advise(found, state[0]).startswith("what is installed of numpy is not what results were made with")
    # What the lock file says now is what is wanted.
    state[4]["numpy"] = "2.2"
    assert "to make them again" in reporting.advise(audit.judge(*state, installed=same | {"numpy": "2.2"}), state[0])
    state[4]["numpy"] = "2.0"
    found = audit.judge(*state, installed={"python": "3.12.1"})
    assert reporting.describe(found["results/t.csv"]["reasons"][0]) == "installed python: was 3.11.2, now 3.12.1"


def test_weights_and_data_of_packages_are_compared_with_the_record():
    state = run_of_two()
    carried = {"package": "carrier", "version": "1.0", "folder": "carrier/model"}
    for place in (state[0][1], state[1]["results/provenance/score/model=a.json"]):
        place["params"] = place["params"] | carried
    state[1]["results/provenance/score/model=a.json"]["package_files"] = {"carrier:carrier/model": "c" * 64}
    add_checksums(state[1])
    assert set(verdicts(state).values()) == {"current"}
    assert set(verdicts(state, package_files={"carrier:carrier/model": "c" * 64}).values()) == {"current"}
    found = audit.judge(*state, package_files={"carrier:carrier/model": "d" * 64})
    assert found["results/a.parquet"]["reasons"] == [
        audit.make_reason("package file", "carrier:carrier/model", "c" * 64, "d" * 64)
    ]
    assert found["results/b.parquet"]["verdict"] == "current"
    assert "what is installed of carrier is not" in reporting.advise(found, state[0])
    found = audit.judge(*state, installed={"carrier": "1.1"})
    assert found["results/a.parquet"]["reasons"] == [audit.make_reason("installed package", "carrier", "1.0", "1.1")]


def test_a_revision_that_changed_and_one_that_is_missing():
    state = run_of_two()
    state[0][1]["params"]["entry"]["source"]["revision"] = "c1"
    assert audit.judge(*state)["results/a.parquet"]["reasons"] == [
        audit.make_reason("revision", "entry.source.revision", COMMIT, "c1")
    ]
    # A branch or a tag can move, as the newest commit does.
    for revision in (None, "step1000"):
        found = verdicts(run_of_two(revision=revision))
        assert found == dict.fromkeys(found, "unpinned")


def test_weights_that_changed_in_their_folder_are_stale():
    state = run_of_two()
    state[5]["results/a.parquet"] = "y"
    assert audit.judge(*state)["results/a.parquet"]["reasons"] == [audit.make_reason("weights", "a", "x", "y")]


def test_tampered_foreign_missing_and_unfinished_files():
    state = run_of_two()
    state[2]["results/t.csv"] = "8" * 64
    assert verdicts(state)["results/t.csv"] == "tampered"
    state = run_of_two()
    state[2]["results/a.parquet"] = "8" * 64
    state[3]["results/a.parquet"] = state[3]["results/a.parquet"] | {"model": "b"}
    found = audit.judge(*state)
    assert found["results/a.parquet"]["verdict"] == "mixed"
    assert found["results/t.csv"]["verdict"] == "stale"
    state = run_of_two()
    del state[2]["results/a.parquet"]
    assert verdicts(state)["results/a.parquet"] == "missing"
    state = run_of_two()
    del state[1]["results/provenance/score/model=a.json"]
    assert audit.judge(*state)["results/a.parquet"]["reasons"][0]["kind"] == "record"


def test_an_edited_record_is_tampered():
    state = run_of_two()
    record = state[1]["results/provenance/analyse/t.csv.json"]
    record["outputs"]["results/t.csv"] = state[2]["results/t.csv"] = "9" * 64
    assert verdicts(state)["results/t.csv"] == "tampered"


def test_scores_of_one_run_share_environment_and_weights():
    state = run_of_two()
    state[1]["results/provenance/score/model=a.json"]["machine"]["python"] = "3.12"
    add_checksums(state[1])
    assert verdicts(state) == {"results/a.parquet": "mixed", "results/b.parquet": "mixed", "results/t.csv": "stale"}


def test_orphans_are_what_no_job_makes():
    jobs = run_of_two()[0]
    jobs[0]["outputs"] = ["results/folder"]
    present = ["results/a.parquet", "results/folder/link", "results/folder/x", "results/y"]
    found = audit.orphaned_files(present, jobs, {"results/folder/x": "0" * 64, "results/y": "1" * 64})
    assert list(found) == ["results/folder/link", "results/y"]


def test_remedies_name_jobs_whose_outputs_snakemake_takes_for_current():
    state = run_of_two()
    assert reporting.advise(audit.judge(*state), state[0]) is None
    del state[1]["results/provenance/score/model=a.json"]
    told = reporting.advise(audit.judge(*state), state[0], configfiles=["o.yaml"], directory="runs/x")
    assert told == (
        "to make them again, run: snakemake --cores 2 --directory runs/x --configfile=o.yaml "
        "--forcerun results/a.parquet -- paper results/a.parquet"
    )
    # Both scores: their rule.
    state[2]["results/b.parquet"] = state[2]["results/t.csv"] = "8" * 64
    line = reporting.advise(audit.judge(*state), state[0], targets=["figures"])
    assert line.endswith("--forcerun results/t.csv score -- figures results/t.csv")
    assert reporting.advise(audit.orphaned_files(["results/my file"], state[0], {}), state[0]) is None


def test_an_overlay_is_asked_for_where_parameters_of_most_results_differ():
    state = run_of_two()
    assert reporting.mismatch_hint(audit.judge(*state)) is None
    for job in state[0]:
        job["params"]["_code"]["scripts/a.py"] = "11"
    assert reporting.mismatch_hint(audit.judge(*state)) is None
    for job in state[0]:
        job["params"]["level"] = 1
    assert "3 of 3 files would be made otherwise" in reporting.mismatch_hint(audit.judge(*state))
    assert "other overlays than o.yaml" in reporting.mismatch_hint(audit.judge(*state), ["o.yaml"])


def checkpoint(folder, content=b"0" * 64):
    """Write what a checkpoint's digest covers, and a file that it does not."""
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(content)
    (folder / "config.json").write_text("{}")
    (folder / "README.md").write_text("old")
    return str(folder)


def test_weights_that_were_overwritten_in_place_have_another_digest(tmp_path, monkeypatch):
    """Of the same size and with the same time of modification, too."""
    source = checkpoint(tmp_path / "model")
    weights = tmp_path / "model/model.safetensors"
    first = job_records.local_weights(source, tmp_path / "cache")
    assert first == loading.weights_digest(loading.Location(tmp_path / "model", None, None))
    with monkeypatch.context() as patch:
        patch.setattr(files, "sha256", lambda path: pytest.fail(f"{path} was read again"))
        assert job_records.local_weights(source, tmp_path / "cache") == first
    times = weights.stat()
    weights.write_bytes(b"1" * 64)
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = job_records.local_weights(source, tmp_path / "cache")
    assert second == loading.weights_digest(loading.Location(tmp_path / "model", None, None)) != first
    # Neither a new time alone nor a file that is not loaded makes other weights.
    weights.touch()
    (tmp_path / "model/README.md").write_text("new")
    assert job_records.local_weights(source, tmp_path / "cache") == second


def test_weights_that_are_away_are_those_that_were_there(tmp_path):
    """Where scores are there and the checkpoint is not, nothing is scored again, whatever a plan saw."""
    source = checkpoint(tmp_path / "model")
    known = job_records.local_weights(source, tmp_path / "cache")
    (tmp_path / "model/model.safetensors").write_bytes(b"2" * 64)
    assert job_records.local_weights(source, tmp_path / "cache", remember=False) != known
    assert job_records.last_weights(source, tmp_path / "cache") == known
    shutil.rmtree(tmp_path / "model")
    assert job_records.local_weights(source, tmp_path / "cache") == known
    assert job_records.local_weights(str(tmp_path / "never"), tmp_path / "cache") is None


@pytest.mark.parametrize("path", [".", "clusters.jsonl", "folder.jsonl"])
def test_what_is_no_file_of_a_model_has_no_facts(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clusters.jsonl").write_text("{}\n")
    (tmp_path / "folder.jsonl").mkdir()
    assert job_records.model_facts([path]) == {}


@pytest.mark.attack("a second record names a result", "refused: two records name it")
def test_the_record_of_a_renamed_rule_is_an_error_and_an_orphan():
    """Its output is made by the rule of the new name, whose record names it as well."""
    jobs = [{"rule": "new", "wildcards": {}, "inputs": [], "outputs": ["results/a.csv"], "params": {}}]
    left = {"rule": "old", "outputs": {"results/a.csv": "0"}}
    records = {"results/provenance/new/all.json": left | {"rule": "new"}, "results/provenance/old/all.json": left}
    with pytest.raises(UserError, match=r"a.csv: two records name it, \S+/new/all.json and \S+/old/all.json; remove"):
        job_records.index(records)
    assert list(audit.leftover_records(jobs, records)) == ["results/provenance/old/all.json"]
    # Of another configuration, the only record of its output.
    alone = {"results/provenance/old/all.json": left}
    assert audit.leftover_records(jobs, alone) == {} and job_records.index(alone)


def test_a_name_that_is_not_utf8_has_a_digest(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv")
    Path(path).write_text("a")
    assert job_records.digest(path, tmp_path / "cache") == job_records.digest(path, tmp_path / "cache")


@pytest.mark.attack("a file's name holds line breaks or marks of a terminal", "printed so that they can be seen")
@pytest.mark.parametrize("name", ["a\ncurrent   b", "a\x1b[2K\rb", "a\u202eb", "a\udcffb", "a\x00b"])
def test_a_files_name_forges_no_line_of_the_audit(name):
    finding = {"verdict": "orphan", "reasons": [audit.make_reason("file", name, None, "0" * 64)], "record": None}
    lines = reporting.report({name: finding})
    assert all(line.isprintable() for line in lines) and "a" in lines[0] and "b" in lines[0]
    "\n".join(lines).encode("utf-8")
