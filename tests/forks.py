"""Processes that begin with their packages loaded, for the time of the tests.

A test process has a server for each kind of process (:data:`KINDS`). It loads packages when it is first asked to run
something, and forks itself for all that it runs. What runs is a process of its own, with the same code, arguments,
environment and records; only its start is cheaper. What users type (tests/workflow/test_readme.py) and Slurm are
tested without forks.
"""

import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

ROOT = Path(__file__).parents[1]
LOADED = (
    "numpy", "pandas", "pyarrow.parquet", "jinja2", "matplotlib.figure", "matplotlib.backends.backend_agg",
    "snakemake.iocontainers", "snakemake.logging",
)  # fmt: skip
"""What every job has loaded, and its record lists as imported: packages that nearly all jobs import."""
KINDS = {
    "snakemake": ("snakemake.cli", "docutils.parsers.rst.directives.images", "jsonschema", "smart_open"),
    "job": LOADED,
    "model job": (
        *LOADED, "torch", "transformers.modeling_utils", "transformers.generation.utils",
        "transformers.models.auto.modeling_auto", "transformers.models.auto.tokenization_auto",
        "transformers.models.bert.modeling_bert", "transformers.models.opt.modeling_opt",
        "transformers.models.llama.modeling_llama", "transformers.models.t5.modeling_t5",
    ),
    "model": (
        "scripts.core.coreference_systems.c2f.resolve", "scripts.core.generation.check",
        "scripts.scoring.score", "transformers.models.bert.modeling_bert",
        "transformers.models.llama.modeling_llama", "transformers.models.t5.modeling_t5",
    ),
}  # fmt: skip
"""Modules that processes of a kind begin with: Snakemake itself, its jobs, those of :data:`MODEL_RULES`, and what runs
a model without Snakemake."""
MODEL_RULES = ("score", "prompt", "token_distributions", "coreference")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Variables that Snakemake sets for a job to its number of threads."""
OWN = ("PYTHONPATH", "PYTEST_", "GIT_", "PRONOUN_")
"""How variables begin that a process alone has, not the server that forks it: no package reads them when it loads."""


class Process:
    """A process that a server forked.

    Args:
        address: Of the server's socket.
        target: The function that it runs, as ``module:function``; it returns when all went well.
        arguments: Of the function, such as JSON can hold.
        output: Where its standard output and standard error go.
        folder: Where it runs.
        environment: Its variables.

    Attributes:
        pid (int)
    """

    def __init__(
        self, address: str, target: str, arguments: Sequence[Any], output: tuple[int, int], folder: Path | str,
        environment: Mapping[str, str],
    ):  # fmt: skip
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(address)
        asked = json.dumps([target, list(arguments), str(folder), dict(environment)]).encode()
        socket.send_fds(connection, [b"\n"], list(output))
        connection.sendall(asked + b"\n")
        self._answers = connection.makefile()
        connection.close()
        self._status: int | None = None
        self.pid = int(self._answers.readline() or "0")
        assert self.pid, "the server of forks has ended; what it said stands above"

    def wait(self) -> int:
        """Return the exit status when the process has ended; that of a killed one is the signal's, negative."""
        if self._status is None:
            self._status = int(self._answers.readline() or "-1")
            self._answers.close()
        return self._status

    def poll(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        if self._status is None and not select.select([self._answers], [], [], 0)[0]:
            return None
        return self.wait()

    def kill(self) -> None:
        """Kill the process, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class Server:
    """A process that loads modules when it is first asked for something, and ends with the process that began it.

    Attributes:
        address (str): Of its socket.
    """

    def __init__(self, loaded: Sequence[str], environment: Mapping[str, str]):
        self.address = str(Path(tempfile.mkdtemp(prefix="forks-")) / "socket")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.address)
            listener.listen(64)
            begin = [sys.executable, "-c", "from tests.forks import serve; serve()"]
            self._process = subprocess.Popen(
                [*begin, str(listener.fileno()), self.address, *loaded], cwd=ROOT, env=environment,
                stdin=subprocess.PIPE, pass_fds=[listener.fileno()],
            )  # fmt: skip

    def close(self) -> None:
        """Have the server end with what it has forked."""
        assert self._process.stdin is not None, "it is a pipe"
        self._process.stdin.close()


_servers: dict[tuple, dict[str, Server]] = {}


def addresses(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses of servers by kind that began with these variables: packages read some when they load.

    Of servers with other variables than the first only the last are kept.
    """
    environment = {name: value for name, value in environment.items() if not name.startswith(OWN)}
    key = tuple(sorted(environment.items()))
    if key not in _servers:
        for other in list(_servers)[1:]:
            for server in _servers.pop(other).values():
                server.close()
        _servers[key] = {kind: Server(loaded, environment) for kind, loaded in KINDS.items()}
    return {kind: server.address for kind, server in _servers[key].items()}


def run(
    address: str, target: str, arguments: Sequence[Any], folder: Path | str,
    environment: Mapping[str, str] = os.environ, *, apart: bool = False,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Run a function of a module in a process of the server at an address, and return how it ended.

    Returns:
        With its standard output, which holds its standard error too, unless that is wanted ``apart``.
    """
    with contextlib.ExitStack() as stack:
        streams: list[IO[str]] = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2)]
        output = (streams[0].fileno(), streams[1 if apart else 0].fileno())
        status = Process(address, target, arguments, output, folder, environment).wait()
        for stream in streams:
            stream.seek(0)
        return subprocess.CompletedProcess([target, *arguments], status, *[stream.read() for stream in streams])


def run_snakemake(
    arguments: Sequence[str], folder: Path | str, environment: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake with jobs as forks; the standard output holds errors too."""
    known = addresses(environment)
    return run(known["snakemake"], "tests.forks:snakemake", [list(arguments), known], folder, environment)


def run_module(
    module: str, arguments: Sequence[Any], folder: Path | str, environment: Mapping[str, str] = os.environ, *,
    kind: str = "snakemake", apart: bool = False,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Run ``python -m module`` with arguments."""
    known = addresses(environment)
    asked = [module, list(map(str, arguments)), known["snakemake"]]
    return run(known[kind], "tests.forks:as_main", asked, folder, environment, apart=apart)


# What follows runs in servers and forks.


def serve() -> None:
    """Fork a process for every connection to the socket that the command line gives, until standard input ends.

    The connection gets the number of the process and, when it has ended, its exit status.
    """
    listener = socket.socket(fileno=int(sys.argv[1]))
    address, *loaded = sys.argv[2:]
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Ends the wait for a connection when a process ends.
    ended, noted = os.pipe()
    os.set_blocking(noted, False)
    signal.set_wakeup_fd(noted)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, socket.socket] = {}
    listening: list[Any] = [listener, sys.stdin]
    while listening or running:
        ready = select.select([*listening, ended], [], [])[0]
        if ended in ready:
            os.read(ended, 1024)
        while running and (found := os.waitpid(-1, os.WNOHANG))[0]:
            with contextlib.suppress(OSError), running.pop(found[0]) as connection:
                connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(found[1]))
        if sys.stdin in ready:
            listening = []
            # A test process may end without a chance to clean up.
            shutil.rmtree(Path(address).parent)
        elif listener in ready:
            for module in loaded:
                importlib.import_module(module)
            if loaded:
                # What forks share is theirs, page by page, once the garbage collector has looked at it.
                gc.freeze()
                loaded = []
            connection, _ = listener.accept()
            output = socket.recv_fds(connection, 1, 2)[1]
            with connection.makefile("rb") as stream:
                asked = json.loads(stream.readline() or "null")
            # Who asked may have been killed.
            if asked is None:
                continue
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for other in (listener, connection, *running.values()):
                    other.close()
                _begin(output, *asked)
            for descriptor in output:
                os.close(descriptor)
            running[pid] = connection
            with contextlib.suppress(OSError):
                connection.sendall(b"%d\n" % pid)


def _begin(
    output: Sequence[int], target: str, arguments: list[Any], folder: str, environment: dict[str, str]
) -> NoReturn:
    """Run the function of a process, and end the process with its status."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for descriptor, given in zip((0, 1, 2), (os.open(os.devnull, os.O_RDONLY), *output), strict=True):
        os.dup2(given, descriptor)
        os.close(given)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # As of a Python that begins here.
    paths = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = ["", *filter(None, paths), *filter(None, sys.path)]
    status: Any = 1
    try:
        module, _, name = target.partition(":")
        getattr(importlib.import_module(module), name)(*arguments)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def as_main(module: str, arguments: Sequence[str], address: str | None = None) -> None:
    """Run a module as a program; what it runs with this Python is a fork of the server at ``address``, if given."""
    begin = subprocess.run

    def run_forked(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess:
        if address is None or list(command[:2]) != [sys.executable, "-m"] or not options.get("capture_output"):
            return begin(command, **options)
        environment = options.get("env") or os.environ
        return run(address, "tests.forks:as_main", [*command[2:3], command[3:]], Path.cwd(), environment, apart=True)

    subprocess.run = run_forked
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def snakemake(arguments: Sequence[str], servers: dict[str, str]) -> None:
    """Run Snakemake with arguments of its command line, and its jobs as forks of servers."""
    from snakemake.cli import main

    sys.argv = ["snakemake", *arguments]
    install("tests.forks:execute", lambda rule: servers["model job" if rule in MODEL_RULES else "job"])
    main()


def install(target: str, address: Callable[[str], str]) -> None:
    """Have Snakemake, in this process, run Python scripts as forks.

    Args:
        target: What the fork runs: a function that is called with the script's path.
        address: Returns that of the server which runs the jobs of a rule.
    """
    from snakemake.benchmark import benchmarked
    from snakemake.script import PythonScript

    def run(script: PythonScript, path: str, edit: bool = False) -> None:
        environment = {**os.environ, **dict.fromkeys(THREADS, str(script.threads))}
        environment["TMPDIR"] = str(script.resources.tmpdir)
        job = Process(address(script.rulename), target, [path], (1, 2), Path.cwd(), environment)
        measured = benchmarked(job.pid, script.bench_record) if script.bench_record else contextlib.nullcontext()
        with measured:
            status = job.wait()
        if status:
            raise subprocess.CalledProcessError(status, f"{sys.executable} {path}")

    PythonScript.execute_script = run


def execute(path: str) -> None:
    """Run the script of a job as Snakemake wrote it down."""
    sys.argv = [path]
    sys.path[0] = str(Path(path).parent)
    runpy.run_path(path, run_name="__main__")
