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
import logging
import os
import platform
import resource
import sys
import time
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.core.errors import UserError
from scripts.core.workflow import gpus

ROOT = Path(__file__).resolve().parents[3]
log = logging.getLogger("pronouns")


def run(main: Callable[..., Any]) -> None:
    """Call ``main``, which takes keyword-only arguments, with those of the Snakemake job, and record the job."""
    job = _job()
    configure(job.log[0] if len(job.log) else None)
    arguments = _job_arguments(main, job)
    call(main, arguments, job.resources.get("gpu", 0), lambda: _recorder(job, main, arguments))


def _recorder(job: Any, main: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Return the recorder of a Snakemake job; it removes the record of an earlier run."""
    # Found by name, so that it belongs to no script's closure: what records a job cannot change its results.
    recorder = importlib.import_module("scripts.core.provenance.recorder")
    named = [name for group in (job.input, job.output) for name, _ in group.items() if not name.startswith("_")]
    script = Path(sys.modules["__main__"].__file__ or "").resolve()
    script = script.relative_to(ROOT).as_posix() if script.is_relative_to(ROOT) else script.name
    return recorder.Recorder(
        job.rule, dict(job.wildcards.items()), list(job.input), list(job.output), dict(job.params.items()), ROOT,
        call={"script": script, "function": main.__name__, "paths": {name: arguments[name] for name in named}},
    )  # fmt: skip


def run_named() -> None:
    """Call the function of the script that has the name of the rule, without that of the study, as :func:`run` does.

    Functions of rules take keyword-only arguments alone.
    """
    job = _job()
    run(rule_functions(sys.modules["__main__"])[job.rule.removeprefix(f"{Path(job.scriptdir).name}_")])


def _job() -> Any:
    """Return the job that Snakemake puts into a script."""
    job = getattr(sys.modules["__main__"], "snakemake", None)
    if job is None:
        sys.exit("Error: a rule runs this script; to run a job again, type: python -m scripts.replay RECORD FOLDER")
    return job


def call(
    main: Callable[..., Any], arguments: dict[str, Any], gpu_count: int = 0, recorder: Callable[[], Any] | None = None
) -> None:
    """Call the function of a rule.

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
            _log_place()
            try:
                main(**arguments)
            finally:
                _log_memory()
        if record is not None:
            record.finish()
    except UserError as error:
        log.error("%s", error)
        sys.exit(1)
    except Exception:
        log.error("%s", traceback.format_exc().rstrip())
        sys.exit(1)
    log.info("finished in %.1f s", time.monotonic() - started)
    # The end of the process frees what it holds; to search that for cycles first takes longer than a small job works.
    gc.freeze()


def rule_functions(module: types.ModuleType) -> dict[str, Callable]:
    """Return the functions of a module that rules run, by name: those that take keyword-only arguments alone."""
    functions = {name: value for name, value in vars(module).items() if inspect.isfunction(value)}
    return {
        name: function
        for name, function in functions.items()
        if function.__module__ == module.__name__
        and {parameter.kind for parameter in inspect.signature(function).parameters.values()}
        == {inspect.Parameter.KEYWORD_ONLY}
    }


def _log_place() -> None:
    """Log the GPUs that this process sees and, on a cluster, the node and the number of the job."""
    node, number = os.environ.get("SLURMD_NODENAME"), os.environ.get("SLURM_JOB_ID", "none")
    place = f"node {node}, Slurm job {number}, " if node else ""
    log.info("%sGPUs %s", place, os.environ.get(gpus.VISIBLE) or "none")


def _log_memory() -> None:
    """Log the most memory that this process had at a time, and PyTorch on each GPU that it used."""
    log.info("memory high-water mark: %d MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_initialized():
        for device in range(torch.cuda.device_count()):
            log.info("memory high-water mark of GPU %d: %d MB", device, torch.cuda.max_memory_reserved(device) / 2**20)


def _job_arguments(main: Callable[..., Any], job: Any) -> dict[str, Any]:
    accepted = inspect.signature(main).parameters
    arguments = {}
    for group in (job.input, job.output, job.params):
        for name, value in group.items():
            if name.startswith("_"):
                continue
            if name in arguments:
                raise TypeError(f"rule {job.rule} uses the name {name!r} twice among input, output and params")
            arguments[name] = list(value) if type(value).__name__ == "Namedlist" else value
    if "threads" in accepted:
        arguments["threads"] = job.threads
    unknown = sorted(set(arguments) - set(accepted))
    missing = sorted(n for n, p in accepted.items() if p.default is p.empty and n not in arguments)
    if unknown or missing:
        raise TypeError(
            f"rule {job.rule}: main() does not take {unknown or 'nothing'} and lacks {missing or 'nothing'}"
        )
    return arguments


def configure(path: str | None) -> None:
    """Send log lines to standard error or, in a job, to its log; of those only warnings and errors are seen beside it.

    In a job everything else that is written to standard error, such as bars of progress, goes to the log as well.
    """
    formatter = logging.Formatter("%(asctime)s %(levelname)s %(message)s", datefmt="%H:%M:%S")
    handlers = [logging.StreamHandler(sys.stderr)]
    handlers[0].setFormatter(formatter)
    if path is not None:
        Path(path).write_text("")
        handlers.append(logging.FileHandler(path, encoding="utf-8"))
        handlers[1].setFormatter(formatter)
        handlers[0].setLevel(logging.WARNING)
        handlers[0].setFormatter(_OneLineFormatter())
        # Both append to the file; this one stays open when Python has closed the handler's.
        sys.stderr = Path(path).open("a", buffering=1, encoding="utf-8")  # noqa: SIM115
    logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)
    logging.captureWarnings(True)
    # Embedding fonts is not worth a line for every table of every font.
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    log.info("Python %s, %s %s", platform.python_version(), platform.system(), platform.machine())


class _OneLineFormatter(logging.Formatter):
    """What a job says in the terminal: a warning's first line, an error's last; the job's log has the rest."""

    def format(self, record: logging.LogRecord) -> str:
        lines = super().format(record).strip().splitlines() or [""]
        return f"{record.levelname.capitalize()}: {lines[-1 if record.levelno >= logging.ERROR else 0]}"
