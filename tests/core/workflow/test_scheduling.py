"""Snakemake's scheduler looks for jobs when one has ended, and not many times a second."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.cli import get_argument_parser
from snakemake.scheduling.job_scheduler import JobRateLimiter
from snakemake.settings.types import MaxJobsPerTimespan

from scripts.core.workflow import scheduling

ROOT = Path(__file__).parents[3]
JOBS = 8
SNAKEFILE = """
from scripts.core.workflow import scheduling

rule all:
    input: expand("{number}.txt", number=range(JOBS))

rule one:
    output: "{number}.txt"
    shell: "sleep 0.4; touch {output}"

onstart:
    LIFT
"""
# Snakemake, which in the end says how often it looked for jobs to start.
PROGRAM = """
import atexit, collections
from snakemake import cli
from snakemake.scheduling.job_scheduler import JobScheduler
looks, look = [], JobScheduler.job_selector
JobScheduler.job_selector = lambda scheduler, jobs: looks.append(1) or look(scheduler, jobs)
atexit.register(lambda: print("looks:", len(looks)))
cli.main()
"""


def looks(folder, lift, *options):
    """Run eight jobs one after the other and return how often the scheduler looked for one."""
    (folder / "Snakefile").write_text(SNAKEFILE.replace("JOBS", str(JOBS)).replace("LIFT", lift))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "--cores", "1", "--quiet", "all", *options],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and len(list(folder.glob("*.txt"))) == JOBS, done.stderr
    return int(re.search(r"looks: (\d+)", done.stdout)[1])


def test_the_scheduler_looks_once_for_each_job_that_ended(tmp_path):
    call = "scheduling.lift_default_limit(workflow)"
    runs = {
        "lifted": (call,), "as it is": ("pass",), "asked for": (call, "--max-jobs-per-timespan", "50/1s"),
    }  # fmt: skip
    for name in runs:
        (tmp_path / name).mkdir()
    # They mostly wait.
    with ThreadPoolExecutor() as together:
        found = dict(zip(runs, together.map(lambda name: looks(tmp_path / name, *runs[name]), runs), strict=True))
    # Once at the start and once for each job that ended; what else wakes it may do so twice.
    assert found["lifted"] <= JOBS + 3
    # If these two fail, Snakemake has mended it, and the function can go.
    assert found["as it is"] > JOBS + 5
    assert found["asked for"] > JOBS + 5


@pytest.mark.parametrize(("asked", "kept"), [("100/1s", False), ("10/1s", True), ("100/1m", True)])
def test_only_the_default_limit_is_lifted(asked, kept):
    limiter = JobRateLimiter(MaxJobsPerTimespan.parse_choice(asked))
    workflow = SimpleNamespace(scheduler=SimpleNamespace(job_rate_limiter=limiter))
    scheduling.lift_default_limit(workflow)
    assert workflow.scheduler.job_rate_limiter is (limiter if kept else None)
    scheduling.lift_default_limit(workflow)


def test_the_default_is_snakemakes():
    default = MaxJobsPerTimespan.parse_choice(get_argument_parser().get_default("max_jobs_per_timespan"))
    assert (default.max_jobs, default.timespan) == scheduling.DEFAULT_LIMIT
