"""What Slurm refuses, before the first job and during a run, and jobs that it lets wait: small jobs on a real Slurm."""

import re
import time

import pytest

from tests.slurm.conftest import PROFILE, change

pytestmark = pytest.mark.slurm


def refused(run, *words):
    """Whether a run ended with one line that has these words."""
    assert run.wait(90) == 1, run.text[-3000:]
    (line,) = [line for line in run.text.splitlines() if line.startswith("Error: ")]
    print(line)
    assert [word for word in words if word not in line] == []
    assert "Traceback" not in run.text
    assert "SLURM jobid" not in run.text


def test_what_slurm_would_refuse_stops_the_dry_run_too(cluster, snakemake, small):
    """Accounts, QoS, partitions, GPUs and time limits, with all that is wrong in one line."""
    wrong = {
        "instances": "slurm_account=nobody", "more_instances": "slurm_account=nobody", "alone": "gpu_model=h100",
        "analyses": "slurm_partition=cpu,nope",
    }  # fmt: skip
    change(small, "jobs: 50", "jobs: 50\nslurm-qos: nope")
    run = snakemake(
        cluster, small, "--dry-run", *PROFILE, "--set-resources", *(f"{rule}:{value}" for rule, value in wrong.items()),
        "analyses:runtime=9999",
    )  # fmt: skip
    refused(
        run, "account nobody appears to be invalid. Available accounts: ", "lab", "Invalid qos specification",
        "invalid partition specified: nope", "(analyses)",
    )  # fmt: skip
    fits = snakemake(cluster, small, "--dry-run", *PROFILE, "--slurm-qos", "normal", "--set-resources", "alone:gpu=2",
        "alone:gpu_model=pretend-80g", "analyses:slurm_partition=cpu,gpu")  # fmt: skip
    assert fits.wait(60) == 0, fits.text[-3000:]


def too_long(folder):
    return ["partition cpu ends jobs after 2880 minutes, 9999 are asked for (analyses)"], "analyses:runtime=9999"


def too_many_gpus(folder):
    return ["Requested node configuration is not available, says sbatch -p gpu", "--gpus=3 (alone"], "alone:gpu=3"


def forbidden_extra(folder):
    return ["not allowed in the 'slurm_extra' parameter"], "alone:slurm_extra='--qos=long'"


def quoted_gpus(folder):
    return ["gpu must be a number without quotes"], "alone:gpu='one'"


def slow_status(folder):
    change(folder, "status-checks: 2", "status-checks: 200")
    return ["squeue forgets ended jobs after 300 s", "to 100 or less"]


def sacct_without_a_database(folder):
    change(folder, "status-command: squeue", "status-command: sacct")
    return ["there is no accounting database for sacct: set slurm-status-command to squeue"]


def workflow_profile(folder):
    (folder / "profiles/default").mkdir(parents=True)
    (folder / "profiles/default/config.yaml").write_text("executor: local\njobs: 1\n")
    return ["profiles/default", "overrides executor, jobs of --profile slurm", "--workflow-profile none"]


def job_arrays(folder):
    change(folder, "jobs: 50", "jobs: 50\nslurm-array-jobs: alone")
    return ["slurm-array-jobs is alone", "removes the first one's output", "take --slurm-array-jobs out"]


def rule_retries(folder):
    path = folder / "Snakefile"
    path.write_text(path.read_text().replace("rule alone:\n", "rule alone:\n    retries: 2\n"))
    return ["rule alone", "retries would multiply", "remove the directive"]


CASES = [too_long, too_many_gpus, forbidden_extra, quoted_gpus, slow_status, sacct_without_a_database, workflow_profile,
         job_arrays, rule_retries]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_refused_before_submission(bare_cluster, snakemake, small, case):
    words = case(small)
    words, *resources = words if isinstance(words, tuple) else (words,)
    options = ["--set-resources", *resources] if resources else []
    refused(snakemake(bare_cluster, small, *PROFILE, *options), *words)


def test_faults_while_jobs_are_submitted(bare_cluster, snakemake, small):
    """The controller is away at a submission, a partition is down, a retry wants more time, a group is refused."""
    change(small, "gpu_type: null", "gpu_type: pretend-80g")
    bare_cluster.run("scontrol", "update", "partitionname=gpu", "maxtime=15")
    try:
        run = snakemake(bare_cluster, small, *PROFILE)
        run.says("localrule gate")
        bare_cluster.stop_controller()
        (small / "open_first").touch()
        run.says("Slurm takes no job now (Batch job submission failed: Unable to contact slurm controller")
        time.sleep(15)
        bare_cluster.start_controller()
        run.says("Finished jobid: 5 (Rule: more_instances)")
        assert "Trying to restart" not in run.text

        bare_cluster.run("scontrol", "update", "partitionname=gpu", "state=down")
        (small / "open_second").touch()
        run.says("1 job waits: PartitionDown")
        bare_cluster.run("scontrol", "update", "partitionname=gpu", "state=up")
        run.says("wildcards: name=third")
        assert (small / "results/alone").read_text() == "15:00\n"
        assert run.text.count("Trying to restart") == 1
        assert re.search(r"^Job alone: SLURM-job '\d+' failed, SLURM status is: 'FAILED'", run.text, flags=re.MULTILINE)

        bare_cluster.run("scontrol", "update", "partitionname=cpu", "state=inactive")
        (small / "open_third").touch()
        assert run.wait(120) == 1
        assert "Group analyses: Slurm refuses the job: Batch job submission failed: Required partition not" in run.text
        assert run.text.count("Trying to restart") == 1
        assert "No SLURM account given" not in run.text
    finally:
        bare_cluster.run("scontrol", "update", "partitionname=cpu", "state=up")
        bare_cluster.run("scontrol", "update", "partitionname=gpu", "state=up", "maxtime=2-00:00:00")


def test_a_group_whose_submission_raises_ends_the_run(bare_cluster, snakemake, small):
    """The executor's handler of errors asks a group for its rule; the run waited for ever."""
    (small / "open_first").touch()
    (small / "results/logs").mkdir(parents=True)
    (small / "results/logs/slurm").touch()
    run = snakemake(bare_cluster, small, *PROFILE, "--", "results/study/instances/a")
    assert run.wait(90) == 1
    assert "Group instances: Slurm refuses the job: [Errno 17] File exists: " in run.text
    assert "Trying to restart" not in run.text
