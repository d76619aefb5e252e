"""Jobs that run a model, by hand: their arguments, and processes that are killed on the way."""

import json
import os
import signal
import subprocess
import sys
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


def finished_parts(folder):
    """Return how many parts a job has saved; those that are being written have hidden names."""
    return len(list(folder.glob("[!.]*.parquet")))


def start(module, given):
    """Start a job as a process of its own, with its arguments as options."""
    command = [sys.executable, "-m", module]
    for name, value in given.items():
        command += [f"--{name.replace('_', '-')}", value if isinstance(value, str) else json.dumps(value)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)


def kill_with_parts(module, given, parts, count):
    """Run a job until the folder ``parts`` has ``count`` finished parts, and kill it then: it must not be over."""
    job = start(module, given)
    while job.poll() is None and finished_parts(parts) < count:
        time.sleep(0.002)
    job.send_signal(signal.SIGKILL)
    assert job.wait() == -signal.SIGKILL, job.stderr.read()
    assert finished_parts(parts) >= count
