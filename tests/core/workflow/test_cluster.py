"""What the profile for Slurm needs from Python, on made-up answers of Slurm; tests/slurm/ asks a real one."""

import asyncio
import logging
from pathlib import Path

import pytest
import yaml
from snakemake.common.tbdstring import TBDString

from scripts.core.errors import UserError
from scripts.core.workflow import cluster, slurm, slurm_executor

ROOT = Path(__file__).parents[3]
UUID = "0c6b7a3e-1111-2222-3333-444455556666"
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
    assert slurm.minutes(limit) == expected


@pytest.mark.parametrize(
    "partition, expected", [("cpu", 60), ("cpu,long", 2880), ("cpu,free", None), ("gone", None), (None, None)]
)
def test_the_time_limit_of_a_list_of_partitions_is_the_longest(partition, expected):
    assert slurm_executor.time_limit(partition, {"cpu": 60, "long": 2880, "free": None}) == expected


class Settings:
    """What the executor's settings leave open."""

    requeue = no_requeue = qos = reservation = None


def options(threads=2, **resources):
    return slurm_executor.Request(resources, threads).options(Settings)


@pytest.mark.parametrize(
    "resources, expected",
    [
        ({"slurm_account": 4711, "slurm_partition": "cpu,long"}, "-A 4711 -p cpu,long --ntasks=1 --cpus-per-task=2"),
        ({"runtime": TBDString(), "mem_mb": 100}, "--mem 100 --ntasks=1 --cpus-per-task=2"),
        ({"gpu": 2, "gpu_model": 4090, "nodes": 1}, "--nodes=1 --cpus-per-task=2 --gpus=4090:2"),
        ({"gpu": 1, "gpu_model": "a100-sxm4"}, "--cpus-per-task=2 --gpus=a100-sxm4:1"),
        ({"gpu": 1, "gpu_model": "3g.40gb"}, "--cpus-per-task=2 --gpus=3g.40gb:1"),
        ({"gpu": 1, "slurm_extra": "--exclude=n1"}, "--cpus-per-task=2 --exclude=n1 --gpus=1"),
        ({"qos": "long", "constraint": "a|b"}, "-C 'a|b' --qos=long --ntasks=1 --cpus-per-task=2"),
    ],
)
def test_what_a_job_asks_sbatch_for(resources, expected):
    assert options(**resources) == expected


def test_what_the_executor_refuses_is_told():
    with pytest.raises(UserError, match=r"gpu must be a number without quotes, not '1'"):
        options(gpu="1")
    with pytest.raises(UserError, match=r"not allowed in the 'slurm_extra' parameter"):
        options(slurm_extra="--mem=1G")


def check(monkeypatch, words, jobs, unavailable=False, queue=""):
    monkeypatch.setattr(slurm_executor, "refusal", lambda options: words)
    monkeypatch.setattr(slurm_executor, "has_unavailable_nodes", lambda partition: unavailable)
    monkeypatch.setattr(slurm_executor, "queued_jobs", lambda: queue)
    requests = {name: slurm_executor.Request(resources, 1) for name, resources in jobs.items()}
    return slurm_executor.check_requests(requests, Settings, {"AccountingStorageType": "x/none"}, {"cpu": 60})


def test_refusals_name_the_jobs_once_for_each_reason(monkeypatch):
    jobs = {f"job {i}": {"slurm_partition": "cpu", "mem_mb": i, "runtime": 60} for i in range(5)}
    assert check(monkeypatch, None, jobs) == []
    assert check(monkeypatch, "Invalid qos specification", jobs) == [
        "Invalid qos specification, says sbatch -p cpu -t 60 --ntasks=1 --cpus-per-task=1 "
        "(job 0, job 1, job 2 and 2 more)"
    ]
    assert check(monkeypatch, None, {"later": {"slurm_partition": "cpu", "runtime": TBDString()}}) == []
    assert check(monkeypatch, None, {"long": {"slurm_partition": "cpu", "runtime": 61}}) == [
        "partition cpu ends jobs after 60 minutes, 61 are asked for (long)"
    ]


def test_what_time_can_heal_is_a_warning(monkeypatch):
    """Drained nodes and full limits: sbatch --test-only refuses them as it does what can never run."""
    jobs = {"job": {"slurm_partition": "cpu"}}
    nodes, limit = (
        "Requested node configuration is not available",
        "Job violates policy (job submit limit, time limits)",
    )
    assert check(monkeypatch, nodes, jobs, unavailable=True) == []
    assert len(check(monkeypatch, nodes, jobs)) == 1
    assert check(monkeypatch, limit, jobs, queue="7|x|y|z\n") == []
    assert len(check(monkeypatch, limit, jobs)) == 1
    assert len(check(monkeypatch, "Invalid qos specification", jobs, unavailable=True, queue="7|x|y|z\n")) == 1


class Waiting:
    """As much of the executor as looks at waiting jobs."""

    WAIT_SECONDS = 120

    def __init__(self):
        self.run_uuid, self.waiting, self.told = UUID, {}, set()


def test_waiting_jobs_give_each_reason_once_after_two_minutes(monkeypatch):
    run, queue = Waiting(), ["7|Priority", "8|Priority", "9|None"]
    monkeypatch.setattr(slurm_executor, "query_slurm", lambda *command: "\n".join(queue))
    lines = slurm_executor.PatientExecutor.new_reasons
    assert lines(run, 0) == lines(run, 119) == []
    assert lines(run, 120) == ["2 jobs wait: Priority"]
    queue[0] = "7|PartitionDown"
    assert lines(run, 130) == ["1 job waits: PartitionDown"]
    assert lines(run, 140) == []


def test_slurm_is_told_in_one_line():
    said = "sbatch: error: invalid partition specified: nope\nallocation failure: Invalid partition name specified\n"
    assert slurm_executor.slurm_words(said) == "invalid partition specified: nope; Invalid partition name specified"
    assert slurm_executor.slurm_words("sbatch: error: Batch job submission failed: Socket timed out") == (
        "Batch job submission failed: Socket timed out"
    )


@pytest.mark.parametrize(
    "states, expected",
    [("up idle\nup mixed\n", False), ("up idle\nup drained\n", True), ("up down*\n", True), ("down idle\n", True)],
)
def test_nodes_that_are_away(monkeypatch, states, expected):
    monkeypatch.setattr(slurm, "query_slurm", lambda *command: states)
    assert slurm.has_unavailable_nodes("cpu") == expected


def test_sacct_without_a_database_and_a_forgetful_squeue_are_refused():
    without = {"AccountingStorageType": "accounting_storage/none", "MinJobAge": "300 sec"}
    assert "no accounting database" in slurm.check_status(without, "sacct", 20)[0]
    assert slurm.check_status(without, "squeue", 20) == []
    assert "10 or less" in slurm.check_status({"MinJobAge": "30 sec"}, "squeue", 20)[0]


def test_only_jobs_of_this_folder_and_this_executor_are_left_over(tmp_path):
    lines = [
        f"11|pronouns_{UUID}|{tmp_path}|rule_score_wildcards_x",
        f"12|{UUID}|{tmp_path}/../{tmp_path.name}|group_instances|pipe",
        f"13|pronouns_{UUID}|/elsewhere|rule_score",
        f"14|interactive|{tmp_path}|rule_score",
        f"15|pronouns_{UUID}|{tmp_path}|(null)",
    ]
    assert slurm.left_over("\n".join(lines), tmp_path) == {"11", "12"}


def query(answers):
    """Make a status query of the executor that gives the next answer at each call."""
    answers = iter(answers)

    async def ask(command, logger):
        states = next(answers)
        return (None, None) if states is None else (states, 0.1)

    patient = slurm_executor.retry_status_queries(ask)
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


def test_a_dry_run_away_from_a_cluster_says_that_nothing_was_checked(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def missing(*command):
        raise UserError("scontrol is not installed here")

    said = []
    monkeypatch.setattr(slurm, "query_slurm", missing)
    monkeypatch.setattr(cluster.log, "warning", said.append)
    monkeypatch.setattr("sys.argv", ["snakemake", "--profile", "slurm", "-n"])
    cluster.check_as_if_submitted(Flow)
    assert said == ["The cluster was not checked: scontrol is not installed here"]
    monkeypatch.setattr("sys.argv", ["snakemake", "--cores", "2", "-n"])
    cluster.check_as_if_submitted(Flow)
    assert len(said) == 1
    monkeypatch.setattr("sys.argv", ["snakemake", "--profile", "other", "-n"])
    with pytest.raises(UserError, match=r"the cluster was not checked: .*profile directory given \(other\)"):
        cluster.check_as_if_submitted(Flow)


def test_the_profile_has_one_place_for_a_site():
    profile = yaml.safe_load((ROOT / "slurm/profile.yaml").read_text(encoding="utf-8"))
    text = (ROOT / "slurm/profile.yaml").read_text(encoding="utf-8")
    site = text[text.index("---- The site") : text.index("---- End of the site")]
    for key in ("slurm_account", "slurm_partition", "gpu_partition", "gpu_type", "max_runtime", "max_mem_mb"):
        assert key in profile["default-resources"]
        assert text.count(f" {key}:") == 1 == site.count(f" {key}:")
    assert profile["slurm-status-command"] == "squeue"
    # What Snakemake takes besides would win.
    assert (
        not profile.keys() & yaml.safe_load((ROOT / "profiles/default/config.yaml").read_text(encoding="utf-8")).keys()
    )


def test_no_rule_retries_by_itself():
    for path in (ROOT / "rules").glob("*.smk"):
        assert "retries:" not in path.read_text(encoding="utf-8").replace("# ", ""), path


def test_job_arrays_are_refused():
    """The executor gives all tasks the resources of the first job, whose output is removed when another fails."""
    assert slurm.check_arrays(None) == slurm.check_arrays("") == []
    (line,) = slurm.check_arrays("score, prompt")
    assert "slurm-array-jobs is score, prompt" in line and "take --slurm-array-jobs out" in line


def test_use_is_reported_only_where_the_database_keeps_the_comments(monkeypatch):
    monkeypatch.setattr(slurm.shutil, "which", lambda name: f"/usr/bin/{name}")
    kept = {"AccountingStorageType": "accounting_storage/slurmdbd", "AccountingStoreFlags": "job_comment,job_env"}
    assert slurm.reports_usage(kept)
    assert not slurm.reports_usage(kept | {"AccountingStoreFlags": "(null)"})
    assert not slurm.reports_usage(kept | {"AccountingStorageType": "accounting_storage/none"})
    monkeypatch.setattr(slurm.shutil, "which", lambda name: None)
    assert not slurm.reports_usage(kept)
