"""Keep Snakemake's scheduler from looking for jobs again and again while all cores are busy."""

from typing import Any

DEFAULT_LIMIT = (100, 1)
"""Jobs and seconds of Snakemake's own limit, ``--max-jobs-per-timespan 100/1s``."""


def lift_default_limit(workflow: Any) -> None:
    """Take Snakemake's default limit of 100 jobs a second off a run; one that somebody asked for stays.

    While there is a limit, Snakemake (9.27, snakemake/snakemake#3744) looks for jobs once more a second after it has
    looked, and once more whenever a job ends, and each of these looks is followed by another one a second later: after
    n jobs it looks n times a second, which took half a core of a run with 350 jobs. Nothing of this project starts a
    hundred jobs in a second. To be called when the scheduler exists, thus from ``onstart``.

    Args:
        workflow: Snakemake's, a ``snakemake.workflow.Workflow``.
    """
    limiter = workflow.scheduler.job_rate_limiter
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == DEFAULT_LIMIT:
        workflow.scheduler.job_rate_limiter = None
