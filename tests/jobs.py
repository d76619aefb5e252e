"""Jobs that run a model, by hand: their arguments, and processes that are killed on the way."""

import importlib
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from scripts.core import files
from scripts.core.workflow import job, logs
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


def call(module, given):
    """Run the function of a script's only rule, as in a job."""
    logs.configure(None)
    job.call(importlib.import_module(module).main, given)


def command(module, given):
    """Return a command line that does so."""
    program = "import json, sys; from tests.jobs import call; call(sys.argv[1], json.loads(sys.argv[2]))"
    return [sys.executable, "-c", program, module, json.dumps(given, default=str)]


class Job(forks.Process):
    """A job in a process of its own."""

    def __init__(self, module, given):
        self.said = Path(tempfile.mkstemp(prefix="job-", suffix=".txt")[1])
        address = forks.addresses(os.environ)["model"]
        with self.said.open("w") as stream:
            output = (stream.fileno(), stream.fileno())
            given = json.loads(json.dumps(given, default=str))
            super().__init__(address, "tests.jobs:call", [module, given], output, ROOT, os.environ)

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


def resume(module, make, folder, output, targets):
    """Run a job, and elsewhere one that is killed and run again; the files of both must have the same bytes.

    Args:
        make: Takes a folder and returns the job's arguments.
        output: The name of the file beside which parts are kept.
        targets: With how many finished parts the job is killed, each time.

    Returns:
        What the last try wrote in the file of speeds, the metadata of ``output``, and how many parts it had found.
    """
    main, whole, broken = importlib.import_module(module).main, folder / "whole", folder / "broken"
    main(**make(whole))
    parts = (broken / output).with_suffix(".parts")
    for target in targets:
        kill_with_parts(module, make(broken), parts, target)
        assert not [path.name for path in broken.iterdir() if path != parts and path.name[0] != "."]
    kept = finished_parts(parts)
    (broken / f".{output}.left.parquet").write_text("half")
    main(**make(broken))
    assert sorted(path.name for path in broken.iterdir()) == sorted(path.name for path in whole.iterdir())
    for path in whole.glob("*.parquet"):
        assert (broken / path.name).read_bytes() == path.read_bytes()
    speed = json.loads((broken / "speed.json").read_text(encoding="utf-8"))
    return speed, files.parquet_metadata(broken / output), kept


def kill_with_parts(module, given, parts, count, kind="parquet"):
    """Run a job until the folder ``parts`` has ``count`` finished parts, and kill it then: it must not be over."""
    kill_once(lambda: finished_parts(parts, kind) >= count, module, given)
