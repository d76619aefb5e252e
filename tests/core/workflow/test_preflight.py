"""The checks before a run's first job on a cluster, on made-up answers of Slurm; tests/slurm/ asks a real one."""

from types import SimpleNamespace

import pytest
from snakemake.common.tbdstring import TBDString
from snakemake_executor_plugin_slurm.partitions import Partition, PartitionLimits
from snakemake_interface_common.exceptions import WorkflowError

from scripts.core.workflow import preflight

UUID = "0c6b7a3e-1111-2222-3333-444455556666"
PARTITIONS = [
    Partition("cpu", PartitionLimits(max_runtime=60, max_threads=8)),
    Partition("long", PartitionLimits(max_runtime=2880, max_threads=8)),
    Partition("gpu", PartitionLimits(max_runtime=60, max_gpu=2)),
]


class Resources(dict):
    __getattr__ = dict.get


def settings(**changed):
    plain = {
        "requeue": None, "no_requeue": None, "qos": None, "reservation": None, "array_jobs": None,
        "status_command": "squeue", "init_seconds_before_status_checks": 20, "efficiency_report": True,
        "partition_config": "partitions.yaml",
    }  # fmt: skip
    return SimpleNamespace(**plain | changed)


def job(threads=2, **resources):
    return SimpleNamespace(name="job", resources=Resources(resources), threads=threads)


@pytest.mark.parametrize(
    "resources, expected",
    [
        ({"slurm_account": 4711, "runtime": 10}, "-A 4711 -p cpu -t 10 --ntasks=1 --cpus-per-task=2"),
        ({"runtime": 61, "mem_mb": 100}, "-p long -t 61 --mem 100 --ntasks=1 --cpus-per-task=2"),
        ({"gpu": 2, "gpu_model": "3g.40gb", "nodes": 1}, "-p gpu --nodes=1 --cpus-per-task=2 --gpus=3g.40gb:2"),
        ({"slurm_partition": "cpu,long", "runtime": 99}, "-p cpu,long -t 99 --ntasks=1 --cpus-per-task=2"),
        ({"qos": "long", "constraint": "a|b", "slurm_extra": "--exclude=n1"},
         "-p cpu -C 'a|b' --qos=long --ntasks=1 --cpus-per-task=2 --exclude=n1"),
    ],
)  # fmt: skip
def test_what_a_job_asks_sbatch_for(resources, expected):
    assert preflight.sbatch_options(job(**resources), settings(), PARTITIONS) == expected


@pytest.mark.parametrize(
    "resources, words",
    [
        ({"gpu": "1"}, "gpu must be a number without quotes, not '1'"),
        ({"slurm_extra": "--mem=1G"}, "not allowed in the 'slurm_extra' parameter"),
        ({"gpu": 1, "runtime": 61}, "no partition of partitions.yaml takes runtime=61, gpu=1, threads=2"),
        ({"slurm_partition": "cpu", "runtime": 61}, "no partition of partitions.yaml takes runtime=61"),
        ({"gpu": 1, "gpu_model": "a100-sxm4"}, "Invalid GPU model format: a100-sxm4"),
    ],
)
def test_what_no_partition_or_the_executor_takes_is_refused(resources, words):
    with pytest.raises(WorkflowError, match=words):
        preflight.sbatch_options(job(**resources), settings(), PARTITIONS)


def check(monkeypatch, words, jobs, passes=False):
    monkeypatch.setattr(preflight, "refusal_reason", lambda options: words)
    monkeypatch.setattr(preflight, "may_pass_later", lambda words: passes)
    monkeypatch.setattr(preflight, "submitted_jobs", lambda dag: jobs.items())
    bounds = {"mem_mb": SimpleNamespace(value=500), "runtime": SimpleNamespace(value=None)}
    dag = SimpleNamespace(workflow=SimpleNamespace(global_resources=bounds))
    return preflight.check_jobs(dag, settings(partition_config=None), stored=False)


def test_refusals_name_the_jobs_once_for_each_reason(monkeypatch, caplog):
    jobs = {f"job {i}": job(1, slurm_partition="cpu", runtime=60) for i in range(5)}
    assert check(monkeypatch, None, jobs) == []
    assert check(monkeypatch, "Invalid qos specification", jobs) == [
        "Invalid qos specification, says sbatch -p cpu -t 60 --ntasks=1 --cpus-per-task=1 "
        "(job 0, job 1, job 2 and 2 more)"
    ]
    assert check(monkeypatch, "Requested node configuration is not available", jobs, passes=True) == []
    assert check(monkeypatch, "words", {"later": job(runtime=TBDString())}) == []
    caplog.clear()
    assert check(monkeypatch, None, {"large": job(mem_mb=500), "small": job(mem_mb=499)}) == []
    assert "allow large no more memory or time" in caplog.text


@pytest.mark.parametrize(
    "words, queue, states, expected",
    [
        ("Requested node configuration is not available", "", "up idle\nup mixed\n", False),
        ("Requested node configuration is not available", "", "up idle\nup drained\n", True),
        ("Required partition not available (inactive or drain)", "", "inact idle\n", True),
        ("Job violates policy (job submit limit, time limits)", "7|x", "", True),
        ("Job violates policy (job submit limit, time limits)", "", "", False),
        ("Invalid qos specification", "7|x", "up down*", False),
    ],
)
def test_what_time_can_heal_is_no_error(monkeypatch, words, queue, states, expected):
    monkeypatch.setattr(preflight, "query_slurm", lambda command, *rest: queue if command == "squeue" else states)
    assert preflight.may_pass_later(words) == expected


def test_settings_with_which_a_run_would_hang_are_refused(monkeypatch):
    monkeypatch.delenv("SLURM_CONF", raising=False)

    def wrong(age="300 sec", stored=False, **changed):
        return list(preflight.check_settings(settings(**changed), {"MinJobAge": age}, stored))

    assert wrong() == wrong(status_command="sacct", stored=True) == []
    assert "no accounting database" in wrong(status_command="sacct")[0]
    assert "10 or less" in wrong(age="30 sec")[0] and "19 or less" in wrong(age="59 sec")[0] and not wrong(age="60 sec")
    assert "slurm-array-jobs is score, prompt" in wrong(array_jobs="score, prompt")[0]


def test_only_jobs_of_this_folder_and_this_executor_are_left_over(monkeypatch, tmp_path):
    lines = [
        f"11|pronouns_{UUID}|{tmp_path}|rule_score_wildcards_x",
        f"12|{UUID}|{tmp_path}/../{tmp_path.name}|group_instances|pipe",
        f"13|pronouns_{UUID}|/elsewhere|rule_score",
        f"14|interactive|{tmp_path}|rule_score",
        f"15|pronouns_{UUID}|{tmp_path}|(null)",
    ]
    monkeypatch.setattr(preflight, "query_slurm", lambda *command: "\n".join(lines))
    assert list(preflight.left_over(tmp_path)) == [
        "an earlier run in this folder left jobs in the queue: scancel 11 12"
    ]
