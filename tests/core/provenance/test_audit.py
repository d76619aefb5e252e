"""Verdicts follow from plain data: a plan, records of jobs, and digests of files."""

import pytest

from scripts.core.errors import UserError
from scripts.core.provenance import audit, closure, job_records
from tests.core.provenance.state import (
    COMMIT,
    OTHER_SCORES,
    RECORDS,
    SCORES,
    TABLE,
    job_of,
    judge,
    record_of,
    run_of_two,
    seal,
)


def verdicts(run):
    return {path: finding["verdict"] for path, finding in judge(run).items()}


def replace_scores(run):
    """Put another model's scores in the place of a model's."""
    run.digests[SCORES] = "8" * 64
    run.facts[SCORES] = run.facts[SCORES] | {"model": "b"}


# What is changed; the file, its verdict, and the reason: kind, name, old, new.
CHANGES = {
    "code": (lambda run: job_of(run, SCORES)["params"].update(_code={"scripts/a.py": "11"}),
        SCORES, "stale", ("module", "scripts/a.py", "00", "11")),
    "an input": (lambda run: run.digests.update({"a.txt": "3" * 64}),
        SCORES, "stale", ("input", "a.txt", "1" * 64, "3" * 64)),
    "an input that is gone": (lambda run: run.digests.pop("a.txt"),
        SCORES, "stale", ("input", "a.txt", "1" * 64, "absent")),
    "an input that is none any more": (lambda run: job_of(run, SCORES).update(inputs=[]),
        SCORES, "stale", ("input", "a.txt", "1" * 64, "no input any more")),
    "a parameter": (lambda run: job_of(run, TABLE)["params"].update(level=0.01),
        TABLE, "stale", ("parameter", "level", 0.05, 0.01)),
    "a parameter more": (lambda run: job_of(run, TABLE)["params"].update(draws=5),
        TABLE, "stale", ("parameter", "draws", "absent", 5)),
    "the lock file": (lambda run: run.pins.update(numpy="2.2"), TABLE, "stale", ("package", "numpy", "2.0", "2.2")),
    "an installed package": (lambda run: run.installed.update(numpy="2.2"),
        TABLE, "stale", ("installed package", "numpy", "2.0", "2.2")),
    "the installed Python": (lambda run: run.installed.update(python="3.12.1"),
        TABLE, "stale", ("installed", "python", "3.11.2", "3.12.1")),
    "weights in a package": (lambda run: run.package_files.update({"carrier:carrier/model": "d" * 64}),
        SCORES, "stale", ("package file", "carrier:carrier/model", "c" * 64, "d" * 64)),
    "the version of a package with weights": (lambda run: run.installed.update(carrier="1.1"),
        SCORES, "stale", ("installed package", "carrier", "1.0", "1.1")),
    "a revision": (lambda run: job_of(run, SCORES)["params"]["entry"]["source"].update(revision="c1" * 20),
        SCORES, "stale", ("revision", "entry.source.revision", COMMIT, "c1" * 20)),
    "weights in their folder": (lambda run: run.weights.update({SCORES: "y"}),
        SCORES, "stale", ("weights", "a", "x", "y")),
    "a result": (lambda run: run.digests.update({TABLE: "8" * 64}),
        TABLE, "tampered", ("output", TABLE, "7" * 64, "8" * 64)),
    "a result and its code": (
        lambda run: [run.digests.update({TABLE: "8" * 64}), job_of(run, TABLE)["params"].update(_code={})],
        TABLE, "tampered", ("output", TABLE, "7" * 64, "8" * 64)),
    "scores": (lambda run: run.digests.update({SCORES: "8" * 64}),
        SCORES, "tampered", ("output", SCORES, "a" * 64, "8" * 64)),
    "scores of another model": (replace_scores, SCORES, "mixed", ("score file's model", SCORES, "a", "b")),
    "a file that is gone": (lambda run: run.digests.pop(SCORES), SCORES, "missing", ("file", SCORES, None, None)),
    "a record that is gone": (lambda run: run.records.pop(RECORDS[SCORES]),
        SCORES, "missing", ("record", RECORDS[SCORES], None, None)),
}  # fmt: skip


@pytest.mark.parametrize(("change", "path", "verdict", "reason"), CHANGES.values(), ids=CHANGES)
def test_a_change_has_its_verdict_its_reason_and_its_consequences(change, path, verdict, reason):
    run = run_of_two()
    assert set(verdicts(run).values()) == {"current"}
    change(run)
    found = judge(run)
    assert found[path]["verdict"] == verdict
    assert audit.make_reason(*reason) in found[path]["reasons"]
    if path == SCORES:
        assert len(found[SCORES]["reasons"]) == 1 and found[OTHER_SCORES]["verdict"] == "current"
        assert found[TABLE]["verdict"] == "stale"
        assert audit.make_reason("upstream", SCORES, None, verdict) in found[TABLE]["reasons"]


def test_an_edited_record_is_tampered():
    run = run_of_two()
    record_of(run, TABLE)["outputs"][TABLE] = run.digests[TABLE] = "9" * 64
    assert judge(run)[TABLE]["verdict"] == "tampered"
    # With a fresh checksum they agree: only what was published tells (test_manifest.py).
    seal(run.records)
    assert set(verdicts(run).values()) == {"current"}


def test_what_is_not_installed_is_compared_with_the_lock_alone():
    run = run_of_two()
    run.installed, run.package_files = {}, {}
    assert set(verdicts(run).values()) == {"current"}


def test_an_upgraded_package_makes_all_results_stale():
    run = run_of_two()
    run.installed["numpy"] = "99.0"
    assert set(verdicts(run).values()) == {"stale"}


@pytest.mark.attack("a model's pinned revision is changed, or taken away", "`stale`: revision; `unpinned`")
@pytest.mark.parametrize("revision", [None, "step1000"])
def test_a_branch_a_tag_or_no_revision_is_unpinned_with_all_that_follows(revision):
    found = verdicts(run_of_two(revision=revision))
    assert found == dict.fromkeys(found, "unpinned")


@pytest.mark.parametrize("part", ["tokenizer", "adapter", "encoder"])
def test_whatever_else_is_read_from_the_hub_is_pinned_too(part):
    run = run_of_two()
    for entry in (job_of(run, SCORES), record_of(run, SCORES)):
        entry["params"]["entry"][part] = {"hub": "org/part", "revision": None}
    seal(run.records)
    assert verdicts(run) == {SCORES: "unpinned", OTHER_SCORES: "current", TABLE: "unpinned"}


def test_a_job_depends_on_the_rows_that_it_uses(tmp_path):
    table = tmp_path / "pronouns.tsv"
    table.write_text("# CANARY\nset\tform\nhe\the\nxe\txe\n")
    run = run_of_two()
    for entry in (job_of(run, SCORES), record_of(run, SCORES)):
        entry["params"]["_rows"] = {"a.txt": job_records.row_digests(table, ["he"])}
    seal(run.records)
    run.digests |= {"a.txt": "3" * 64, "b.txt": "3" * 64}
    assert verdicts(run) == {SCORES: "current", OTHER_SCORES: "stale", TABLE: "stale"}
    table.write_text("# CANARY\nset\tform\nhe\the\nxe\txem\nthon\tthon\n")
    assert job_records.row_digests(table, ["he"]) == record_of(run, SCORES)["params"]["_rows"]["a.txt"]
    # Another text, and another line: an instance names the line of its row.
    for text in ("# CANARY\nset\tform\nhe\tHe\n", "# CANARY\nset\tform\nxe\txe\nhe\the\n", "# CANARY\nset\tform\n"):
        table.write_text(text)
        job_of(run, SCORES)["params"]["_rows"] = {"a.txt": job_records.row_digests(table, ["he"])}
        (reason,) = judge(run)[SCORES]["reasons"]
        assert (reason["kind"], reason["name"]) == ("row", "a.txt.he")
    del run.digests["a.txt"]
    assert "a.txt" in {reason["name"] for reason in judge(run)[SCORES]["reasons"]}


@pytest.mark.parametrize(
    ("values", "mixed"),
    [
        ({"a": "3.11", "b": "3.11", "c": "3.11"}, []),
        ({"a": "3.12", "b": "3.11", "c": "3.11"}, ["a"]),
        ({"a": "3.12", "b": "3.11"}, ["a", "b"]),
    ],
    ids=["the same", "most are the same", "no majority"],
)
@pytest.mark.parametrize("part", ["python", "package", "module", "weights"])
def test_scores_of_one_run_share_environment_code_and_weights(values, mixed, part):
    jobs, records = [], {}
    for name, value in values.items():
        job = {"rule": "score", "wildcards": {"model": name}, "outputs": [f"results/{name}.parquet"]}
        facts = {"model": "m", "weights_sha256": value if part == "weights" else "w", "revision": None}
        jobs.append(job)
        records[job_records.record_path(job["rule"], job["wildcards"], job["outputs"])] = {
            "models": {job["outputs"][0]: facts},
            "machine": {"python": value if part == "python" else "3"},
            "packages": {"torch": value if part == "package" else "2"},
            "params": {"_code": {"scripts/a.py": value if part == "module" else "00"}},
        }
    found = audit.mixed_scores(jobs, records)
    assert list(found) == [f"results/{name}.parquet" for name in mixed]
    for path, (reason,) in found.items():
        assert reason["old"] == values[path[8]] != reason["new"]


def test_jobs_that_records_tell_have_code_and_rows_as_they_are_now(tmp_path, monkeypatch):
    """What the paper is judged by, which needs no plan."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "p.tsv").write_text("set\tform\nhe\the\n")
    record = {
        "rule": "make", "wildcards": {"n": "1"}, "inputs": {"p.tsv": "0" * 64}, "outputs": {"results/a.csv": "1" * 64},
        "params": {"level": 1, "_code": {"a.py": "00", "gone.py": "11"}, "_rows": {"p.tsv": {"he": "2"}, "q.tsv": {}}},
    }  # fmt: skip
    made, lost = audit.recorded_jobs(["results/a.csv", "results/b.csv", "q.tsv"], {"r.json": record}, tmp_path)
    assert made == record | {"inputs": ["p.tsv"], "outputs": ["results/a.csv"], "params": {
        "level": 1, "_code": {"a.py": closure.digest_module("a.py", tmp_path), "gone.py": "absent"},
        "_rows": {"p.tsv": job_records.row_digests("p.tsv", ["he"]), "q.tsv": {}},
    }}  # fmt: skip
    assert (lost["rule"], lost["outputs"]) == ("unknown", ["results/b.csv"])


def test_mixed_scores_make_what_follows_stale():
    run = run_of_two()
    record_of(run, SCORES)["machine"]["python"] = "3.12"
    run.installed.pop("python")
    seal(run.records)
    assert verdicts(run) == {SCORES: "mixed", OTHER_SCORES: "mixed", TABLE: "stale"}


def test_orphans_are_what_no_job_makes():
    jobs = [{"outputs": ["results/folder", "results/a.parquet"]}]
    present = ["results/a.parquet", "results/folder/link", "results/folder/x", "results/y"]
    # A link to nothing has no digest.
    found = audit.orphaned_files(present, jobs, {"results/folder/x": "0" * 64, "results/y": "1" * 64})
    assert list(found) == ["results/folder/link", "results/y"]


@pytest.mark.attack("a second record names a result", "refused: two records name it")
def test_the_record_of_a_renamed_rule_is_an_error_and_an_orphan():
    """Its output is made by the rule of the new name, whose record names it as well."""
    jobs = [{"rule": "new", "wildcards": {}, "inputs": [], "outputs": ["results/a.csv"], "params": {}}]
    left = {"rule": "old", "outputs": {"results/a.csv": "0"}}
    records = {"results/provenance/new/all.json": left | {"rule": "new"}, "results/provenance/old/all.json": left}
    with pytest.raises(UserError, match=r"a.csv: two records name it, \S+/new/all.json and \S+/old/all.json; remove"):
        job_records.index_by_output(records)
    assert list(audit.leftover_records(jobs, records)) == ["results/provenance/old/all.json"]
    # Of another configuration, the only record of its output.
    alone = {"results/provenance/old/all.json": left}
    assert audit.leftover_records(jobs, alone) == {} and job_records.index_by_output(alone)


def test_what_would_be_made_only_from_a_leftover_is_not_asked_for():
    jobs = [
        {"rule": "make", "wildcards": {}, "inputs": ["results/old.csv"], "outputs": [f"results/{name}.csv"]}
        for name in ("asked", "leftover", "made", "recorded")
    ]
    records = {job_records.record_path("make", {}, ["results/recorded.csv"]): {}}
    found = audit.unrequested_outputs(jobs, [0], records, ["results/made.csv"])
    assert found == {"results/leftover.csv"}
