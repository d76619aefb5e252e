"""Jobs side by side take distinct GPUs; a program in the place of the driver's lists them."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.core.workflow import gpus

ROOT = Path(__file__).parents[3]
HOLD = """
import sys, time
from scripts.core.workflow import gpus
with gpus.reserve_gpus(int(sys.argv[1]), sys.argv[2], 0.02) as held:
    print(*held, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def devices(monkeypatch, tmp_path_factory):
    monkeypatch.delenv(gpus.VISIBLE, raising=False)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    driver = tmp_path_factory.mktemp("bin") / "nvidia-smi"
    driver.write_text("#!/bin/sh\nprintf '0\\n1\\n2\\n'\n")
    driver.chmod(0o755)
    monkeypatch.setenv("PATH", f"{driver.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def hold(tmp_path, devices):
    """Start processes that hold GPUs until they are told to go on."""
    running = []

    def start(count):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(count), str(tmp_path)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_jobs_side_by_side_hold_distinct_gpus(hold):
    jobs = [hold(1) for _ in range(3)]
    held = [job.stdout.readline().strip() for job in jobs]
    assert sorted(held) == ["0", "1", "2"]


def test_a_job_waits_for_enough_gpus_and_takes_them_together(hold):
    first = hold(2)
    assert first.stdout.readline().split() == ["0", "1"]
    second = hold(2)
    assert select.select([second.stdout], [], [], 0.5)[0] == []
    first.stdin.write("\n")
    first.stdin.flush()
    assert len(second.stdout.readline().split()) == 2


def test_a_killed_job_leaves_nothing_locked(hold, tmp_path):
    job = hold(3)
    assert job.stdout.readline().split() == ["0", "1", "2"]
    job.send_signal(signal.SIGKILL)
    job.wait()
    with gpus.reserve_gpus(3, tmp_path, 0.02) as held:
        assert held == ["0", "1", "2"]


def test_a_job_is_told_the_gpus_that_it_holds_of_those_that_the_user_names(devices, monkeypatch, tmp_path):
    with gpus.reserve_gpus(2, tmp_path):
        assert os.environ[gpus.VISIBLE] == "0,1"
    monkeypatch.setenv(gpus.VISIBLE, "5,7")
    with gpus.reserve_gpus(1, tmp_path):
        assert os.environ[gpus.VISIBLE] == "5"


def test_a_job_without_gpus_sees_none(devices, monkeypatch, tmp_path):
    """As the registry says of ``gpus: 0``; otherwise it would use a GPU that another job holds."""
    monkeypatch.setenv(gpus.VISIBLE, "1")
    with gpus.reserve_gpus(0, tmp_path) as held:
        assert held == []
        assert os.environ[gpus.VISIBLE] == ""
    assert not list(tmp_path.iterdir())


def test_a_machine_without_gpus_runs_the_job_on_the_cpu(devices, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "")
    with gpus.reserve_gpus(2, tmp_path) as held:
        assert held == []
        assert gpus.VISIBLE not in os.environ


def test_jobs_in_one_allocation_hold_distinct_gpus_and_other_allocations_have_locks_of_their_own(
    devices, monkeypatch, tmp_path
):
    monkeypatch.setattr(gpus.tempfile, "gettempdir", lambda: str(tmp_path))

    def reserve(allocation):
        monkeypatch.setenv("SLURM_JOB_ID", allocation)
        monkeypatch.setenv(gpus.VISIBLE, "0,1")
        return gpus.reserve_gpus(1)

    with reserve("7") as first, reserve("7") as second, reserve("8") as other:
        assert (first, second, other) == (["0"], ["1"], ["0"])
