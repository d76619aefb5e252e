"""What snakemake-executor-plugin-slurm 2.8.0 lacks, in one place; :func:`mend` puts it into the executor of a run.

Numbers are those of github.com/snakemake/snakemake-executor-plugin-slurm; "not reported" means that a search of its
issues in November 2026 found none.

- A grouped job whose submission raises (wrong account, no ``sacct``): the handler asks the group for its rule, and the
  run waits for ever. Not reported; the handler came with pull request 464.
- Why a grouped job failed or was refused is dropped by Snakemake. Issue 456. Its logger rich drops it for all jobs.
- A controller that does not answer ``sbatch`` uses up an attempt. Issue 313 (closed). A refusal is retried as well,
  though the next answer will be the same. Not reported.
- Without an account it guesses one, with a command that fails; ``--slurm-no-account`` (pull request 224) does nothing.
- A failed status query loses all jobs, a state it cannot read (``CANCELLED by 1000``) and a job that ``squeue`` has
  forgotten are waited for. Issues 207 and 331, in part.
- Jobs that wait say nothing, and a retry beyond the partition's time limit waits for ever. Not reported.
- Names of GPU types with a hyphen are refused, also in ``gres``. Pull request 390 allowed dots.
"""

import logging
import re
import shlex
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

import snakemake_executor_plugin_slurm as plugin
from snakemake.common.tbdstring import TBDString
from snakemake_executor_plugin_slurm.submit_string import get_submit_command
from snakemake_executor_plugin_slurm.validation import validate_slurm_extra
from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from scripts.core.errors import UserError, count_noun
from scripts.core.workflow.slurm import has_unavailable_nodes, query_slurm, queued_jobs

log = logging.getLogger("snakemake.logging")

FINAL_STATES = {
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",
    "TIMEOUT",
}  # fmt: skip
# What the commands of Slurm print while the controller is down or busy.
AWAY = re.compile(
    r"Unable to contact|Socket timed out|Connection (refused|reset|timed out)|not responding|temporarily"
    r"|Zero Bytes were transmitted|Transport endpoint|Unexpected message received"
)


def mend(executor: Any, limits: Mapping[str, int | None]) -> None:
    """Give the executor of a run what it lacks; ``limits``: the time limit of each partition in minutes."""
    executor.__class__ = PatientExecutor
    executor.refused, executor.waiting, executor.told = {}, {}, set()

    def submit_command(job: Any, *given: Any, **named: Any) -> str:
        call = get_submit_command(job, *given, **named)
        limit = time_limit(job.resources.get("slurm_partition"), limits)
        if limit is None or job.attempt == 1:
            return call
        return re.sub(r" -t (\d+)", lambda found: f" -t {min(int(found[1]), limit)}", call)

    plugin.get_submit_command = submit_command
    plugin.set_gres_string = gpu_options
    plugin.query_job_status = retry_status_queries(plugin.query_job_status)


class PatientExecutor(plugin.Executor):
    """The executor, with submissions that wait for the controller, reasons that are told and no guessing."""

    RETRY_SECONDS = 10
    WAIT_SECONDS = 120
    logger: Any
    refused: dict[Any, str]
    waiting: dict[str, float]
    told: set[str]

    def run_job(self, job: Any) -> None:
        tries = 0
        while True:
            try:
                super().run_job(job)
                words = self.refused.pop(job, None)
            except AttributeError as error:
                words = str(error.__context__ or error)
            if words is None:
                return
            if not heals(words) or self._job_submission_executor._shutdown:
                break
            if tries % 30 == 0:
                self.logger.warning(f"Slurm takes no job now ({words}); trying again.")
            tries += 1
            time.sleep(self.RETRY_SECONDS)
        # Attempts are for jobs that ran: the next answer would be the same.
        job.attempt = job.restart_times + 1
        super()._report_job_error_threadsafe(SubmittedJobInfo(job), f"Slurm refuses the job: {words}. ")

    def _report_job_error_threadsafe(self, job_info: Any, msg: str) -> None:
        """Keep what sbatch said for :meth:`run_job`, without the executor's copy of the whole command."""
        said = re.search(r"The error message was '(.*?)'\.\n", msg, flags=re.DOTALL)
        self.refused[job_info.job] = slurm_words(said[1] if said else msg)

    def print_job_error(self, job_info: Any, msg: str | None = None, **more: Any) -> None:
        """Say why a job failed; Snakemake drops it for groups, and its logger rich for all jobs."""
        job = job_info.job
        name = f"Group {job.groupid}" if job.is_group() else f"Job {', '.join([job.rule.name, *job.wildcards])}"
        self.logger.error(f"{name}: {msg or 'failed'}")
        super().print_job_error(job_info, msg, **more)

    def get_account_arg(self, job: Any) -> Iterator[str]:
        yield account_option(job)

    async def check_active_jobs(self, active_jobs: list) -> AsyncIterator[Any]:
        for line in self.new_reasons(time.monotonic()):
            self.logger.warning(line)
        async for job in super().check_active_jobs(active_jobs):
            yield job

    def new_reasons(self, now: float) -> list[str]:
        """Return a line for each reason, not told before, for which jobs have been waiting for two minutes."""
        try:
            listed = query_slurm(
                "squeue", "--noheader", "--states=PENDING", f"--name={self.run_uuid}", "--format=%i|%r"
            )
        except UserError:
            return []
        counts = Counter()
        for line in listed.splitlines():
            number, reason = line.split("|", 1)
            if now - self.waiting.setdefault(number, now) >= self.WAIT_SECONDS:
                counts[reason] += 1
        new = {reason: count for reason, count in counts.items() if reason not in self.told | {"None"}}
        self.told |= new.keys()
        return [
            f"{count_noun(count, 'job')} wait{'s' if count == 1 else ''}: {reason}" for reason, count in new.items()
        ]


def slurm_words(text: str) -> str:
    """Return what a command of Slurm said, in one line."""
    lines = [re.sub(r"^\S+: error: |^allocation failure: ", "", line).strip() for line in text.splitlines()]
    return "; ".join(dict.fromkeys(filter(None, lines)))


def heals(words: str) -> bool:
    """Tell whether a refused job may be taken later: the controller is away, or jobs fill a limit."""
    return bool(AWAY.search(words)) or ("submit limit" in words and bool(queued_jobs()))


def time_limit(partition: str | None, limits: Mapping[str, int | None]) -> int | None:
    """Return the longest time limit of a list of partitions (``cpu,long``) in minutes; None: no limit is known."""
    found = [limits.get(name) for name in str(partition).split(",")]
    known = [limit for limit in found if limit is not None]
    return max(known) if len(known) == len(found) else None


# ---- what a job asks for


class Request:
    """A job's resources and threads, as much of a job as the executor makes its command of."""

    class Resources(dict):
        __getattr__ = dict.get

    def __init__(self, resources: Mapping[str, Any], threads: int):
        known = {name: value for name, value in resources.items() if not isinstance(value, TBDString)}
        self.resources, self.threads, self.attempt = self.Resources(known), threads, 1

    def options(self, settings: Any) -> str:
        """Return sbatch's options for this job, made by the executor.

        Raises:
            UserError: If the executor refuses the resources.
        """
        partition = self.resources.slurm_partition
        params = {
            "run_uuid": "test", "slurm_logfile": "/dev/null", "comment_str": "test", "workdir": None,
            "account": account_option(self), "partition": f"-p {shlex.quote(str(partition))}" if partition else "",
        }  # fmt: skip
        if not isinstance(self.resources.gpu or 0, int):
            raise UserError(f"gpu must be a number without quotes, not {self.resources.gpu!r}")
        try:
            validate_slurm_extra(self)
            command = get_submit_command(self, params, settings) + gpu_options(self)
        except WorkflowError as error:
            raise UserError(" ".join(str(error).split())) from error
        return " ".join(command.partition("--comment test")[2].split())


def account_option(job: Any) -> str:
    account = job.resources.get("slurm_account")
    return f" -A {shlex.quote(str(account))}" if account else ""


def gpu_options(job: Any) -> str:
    """Return sbatch's option for GPUs; a type may be a number (4090) or have a hyphen."""
    kind, count = job.resources.get("gpu_model"), job.resources.get("gpu")
    if not kind:
        return f" --gpus={count}" if count else ""
    return f" --gpus={shlex.quote(str(kind))}:{count or 1}"


def check_requests(
    requests: Mapping[str, Request], settings: Any, config: Mapping[str, str], limits: Mapping[str, int | None]
) -> list[str]:
    """Return why Slurm would refuse jobs or let them wait for ever, a line for each reason, naming the jobs.

    Args:
        requests: By name.
        config: Slurm's configuration.
        limits: The time limit of each partition in minutes.
    """
    wrong, alike, examples = {}, {}, {}
    for name, request in requests.items():
        try:
            alike.setdefault(request.options(settings), []).append(name)
        except UserError as error:
            wrong.setdefault(str(error), []).append(name)
        asked, limit = request.resources.runtime, time_limit(request.resources.slurm_partition, limits)
        if limit is not None and asked is not None and asked > limit:
            where = f"partition {request.resources.slurm_partition} ends jobs after {limit} minutes"
            wrong.setdefault(f"{where}, {asked} are asked for", []).append(name)
    for account in {str(one.resources.slurm_account) for one in requests.values() if one.resources.slurm_account}:
        # Where accounts are not enforced, sbatch takes any.
        if not config.get("AccountingStorageType", "").endswith("none") and shutil.which("sacctmgr"):
            try:
                plugin.validate_account(account, logging.getLogger("snakemake.logging"))
            except WorkflowError as error:
                wrong[" ".join(str(error).split())] = ["slurm_account"]
    for options, names in alike.items():
        partition = requests[names[0]].resources.slurm_partition
        words = refusal(options)
        if words is None:
            continue
        if heals(words) or ("not available" in words and partition and has_unavailable_nodes(str(partition))):
            log.warning(f"Slurm has no place for {listed(names)} now ({words}); the jobs may wait.")
        else:
            example = examples.setdefault(words, options)
            wrong.setdefault(f"{words}, says sbatch {example}", []).extend(names)
    return [f"{reason} ({listed(names)})" for reason, names in wrong.items()]


def listed(names: Sequence[str]) -> str:
    names = sorted(set(names))
    return f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"


def refusal(options: str) -> str | None:
    """Return why Slurm would refuse a job with these options, as ``sbatch --test-only`` says; None: it would not."""
    command = ["sbatch", "--test-only", *shlex.split(options), "--wrap=true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return slurm_words(done.stderr) if done.returncode else None


# ---- status queries


def retry_status_queries(query: Callable[[str, logging.Logger], Awaitable[tuple[Any, Any]]]) -> Callable[..., Any]:
    """Wrap the executor's status query so that no answer of Slurm makes the run wait for ever.

    Here a failed query says nothing new, a state is its first word, and a forgotten job has failed.

    Args:
        query: ``query_job_status(command, logger)`` of the executor, a coroutine function; it gives states by job id
            and seconds, or ``(None, None)``.
    """
    alive, missed = set(), {}

    async def query_job_status(command: str, logger: logging.Logger):
        states, seconds = await query(command, logger)
        if states is None:
            logger.warning(f"Slurm does not answer ({command.split()[0]}); its jobs go on, asking again.")
            return {}, 0.0
        states = {job: state.split(" ")[0] for job, state in states.items()}
        for job in alive - set(states):
            # A controller that has just started may not know all jobs yet.
            missed[job] = missed.get(job, 0) + 1
            if missed[job] >= 3:
                logger.warning(f"Slurm no longer knows job {job}; counting it as failed.")
                states[job] = "FAILED"
        for job, state in states.items():
            if state in FINAL_STATES:
                alive.discard(job)
            else:
                alive.add(job)
                missed.pop(job, None)
        return states, seconds

    return query_job_status
