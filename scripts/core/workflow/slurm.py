"""Questions to Slurm: what it is set up for, how long jobs may run, and what an earlier run left in the queue."""

import getpass
import logging
import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from scripts.core.errors import UserError, count_noun

log = logging.getLogger("snakemake.logging")

# The executor names its jobs PREFIX_UUID and says in their comment what they are.
JOB_NAME = re.compile(r"(.+_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
JOB_COMMENT = re.compile(r"(rule|group)_")


def query_slurm(*command: str, environment: Mapping[str, str] | None = None) -> str:
    """Return what a Slurm command prints.

    Raises:
        UserError: If it is missing or fails.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=environment)
    except FileNotFoundError as error:
        raise UserError(f"{command[0]} is not installed here; run --profile slurm on a host of the cluster") from error
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        reason = (error.stderr or str(error)).strip().splitlines()
        raise UserError(f"{command[0]} fails ({reason[-1] if reason else 'no message'}); is Slurm up?") from error
    return done.stdout


def configuration() -> dict[str, str]:
    """Return Slurm's configuration as a dict of text."""
    pairs = (line.partition("=") for line in query_slurm("scontrol", "show", "config").splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs if value}


def time_limits() -> dict[str, int | None]:
    """Return the time limit of each partition in minutes; None: no limit."""
    lines = query_slurm("sinfo", "--noheader", "--format=%R|%l").splitlines()
    return {name: minutes(limit) for name, limit in (line.split("|") for line in lines)}


def has_unavailable_nodes(partition: str) -> bool:
    """Tell whether nodes of a partition, or itself, are down or drained, so that jobs for them may have to wait."""
    states = query_slurm("sinfo", "--noheader", f"--partition={partition}", "--format=%a %T").split()
    return any(re.match(r"down|drain|fail|maint|unk|inact|reserved|.*[*$]$", state) for state in states)


def minutes(limit: str) -> int | None:
    """Return a time limit as sinfo prints it (``1-00:00:00``, ``30:00``, ``infinite``) in minutes; None: no limit."""
    if not re.fullmatch(r"(\d+-)?[\d:]+", limit):
        return None
    days, _, clock = limit.rpartition("-")
    fields = [int(field) for field in clock.split(":")]
    hours, minute, _ = [0] * (3 - len(fields)) + fields
    return int(days or 0) * 1440 + hours * 60 + minute


def check_conf(environment: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the way Slurm's commands find their configuration.

    The executor takes all SLURM_* variables from the command that it starts inside each job.
    """
    if "SLURM_CONF" not in environment:
        return []
    bare = {key: value for key, value in environment.items() if not key.startswith("SLURM_")}
    try:
        query_slurm("scontrol", "ping", environment=bare)
    except UserError:
        return [
            "SLURM_CONF is set, but jobs do not keep it and Slurm's commands fail without it: put commands that set "
            "it first in PATH"
        ]
    return []


def check_status(config: dict, command: str, seconds: int) -> list[str]:
    """Return what would keep the run from seeing that its jobs have ended.

    Args:
        config: As :func:`configuration` returns it.
        command: slurm-status-command.
        seconds: slurm-init-seconds-before-status-checks.
    """
    if command == "sacct":
        if not shutil.which("sacct"):
            return ["sacct is not on PATH: set slurm-status-command to squeue"]
        if config.get("AccountingStorageType", "").endswith("none"):
            return ["there is no accounting database for sacct: set slurm-status-command to squeue"]
        return []
    age = re.match(r"\d+", config.get("MinJobAge", ""))
    if age and int(age.group()) < 3 * seconds:
        return [
            f"squeue forgets ended jobs after {age.group()} s (MinJobAge): set "
            f"slurm-init-seconds-before-status-checks to {int(age.group()) // 3} or less"
        ]
    return []


def check_arrays(rules: str | None) -> list[str]:
    """Return why jobs are not submitted as arrays.

    The executor (2.8.0) submits jobs of a rule as an array with the partition, GPUs, memory and time of the first of
    them. Every further task runs inside a Snakemake that takes it for the first job: where one fails, the first job's
    output is removed, after that job was counted as finished, and others fail for want of it. Jobs that get ready in
    portions are dropped instead of collected: of 1,053 jobs, 153 were submitted, and the run waited for the others.

    Args:
        rules: slurm-array-jobs.
    """
    if not rules:
        return []
    return [
        f"slurm-array-jobs is {rules}, but in a job array every job gets the memory and GPUs of the first, and one "
        "that fails removes the first one's output: take --slurm-array-jobs out of the command or the profile"
    ]


def reports_usage(config: dict) -> bool:
    """Return whether the executor can report what jobs used: accounting that keeps the comments which name the rules.

    Args:
        config: As :func:`configuration` returns it.
    """
    stored = not config.get("AccountingStorageType", "").endswith("none")
    return stored and "job_comment" in config.get("AccountingStoreFlags", "") and shutil.which("sacct") is not None


# ---- what an earlier run left


def cancel_left_over(folder: Path, seconds: float = 120) -> None:
    """Cancel the jobs that an earlier run in ``folder`` left in the queue, and wait until they are gone.

    A main process that was killed cannot cancel its jobs; a new one would submit the same work again and both would
    write the same files. Snakemake's lock says that no other run is alive in this folder.

    Raises:
        UserError: If they are still there after ``seconds``.
    """
    jobs = left_over(queued_jobs(), folder)
    if not jobs:
        return
    names = ", ".join(sorted(jobs))
    # Snakemake's own handlers print the message without filling in arguments.
    log.warning(
        f"An earlier run in this folder left {count_noun(len(jobs), 'job')} in the queue; cancelling them: {names}"
    )
    query_slurm("scancel", *sorted(jobs))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not left_over(queued_jobs(), folder):
            return
        time.sleep(1)
    raise UserError(f"jobs {names} of an earlier run do not end; see squeue and run again later")


def queued_jobs() -> str:
    return query_slurm("squeue", "--noheader", f"--user={getpass.getuser()}", "--format=%A|%j|%Z|%k")


def left_over(text: str, folder: Path) -> set[str]:
    """Return the ids of this executor's jobs whose working directory is ``folder``.

    Args:
        text: Lines ``id|name|working directory|comment`` of squeue.
    """
    ids = set()
    for line in text.splitlines():
        number, name, where, comment = line.split("|", 3)
        ours = JOB_NAME.fullmatch(name) and JOB_COMMENT.match(comment)
        if ours and os.path.realpath(where) == os.path.realpath(folder):
            ids.add(number)
    return ids
