"""The line that says how far a run is: counts, the time left, and which of Snakemake's messages are passed on."""

import io
import logging
import re

import pytest

from scripts.core.workflow import progress
from scripts.core.workflow.progress import Handler, Job, Progress


def run(**options):
    """Two small jobs, of which nothing is known, and a long one that takes the whole machine."""
    jobs = {1: Job("sample seed 1", None, 0.5), 2: Job("sample seed 2", None, 0.5), 3: Job("score tiny", 600.0, 1.0)}
    return Progress(jobs, **options)


def test_the_time_left_follows_from_what_is_known_of_each_job():
    made = run()
    assert made.seconds_left(0) == pytest.approx(2 * 0.5 * progress.SMALL_SECONDS + 600)
    made.start(1, 0)
    made.end(1, 20)
    # The second small job takes what the first one took.
    assert made.seconds_left(20) == pytest.approx(0.5 * 20 + 600)
    made.start(3, 20)
    assert made.seconds_left(120) == pytest.approx(10 + 500)
    # Beyond its estimate a job does not end at once.
    assert made.seconds_left(1020) == pytest.approx(10 + 100)
    made.end(3, 1100)
    made.start(2, 1100)
    made.end(2, 1101)
    assert made.seconds_left(1101) == 0
    assert made.line(1101) == "3 of 3 jobs (100%)"


def test_what_jobs_take_at_most_is_said_so_until_one_has_shown_how_much_of_it_they_need():
    limits = {number: progress.Job(f"score {number}", 600.0, 1.0, bound=True) for number in (1, 2)}
    made = progress.Progress(limits | {3: progress.Job("sample", 30.0, 1.0)})
    assert made.line(0) == "0 of 3 jobs (0%), at most 20 min left"
    made.start(1, 0)
    made.end(1, 150)
    # The other one needs a quarter as well; what is known of the third from its last run stays.
    assert made.seconds_left(150) == pytest.approx(150 + 30)
    assert made.line(150) == "1 of 3 jobs (45%), about 3 min left"
    made.start(2, 150)
    made.end(2, 300)
    assert made.line(300) == "2 of 3 jobs (90%), less than a minute left"


def test_on_a_cluster_as_many_jobs_run_as_now():
    made = run(side_by_side=False)
    made.start(1, 0)
    made.start(3, 0)
    assert made.seconds_left(0) == pytest.approx((2 * progress.SMALL_SECONDS + 600) / 2)


def test_the_line_counts_and_names_the_jobs_at_work():
    made = run()
    assert made.line(0) == "0 of 3 jobs (0%), about 10 min left"
    made.start(3, 0)
    made.start(1, 1)
    assert made.line(1) == "0 of 3 jobs (0%), about 10 min left: score tiny and 1 more"
    made.end(1, 2)
    assert made.line(2, ended=1) == "1 of 3 jobs (0%), about 10 min left: sample seed 1 finished"
    made.fail(3, 3)
    assert made.line(3) == "1 of 3 jobs (50%), less than a minute left, 1 failed"
    # A retry is no failure any more.
    made.start(3, 4)
    assert made.line(4) == "1 of 3 jobs (0%), about 10 min left: score tiny"


def test_jobs_that_were_not_announced_are_no_error():
    made = run()
    for act in (made.start, made.end, made.fail):
        act(99, 0)
    assert made.counted(0) == "0 of 3 jobs (0%)"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "less than a minute left"), (250, "about 4 min left"), (5399, "about 90 min left"), (9000, "about 2 h left")],
)
def test_time_left_in_words(seconds, words):
    assert progress.format_time_left(seconds) == words


def test_time_passed_in_words():
    assert [progress.format_duration(seconds) for seconds in (42, 432, 11100)] == ["42 s", "7 min 12 s", "3 h 5 min"]


def record(text, event=None, level=logging.INFO, **facts):
    made = logging.LogRecord("snakemake.logging", level, "", 0, text, None, None)
    kind = type("Event", (), {"value": event}) if event else None
    vars(made).update(event=kind, **facts)
    return made


def printed(*records, reasons=False):
    """Return the lines that a handler prints of these records, after the first one."""
    stream = io.StringIO()
    handler = Handler(stream)
    handler.start(run(), reasons)
    for one in records:
        handler.handle(one)
    return stream.getvalue().splitlines()[1:]


def test_chatter_is_dropped_and_everything_else_is_passed_on():
    lines = printed(
        record("Select jobs to execute..."),
        record("Using shell: /usr/bin/bash"),
        record("Rule: x, Jobid: 1", "job_info", jobid=1),
        record("Job stats:", "run_info"),
        record("Finished jobid: 1", "job_finished", job_id=1),
        record("1 of 3 steps (33%) done", "progress", done=1, total=3),
        record("Nothing to be done (all requested files are present and up to date)."),
        record("careful", level=logging.WARNING),
        record("Slurm does not answer", level=logging.ERROR),
    )
    assert lines == [
        "1 of 3 jobs (0%), about 10 min left: sample seed 1 finished",
        "Nothing to be done (all requested files are present and up to date).",
        "careful",
        "Slurm does not answer",
    ]


LOG = """12:00:00 INFO Python 3.11
12:00:01 ERROR {}
"""


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("table.csv: row 3 is empty; fill it", "Error: table.csv: row 3 is empty; fill it"),
        ("Traceback (most recent call last):\n  File x\nValueError: no", "Error: ValueError: no"),
    ],
)
def test_a_failed_job_is_named_with_its_log_and_from_afar_with_its_reason(tmp_path, error, reason):
    path = tmp_path / "job.log"
    path.write_text(LOG.format(error))
    failed = record("Error in rule", "job_error", level=logging.ERROR, jobid=3, log=[str(path)], indent=False,
                    rule_msg=None)  # fmt: skip
    ended = record("CalledProcessError in file x", "error", level=logging.ERROR, exception="RuleException")
    line = f"Job failed: score tiny (log: {path})"
    assert printed(failed, ended) == [line]
    assert printed(failed, ended, reasons=True) == [reason, line]


def test_what_slurm_says_of_a_failed_job_is_passed_on():
    said = "SLURM-job '7' failed, SLURM status is: 'TIMEOUT'. "
    failed = record(
        "Error", "job_error", level=logging.ERROR, jobid=3, log=["slurm/7.log"], indent=False, rule_msg=said
    )
    assert printed(failed, reasons=True) == [f"Error: {said.strip()}", "Job failed: score tiny (log: slurm/7.log)"]


def test_a_failed_group_is_one_line(tmp_path):
    path = tmp_path / "job.log"
    path.write_text(LOG.format("no"))
    told = [{"jobid": 1, "log": []}, {"jobid": 2, "log": [str(path)]}]
    group = record("Error in group", "group_error", level=logging.ERROR, groupid="analyses", job_error_info=told,
                   aux_logs=["slurm/7.log"])  # fmt: skip
    single = record("Error", "job_error", level=logging.ERROR, jobid=1, log=[], indent=True)
    assert printed(group, single, reasons=True) == [
        "Error: no",
        f"Job failed: group analyses of 2 jobs (log: {path}, slurm/7.log)",
    ]


def test_in_a_terminal_there_is_one_line_and_the_cursor_is_at_its_start(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    stream = io.StringIO()
    handler = Handler(stream, terminal=True)
    made = run()
    handler.progress = made
    handler.handle(record("x", "job_info", jobid=3))
    handler.handle(record("careful", level=logging.WARNING))
    drawn = f"{progress.CLEAR_LINE}0 of 3 jobs (0%), about 10 min left: s…\r"
    assert stream.getvalue() == f"{drawn}{progress.CLEAR_LINE}careful\n{drawn}"
    handler.finish(["done"])
    assert stream.getvalue().endswith(f"{progress.CLEAR_LINE}done\n")


def test_the_reason_is_looked_for_in_the_log_alone(tmp_path):
    assert progress.last_error(tmp_path / "none.log") is None
    (tmp_path / "fine.log").write_text("12:00:00 INFO fine\n")
    assert progress.last_error(tmp_path / "fine.log") is None


def test_an_interrupted_run_is_stopped_and_its_jobs_did_not_fail():
    stream = io.StringIO()
    handler = Handler(stream)
    handler.start(run(), False)
    handler.handle(record("Terminating processes on user request, this might take some time."))
    handler.handle(record("Error in rule", "job_error", level=logging.ERROR, jobid=3, log=[], indent=False,
                          rule_msg=None))  # fmt: skip
    assert "failed" not in stream.getvalue()
    assert re.fullmatch(
        r"Stopped by you after 0 s: 0 of 3 jobs \(0%\) finished. Run the same command to continue.", handler.summary()
    )


def test_a_running_model_shows_its_own_progress(tmp_path):
    log = tmp_path / "score.log"
    made = Progress({1: Job("score tiny", 600.0, 1.0, log=str(log))})
    made.start(1, 0)
    assert made.line(0) == "0 of 1 jobs (0%), about 10 min left: score tiny"
    log.write_text("12:00:00 INFO tokens\r  7%|#     | 70/1000\r 42%|####  | 420/1000", encoding="utf-8")
    assert made.line(300) == "0 of 1 jobs (50%), about 5 min left: score tiny (42%)"
