"""What the audit prints: each finding with its reasons, and in one line what to do."""

import pytest

from scripts.core.provenance import audit, reporting
from tests.core.provenance.state import RECORDS, SCORES, TABLE, job_of, judge, run_of_two


def judged(change):
    """Return the findings of the run after a change, and its jobs."""
    run = run_of_two()
    change(run)
    return judge(run), run.jobs


def edit_code(run):
    for job in run.jobs:
        job["params"]["_code"]["scripts/a.py"] = "11"


def change_configuration(run):
    edit_code(run)
    for job in run.jobs:
        job["params"]["level"] = 1


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (("file", "results/a"), "results/a does not exist"),
        (("file", "results/a", None, "0" * 64), "no rule of this run makes results/a"),
        (("record", "r.json"), "no record r.json: the job that makes it did not finish"),
        (("record", "r.json", "1" * 64, "2" * 64), "record r.json was edited or cut off: its checksum is 1111"),
        (("malformed", "r.json", None, "it is not JSON"), "record r.json cannot be used: it is not JSON"),
        (("upstream", "results/a", None, "stale"), "made from results/a, which is stale"),
        (("revision", "source org/a", "c" * 40, None), f"source org/a has no fixed revision (was {'c' * 40})"),
        (("module", "scripts/a.py", "00", "11"), "module scripts/a.py: was 00, now 11"),
        (("parameter", "x", "a" * 200, "b"), f"parameter x: was {'a' * 100}... (200 characters), now b"),
    ],
)
def test_a_reason_is_one_line(reason, told):
    assert reporting.describe_reason(audit.make_reason(*reason)).startswith(told)


def test_a_report_has_causes_before_consequences_and_counts():
    findings, _ = judged(lambda run: run.digests.update({SCORES: "8" * 64}))
    assert reporting.report_findings(findings) == [
        f"tampered  {SCORES}",
        f"          output {SCORES}: was {'a' * 16}, now {'8' * 16}",
        f"stale     {TABLE}",
        f"          input {TABLE}".replace(TABLE, f"{SCORES}: was {'a' * 16}, now {'8' * 16}"),
        "3 files: 1 tampered, 1 stale, 1 current",
    ]
    findings, _ = judged(lambda run: job_of(run, SCORES)["params"].update(_code={"scripts/a.py": "11"}))
    assert f"stale     {TABLE}  (follows)" in reporting.report_findings(findings)


@pytest.mark.attack("a file's name holds line breaks or marks of a terminal", "printed so that they can be seen")
@pytest.mark.parametrize("name", ["a\ncurrent   b", "a\x1b[2K\rb", "a\u202eb", "a\udcffb", "a\x00b"])
def test_a_files_name_forges_no_line_of_the_audit(name):
    finding = {"verdict": "orphan", "reasons": [audit.make_reason("file", name, None, "0" * 64)], "record": None}
    lines = reporting.report_findings({name: finding})
    assert all(line.isprintable() for line in lines) and "a" in lines[0] and "b" in lines[0]
    "\n".join(lines).encode("utf-8")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda run: None, None),
        (lambda run: run.installed.update(numpy="2.2"), "what is installed of numpy is not what"),
        (lambda run: run.package_files.update({"carrier:carrier/model": "d"}), "what is installed of carrier is not"),
        # What the lock file says now is what is wanted.
        (lambda run: run.installed.update(numpy="2.2") or run.pins.update(numpy="2.2"), "to make them again, run: "),
        (change_configuration, "3 of 3 files would be made otherwise with this configuration: was the run"),
    ],
    ids=["nothing", "installed", "weights", "the lock", "an overlay"],
)
def test_what_to_do_is_one_line(change, told):
    line = reporting.advise(*judged(change))
    assert line is None if told is None else line.startswith(told)


def test_commands_name_jobs_whose_outputs_snakemake_takes_for_current():
    findings, jobs = judged(lambda run: run.records.pop(RECORDS[SCORES]))
    assert reporting.advise(findings, jobs, options=["--directory", "runs/x", "--configfile=o.yaml"]) == (
        "to make them again, run: snakemake --cores 2 --directory runs/x --configfile=o.yaml "
        f"--forcerun {SCORES} -- paper {SCORES}"
    )
    # Both scores: their rule.
    findings, jobs = judged(lambda run: run.digests.update(dict.fromkeys(RECORDS, "8" * 64)))
    line = reporting.advise(findings, jobs, targets=["figures"])
    assert line.endswith(f"--forcerun {TABLE} score -- figures {TABLE}")
    # No job makes an orphan.
    assert reporting.advise(audit.orphaned_files(["results/my file"], jobs, {}), jobs) is None


@pytest.mark.attack("a run is audited without the overlay that it was made with", "the audit asks for it")
def test_an_overlay_is_asked_for_where_parameters_of_most_results_differ():
    assert reporting.mismatch_hint(judged(edit_code)[0]) is None
    # Of one of three results.
    assert reporting.mismatch_hint(judged(lambda run: job_of(run, TABLE)["params"].update(level=1))[0]) is None
    told = reporting.mismatch_hint(judged(change_configuration)[0])
    assert told.endswith("was the run made with another overlay? Name it: --configfile=FILE")
