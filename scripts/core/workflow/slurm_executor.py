"""The executor for Slurm, with what snakemake-executor-plugin-slurm 2.8.0 lacks: the one place that knows its inside.

Mended here, since a run would wait for ever, say nothing or leave jobs behind:

- A group whose submission raises: the handler asks the group for its rule and never reports it.
- Why a group failed or was refused: Snakemake drops it (issue 456 of the plugin).
- A status query that fails, as while the controller is away, loses all jobs (issues 207 and 331, in part).
- Ctrl-C during a status query cancels nothing: the jobs that are asked about are on no list.
- Jobs that wait say nothing.
- ``sbatch`` to a controller that is away uses up an attempt (issue 313).
- Without an account, a guess that needs ``sacct``.

Left as it is, and told in docs/running.md: refused jobs are tried again, GPU types with a hyphen are refused, and a job
that ``squeue`` has forgotten while the main process slept is waited for.
"""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import snakemake_executor_plugin_slurm as plugin
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from scripts.core.errors import UserError, count_noun
from scripts.core.workflow.preflight import check_cluster, query_slurm


class Executor(plugin.Executor):
    """The executor, with checks before the first job and reasons of what waits, is refused or fails."""

    RETRY_SECONDS = 10
    WAIT_SECONDS = 120

    # Snakemake's own, of which the plugins' interfaces name only a part.
    workflow: Any
    logger: Any

    def __post_init__(self, test_mode: bool = False) -> None:
        self.waiting: dict[str, float] = {}
        self.told: set[str] = set()
        self.asked: list = []
        settings = self.workflow.executor_settings
        if settings.partition_config:
            # A profile names it from the repository, and the run may be in a folder of its own.
            settings.partition_config = Path(self.workflow.basedir) / settings.partition_config
        try:
            check_cluster(self.workflow.dag, settings)
        except UserError as error:
            sys.exit(f"Error: {error}")
        super().__post_init__(test_mode)

    def run_job(self, job: Any) -> None:
        said = False
        while subprocess.run(["scontrol", "ping"], capture_output=True, check=False).returncode:
            if not said:
                self.logger.warning("Slurm takes no job now, its controller is away; trying again.")
                said = True
            time.sleep(self.RETRY_SECONDS)
        try:
            super().run_job(job)
        except AttributeError as error:
            self._report_job_error_threadsafe(
                SubmittedJobInfo(job), f"Job submission failed with exception: {error.__context__}"
            )

    def print_job_error(self, job_info: Any, msg: str | None = None, **more: Any) -> None:
        if job_info.job.is_group() and msg:
            self.logger.error(f"Group {job_info.job.groupid}: {msg.partition('sbatch call:')[0].strip()}")
        super().print_job_error(job_info, msg, **more)

    def get_account_arg(self, job: Any) -> Iterator[str]:
        """Yield the account as it is stated; :mod:`scripts.core.workflow.preflight` has looked at it."""
        account = job.resources.get("slurm_account")
        yield f" -A {account}" if account else ""

    async def check_active_jobs(self, active_jobs: list) -> AsyncIterator[Any]:
        left, self.asked = [], active_jobs
        # Its thread looks for jobs before the executor is complete.
        if active_jobs:
            for line in self.new_reasons(time.monotonic()):
                self.logger.warning(line)
            answered = self._status_query_calls
        async for job in super().check_active_jobs(active_jobs):
            left.append(job)
        if active_jobs and self._status_query_calls == answered:
            self.logger.warning("Slurm does not answer; its jobs go on, asking again.")
            left = active_jobs
        for job in left:
            yield job
        self.asked = left

    def cancel_jobs(self, active_jobs: list) -> None:
        super().cancel_jobs(list({job.external_jobid: job for job in [*self.asked, *active_jobs]}.values()))

    def new_reasons(self, now: float) -> list[str]:
        """Return a line for each reason, not told before, for which jobs have been waiting for two minutes."""
        try:
            listed = query_slurm(
                "squeue", "--noheader", "--states=PENDING", f"--name={self.run_uuid}", "--format=%i|%r"
            )
        except UserError:
            return []
        counts: Counter = Counter()
        for line in listed.splitlines():
            number, reason = line.split("|", 1)
            if now - self.waiting.setdefault(number, now) >= self.WAIT_SECONDS:
                counts[reason] += 1
        new = {reason: count for reason, count in counts.items() if reason not in self.told | {"None"}}
        self.told |= new.keys()
        return [
            f"{count_noun(count, 'job')} wait{'s' if count == 1 else ''}: {reason}" for reason, count in new.items()
        ]
