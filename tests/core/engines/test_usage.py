"""What jobs used, read back from made-up files in the form of Snakemake 9.27 and the executor plugin 2.8.0."""

import math

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.engines import planning, usage
from scripts.core.errors import UserError

HEAD = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
REPORT_HEAD = (
    ",JobID,JobName,RuleName,Elapsed,TotalCPU,NNodes,NCPUS,MaxRSS,ReqMem,Elapsed_sec,TotalCPU_sec,MaxRSS_MB,"
    "RequestedMem_MB,MainJobID,CPU Efficiency (%),Memory Usage (%)\n"
)
SCORED = "rule_score_wildcards_ruff_replica_one_1_2"


def finish(folder, job, seconds=60, memory="1000.50", device="cpu"):
    """Leave the files of a finished job."""
    files.write_text(folder / f"{job}.tsv", HEAD + f"{seconds}\t0:01:00\t{memory}" + "\t1" * 7 + "\n")
    files.write_json(folder / f"{job}.json", {"device": device})


def step(job, comment, seconds, memory):
    return (
        f"5,{job},python,{comment},00:00:03,00:01.212,1,1,{memory * 1024}K,,{seconds},1.212,{memory},701.0,"
        f"{job.partition('.')[0]},40.4,23.23\n"
    )


def report(folder, *steps, run="1"):
    path = folder / f"slurm/efficiency_report_pronouns_{run}.csv"
    files.write_text(path, REPORT_HEAD + "".join(steps))
    return path


def test_benchmark_files_of_finished_jobs_are_read(tmp_path):
    finish(tmp_path, "score/ruff/replica/one/1of2", seconds=90)
    finish(tmp_path, "score/ruff/replica/one/2of2", memory="NA", device="NVIDIA A100-SXM4-40GB")
    finish(tmp_path, "token_distributions/underspecification/mgc/one", memory="7")
    # Snakemake writes the file before the job's own is there, or after it was removed: not finished.
    files.write_text(tmp_path / "prompt/ruff/replica/one/1of1.tsv", HEAD + "1\t0:00:01\t5" + "\t1" * 7 + "\n")
    jobs = usage.read_finished_jobs(tmp_path)
    assert jobs[usage.KEYS].to_numpy().tolist() == [
        ["score", "ruff/replica", "one", 2, False], ["score", "ruff/replica", "one", 2, True],
        ["token_distributions", "underspecification/mgc", "one", 1, False],
    ]  # fmt: skip
    assert jobs.memory_mb.fillna(-1).tolist() == [1000.5, -1, 7]
    assert jobs.minutes.tolist() == [1.5, 1, 1]


def test_nothing_measured_is_an_empty_table(tmp_path):
    assert usage.read_finished_jobs(tmp_path / "nowhere").empty


def test_slurm_counts_where_it_counts_more(tmp_path):
    finish(tmp_path, "score/ruff/replica/one/1of2")
    finish(tmp_path, "token_distributions/underspecification/mgc/one")
    report(tmp_path, step("7.0", SCORED, 120, 900.0), step("8.0", "rule_distributions_one", 6000, 2000.0))
    jobs = usage.read_finished_jobs(tmp_path).set_index("rule")
    assert (jobs.memory_mb["score"], jobs.minutes["score"]) == (1000.5, 2)
    # All sets of a model travel in one job: its memory is that of each, its time is not.
    assert (jobs.memory_mb["token_distributions"], jobs.minutes["token_distributions"]) == (2000, 1)


def test_of_a_job_that_was_tried_again_the_last_run_counts(tmp_path):
    finish(tmp_path, "score/ruff/replica/one/1of2")
    path = report(
        tmp_path, step("12.0", SCORED, 80, 1100.0), step("9.0", SCORED, 9000, 500.0),
        step("13.0", "rule_score_wildcards_ruff_replica_two_1_1", 70, 4000.0),
    )  # fmt: skip
    (job,) = usage.read_finished_jobs(tmp_path).itertuples()
    assert (job.memory_mb, job.minutes) == (1100, 80 / 60)
    report(tmp_path, step("20.0", SCORED, 66, 0.0), run="0")
    assert usage.read_finished_jobs(tmp_path).memory_mb.tolist() == [1100]
    path.unlink()
    assert usage.read_finished_jobs(tmp_path).memory_mb.tolist() == [1000.5]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("RuleName", "Other"), "has no column RuleName; delete it: Snakemake's own"),
        (lambda text: text.replace(",900.0,", ",much,"), "row 1: MaxRSS_MB is 'much', not a number of at least 0"),
        (lambda text: text.replace(",900.0,", ",nan,"), "row 1: MaxRSS_MB is 'nan'"),
        (lambda text: text.replace(",120,", ",-1,"), "row 1: Elapsed_sec is '-1'"),
        (lambda text: text.replace(",7.0,", ",seven,"), "row 1: JobID 'seven' is not that of a step"),
        (lambda text: text[:-20], "row 1: has not the 17 cells of the header"),
        (lambda text: text + "1,2\n", "row 2: has not the 17 cells of the header"),
        (lambda text: "", "has no column JobID"),
    ],
)
def test_malformed_reports_are_refused_in_one_line(tmp_path, change, words):
    path = report(tmp_path, step("7.0", SCORED, 120, 900.0))
    usage.read_finished_jobs(tmp_path)
    files.write_text(path, change(path.read_text()))
    with pytest.raises(UserError) as error:
        usage.read_finished_jobs(tmp_path)
    message = str(error.value)
    assert message.startswith(str(path)) and words in message and "delete it" in message and "\n" not in message
    # What the message advises helps.
    path.unlink()
    usage.read_finished_jobs(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("1of2.tsv", HEAD, "has no row"),
        ("1of2.tsv", HEAD.replace("max_rss", "rss"), "has no column max_rss"),
        ("1of2.tsv", HEAD + "soon\t0:01:00\t5" + "\t1" * 7 + "\n", "row 1: s is 'soon'"),
        ("1of2.tsv", HEAD + "5\t0:01:00\t-5" + "\t1" * 7 + "\n", "row 1: max_rss is '-5'"),
        ("1of2.tsv", HEAD + "5\n", "row 1: has not the 10 cells"),
        ("1of2.json", "{", "not JSON"),
        ("1of2.json", "[]", "says no device"),
    ],
)
def test_malformed_benchmark_files_are_refused_in_one_line(tmp_path, name, text, words):
    finish(tmp_path, "score/ruff/replica/one/1of2")
    path = tmp_path / "score/ruff/replica/one" / name
    files.write_text(path, text)
    with pytest.raises(UserError) as error:
        usage.read_finished_jobs(tmp_path)
    message = str(error.value)
    assert message.startswith(str(path)) and words in message and "delete it" in message and "\n" not in message
    path.unlink()
    assert usage.read_finished_jobs(tmp_path).empty


def test_a_file_in_another_place_is_refused(tmp_path):
    finish(tmp_path, "score/one")
    with pytest.raises(UserError, match=r"score/one\.tsv: not where a job of rule score leaves its file; delete it"):
        usage.read_finished_jobs(tmp_path)


@pytest.fixture
def jobs(tmp_path):
    finish(tmp_path, "score/ruff/replica/one/1of2", seconds=600, memory="1000")
    finish(tmp_path, "score/ruff/replica/one/2of2", seconds=660, memory="1200")
    finish(tmp_path, "score/winopron/replica/one/1of1", seconds=6, memory="1500")
    finish(tmp_path, "score/ruff/replica/large/1of1", seconds=6, memory="9000", device="NVIDIA A100")
    return usage.read_finished_jobs(tmp_path)


def test_memory_follows_the_rule_and_model_and_time_the_same_work(jobs):
    one = ("score", "one", False)
    assert usage.asked_memory(jobs, 1.5, *one, 4800, 1) == 1.5 * 1500 + 500
    assert usage.asked_minutes(jobs, 1.5, *one, "ruff/replica", 2, 30, 1) == math.ceil(1.5 * 11 + 10)
    # Other parts, another set, another rule, a GPU: nothing is known of them.
    assert usage.asked_minutes(jobs, 1.5, *one, "ruff/replica", 1, 60, 1) == 60
    assert usage.asked_minutes(jobs, 1.5, *one, "ruff/official", 2, 60, 1) == 60
    assert usage.asked_memory(jobs, 1.5, "prompt", "one", False, 4800, 1) == 4800
    assert usage.asked_memory(jobs, 1.5, "score", "one", True, 4800, 1) == 4800
    assert usage.asked_memory(jobs, 2, "score", "large", True, 4800, 1) == 18500


def test_a_further_attempt_asks_for_no_less_than_the_estimate(jobs):
    asked = [usage.asked_memory(jobs, 1.5, "score", "one", False, 4800 * 2**n, n + 1) for n in range(3)]
    assert asked == [2750, 9600, 19200]
    assert usage.asked_memory(jobs, 1.5, "score", "one", False, 100, 2) == 2 * 2750


def test_the_plan_has_both_side_by_side(jobs):
    rows = [
        {"instances_of": "ruff/replica", "rule": "score", "model": "one", "jobs": 2, "device": "cpu", "gpus": 0},
        {"instances_of": "ruff/replica", "rule": "score", "model": "large", "jobs": 3, "device": "A100", "gpus": 2},
        {"instances_of": "s/a", "rule": "coreference", "model": "system", "jobs": 1, "device": "cpu", "gpus": 0},
    ]
    plan = pd.DataFrame(rows, columns=planning.COLUMNS)
    estimated = {"score": {"ruff/replica": {"one": [4800, 30], "large": [64000, 45]}}}
    table = usage.add_measured_usage(plan, jobs, estimated)
    assert table.columns.tolist() == planning.COLUMNS + usage.COLUMNS
    one, large, other = table[usage.COLUMNS].fillna(-1).to_numpy().tolist()
    assert one == [4800, 1500, 30, 11, 3]
    assert large == [64000, 9000, 45, -1, 1]
    assert other == [-1, -1, -1, -1, 0]
    lines = usage.usage_report(table, None).splitlines()
    assert "jobs ask for what is estimated (planning.measured_margin)" in lines[0]
    assert lines[2].split() == [
        "score",
        "ruff/replica",
        "one",
        "3",
        "4,800",
        "MB",
        "1,500",
        "MB",
        "30",
        "min",
        "11.0",
        "min",
    ]
    assert lines[3].split()[-3:] == ["45", "min", "-"] and len(lines) == 4
    assert "jobs ask for 1.5 times what was measured" in usage.usage_report(table, 1.5)
    assert (
        usage.usage_report(usage.add_measured_usage(plan, usage.read_finished_jobs("nowhere"), estimated), None) == ""
    )
