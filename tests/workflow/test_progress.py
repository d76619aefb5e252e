"""What a run prints while it runs: in a pipe, in a terminal, when a job fails, and as Snakemake's usual output."""

import os
import pty
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.workflow

TARGET = "results/counter_gap/flags/replica.parquet"
AGAIN = ("--forcerun", "counter_gap_flags", "--")


@pytest.fixture(scope="module")
def small(fresh):
    return fresh()


def command(*arguments):
    options = ["--configfile", "config/test.yaml", "--nocolor", "--cores", "2"]
    return [sys.executable, "-m", "snakemake", *options, *arguments]


def piped(workflow, *arguments):
    done = subprocess.run(
        command(*arguments),
        cwd=workflow.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def in_terminal(workflow, *arguments):
    """Return the exit status and the lines that stay in a terminal, and how often a line was drawn anew."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(*arguments), cwd=workflow.folder, stdout=theirs, stderr=theirs, stdin=theirs,
        env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    content = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            # The other end is closed.
            break
        if not piece:
            break
        content += piece
    os.close(ours)
    lines = []
    for line in content.decode().split("\r\n"):
        # What was written last in the same place.
        lines.append(re.sub(r"\x1b\[\d*[mK]", "", line.rpartition("\r")[2]).strip())
    return process.wait(), [line for line in lines if line], content.count(b"\r\x1b[K")


def test_a_piped_run_prints_one_line_for_each_job(small):
    status, lines = piped(small, TARGET)
    assert status == 0, lines
    jobs = int(re.search(r"^(\d+) jobs, ", "\n".join(lines), flags=re.MULTILINE).group(1))
    assert jobs >= 4
    counts = [line for line in lines if re.match(rf"\d+ of {jobs} jobs \(\d+%\)", line)]
    assert len(counts) == jobs + 1
    assert counts[0].startswith(f"1 of {jobs} jobs (")
    assert re.fullmatch(rf"{jobs} of {jobs} jobs \(100%\) finished in [\d min]*\d s", lines[-2])
    assert lines[-1] == TARGET
    assert len(lines) <= jobs + 5, lines
    assert not [line for line in lines if "INFO" in line]
    # The job's own log has all of it, and Snakemake's what Snakemake said.
    assert "INFO finished in" in (small.folder / "results/logs/counter_gap_flags/replica.log").read_text()
    kept = max((small.folder / ".snakemake/log").iterdir(), key=lambda path: path.stat().st_mtime).read_text()
    assert "rule counter_gap_flags:" in kept and f"{jobs} of {jobs} steps (100%) done" in kept
    status, lines = piped(small, TARGET)
    assert status == 0 and "Nothing to be done (all requested files are present and up to date)." in lines


def test_a_terminal_keeps_one_line(small):
    status, lines, drawn = in_terminal(small, *AGAIN, TARGET)
    assert status == 0, lines
    assert re.fullmatch(r"1 of 1 jobs \(100%\) finished in [\d min]*\d s", lines[-2])
    assert len(lines) <= 5, lines
    assert drawn >= 3


@pytest.mark.parametrize("kind", ["user", "defect"])
def test_a_failed_job_says_why_in_one_line_and_where_its_log_is(small, kind):
    script = small.folder / "scripts/counter_gap/analyses.py"
    before = script.read_text()
    reason = {"user": "passages.tsv: row 3 is empty; fill it", "defect": "ValueError: it is broken"}[kind]
    raised = f'UserError("{reason}")' if kind == "user" else 'ValueError("it is broken")'
    imported = "from scripts.core.errors import UserError\n" if kind == "user" else ""
    changed = before.replace("    passages = files.read", f"    raise {raised}\n    passages = files.read", 1)
    script.write_text(changed.replace("from scripts.core.workflow.job", f"{imported}from scripts.core.workflow.job", 1))
    try:
        status, lines = piped(small, TARGET)
        told, terminal, _ = in_terminal(small, TARGET)
    finally:
        script.write_text(before)
    assert status == 1 and told == 1
    for printed in (lines, terminal):
        assert f"Error: {reason}" in printed, printed
        log = "results/logs/counter_gap_flags/replica.log"
        assert f"Job failed: counter_gap_flags replica (log: {log})" in printed
        failed = r"\d of \d jobs \(\d+%\) finished, 1 failed in [\d min]*\d s$"
        assert [line for line in printed if re.match(failed, line)]
        assert [line for line in printed if re.match(r"Full Snakemake log: .*\.snakemake/log/", line)]
        assert not [line for line in printed if "Traceback" in line or "CalledProcessError" in line]
        assert len(printed) <= 8, printed
    assert reason in (small.folder / log).read_text()


@pytest.mark.parametrize("option", [["--printshellcmds"], ["--quiet", "host"], ["--verbose"]])
def test_who_says_what_to_print_gets_snakemakes_own_output(small, option):
    status, lines = piped(small, *option, *AGAIN, TARGET)
    assert status == 0
    assert "1 of 1 steps (100%) done" in lines
    assert not [line for line in lines if re.match(r"1 of 1 jobs \(100%\)", line)]


def test_a_dry_run_is_snakemakes_own(small):
    status, lines = piped(small, "--dry-run", *AGAIN, TARGET)
    assert status == 0 and any(line.startswith("This was a dry-run") for line in lines)
    assert lines[-2:] == [
        "This run would have 1 job, of which 1 would replace existing results:",
        "  counter_gap: 1 job",
    ], lines[-4:]


def test_targets_are_listed_and_a_mistyped_one_is_suggested(small):
    status, lines = piped(small, "help")
    assert status == 0 and any(re.match(r"figures +All figures", line) for line in lines)
    status, lines = piped(small, "figurs")
    assert status == 1 and "Error: figurs is no target and no file that a rule makes; did you mean 'figures'?" in lines
