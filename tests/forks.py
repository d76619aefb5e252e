"""Jobs as forks: Snakemake whose Python scripts begin with their packages loaded, for the time of the tests.

    python -c "from tests.forks import main; main()" ARGUMENTS OF SNAKEMAKE

A job is still a separate process with the same code, arguments and records; only its start is cheaper. Commands as
users type them (tests/workflow/test_readme.py), progress and Slurm are tested without forks.
"""

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

ROOT = str(Path(__file__).parents[1])
LOADED = (
    "numpy", "pandas", "pyarrow.parquet", "jinja2", "matplotlib.figure", "matplotlib.backends.backend_agg",
    "snakemake.iocontainers", "snakemake.logging",
)  # fmt: skip
"""What every job has loaded, and its record lists as imported: packages that nearly all jobs import."""
MODEL_RULES = ("score", "prompt", "token_distributions", "coreference")
"""Rules whose jobs begin with what loads a model as well."""
MODEL_LOADED = (
    "torch", "transformers.modeling_utils", "transformers.generation.utils", "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto", "transformers.models.bert.modeling_bert",
    "transformers.models.opt.modeling_opt", "transformers.models.llama.modeling_llama",
    "transformers.models.t5.modeling_t5",
)  # fmt: skip
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Variables that Snakemake sets for a job to its number of threads."""


def install(execute: Callable[[str, dict[str, str], Any], None], loaded: Sequence[str] = LOADED) -> None:
    """Have Snakemake, in this process, run Python scripts as forks.

    Args:
        execute: Called in the fork with the script's path, the job's environment variables and a connection, to which
            it sends the exit status.
        loaded: Modules that forks begin with.
    """
    from snakemake.benchmark import benchmarked
    from snakemake.script import PythonScript

    context = multiprocessing.get_context("forkserver")
    servers = {False: forkserver.ForkServer(), True: forkserver.ForkServer()}
    servers[False].set_forkserver_preload(list(loaded))
    servers[True].set_forkserver_preload([*loaded, *MODEL_LOADED])
    # A process asks its one server; jobs of Snakemake start side by side, each in a thread.
    asked = threading.local()
    forkserver.connect_to_new_process = lambda fds: asked.server.connect_to_new_process(fds)

    def run(script: PythonScript, path: str, edit: bool = False) -> None:
        # Two threads that ask for the exit status of one process at the same time do not both get it.
        receiver, sender = context.Pipe(duplex=False)
        variables = dict.fromkeys(THREADS, str(script.threads)) | {"TMPDIR": str(script.resources.tmpdir)}
        asked.server = servers[script.rulename in MODEL_RULES]
        job = context.Process(target=execute, args=(path, variables, sender))
        job.start()
        sender.close()
        measured = benchmarked(job.pid, script.bench_record) if script.bench_record else contextlib.nullcontext()
        with measured:
            try:
                status = receiver.recv()
            except EOFError:
                status = -1
            job.join()
        if status:
            raise subprocess.CalledProcessError(status, f"{sys.executable} {path}")

    PythonScript.execute_script = run


def execute(path: str, variables: dict[str, str], sender: multiprocessing.connection.Connection) -> None:
    """Run the script of a job as Snakemake wrote it down, and send the exit status."""
    os.environ.update(variables)
    sys.argv = [path]
    status = 1
    try:
        runpy.run_path(path, run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sender.send(status)


def execute_in_copy(path: str, variables: dict[str, str], sender: multiprocessing.connection.Connection) -> None:
    """As :func:`execute`, in a copy of the repository without tests, whose jobs must find no scripts but its own."""
    sys.path.remove(ROOT)
    execute(path, variables, sender)


def main() -> None:
    """Run Snakemake in a copy of the repository, with the arguments of the command line."""
    from snakemake.cli import main as snakemake

    # Behind the copy's modules, so that forks find this one.
    sys.path.remove(os.environ.pop("PYTHONPATH"))
    sys.path.append(ROOT)
    sys.argv[0] = "snakemake"
    install(execute_in_copy)
    sys.exit(snakemake())
