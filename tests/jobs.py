"""Jobs that run a model, by hand: their arguments, and processes that are killed on the way."""

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests import forks
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


class Job(forks.Process):
    """A job in a process of its own."""

    def __init__(self, module, given):
        self.said = Path(tempfile.mkstemp(prefix="job-", suffix=".txt")[1])
        address = forks.addresses(os.environ)["model"]
        with self.said.open("w") as stream:
            output = (stream.fileno(), stream.fileno())
            super().__init__(address, "tests.forks:as_main", [module, options(given)], output, ROOT, os.environ)

    def end(self):
        """Return the exit status when the job has ended, and what it wrote."""
        status, said = self.wait(), self.said.read_text(encoding="utf-8")
        self.said.unlink()
        return status, said


def kill_once(reached, module, given):
    """Run a job until ``reached`` returns True, and kill it then: it must not be over."""
    job = Job(module, given)
    while job.poll() is None and not reached():
        time.sleep(0.002)
    job.kill()
    status, said = job.end()
    assert status == -signal.SIGKILL, said
    assert reached()


def kill_with_parts(module, given, parts, count, kind="parquet"):
    """Run a job until the folder ``parts`` has ``count`` finished parts, and kill it then: it must not be over."""
    kill_once(lambda: finished_parts(parts, kind) >= count, module, given)
