"""The environment in which TensorFlow reads its checkpoints: made from envs/tensorflow.lock, once for a repository."""

import importlib.util
import logging
import os
import subprocess
import sys
from pathlib import Path

from scripts.core import files
from scripts.core.coreference_systems.c2f import tensorflow_reader
from scripts.core.errors import UserError

log = logging.getLogger("pronouns")

ROOT = Path(__file__).resolve().parents[4]
STAMP = "tensorflow.stamp"
"""The file in the environment that says what it was made from."""


def prepare(lock, folder):
    """Return the interpreter of a virtual environment with the packages of a lock, and make one where there is none.

    Parameters
    ----------
    lock : str or Path
        Names, versions and hashes.
    folder : str or Path

    Returns
    -------
    Path

    Raises
    ------
    UserError
        If the packages cannot be installed; has what pip said.
    """
    from filelock import FileLock

    folder = Path(folder)
    python, stamp = folder / "bin/python", folder / STAMP
    wanted = f"{sys.version_info[0]}.{sys.version_info[1]} {files.sha256(lock)}\n"
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Two runs may want it at the same time.
    with FileLock(f"{folder}.lock"):
        if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted and python.exists():
            return python
        log.info("making %s, a few minutes with a fast connection", folder)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [*pip, "--require-hashes", "--requirement", str(lock)],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
                reason = next((line for line in said if line.startswith("ERROR")), (said or ["no reason given"])[-1])
                raise UserError(
                    f"{folder}: the environment of TensorFlow cannot be made ({reason.strip()[:200]}); it needs the "
                    "package index, or conda (--sdm conda)"
                )
        files.write_text(stamp, wanted)
    return python


def dump(checkpoint, path, lock, folder):
    """Write the variables of a checkpoint as :func:`tensorflow_reader.dump` does, here or where TensorFlow is.

    Parameters
    ----------
    checkpoint : str
        What its files' names begin with.
    path : str or Path
        The safetensors file to write.
    lock, folder : str or Path
        As for :func:`prepare`; not needed if this interpreter has TensorFlow, as in an environment that conda made.

    Raises
    ------
    UserError
        As the two.
    """
    if importlib.util.find_spec("tensorflow"):
        tensorflow_reader.dump(checkpoint, path)
        return
    command = [str(prepare(lock, folder)), "-m", tensorflow_reader.__name__, str(checkpoint), str(path)]
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
