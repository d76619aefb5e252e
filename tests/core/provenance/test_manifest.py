"""What was published tells of every change since, also of one that was made in results and records alike."""

import hashlib
import json
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.provenance import audit, job_records, manifest, recorder
from scripts.core.provenance.environment import Present
from scripts.provenance import crate as crate_of
from tests import pages
from tests.core.provenance import state
from tests.refusals import refused

ROOT = Path(__file__).parents[3]
RECORD = "results/provenance/make/n=2.json"


def record(rule, wildcards, inputs, outputs, **said):
    """Write the record of a job whose files lie here."""
    facts = {"model": "m", "source": {}, "revision": None, "weights_sha256": "w", "engine": None,
             "instances_sha256": None, "libraries": None}  # fmt: skip
    content = {
        "format": job_records.FORMAT, "rule": rule, "wildcards": wildcards, "params": {"_code": {}},
        "inputs": {path: files.sha256(path) for path in inputs}, "package_files": {},
        "outputs": {path: files.sha256(path) for path in outputs}, "models": {outputs[0]: facts},
        "packages": {}, "lock": {}, "git": None,
        "machine": {"system": "s", "python": platform.python_version(), "cpu": "c", "gpus": []},
        "started": recorder.utc_now(), "ended": recorder.utc_now(),
    } | said  # fmt: skip
    path = job_records.record_path(rule, wildcards, outputs)
    files.write_json(path, content | {"checksum": job_records.checksum(content)})


def make(number, text):
    """Make ``results/t<number>.csv`` from the one before, as a job does, with its record."""
    target = f"results/t{number}.csv"
    files.write_text(target, text)
    speed = f"results/benchmarks/t{number}.json"
    files.write_text(speed, text)
    inputs = [f"results/t{number - 1}.csv"] if number > 1 else ["templates/a.tsv"]
    record("make", {"n": str(number)}, inputs, [target, speed])


def planned():
    """Return the jobs of the run and their records."""
    records = job_records.load_records()
    targets = ["results/t3.csv", "results/model"]
    return audit.recorded_jobs(targets, records, ROOT), records


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A chain of three results and a folder, and their manifest."""
    monkeypatch.chdir(tmp_path)
    files.write_text("templates/a.tsv", "a\n")
    for number in (1, 2, 3):
        make(number, f"{number}\n")
    files.write_text("results/model/weights", "w")
    record("merge", {}, ["templates/a.tsv"], ["results/model"])
    files.write_text(manifest.NAME, manifest.list_digests(*planned()))
    return tmp_path


@pytest.fixture
def published(run):
    return manifest.read_list(shutil.copy(manifest.NAME, run / "published.sha256"))


def differences(published, expected=()):
    found = manifest.find_differences(published, expected, job_records.load_records(), {}, ROOT)
    return {entry["path"]: entry for entry in found}


def test_the_list_is_one_that_sha256sum_reads(run):
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", manifest.NAME], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"results/{name}: OK" for name in ("model/weights", "t1.csv", "t2.csv", "t3.csv")
    ]
    make(2, "forged\n")
    assert subprocess.run(["sha256sum", "--check", "--status", manifest.NAME], check=False).returncode == 1


def test_a_second_run_of_the_same_jobs_has_the_same_manifest(run, published):
    before, later = Path(manifest.NAME).read_text(), "2999-01-01T00:00:00+00:00"
    for number in (1, 2, 3):
        make(number, f"{number}\n")
        files.write_text(f"results/benchmarks/t{number}.json", "another speed")
        record("make", {"n": str(number)}, [f"results/t{number - 1}.csv"] if number > 1 else ["templates/a.tsv"],
               [f"results/t{number}.csv", f"results/benchmarks/t{number}.json"], started=later, ended=later,
               peak_memory_mb=2, scheduler_job="7", runner_packages={"snakemake": "10"})  # fmt: skip
    assert manifest.list_digests(*planned()) == before
    assert differences(published) == {}


def forge_result(run):
    """A result and its record, and everything that follows, made to agree: the audit alone calls it current."""
    make(2, "forged\n")
    make(3, "3\n")
    jobs, records = planned()
    digests = {path: files.sha256(path) for job in jobs for path in [*job["inputs"], *job["outputs"]]}
    found = audit.judge(jobs, records, Present(digests, {}, {}, {}, {}, {}))
    assert {finding["verdict"] for finding in found.values()} == {"current"}


def forge_statement(run):
    """A record that claims other weights and has a new checksum."""
    path = Path(RECORD)
    content = json.loads(path.read_text())
    content["models"]["results/t2.csv"]["weights_sha256"] = "others"
    path.write_text(json.dumps(content | {"checksum": job_records.checksum(content)}))


def forge_nothing_but_the_checksum(run):
    content = json.loads(Path(RECORD).read_text())
    Path(RECORD).write_text(json.dumps(content | {"checksum": "0" * 64, "git": {"commit": "c" * 40, "dirty": False}}))


ATTACKS = [
    (forge_result, "results/t2.csv", "changed", "a forged result, and records that agree"),
    (forge_result, RECORD, "changed", None),
    (forge_result, "results/provenance/make/n=3.json", "changed", None),
    (forge_statement, RECORD, "changed", "a record claims other weights, with a fresh checksum"),
    (forge_nothing_but_the_checksum, RECORD, "changed", None),
    (lambda run: files.write_text("results/model/weights", "others"), "results/model/weights", "changed", None),
    (lambda run: Path("results/t1.csv").unlink(), "results/t1.csv", "absent", "a published result is deleted"),
    (lambda run: Path(RECORD).unlink(), RECORD, "absent", None),
    (lambda run: Path(RECORD).write_text("{}"), RECORD, "changed", None),
]


@pytest.mark.parametrize(
    ("attack", "path", "state"),
    [
        pytest.param(*case, marks=pytest.mark.attack(done, f"`--against`: {case[2]}") if done else ())
        for *case, done in ATTACKS
    ],
)
def test_what_was_changed_since_is_named(run, published, attack, path, state):
    attack(run)
    assert differences(published)[path]["state"] == state


def test_records_may_be_listed_as_files(run):
    (run / "list").write_text(f"{files.sha256(RECORD)}  {RECORD}\n")
    published = manifest.read_list(run / "list")
    assert differences(published) == {}
    forge_statement(run)
    assert differences(published)[RECORD]["state"] == "changed"


@pytest.mark.attack("a list of digests is damaged", "refused with the line")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no digests"),
        ("# a comment\n", "holds no digests"),
        ("abc  results/t1.csv\n", "line 1: not a digest and a file's name"),
        (f"{'0' * 64}  a\n#record {'0' * 63}  b\n", "line 2: not a digest and a file's name"),
        (f"{'0' * 64}  a\n{'1' * 64}  a\n", "line 2: a has two digests"),
        ("\udcff", "not a list of digests; a crate holds one: unpack it"),
    ],
)
def test_a_list_that_is_damaged_is_refused(tmp_path, text, told):
    path = tmp_path / "list"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UserError, match=told):
        manifest.read_list(path)
    with pytest.raises(UserError, match="no such file"):
        manifest.read_list(tmp_path / "gone")


def test_a_name_that_does_not_fit_into_a_line_is_refused(run):
    record("merge", {"n": "5"}, [], ["results/model"])
    Path("results/a\\b.csv").write_text("")
    with pytest.raises(UserError, match="a backslash or the end of a line"):
        manifest.list_digests([{"rule": "x", "wildcards": {}, "outputs": ["results/a\\b.csv"]}], {})


@pytest.mark.attack("a signature is garbage", "refused by the program that verifies it")
def test_the_manifest_is_signed_and_verified_as_documented(run):
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed (openssh-client): signatures are not tested")
    blocks = [block for block in pages.blocks("docs/audit.md") if block.info == "bash keys"]
    sign, verify = [line for block in blocks for _, line in block.commands]
    (run / ".ssh").mkdir()
    key = run / ".ssh/id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key], check=True)
    (run / "allowed_signers").write_text(f"you@example.org {key.with_suffix('.pub').read_text()}")

    def succeeds(command):
        environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(run)}
        return not subprocess.run(
            ["bash", "-ec", command], env=environment, capture_output=True, check=False
        ).returncode

    assert succeeds(sign) and Path(f"{manifest.SIGNATURE}sig").is_file() and succeeds(verify)
    text = Path(manifest.NAME).read_text()
    Path(manifest.NAME).write_text(text.replace(hashlib.sha256(b"2\n").hexdigest(), hashlib.sha256(b"9\n").hexdigest()))
    assert not succeeds(verify)
    Path(manifest.NAME).write_text(text)
    assert succeeds(verify)
    Path(f"{manifest.SIGNATURE}sig").write_text("garbage")
    assert not succeeds(verify)


KEPT = {
    "one line": lambda number, line: number == 0,
    "records": lambda number, line: line.startswith("#record"),
    "no records": lambda number, line: not line.startswith("#record"),
    "without a record": lambda number, line: "n=2" not in line,
    "without a result": lambda number, line: "t2" not in line,
}


@pytest.mark.attack(
    "the published list is shortened", "`--against`: each result that it lacks is a difference, unlisted"
)
@pytest.mark.parametrize("kept", KEPT.values(), ids=KEPT)
def test_what_a_shortened_list_lacks_is_a_difference_whatever_it_holds(run, kept):
    expected = manifest.required_paths(planned()[0])
    whole = Path(manifest.NAME).read_text().splitlines(keepends=True)
    lines = [line for line in whole if not line.startswith("# ")]

    def told(lines):
        (run / "list").write_text("".join(lines))
        found = differences(manifest.read_list(run / "list"), expected)
        assert {entry["state"] for entry in found.values()} <= {"unlisted"}
        return found.keys()

    assert told(whole) == set()
    lacking = {line.split()[-1] for n, line in enumerate(lines) if not kept(n, line)}
    assert lacking and told([line for n, line in enumerate(lines) if kept(n, line)]) == {
        "results/model" if path == "results/model/weights" else path for path in lacking
    }


def test_a_list_has_to_have_what_the_papers_own_list_is_made_from():
    jobs = [
        {"rule": "make", "wildcards": {}, "inputs": ["templates/a.tsv"], "outputs": ["results/a.csv"]},
        {"rule": "list", "wildcards": {}, "inputs": ["results/a.csv"], "outputs": [manifest.NAME]},
        {"rule": "card", "wildcards": {}, "inputs": ["results/a.csv"], "outputs": ["results/card.pdf"]},
        {"rule": "time", "wildcards": {}, "inputs": [], "outputs": [f"{manifest.MEASURED_FOLDER}a.json"]},
    ]
    assert manifest.required_paths(jobs) == {"results/a.csv", "results/provenance/make/a.csv.json"}
    required = manifest.required_paths([job for job in jobs if job["rule"] != "list"])
    assert {path for path in required if "provenance" not in path} == {"results/a.csv", "results/card.pdf"}
    assert len(required) == 4


def change_last_digit(digest):
    return digest[:-1] + ("0" if digest[-1] != "0" else "1")


def test_every_digit_is_compared(run):
    text = Path(manifest.NAME).read_text()
    for line in (line for line in text.splitlines() if not line.startswith("# ")):
        *_, digest, path = line.split()
        (run / "list").write_text(text.replace(digest, change_last_digit(digest)))
        (found,) = differences(manifest.read_list(run / "list")).values()
        assert found["state"] == "changed" and path.startswith(found["path"])


def test_every_part_of_a_record_is_compared_but_what_differs_between_runs(run):
    record = next(record for record in job_records.load_records().values() if record)
    for key in record:
        same = manifest.statement_digest(record | {key: {"other": 1}}) == manifest.statement_digest(record)
        assert same == (
            key in ("started", "ended", "peak_memory_mb", "scheduler_job", "runner_packages", "checksum")
        ), key


@pytest.mark.attack("a crate is made of a run that is not current", "refused: what is not as its record says")
def test_a_crate_is_not_made_of_results_that_are_others(run):

    def refuse(allow_stale=False):
        records = job_records.load_records()
        _, digests, findings = audit.judge_recorded(["results/t3.csv"], records, {}, ROOT)
        crate_of.refuse_unless_current(findings, records, digests, allow_stale)

    refuse()
    Path("results/t2.csv").write_text("forged\n")
    with refused("results/t2.csv is tampered", "run the workflow again", "python -m scripts.audit"):
        refuse(allow_stale=True)
    # Made again, but not what was made from it.
    make(2, "other\n")
    with refused("is stale: input results/t2.csv"):
        refuse()
    refuse(allow_stale=True)
    make(3, "3\n")
    refuse()
    Path("results/t1.csv").unlink()
    with refused("results/t1.csv is missing"):
        refuse(allow_stale=True)


@pytest.mark.attack("a crate is made with another model's scores in place of a file", "refused, also with allow_stale")
def test_a_crate_holds_no_scores_that_no_record_describes():
    run = state.run_of_two()
    run.records[state.RECORDS[state.SCORES]]["params"]["level"] = 2
    state.seal(run.records)
    crate_of.refuse_unless_current(state.judge(run), run.records, run.digests, allow_stale=True)
    run.digests[state.SCORES] = "e" * 64
    run.facts[state.SCORES] = run.facts[state.SCORES] | {"model": "other"}
    with refused(f"{state.SCORES} is mixed", "was a, now other"):
        crate_of.refuse_unless_current(state.judge(run), run.records, run.digests, allow_stale=True)
