"""Run the function of a rule with the arguments of its Snakemake job.

Every script of this project that a rule runs ends with::

    if __name__ == "__main__":
        run(main)

or, where one module has the functions of several rules, with ``run_named()``. The function gets the rule's named
inputs, outputs and params (those without a leading underscore) as keyword arguments, and a job that succeeds leaves a
record of its provenance. ``python -m scripts.replay RECORD FOLDER`` runs a recorded job again without the workflow.
"""

import gc
import importlib
import inspect
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.core.errors import UserError
from scripts.core.workflow import gpus, logs
from scripts.core.workflow.logs import ROOT, log


def run(function: Callable[..., Any]) -> None:
    """Call ``function``, which takes keyword-only arguments, with those of the Snakemake job, and record the job."""
    job = _job()
    logs.configure(job.log[0] if len(job.log) else None)
    threads = {"threads": job.threads} if "threads" in inspect.signature(function).parameters else {}
    arguments = dict(**_named(job.input), **_named(job.output), **_named(job.params), **threads)
    call(function, arguments, job.resources.get("gpu", 0), lambda: _recorder(job, function))


def run_named() -> None:
    """Call the function of the script that has the name of the rule, without that of the study, as :func:`run` does."""
    job = _job()
    run(vars(sys.modules["__main__"])[job.rule.removeprefix(f"{Path(job.scriptdir).name}_")])


def _job() -> Any:
    """Return the job that Snakemake puts into a script."""
    job = getattr(sys.modules["__main__"], "snakemake", None)
    if job is None:
        sys.exit("Error: a rule runs this script; to run a job again, type: python -m scripts.replay RECORD FOLDER")
    return job


def _named(group: Any) -> dict[str, Any]:
    return {
        name: list(value) if type(value).__name__ == "Namedlist" else value
        for name, value in group.items()
        if not name.startswith("_")
    }


def _recorder(job: Any, function: Callable[..., Any]) -> Any:
    """Return the recorder of a Snakemake job; it removes the record of an earlier run."""
    # By name, since the package that runs jobs must not import the one that records them.
    recorder = importlib.import_module("scripts.core.provenance.recorder")
    script = Path(sys.modules["__main__"].__file__ or "").resolve()
    script = script.relative_to(ROOT).as_posix() if script.is_relative_to(ROOT) else script.name
    paths = _named(job.input) | _named(job.output)
    return recorder.Recorder(
        job.rule, dict(job.wildcards.items()), list(job.input), list(job.output), dict(job.params.items()), ROOT,
        call={"script": script, "function": function.__name__, "paths": paths},
    )  # fmt: skip


def call(
    function: Callable[..., Any],
    arguments: dict[str, Any],
    gpu_count: int = 0,
    recorder: Callable[[], Any] | None = None,
) -> None:
    """Call the function of a rule, and write its record last.

    A :class:`UserError` ends the process with status 1 and one line; any other exception keeps its traceback. Both go
    to the job's log too.

    Args:
        recorder: Returns the recorder of the job; asked before the function runs.
    """
    started = time.monotonic()
    try:
        record = recorder() if recorder else None
        # Snakemake bounds the GPUs of jobs that run side by side (--resources gpu=N) but does not say which are whose.
        with gpus.reserve_gpus(gpu_count):
            node, number = os.environ.get("SLURMD_NODENAME"), os.environ.get("SLURM_JOB_ID", "none")
            place = f"node {node}, Slurm job {number}, " if node else ""
            log.info("%sGPUs %s", place, os.environ.get(gpus.VISIBLE) or "none")
            try:
                function(**arguments)
            finally:
                logs.log_memory()
        if record is not None:
            record.finish()
    except Exception as error:
        log.error("%s", error if isinstance(error, UserError) else traceback.format_exc().rstrip())
        sys.exit(1)
    log.info("finished in %.1f s", time.monotonic() - started)
    # The end of the process frees what it holds; to search that for cycles first takes longer than a small job works.
    gc.freeze()
