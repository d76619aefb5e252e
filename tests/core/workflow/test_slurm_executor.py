"""What the executor for Slurm says of jobs that wait, and the profile that chooses it; tests/slurm/ runs both."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import yaml

from scripts.core.workflow import slurm_executor

ROOT = Path(__file__).parents[3]


class Waiting:
    """As much of the executor as looks at waiting jobs."""

    WAIT_SECONDS = 120

    def __init__(self):
        self.run_uuid, self.waiting, self.told = "pronouns_1", {}, set()


def test_waiting_jobs_give_each_reason_once_after_two_minutes(monkeypatch):
    run, queue = Waiting(), ["7|Priority", "8|Priority", "9|None"]
    monkeypatch.setattr(slurm_executor, "query_slurm", lambda *command: "\n".join(queue))
    lines = slurm_executor.Executor.new_reasons
    assert lines(run, 0) == lines(run, 119) == []
    assert lines(run, 120) == ["2 jobs wait: Priority"]
    queue[0] = "7|PartitionDown"
    assert lines(run, 130) == ["1 job waits: PartitionDown"]
    assert lines(run, 140) == []


def test_jobs_that_are_being_asked_about_are_cancelled(monkeypatch):
    """Snakemake takes them off its list for as long as a status query lasts."""
    first, second, third = (SimpleNamespace(external_jobid=str(number)) for number in (1, 2, 3))
    executor = object.__new__(slurm_executor.Executor)
    executor._status_query_calls, cancelled = 0, []

    async def check(self, active_jobs):
        self._status_query_calls += 1
        self.cancel_jobs([third])
        yield second

    monkeypatch.setattr(executor, "new_reasons", lambda now: [], raising=False)
    monkeypatch.setattr(slurm_executor.plugin.Executor, "check_active_jobs", check)
    monkeypatch.setattr(
        slurm_executor.plugin.Executor,
        "cancel_jobs",
        lambda self, jobs: cancelled.append([j.external_jobid for j in jobs]),
    )

    async def ask():
        return [job async for job in executor.check_active_jobs([first, second])]

    assert asyncio.run(ask()) == [second]
    executor.cancel_jobs([second, third])
    assert cancelled == [["1", "2", "3"], ["2", "3"]]


def test_the_profile_grows_with_the_attempt_and_no_rule_retries_by_itself():
    profile = yaml.safe_load((ROOT / "slurm/profile.yaml").read_text(encoding="utf-8"))
    assert {key: profile["default-resources"][key] for key in ("mem_mb", "runtime")} == {
        "mem_mb": "1000 * attempt",
        "runtime": "10 * attempt",
    }
    assert (ROOT / "slurm" / profile["slurm-partition-config"]).is_file()
    # What Snakemake takes besides would win.
    default = yaml.safe_load((ROOT / "profiles/default/config.yaml").read_text(encoding="utf-8"))
    assert not profile.keys() & default.keys()
    for path in (ROOT / "rules").glob("*.smk"):
        assert "retries:" not in path.read_text(encoding="utf-8").replace("# ", ""), path
