"""What keeps a cluster from running the jobs of a run, found before the first of them is submitted."""

import copy
import getpass
import logging
import math
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from snakemake.common.tbdstring import TBDString
from snakemake_executor_plugin_slurm.accounts import validate_account
from snakemake_executor_plugin_slurm.partitions import Partition, get_best_partition, read_partition_file
from snakemake_executor_plugin_slurm.submit_string import get_submit_command
from snakemake_executor_plugin_slurm.utils import set_gres_string
from snakemake_executor_plugin_slurm.validation import validate_slurm_extra
from snakemake_interface_common.exceptions import WorkflowError

from scripts.core.errors import UserError

log = logging.getLogger("snakemake.logging")
# The executor's choice of a partition says a line for each job. Its interface for loggers is narrower than a logger.
quiet: Any = logging.Logger("quiet", logging.CRITICAL)

# The executor names its jobs PREFIX_UUID and says in their comment what they are.
JOB_NAME = re.compile(r"(.+_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


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


def check_cluster(dag: Any, settings: Any) -> None:
    """Check that the cluster runs the jobs of a run, and switch the report of their use off where it keeps none.

    Args:
        dag: Snakemake's graph of jobs.
        settings: Of the executor.

    Raises:
        UserError: With all that is wrong in one line.
    """
    pairs = (line.partition("=") for line in query_slurm("scontrol", "show", "config").splitlines())
    config = {key.strip(): value.strip() for key, _, value in pairs}
    stored = not config.get("AccountingStorageType", "none").endswith("none") and shutil.which("sacct") is not None
    settings.efficiency_report &= stored and "job_comment" in config.get("AccountingStoreFlags", "")
    problems = [*check_settings(settings, config, stored), *left_over(Path.cwd()), *check_jobs(dag, settings, stored)]
    if problems:
        raise UserError(
            f"this cluster cannot run the workflow as it is: {'; '.join(problems)}. Change slurm/profile.yaml, "
            "slurm/partitions.yaml or what the rule asks for; sinfo -o '%P %l %m %c %G' lists partitions, time limits, "
            "memory, cores and GPUs"
        )


def check_settings(settings: Any, config: Mapping[str, str], stored: bool) -> Iterator[str]:
    """Yield what is wrong with the executor's settings; ``stored``: whether sacct has a database to ask."""
    if settings.array_jobs:
        # The further tasks run inside a Snakemake that takes them for the first job (executor 2.8.0).
        yield (
            f"slurm-array-jobs is {settings.array_jobs}, but in a job array every job gets the memory and GPUs of the "
            "first, and one that fails removes the first one's output: take it out of the command or the profile"
        )
    age = re.match(r"\d+", config.get("MinJobAge", ""))
    if settings.status_command == "sacct" and not stored:
        yield "there is no accounting database for sacct: set slurm-status-command to squeue"
    elif settings.status_command == "squeue" and age and int(age[0]) < 3 * settings.init_seconds_before_status_checks:
        yield (
            f"squeue forgets ended jobs after {age[0]} s (MinJobAge): set slurm-init-seconds-before-status-checks to "
            f"{int(age[0]) // 3} or less"
        )
    if "SLURM_CONF" in os.environ:
        bare = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_")}
        try:
            query_slurm("scontrol", "ping", environment=bare)
        except UserError:
            yield "SLURM_CONF is set, but jobs do not keep it: put commands that set it first in PATH"


def left_over(folder: Path) -> Iterator[str]:
    """Yield which jobs of an earlier run, whose main process was killed, would write the same files of a folder.

    Snakemake's lock says that no other run is alive in this folder.
    """
    jobs = []
    for line in query_slurm("squeue", "--noheader", "--me", "--format=%A|%j|%Z|%k").splitlines():
        number, name, where, comment = line.split("|", 3)
        ours = JOB_NAME.fullmatch(name) and comment.startswith(("rule_", "group_"))
        if ours and os.path.realpath(where) == os.path.realpath(folder):
            jobs.append(number)
    if jobs:
        yield f"an earlier run in this folder left jobs in the queue: scancel {' '.join(jobs)}"


def submitted_jobs(dag: Any) -> Iterator[tuple[str, Any]]:
    """Yield the jobs and groups that this run would send to the queue, with their names."""
    groups = {}
    for job in dag.needrun_jobs():
        group = dag.get_job_group(job)
        if group:
            groups[group.groupid] = group
        elif not (job.rule.norun or job.is_local):
            yield f"{job.rule.name} ({', '.join(job.wildcards) or 'no wildcards'})", job
    for group in groups.values():
        # It would keep its time, which may follow from files that are not there yet.
        yield group.groupid, copy.copy(group)


def check_jobs(dag: Any, settings: Any, stored: bool) -> list[str]:
    """Return why Slurm would refuse jobs or let them wait for ever, a line for each reason, naming the jobs."""
    partitions = read_partition_file(settings.partition_config) if settings.partition_config else []
    reasons: dict[str, list[str]] = {}
    alike: dict[str, list[str]] = {}
    accounts, bounded = set(), []
    bounds = {key: dag.workflow.global_resources.get(key).value or math.inf for key in ("mem_mb", "runtime")}
    for name, job in submitted_jobs(dag):
        try:
            if any(isinstance(job.resources.get(key), TBDString) for key in ("mem_mb", "runtime")):
                continue
            accounts.add(job.resources.get("slurm_account"))
            if any(job.resources.get(key) == most for key, most in bounds.items()):
                bounded.append(name)
            alike.setdefault(sbatch_options(job, settings, partitions), []).append(name)
        except WorkflowError as error:
            reasons.setdefault(" ".join(str(error).split()), []).append(name)
    if bounded:
        log.warning(
            f"The profile's resources allow {shorten_list(bounded)} no more memory or time; what they need may be more."
        )
    for account in accounts - {None, ""}:
        try:
            if stored:
                validate_account(str(account), log)
        except WorkflowError as error:
            reasons[" ".join(str(error).split())] = ["slurm_account"]
    for options, names in alike.items():
        words = refusal_reason(options)
        if words and may_pass_later(words):
            log.warning(f"Slurm has no place for {shorten_list(names)} now ({words}); the jobs may wait.")
        elif words:
            reasons.setdefault(f"{words}, says sbatch {options}", []).extend(names)
    return [f"{reason} ({shorten_list(names)})" for reason, names in reasons.items()]


def sbatch_options(job: Any, settings: Any, partitions: Sequence[Partition]) -> str:
    """Return what the executor would ask sbatch for.

    Raises:
        WorkflowError: If the executor refuses the resources or no partition takes them.
    """
    resources = job.resources
    if not isinstance(resources.get("gpu", 0), int):
        raise WorkflowError(f"gpu must be a number without quotes, not {resources.gpu!r}")
    named = str(resources.get("slurm_partition") or "")
    asked = [one for one in partitions if one.name in named.split(",") or not named]
    chosen = get_best_partition(asked, job, quiet) if asked else None
    if asked and not chosen:
        amounts = {key: resources.get(key) for key in ("runtime", "mem_mb", "gpu", "gpu_model")}
        words = ", ".join(f"{key}={value}" for key, value in amounts.items() if value)
        raise WorkflowError(f"no partition of {settings.partition_config} takes {words}, threads={job.threads}")
    validate_slurm_extra(job)
    account, partition = resources.get("slurm_account"), named or chosen
    params = {
        "run_uuid": "test", "slurm_logfile": "/dev/null", "comment_str": "test", "workdir": None,
        "account": f"-A {shlex.quote(str(account))}" if account else "",
        "partition": f"-p {shlex.quote(partition)}" if partition else "",
    }  # fmt: skip
    command = get_submit_command(job, params, settings) + set_gres_string(job)
    return " ".join(command.partition("--comment test")[2].split())


def refusal_reason(options: str) -> str | None:
    """Return why Slurm would refuse a job with these options, as ``sbatch --test-only`` says; None: it would not."""
    command = ["sbatch", "--test-only", *shlex.split(options), "--wrap=true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [re.sub(r"^\S+: error: |^allocation failure: ", "", line).strip() for line in done.stderr.splitlines()]
    return "; ".join(dict.fromkeys(filter(None, lines))) if done.returncode else None


def may_pass_later(words: str) -> bool:
    """Tell whether what is refused now may be taken later: jobs fill a limit, or nodes and partitions are away."""
    if "submit limit" in words:
        return bool(query_slurm("squeue", "--noheader", f"--user={getpass.getuser()}"))
    states = query_slurm("sinfo", "--noheader", "--format=%a %T").split()
    return "not available" in words and any(
        re.match(r"down|drain|fail|maint|unk|inact|reserved|.*[*$]$", state) for state in states
    )


def shorten_list(names: Sequence[str]) -> str:
    names = sorted(set(names))
    return f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"
