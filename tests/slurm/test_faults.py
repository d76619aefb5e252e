"""What goes wrong on a cluster, made to go wrong on a real Slurm: no run hangs, nothing finished is lost or made twice,
no half-written file is taken for a result, and what comes out equals a local run byte for byte.

Jobs are held by stopping their scoring process, so that each fault meets a running job however fast the machine is.
"""

import re
import signal
import time

import pytest

from tests.slurm.conftest import OTHERS, PROFILE, SCORES, minutes, scores, unequal, without_scores

pytestmark = pytest.mark.slurm


def history(cluster, folder, model):
    """Return the accounts of the jobs that scored a model in a folder, oldest first."""
    jobs = [j for j in cluster.accounts() if j["WorkDir"] == str(folder) and scores(j["Comment"], model)]
    for job in jobs:
        print(*job.values(), sep=" | ")
    return jobs


def states(jobs):
    return [job["State"].split()[0] for job in jobs]


def memory(job):
    return int(re.search(r"mem=(\d+)M", job["ReqTRES"]).group(1))


@pytest.fixture(scope="module", autouse=True)
def ending_badly(cluster, snakemake, local, tmp_path_factory):
    """A run whose jobs end in three ways. Slurm takes its time over time limits, so it goes on beside other tests."""
    run = snakemake(
        cluster, without_scores(local, tmp_path_factory.mktemp("badly")), *PROFILE,
        "--set-resources", "score:mem_mb=450 * attempt ** 2 if wildcards.model == 'tiny-opt' else 3000 * attempt",
        "score:runtime=attempt ** 2 if wildcards.model == 'tiny-bert' else 10 * attempt", "--", "scores",
    )  # fmt: skip
    _, cancelled = run.hold("tiny-bert", "tiny-llama")
    cluster.run("scancel", cancelled)
    return run, cancelled


def test_interrupted_then_killed_then_run_again(cluster, snakemake, unscored, local):
    """Ctrl-C takes the jobs along and leaves what is finished; kill -9 leaves jobs, which the next run names."""
    first = snakemake(cluster, unscored, *PROFILE, "--", "scores")
    held = set(first.hold("tiny-bert"))
    first.until((unscored / SCORES / "tiny-opt.parquet").exists, "scores of tiny-opt")
    first.until(lambda: re.search(r"[2-9] of \d+ steps", first.text), "word of it")
    first.process.send_signal(signal.SIGINT)
    assert first.wait(300) == 1
    first.until(lambda: not held & {job["id"] for job in cluster.queue()}, "cancelled jobs")
    assert not (unscored / SCORES / "tiny-bert/1of1.parquet").exists()
    opt = unscored / SCORES / "tiny-opt/1of1.parquet"
    made = opt.stat().st_mtime_ns

    second = snakemake(cluster, unscored, *PROFILE, "--", "scores")
    (orphan,) = second.hold("tiny-bert")
    second.process.kill()
    second.wait(10)
    assert orphan in second.jobs("tiny-bert")

    locked = snakemake(cluster, unscored, *PROFILE, "--", "scores")
    assert locked.wait(60) == 1
    assert "Directory cannot be locked" in locked.text
    assert orphan in locked.jobs("tiny-bert")
    unlock = snakemake(cluster, unscored, *PROFILE, "--unlock")
    assert unlock.wait(60) == 0, unlock.text
    third = snakemake(cluster, unscored, *PROFILE, "--", "scores")
    assert third.wait(60) == 1
    left = re.search(r"an earlier run in this folder left jobs in the queue: scancel ([\d ]+)", third.text)[1].split()
    assert orphan in left
    cluster.run("scancel", *left)
    third.until(lambda: not {job["id"] for job in cluster.queue()} & set(left), "cancelled jobs")
    fourth = snakemake(cluster, unscored, *PROFILE, "--", "scores")
    assert fourth.wait() == 0, fourth.text[-4000:]
    assert unequal(unscored, local) == []
    assert opt.stat().st_mtime_ns == made
    assert states(history(cluster, unscored, "tiny-opt")) == ["COMPLETED"]
    bert = history(cluster, unscored, "tiny-bert")
    assert states(bert) == ["CANCELLED", "CANCELLED", "COMPLETED"]
    assert bert[1]["JobIDRaw"] == orphan


def test_cancelled_over_time_and_over_memory(ending_badly, cluster, local):
    """Three jobs end in three ways; each is run again with more, and the run ends well."""
    run, cancelled = ending_badly
    assert run.wait() == 0, run.text[-4000:]
    assert unequal(run.folder, local) == []
    assert f"SLURM-job '{cancelled}' failed, SLURM status is: 'CANCELLED'" in run.text
    assert "SLURM status is: 'TIMEOUT'" in run.text

    bert, opt, llama = (history(cluster, run.folder, f"tiny-{name}") for name in ("bert", "opt", "llama"))
    assert states(llama) == ["CANCELLED", "COMPLETED"]
    assert [(memory(j), minutes(j)) for j in llama] == [(3000, 10), (6000, 20)]
    # Without cgroups Slurm says FAILED of a job over its memory; the reason stands in the job's log.
    assert states(opt) in (["FAILED", "COMPLETED"], ["OUT_OF_MEMORY", "COMPLETED"])
    assert [memory(j) for j in opt] == [450, 1800]
    (log,) = (run.folder / "results/logs/slurm").rglob(f"{opt[0]['JobIDRaw']}.log")
    assert "exceeded memory limit" in log.read_text()
    assert states(bert) == ["TIMEOUT", "COMPLETED"]
    assert [minutes(j) for j in bert] == [1, 4]


@pytest.mark.nightly
def test_controller_restarted_and_node_killed(cluster, snakemake, unscored, local):
    """Jobs outlive the controller; a job on a node that dies is run again on another one; the node comes back."""
    run = snakemake(cluster, unscored, *PROFILE, "--", f"{SCORES}/tiny-bert.parquet")
    run.hold("tiny-bert")
    cluster.stop_controller()
    # Long enough for status queries that find nobody.
    time.sleep(12)
    cluster.start_controller()
    (job,) = run.jobs("tiny-bert")
    (node,) = {j["node"] for j in cluster.queue() if j["id"] == job}
    cluster.kill_node(node)
    try:
        run.says("NODE_FAIL")
    finally:
        cluster.start_node(node)
    assert run.wait() == 0, run.text[-4000:]
    assert unequal(unscored, local) == OTHERS
    failed, again = history(cluster, unscored, "tiny-bert")
    assert states([failed, again]) == ["NODE_FAIL", "COMPLETED"]
    assert (failed["NodeList"], again["NodeList"]) in (("c1", "c2"), ("c2", "c1"))
    assert "failed due to a node failure, SLURM status is: 'NODE_FAIL'" in run.text
    run.until(lambda: cluster.node_states()[node] == "idle", f"{node} back", 60)
