"""What the executor for Slurm says of jobs that wait, and the profile that chooses it; tests/slurm/ runs both."""

from pathlib import Path

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
