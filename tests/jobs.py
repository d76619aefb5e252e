"""Jobs that run a model, by hand: their arguments, and processes that are killed on the way."""

import json
import multiprocessing
import os
import runpy
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.zoo import DEVICE

ROOT = Path(__file__).parents[1]


def model_arguments(entries, model, folder):
    """Return the keyword arguments that all jobs with a model share: small batches, and every part saved at once."""
    return {
        "speed": str(folder / "speed.json"),
        "model": model,
        "entry": entries[model],
        "device": DEVICE,
        "tokens_per_batch": 200,
        "save_seconds": 0,
    }


def finished_parts(folder, kind="parquet"):
    """Return how many parts a job has saved; those that are being written have hidden names."""
    return len(list(folder.glob(f"[!.]*.{kind}")))


# What options give as JSON.
TYPED = (dict, list, bool, type(None))


def options(given):
    """Return the arguments of a job as options of its command line."""
    shown = {name: json.dumps(value) if isinstance(value, TYPED) else str(value) for name, value in given.items()}
    return [word for name, value in shown.items() for word in (f"--{name.replace('_', '-')}", value)]


def command(module, given):
    """Return the command line of a job."""
    return [sys.executable, "-m", module, *options(given)]


# Processes of jobs are forked from one that has loaded what all of them load first, which takes seconds.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(
    ["scripts.core.coreference_systems.c2f.resolve", "scripts.core.engines.generation", "scripts.core.engines.scoring"]
    + [f"transformers.models.{kind}.modeling_{kind}" for kind in ("bert", "llama", "t5")]
)


class Job:
    """A job in a process of its own.

    Attributes:
        process (multiprocessing.Process)
        errors (Path): What it writes to its standard error.
    """

    def __init__(self, module, given):
        self.errors = Path(tempfile.mkstemp(prefix="job-", suffix=".txt")[1])
        self.process = SERVER.Process(target=_run, args=(module, options(given), self.errors))
        self.process.start()

    def poll(self):
        """Return the exit status, or None while the job runs; that of a killed job is the signal's, negative."""
        return self.process.exitcode

    def wait(self):
        """Return the exit status when the job has ended, and what it wrote to its standard error."""
        self.process.join()
        said = self.errors.read_text(encoding="utf-8")
        self.errors.unlink()
        return self.process.exitcode, said


def _run(module, arguments, errors):
    os.chdir(ROOT)
    with errors.open("w", encoding="utf-8") as stream:
        os.dup2(stream.fileno(), sys.stderr.fileno())
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def kill_once(reached, module, given):
    """Run a job until ``reached`` returns True, and kill it then: it must not be over."""
    job = Job(module, given)
    while job.poll() is None and not reached():
        time.sleep(0.002)
    job.process.kill()
    status, said = job.wait()
    assert status == -signal.SIGKILL, said
    assert reached()


def kill_with_parts(module, given, parts, count, kind="parquet"):
    """Run a job until the folder ``parts`` has ``count`` finished parts, and kill it then: it must not be over."""
    kill_once(lambda: finished_parts(parts, kind) >= count, module, given)
