"""Distinct GPUs for jobs that run side by side on one machine, or in one allocation of Slurm (``salloc``).

A job holds a lock on one file for each GPU that it uses. The kernel drops the lock when the process ends, however it
ends, so nothing is ever left to clean up. Allocations on one machine have locks of their own, since each may number its
GPUs from 0; a job that the executor submits is alone in its allocation and gets what Slurm has chosen.
"""

import contextlib
import fcntl
import logging
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

log = logging.getLogger("pronouns")

VISIBLE = "CUDA_VISIBLE_DEVICES"


def visible_gpus() -> list[str]:
    """Return the GPUs that jobs may use: those of CUDA_VISIBLE_DEVICES where it is set, else all of the driver's."""
    if VISIBLE in os.environ:
        return [name.strip() for name in os.environ[VISIBLE].split(",") if name.strip()]
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return []
    return listed.stdout.split()


@contextlib.contextmanager
def reserve_gpus(count: int, folder: str | Path | None = None, seconds: float = 1.0) -> Iterator[list[str]]:
    """Hold ``count`` GPUs of this machine for the block and name them in CUDA_VISIBLE_DEVICES of this process.

    Waits until as many are free. A machine with fewer gives all it has; one without any gives none, and the
    block runs on the CPU. To a job that asks for none, none is visible: it would use one that another job holds.

    Args:
        folder: Where the lock files lie; by default one folder for each user and allocation in the machine's temporary
            folder.
        seconds: Time between two looks at the locks.

    Yields:
        The names of the GPUs.
    """
    if not count:
        os.environ[VISIBLE] = ""
        yield []
        return
    names = visible_gpus()
    if len(names) < count:
        log.warning("this machine has only %d of the %d GPUs that the job asks for", len(names), count)
    allocation = os.environ.get("SLURM_JOB_ID", "")
    folder = Path(folder or Path(tempfile.gettempdir()) / f"pronoun-gpus-{os.getuid()}-{allocation}".rstrip("-"))
    folder.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:
        held = _wait(stack, folder, names, min(count, len(names)), seconds)
        if held:
            os.environ[VISIBLE] = ",".join(held)
        yield held


def _wait(stack: contextlib.ExitStack, folder: Path, names: list[str], count: int, seconds: float) -> list[str]:
    """Lock ``count`` of the GPUs: all of them or, while others hold too many, none, so that no two jobs block each
    other."""
    logged = False
    while True:
        with contextlib.ExitStack() as attempt:
            held = []
            for name in names:
                file = attempt.enter_context((folder / f"{name.replace('/', '_')}.lock").open("w"))
                with contextlib.suppress(BlockingIOError):
                    if len(held) < count:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        held.append(name)
            if len(held) == count:
                stack.enter_context(attempt.pop_all())
                return held
        if not logged:
            log.info("waiting for %d of the GPUs %s", count, ", ".join(names))
            logged = True
        # Jobs that look at the same moment would take the locks from each other again and again.
        time.sleep(seconds * (1 + os.getpid() % 7 / 7))
