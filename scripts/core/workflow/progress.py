"""One line that says how far a run is, in place of the block that Snakemake prints for each job.

:class:`Progress` counts and estimates; it knows nothing of Snakemake. :class:`Handler` takes the place of Snakemake's
own handler of log records (:func:`attach_handler`, called from ``rules/progress.smk``): in a terminal it keeps one line
up to date, elsewhere it prints one for each finished job. Warnings and errors are printed as they come. Snakemake's own
file, ``.snakemake/log/``, has everything as before.
"""

import logging
import os
import re
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from scripts.core import files
from scripts.core.errors import count_noun

if TYPE_CHECKING:
    import snakemake.workflow

SMALL_SECONDS = 4.0
"""What a job of which nothing is known takes, until the first one of this run has ended: mostly Python's start."""
STARTUP_MINUTES = 10.5
"""What the time limit of a job that reads a model has more than its estimate: see ``registry.runtime_minutes``."""
# What Snakemake says about its own work; anything else that is no event of a job is passed on.
ROUTINE_MESSAGES = re.compile(
    r"Building DAG of jobs|Using shell: |Conda environments: ignored|Singularity containers: ignored"
    r"|Group jobs: inactive|Select jobs to execute|Execute \d+ jobs|Resources before job selection"
    r"|SLURM run ID: |Job \S+ has been submitted with SLURM jobid|'sacct' unavailable, using 'squeue'"
    r"|Complete log\(s\): |Elapsed time: |Shutting down, this might take some time"
    r"|Exiting because a job execution failed|WorkflowError:\s+At least one job did not complete successfully"
)
INTERRUPTED = "Terminating processes on user request"
"""What Snakemake says after Ctrl-C."""
BAR_BYTES = 400
"""The end of a log in which a job's own bar of progress is looked for."""
FEW = 4
"""Files or folders that the last lines of a run name."""
CLEAR_LINE = "\r\033[K"
ROOT = Path(__file__).resolve().parents[3]


class Job(NamedTuple):
    """A job of the run.

    ``name`` is its rule with the values of its wildcards; ``seconds`` what it should take, None if nothing is known;
    ``share`` the part of the machine that it takes, between 0 and 1; ``bound`` says that ``seconds`` is what it takes
    at most, as for a model that has not run here yet; ``log`` is the file with its own bar of progress, if any.
    """

    name: str
    seconds: float | None
    share: float
    bound: bool = False
    log: str | None = None


class Progress:
    """How far a run is, and how long the rest should take.

    Args:
        jobs: ``{number: Job}``, all jobs of the run.
        side_by_side: Whether the jobs share one machine, so that shares say how many run at a time; on a cluster as
            many as now run at a time.
    """

    def __init__(self, jobs: dict, side_by_side: bool = True):
        self.jobs = jobs
        self.side_by_side = side_by_side
        self.begun, self.taken, self.failed = {}, {}, {}

    def start(self, number: int, now: float) -> None:
        """Note that a job begins, at ``now`` seconds of any clock; a retry begins anew."""
        if number in self.jobs:
            self.begun[number] = now
            self.failed.pop(number, None)

    def end(self, number: int, now: float) -> None:
        """Note that a job has ended well."""
        if number in self.jobs:
            self.taken[number] = now - self.begun.pop(number, now)
            self.failed.pop(number, None)

    def fail(self, number: int, now: float) -> None:
        """Note that a job has failed."""
        if number in self.jobs:
            self.failed[number] = now - self.begun.pop(number, now)

    def part_of_bound(self) -> float | None:
        """Return which part of their bounds the jobs with one took so far; None before the first has ended."""
        ended = [number for number in self.taken if self.jobs[number].bound]
        bounds = sum(self.jobs[number].seconds for number in ended)
        return min(1.0, sum(self.taken[number] for number in ended) / bounds) if bounds else None

    def at_most(self) -> bool:
        """Tell whether the time left is an upper bound: jobs are left that have one, and none of them has ended yet."""
        left = (job for number, job in self.jobs.items() if number not in self.taken and number not in self.failed)
        return self.part_of_bound() is None and any(job.bound for job in left)

    def seconds_left(self, now: float) -> float:
        """Return how long the jobs that have not ended should take; a job beyond its estimate takes a tenth more."""
        small = [seconds for number, seconds in self.taken.items() if self.jobs[number].seconds is None]
        typical = sum(small) / len(small) if small else SMALL_SECONDS
        part = self.part_of_bound() or 1.0
        left = 0.0
        for number, job in self.jobs.items():
            if number in self.taken or number in self.failed:
                continue
            expected = typical if job.seconds is None else job.seconds * (part if job.bound else 1)
            spent = now - self.begun[number] if number in self.begun else 0.0
            left += max(expected - spent, spent / 10) * (job.share if self.side_by_side else 1)
        return left if self.side_by_side else left / max(1, len(self.begun))

    def seconds_spent(self, now: float) -> float:
        """Return the time that jobs have taken so far, weighted by their shares of the machine."""
        taken = sum(seconds * self.jobs[number].share for number, seconds in self.taken.items())
        return taken + sum((now - begun) * self.jobs[number].share for number, begun in self.begun.items())

    def counted(self, now: float) -> str:
        """Return how many jobs have finished and which part of the expected time has passed: ``k of n jobs (x%)``."""
        done, total = len(self.taken), len(self.jobs)
        # On a cluster, the time left depends on how many jobs run at once, so that only jobs can be counted.
        spent, left = (self.seconds_spent(now), self.seconds_left(now)) if self.side_by_side else (done, total - done)
        part = spent / (spent + left) if spent + left else 1.0
        return f"{done} of {total} jobs ({100 if done == total else min(99, int(100 * part))}%)"

    def line(self, now: float, ended: int | None = None) -> str:
        """Return the line: how many jobs have ended, the time left, and the jobs at work or the one that ``ended``."""
        parts = [self.counted(now)]
        if len(self.taken) < len(self.jobs):
            parts.append(format_time_left(self.seconds_left(now), self.at_most()))
        if self.failed:
            parts.append(f"{len(self.failed)} failed")
        if ended is not None:
            work = f"{self.jobs[ended].name} finished"
        else:
            # The one that began first is the longest.
            running = [self.jobs[number] for number in sorted(self.begun, key=self.begun.__getitem__)]
            own = (own_percent(running[0].log) or "") if running else ""
            others = f" and {len(running) - 1} more" if len(running) > 1 else ""
            work = f"{running[0].name}{own and f' ({own}%)'}{others}" if running else ""
        return ", ".join(parts) + (f": {work}" if work else "")


def own_percent(log: str | None) -> str | None:
    """Return how far a job's own bar of progress is, from the end of its log; None without a bar."""
    try:
        with Path(log or "").open("rb") as file:
            file.seek(max(0, Path(log or "").stat().st_size - BAR_BYTES))
            percents = re.findall(rb"(\d+)%\|", file.read())
    except OSError:
        return None
    return percents[-1].decode() if percents else None


def format_time_left(seconds: float, at_most: bool = False) -> str:
    """Return a time left in words, as exact as such an estimate is.

    Examples:
        >>> format_time_left(250)
        'about 4 min left'
        >>> format_time_left(250, at_most=True)
        'at most 4 min left'
    """
    if seconds < 60:
        return "less than a minute left"
    how = "at most" if at_most else "about"
    if seconds < 5400:
        return f"{how} {round(seconds / 60)} min left"
    return f"{how} {round(seconds / 3600)} h left"


def format_duration(seconds: float) -> str:
    """Return a time that has passed in words: ``42 s``, ``7 min 12 s``, ``3 h 5 min``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_rest = divmod(minutes, 60)
    return f"{hours} h {minutes_rest} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


class Handler(logging.Handler):
    """Prints the line of a :class:`Progress` and passes on what users must see.

    Args:
        stream: Where Snakemake's own handler would write.
        terminal: Whether the line is kept up to date in place; by default if the stream is a terminal that can do so.
    """

    lock: threading.RLock
    progress: Progress | None

    def __init__(self, stream: TextIO, terminal: bool | None = None):
        super().__init__()
        can = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.stream, self.terminal = stream, can if terminal is None else terminal
        self.progress, self.began = None, time.monotonic()
        self.reasons = self.stopped = False

    def start(self, progress: Progress, reasons: bool) -> None:
        """Begin with a run's jobs; ``reasons``: print why a job failed, since what it printed is not seen here."""
        with self.lock:
            self.progress, self.reasons, self.began = progress, reasons, time.monotonic()
            if not self.terminal:
                left = format_time_left(progress.seconds_left(self.began), progress.at_most())
                self._print(f"{count_noun(len(progress.jobs), 'job')}, {left}")
        if self.terminal:
            threading.Thread(target=self._tick, daemon=True).start()

    def finish(self, lines: Iterable[str]) -> None:
        """End with these lines in place of the line of progress."""
        with self.lock:
            self.progress = None
            for line in lines:
                self._print(line)

    def summary(self) -> str:
        """Return what was done, in one line."""
        if self.progress is None:
            return ""
        now = time.monotonic()
        counted_jobs, duration = self.progress.counted(now), format_duration(now - self.began)
        if self.stopped:
            return f"Stopped by you after {duration}: {counted_jobs} finished. Run the same command to continue."
        failed = f", {len(self.progress.failed)} failed" if self.progress.failed else ""
        return f"{counted_jobs} finished{failed} in {duration}"

    def emit(self, record: Any) -> None:
        """Take a record of Snakemake's log; an event of a job moves the line, and other text is printed or dropped."""
        event, now = getattr(getattr(record, "event", None), "value", None), time.monotonic()
        try:
            if self.progress is not None and event == "job_info":
                self.progress.start(record.jobid, now)
                self._draw(now)
            elif self.progress is not None and event == "job_finished":
                self.progress.end(record.job_id, now)
                if self.terminal:
                    self._draw(now)
                elif record.job_id in self.progress.jobs:
                    self._print(self.progress.line(now, ended=record.job_id))
            elif self.stopped and event in ("job_error", "group_error"):
                # Jobs that were cut off did not fail by themselves.
                pass
            elif self.progress is not None and event == "job_error":
                # Snakemake tells each job of a failed group again, well or not.
                if not record.indent:
                    self._fail(record.jobid, list(record.log or ()), now, record.rule_msg)
            elif self.progress is not None and event == "group_error":
                self._fail_group(record, now)
            elif event == "error" and getattr(record, "exception", "") in ("RuleException", "CalledProcessError"):
                # It only says that the job of a script ended with a status.
                pass
            elif event in (None, "error") or record.levelno >= logging.WARNING:
                text = record.getMessage().strip()
                if text.startswith(INTERRUPTED):
                    self.stopped = True
                elif text and text != "None" and not ROUTINE_MESSAGES.match(text):
                    self._print(text)
        except Exception:
            self.handleError(record)

    def _fail(self, number: int, logs: Sequence[str], now: float, said: str | None) -> None:
        assert self.progress is not None, "a run has begun"
        self.progress.fail(number, now)
        name = self.progress.jobs[number].name if number in self.progress.jobs else f"job {number}"
        self._tell_reason(logs)
        if said:
            # What Slurm says of the job: its time limit, its memory, its node.
            self._print(f"Error: {' '.join(str(said).split())}")
        self._print(f"Job failed: {name} (log: {', '.join(map(short_path, logs)) or 'none'})")

    def _fail_group(self, record: Any, now: float) -> None:
        assert self.progress is not None, "a run has begun"
        logs = []
        for told in record.job_error_info:
            self.progress.fail(told["jobid"], now)
            logs += [path for path in told["log"] or () if last_error(path)]
        self._tell_reason(logs)
        told = count_noun(len(record.job_error_info), "job")
        logs = ", ".join(map(short_path, [*logs, *(record.aux_logs or ())]))
        self._print(f"Job failed: group {record.groupid} of {told} (log: {logs})")

    def _tell_reason(self, logs: Iterable[str]) -> None:
        reason = next(filter(None, map(last_error, logs)), None) if self.reasons else None
        if reason:
            self._print(reason)

    def _print(self, text: str) -> None:
        self.stream.write(f"{CLEAR_LINE if self.terminal else ''}{text}\n")
        self.stream.flush()
        self._draw(time.monotonic())

    def _draw(self, now: float) -> None:
        if self.terminal and self.progress is not None:
            width = shutil.get_terminal_size().columns - 1
            # The cursor goes back, so that what a job prints takes the place of the line and not its end.
            self.stream.write(f"{CLEAR_LINE}{shorten(self.progress.line(now), width)}\r")
            self.stream.flush()

    def _tick(self) -> None:
        while True:
            time.sleep(1)
            with self.lock:
                if self.progress is None:
                    return
                self._draw(time.monotonic())


def shorten(text: str, width: int) -> str:
    """Return a text of at most ``width`` characters, with an ellipsis where its end is missing."""
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"


def last_error(path: str | Path) -> str | None:
    """Return the last line of a job's log that names an error, without its time; None if there is none."""
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for number in range(len(lines) - 1, -1, -1):
        match = re.match(r"[\d:]+ ERROR (.*)", lines[number])
        if match:
            # A traceback is told by its last line.
            return f"Error: {lines[-1] if match[1].startswith('Traceback') else match[1]}"
    return None


# ---- what knows Snakemake


def attach_handler(workflow: Any) -> Handler | None:
    """Put a :class:`Handler` in the place of Snakemake's handler for the terminal and return it.

    Returns None, and leaves everything as it is, in jobs, in dry runs, and where the command says what to print
    (``--quiet``, ``--verbose``, ``--printshellcmds``, ``--logger``, ``--debug-dag``).
    """
    settings = workflow.output_settings
    chosen = (settings.quiet, settings.verbose, settings.printshellcmds, settings.debug_dag)
    if not workflow.is_main_process or settings.dryrun or any(chosen) or settings.log_handler_settings:
        return None
    logger = logging.getLogger("snakemake.logging")
    for other in logger.handlers:
        if other.name == "DefaultStreamHandler":
            handler = Handler(other.stream)  # pyright: ignore[reportAttributeAccessIssue]: it is a StreamHandler
            logger.addHandler(handler)
            logger.removeHandler(other)
            return handler
    return None


def begin_progress(handler: Handler | None, workflow: Any) -> None:
    """Begin with the jobs of a run, if it has a :class:`Handler`; what jobs on a cluster print is not seen here."""
    if handler is not None:
        local = workflow.local_exec
        handler.start(Progress(jobs_of(workflow), side_by_side=local), reasons=not local)


def jobs_of(workflow: Any) -> dict[int, Job]:
    """Return ``{number: Job}`` of what a run of Snakemake will do."""
    cores = workflow.cores or 1
    jobs = {}
    for job in workflow.dag.needrun_jobs():
        wildcards = dict(job.wildcards.items())
        part = f"{wildcards.pop('shard')} of {wildcards['shards']}" if wildcards.get("shards", "1") != "1" else ""
        for name in ("shard", "shards"):
            wildcards.pop(name, None)
        name = " ".join(filter(None, [job.rule.name, *map(str, wildcards.values()), part]))
        # Targets without a script take no time.
        seconds, bound = (0.0, False) if job.is_norun else expected_seconds(job)
        log = str(job.log[0]) if "gpu" in job.rule.resources and len(job.log) else None
        jobs[workflow.dag.jobid(job)] = Job(name, seconds, min(job.threads, cores) / cores, bound, log)
    return jobs


def expected_seconds(job: Any) -> tuple[float | None, bool]:
    """Return what a job of Snakemake should take, and whether it is what it takes at most.

    It is what the job took last time; by its time limit, at most; or None if nothing is known.
    """
    if job.benchmark and Path(str(job.benchmark)).is_file():
        rows = Path(str(job.benchmark)).read_text(encoding="utf-8").splitlines()
        try:
            return float(rows[1].split("\t")[0]), False
        except (IndexError, ValueError):
            return None, False
    if "gpu" in job.rule.resources:
        # Not the job's own resources, which would be kept: files that they follow from may not be there yet.
        limit = job.rule.expand_resources(job.wildcards_dict, job.input, 1).get("runtime")
        if isinstance(limit, int | float):
            return max(60 * (limit - STARTUP_MINUTES), SMALL_SECONDS), True
    return None, False


def paper_lines(pdf: str | Path, manifest: str | Path) -> list[str]:
    """Return the last lines of a run that made a paper: where it is, and the digest of its manifest."""
    digest = files.sha256(manifest)
    return [
        f"{short_path(manifest)}: the digests of all results behind the paper; its own SHA-256 is {digest}",
        f"{short_path(pdf)}: the paper",
    ]


def result_lines(workflow: "snakemake.workflow.Workflow") -> list[str]:
    """Return where the results are that a run was asked for: each folder with its number of files, or few files."""
    assert workflow.dag is not None, "jobs were planned"
    paths = []
    for job in workflow.dag.targetjobs:
        paths += map(Path, map(str, job.output if job.rule.script else job.input))
    paths = [path for path in dict.fromkeys(paths) if path.is_relative_to("results")]
    if len(paths) <= FEW:
        return [short_path(path) for path in paths]
    folders = Counter(path.parent for path in paths)
    lines = [f"{short_path(folder)}/: {count_noun(count, 'file')}" for folder, count in folders.most_common(FEW)]
    rest = len(folders) - len(lines)
    return [*lines, *([f"and {count_noun(rest, 'folder')} more below {short_path('results')}/"] if rest > 0 else [])]


def short_path(path: str | Path) -> str:
    """Return a file's path from the repository, where commands are typed, if it lies there."""
    absolute = Path(path).absolute()
    return absolute.relative_to(ROOT).as_posix() if absolute.is_relative_to(ROOT) else str(path)


def end_progress(handler: Handler | None, lines: Iterable[str]) -> None:
    """Print the last lines of a run, through its :class:`Handler` if it has one."""
    if handler is not None:
        handler.finish(lines)
    else:
        for line in lines:
            print(line, file=sys.stderr, flush=True)
