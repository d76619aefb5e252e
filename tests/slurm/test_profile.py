"""`snakemake --profile slurm` on a real Slurm: complete runs, what Slurm was asked for, and refusals before a run."""

import re
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.slurm.conftest import GPUS, PROFILE, minutes, scores, unequal

pytestmark = pytest.mark.slurm

NODES = {"tiny-bert": r"c\d", "tiny-opt": "g1", "tiny-llama": "g1"}


def asked(text, model):
    """Return the resources that a dry run prints for the scoring job of a model."""
    block = re.search(rf"output: \S+/{model}/1of1\.parquet.*?resources: ([^\n]+)", text, flags=re.DOTALL).group(1)
    return dict(pair.split("=", 1) for pair in block.split(", "))


def of_folder(cluster, folder):
    return [job for job in cluster.accounts() if job["WorkDir"] == str(folder)]


@pytest.fixture(scope="module")
def finished(cluster, snakemake, untouched, tmp_path_factory):
    """The whole RUFF workflow on Slurm, and the dry run before it."""
    folder = tmp_path_factory.mktemp("slurm") / "site"
    shutil.copytree(untouched, folder)
    command = Path(sys.executable).with_name("generate-slurm-partition-config")
    cluster.run(str(command), "-o", str(folder / "slurm/partitions.yaml"))
    dry = snakemake(cluster, folder, "--dry-run", *PROFILE, "ruff", "ruff_section")
    assert dry.wait() == 0, dry.text[-3000:]
    run = snakemake(cluster, folder, *PROFILE, "ruff", "ruff_section")
    assert run.wait(900) == 0, run.text[-5000:]
    return folder, dry.text, run.text


def test_the_whole_workflow_makes_what_a_local_run_makes(finished, local):
    assert unequal(finished[0], local) == []


def test_five_jobs_carry_all_rules(finished, cluster):
    jobs = of_folder(cluster, finished[0])
    for job in jobs:
        print(*job.values(), sep=" | ")
    assert [job["State"] for job in jobs] == ["COMPLETED"] * (2 + len(GPUS))
    assert {job["Account"] for job in jobs} == {"lab"}
    kinds = sorted(re.match(r"rule_([a-z]+)", job["Comment"]).group(1) for job in jobs)
    assert kinds == ["analyses", "instances", *["score"] * len(GPUS)]


@pytest.mark.parametrize("model", GPUS)
def test_slurm_saw_what_the_model_needs_and_the_log_says_what_it_got(finished, cluster, model):
    folder, dry, _ = finished
    wanted = asked(dry, model)
    (job,) = [j for j in of_folder(cluster, folder) if scores(j["Comment"], model)]
    tres = dict(pair.split("=") for pair in job["ReqTRES"].split(","))
    assert tres["mem"] == f"{wanted['mem_mb']}M"
    assert int(tres.get("gres/gpu", 0)) == int(wanted["gpu"]) == GPUS[model]
    assert minutes(job) == int(wanted["runtime"])
    assert tres["cpu"] == "1"
    assert tres["node"] == "1"
    assert job["Partition"] == ("gpu" if GPUS[model] else "cpu")
    text = (folder / f"results/logs/score/ruff/replica/{model}/1of1.log").read_text()
    gpus = ",".join(map(str, range(GPUS[model]))) if GPUS[model] != 1 else r"\d"
    assert re.search(rf"node {NODES[model]}, Slurm job \d+, GPUs {gpus or 'none'}\n", text), text
    assert int(re.search(r"memory high-water mark: (\d+) MB", text).group(1)) > 50


def test_a_report_has_what_slurm_counted(finished):
    """The executor's report of a real run has every model's job, which takes longer there than Snakemake counts."""
    benchmarks = finished[0] / "results/benchmarks"
    (report,) = benchmarks.glob("slurm/efficiency_report_pronouns_*.csv")
    counted = pd.read_csv(report).set_index("RuleName")
    for model in GPUS:
        row = counted.loc[f"rule_score_wildcards_ruff_replica_{model}_1_1"]
        measured = pd.read_csv(benchmarks / f"score/ruff/replica/{model}/1of1.tsv", sep="\t").iloc[0]
        assert row.MaxRSS_MB > 50 and row.Elapsed_sec > measured.s > 0


def test_a_second_run_submits_nothing(finished, cluster, snakemake):
    folder = finished[0]
    before = len(of_folder(cluster, folder))
    run = snakemake(cluster, folder, *PROFILE, "ruff", "ruff_section")
    assert run.wait() == 0
    assert "Nothing to be done" in run.text
    assert len(of_folder(cluster, folder)) == before


@pytest.mark.nightly
def test_token_distributions_of_a_model_are_one_job(finished, cluster, snakemake):
    folder = finished[0]
    before = [job["JobIDRaw"] for job in of_folder(cluster, folder)]
    run = snakemake(
        cluster, folder, *PROFILE, "--", "results/underspecification/word_group_probabilities/run/tiny-llama.parquet"
    )
    assert run.wait() == 0, run.text[-4000:]
    jobs = [job for job in of_folder(cluster, folder) if job["JobIDRaw"] not in before]
    for job in jobs:
        print(*job.values(), sep=" | ")
    (job,) = [job for job in jobs if "distributions" in job["Comment"]]
    assert len(jobs) == 3
    # Three sets of texts one after another: the GPUs of one, the time of all.
    assert len(list((folder / "results/underspecification/distributions").glob("*/tiny-llama.parquet"))) == 3
    assert f"gres/gpu={GPUS['tiny-llama']}" in job["ReqTRES"]
    assert 3 * 11 <= minutes(job) <= 3 * 12
