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


def test_all_that_slurm_would_refuse_is_told_in_one_line(cluster, snakemake, small):
    """Accounts, QoS, partitions and GPUs."""
    wrong = {
        "instances": "slurm_account=nobody", "more_instances": "slurm_account=nobody", "alone": "gpu_model=h100",
        "analyses": "slurm_partition=cpu,nope",
    }  # fmt: skip
    change(small, "jobs: 50", "jobs: 50\nslurm-qos: nope")
    resources = [f"{rule}:{value}" for rule, value in wrong.items()]
    run = snakemake(cluster, small, *PROFILE, "--set-resources", *resources)
    refused(
        run, "account nobody appears to be invalid. Available accounts: ", "lab", "Invalid qos specification",
        "invalid partition specified: nope", "(analyses)",
    )  # fmt: skip


def test_more_time_than_a_partition_allows_is_refused(bare_cluster, snakemake, small):
    """What else the executor and the checks refuse without asking Slurm: tests/core/workflow/test_preflight.py."""
    change(small, "runtime=2880", "runtime=10000")
    run = snakemake(bare_cluster, small, *PROFILE, "--set-resources", "analyses:runtime=9999")
    refused(run, "partitions.yaml takes runtime=9999, mem_mb=600, threads=1 (analyses)")


@pytest.mark.nightly
def test_more_gpus_than_a_node_has_are_refused(bare_cluster, snakemake, small):
    path = small / "slurm/partitions.yaml"
    path.write_text(path.read_text().replace("max_gpu: 2", "max_gpu: 8"))
    run = snakemake(bare_cluster, small, *PROFILE, "--set-resources", "alone:gpu=3")
    refused(run, "Requested node configuration is not available, says sbatch -p gpu", "--gpus=pretend_80g:3")


@pytest.mark.nightly
def test_faults_while_jobs_are_submitted(bare_cluster, snakemake, small):
    """The controller is away at a submission, a partition is down, a retry wants more time, a group is refused."""
    change(small, "runtime=2880", "runtime=15")
    try:
        run = snakemake(bare_cluster, small, *PROFILE)
        run.says("localrule gate")
        bare_cluster.stop_controller()
        (small / "open_first").touch()
        run.says("Slurm takes no job now, its controller is away")
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
        assert re.search(r"SLURM-job '\d+' failed, SLURM status is: 'FAILED'", run.text)

        bare_cluster.run("scontrol", "update", "partitionname=cpu", "state=inactive")
        (small / "open_third").touch()
        assert run.wait(120) == 1
        assert re.search(r"Group analyses: SLURM sbatch failed.*Required partition not", run.text)
        assert "No SLURM account given" not in run.text
    finally:
        bare_cluster.run("scontrol", "update", "partitionname=cpu", "state=up")
        bare_cluster.run("scontrol", "update", "partitionname=gpu", "state=up")


@pytest.mark.nightly
def test_a_group_whose_submission_raises_ends_the_run(bare_cluster, snakemake, small):
    """The executor's handler of errors asks a group for its rule; the run waited for ever."""
    (small / "open_first").touch()
    (small / "results/logs").mkdir(parents=True)
    (small / "results/logs/slurm").touch()
    run = snakemake(bare_cluster, small, *PROFILE, "--", "results/study/instances/a")
    assert run.wait(90) == 1
    assert "Group instances: Job submission failed with exception: [Errno 17] File exists: " in run.text
