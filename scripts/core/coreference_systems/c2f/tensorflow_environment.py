"""TensorFlow's checkpoints, read in the environment of envs/tensorflow.lock."""

import logging
import os
import subprocess
import sys
from pathlib import Path

from scripts.core.coreference_systems.c2f import tensorflow_reader
from scripts.core.errors import UserError
from scripts.core.workflow import environments

log = logging.getLogger("pronouns")

ROOT = Path(__file__).resolve().parents[4]


def dump(checkpoint: str, path: str | Path, lock: str | Path, folder: str | Path) -> None:
    """Write the variables of a checkpoint as :func:`tensorflow_reader.dump` does, here or where TensorFlow is.

    Args:
        checkpoint: What its files' names begin with.
        path: The safetensors file to write.
        lock, folder: As for :func:`scripts.core.workflow.environments.prepare`.

    Raises:
        UserError: If the packages cannot be installed, or as the reader.
    """
    python = environments.prepare(lock, folder)
    if python == Path(sys.executable):
        tensorflow_reader.dump(checkpoint, path)
        return
    command = [str(python), "-m", tensorflow_reader.__name__, str(checkpoint), str(path)]
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": paths, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    log.info("%s", done.stdout + done.stderr)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines() or ["TensorFlow ended without a word"]
        if lines[-1].startswith("Error: "):
            raise UserError(lines[-1].removeprefix("Error: "))
        raise RuntimeError(lines[-1])
