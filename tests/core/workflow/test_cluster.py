"""What the profile for Slurm needs from Python, on made-up answers of Slurm; tests/slurm/ asks a real one."""

import asyncio
import logging
from pathlib import Path

import pytest
import yaml

from scripts.core.errors import UserError
from scripts.core.workflow import cluster

ROOT = Path(__file__).parents[3]
UUID = "0c6b7a3e-1111-2222-3333-444455556666"
SINFO = """\
cpu|1-00:00:00|16000|8|(null)|up
cpu|1-00:00:00|64000+|32|(null)|up
gpu|2-00:00:00|250000|64|gpu:a100:4(S:0-1),gpu:t4:1|up
plain|infinite|8000|4|gpu:2|up
gone|1:00:00|8000|4|(null)|down
"""
LOGGER = logging.getLogger("test")


@pytest.mark.parametrize(
    "outputs, group",
    [
        (["results/ruff/instances/{templates}/selected.parquet"], "instances"),
        (["results/ruff/analysis/{templates}/a.csv", "results/ruff/analysis/{templates}/b.csv"], "analyses"),
        (["results/underspecification/word_group_probabilities/run/{model}.parquet"], "analyses"),
        (["results/ruff/flags/{templates}.parquet"], "analyses"),
        (["results/sixth/figures/{templates}/x.pdf"], None),
        (["results/paper/main.tex"], "analyses"),
        (["results/benchmarks/scoring.csv"], None),
        (["results/plan.csv"], None),
        (["results/ruff/instances/a/b", "results/ruff/figures/a/b"], None),
        (["results/models/minilm-l6-mlm"], None),
    ],
)
def test_small_rules_join_the_group_of_their_room(outputs, group):
    assert cluster.job_group(outputs, ["ruff", "underspecification"]) == group


@pytest.mark.parametrize(
    "limit, expected",
    [("30:00", 30), ("1:30:00", 90), ("2-00:00:00", 2880), ("infinite", None), ("n/a", None)],
)
def test_time_limits(limit, expected):
    assert cluster.minutes(limit) == expected


def test_partitions_are_read_with_all_kinds_of_nodes():
    found = cluster.parse_partitions(SINFO)
    assert set(found) == {"cpu", "gpu", "plain"}
    assert found["cpu"]["minutes"] == 1440
    assert [n["mem_mb"] for n in found["cpu"]["nodes"]] == [16000, 64000]
    assert found["gpu"]["nodes"][0]["gpus"] == {"a100": 4, "t4": 1}
    assert found["plain"] == {"minutes": None, "nodes": [{"mem_mb": 8000, "cpus": 4, "gpus": {"": 2}}]}


@pytest.mark.parametrize(
    "wanted, words",
    [
        ({"slurm_partition": "cpu", "mem_mb": 64000, "threads": 32, "runtime": 1440}, None),
        ({"slurm_partition": "gpu", "gpu": 4, "gpu_model": "a100"}, None),
        ({"slurm_partition": "plain", "gpu": 2, "runtime": 10**6}, None),
        ({"slurm_partition": "gone"}, ["partition gone", "change slurm/profile.yaml"]),
        ({"slurm_partition": "cpu", "runtime": 1441}, ["ends jobs after 1440 minutes"]),
        ({"slurm_partition": "cpu", "mem_mb": 64001}, ["64001 MB of memory", "64000"]),
        ({"slurm_partition": "cpu", "threads": 33}, ["33 CPU cores"]),
        ({"slurm_partition": "cpu", "gpu": 1}, ["cpu has 1 GPU"]),
        ({"slurm_partition": "gpu", "gpu": 2, "gpu_model": "t4"}, ["2 GPUs of type t4"]),
        ({"slurm_partition": "gpu", "gpu": "1"}, ["without quotes"]),
    ],
)
def test_jobs_that_would_wait_for_ever_are_named(wanted, words):
    found = cluster.check_jobs({"score (bert)": wanted}, cluster.parse_partitions(SINFO))
    if words is None:
        assert found == []
    else:
        assert len(found) == 1
        assert all(word in found[0] for word in [*words, "score (bert)"])


def test_the_same_reason_is_given_once():
    jobs = {f"job {i}": {"slurm_partition": "nope"} for i in range(5)}
    (reason,) = cluster.check_jobs(jobs, cluster.parse_partitions(SINFO))
    assert "and 2 more" in reason


def test_sacct_without_a_database_and_a_forgetful_squeue_are_refused():
    without = {"AccountingStorageType": "accounting_storage/none", "MinJobAge": "300 sec"}
    assert "no accounting database" in cluster.check_status(without, "sacct", 20)[0]
    assert cluster.check_status(without, "squeue", 20) == []
    assert "10 or less" in cluster.check_status({"MinJobAge": "30 sec"}, "squeue", 20)[0]


def test_only_jobs_of_this_folder_and_this_executor_are_left_over(tmp_path):
    lines = [
        f"11|pronouns_{UUID}|{tmp_path}|rule_score_wildcards_x",
        f"12|{UUID}|{tmp_path}/../{tmp_path.name}|group_instances|pipe",
        f"13|pronouns_{UUID}|/elsewhere|rule_score",
        f"14|interactive|{tmp_path}|rule_score",
        f"15|pronouns_{UUID}|{tmp_path}|(null)",
    ]
    assert cluster.left_over("\n".join(lines), tmp_path) == {"11", "12"}


def query(answers):
    """Make a status query of the executor that gives the next answer at each call."""
    answers = iter(answers)

    async def ask(command, logger):
        states = next(answers)
        return (None, None) if states is None else (states, 0.1)

    patient = cluster.retry_status_queries(ask)
    return lambda: asyncio.run(patient("squeue --me", LOGGER))[0]


def test_a_failed_query_is_no_news():
    ask = query([{"1": "RUNNING"}, None, {"1": "COMPLETED"}])
    assert [ask() for _ in range(3)] == [{"1": "RUNNING"}, {}, {"1": "COMPLETED"}]


def test_cancelled_by_somebody_is_cancelled():
    assert query([{"1": "CANCELLED by 1000"}])() == {"1": "CANCELLED"}


def test_a_job_that_slurm_has_forgotten_has_failed_and_an_ended_one_has_not():
    ask = query([{"1": "RUNNING", "2": "COMPLETED"}, {}, {"1": "RUNNING"}, {}, {}, {}, {}])
    seen = [ask() for _ in range(6)]
    assert seen[:5] == [{"1": "RUNNING", "2": "COMPLETED"}, {}, {"1": "RUNNING"}, {}, {}]
    assert seen[5] == {"1": "FAILED"}
    assert ask() == {}


def test_options_of_the_command_line():
    assert cluster.named_option(["--profile", "slurm", "-n"], "--profile") == "slurm"
    assert cluster.named_option(["--profile=a/b"], "--profile") == "a/b"
    assert cluster.named_option(["--workflow-profile", "x"], "--profile") is None


class Flow:
    """As much of a workflow as check_profiles looks at."""

    basedir = str(ROOT)


def test_a_workflow_profile_with_the_same_keys_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["snakemake", "--profile", "slurm"])
    folder = tmp_path / "profiles/default"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("printshellcmds: true\n")
    cluster.check_profiles(Flow)
    (folder / "config.yaml").write_text("executor: local\nprintshellcmds: true\n")
    with pytest.raises(UserError, match=r"profiles/default.*overrides executor of.*--workflow-profile none"):
        cluster.check_profiles(Flow)
    monkeypatch.setattr("sys.argv", ["snakemake", "--profile", "slurm", "--workflow-profile", "none"])
    cluster.check_profiles(Flow)
    monkeypatch.setattr("sys.argv", ["snakemake", "--cores", "2"])
    cluster.check_profiles(Flow)


def test_the_profile_has_one_place_for_a_site():
    profile = yaml.safe_load((ROOT / "slurm/profile.yaml").read_text(encoding="utf-8"))
    text = (ROOT / "slurm/profile.yaml").read_text(encoding="utf-8")
    site = text[text.index("---- The site") : text.index("---- End of the site")]
    for key in ("slurm_account", "slurm_partition", "gpu_partition", "gpu_type", "max_runtime", "max_mem_mb"):
        assert key in profile["default-resources"]
        assert text.count(f" {key}:") == 1 == site.count(f" {key}:")
    assert profile["slurm-status-command"] == "squeue"
    assert not list(ROOT.glob("profiles/default"))


def test_no_rule_retries_by_itself():
    for path in (ROOT / "rules").glob("*.smk"):
        assert "retries:" not in path.read_text(encoding="utf-8").replace("# ", ""), path


def test_job_arrays_are_refused():
    """The executor gives all tasks the resources of the first job, whose output is removed when another fails."""
    assert cluster.check_arrays(None) == cluster.check_arrays("") == []
    (line,) = cluster.check_arrays("score, prompt")
    assert "slurm-array-jobs is score, prompt" in line and "take --slurm-array-jobs out" in line


def test_use_is_reported_only_where_the_database_keeps_the_comments(monkeypatch):
    monkeypatch.setattr(cluster.shutil, "which", lambda name: f"/usr/bin/{name}")
    kept = {"AccountingStorageType": "accounting_storage/slurmdbd", "AccountingStoreFlags": "job_comment,job_env"}
    assert cluster.reports_usage(kept)
    assert not cluster.reports_usage(kept | {"AccountingStoreFlags": "(null)"})
    assert not cluster.reports_usage(kept | {"AccountingStorageType": "accounting_storage/none"})
    monkeypatch.setattr(cluster.shutil, "which", lambda name: None)
    assert not cluster.reports_usage(kept)
