"""Run the function of a rule from Snakemake or from the command line.

Every script of this project ends with::

    if __name__ == "__main__":
        run(main)

or, where one module has the functions of several rules, with ``run_named()``. Under Snakemake the function gets the
rule's named inputs, outputs and params (those without a leading underscore) as keyword arguments, and a job that
succeeds leaves a record of its provenance. On the command line the same function gets the same arguments as options
(``python -m scripts.planning.plan --help``, ``python -m scripts.ruff.tables table_accuracy --help``), so every job can
be repeated and debugged without the workflow; that leaves no record.
"""

import argparse
import gc
import importlib
import inspect
import io
import json
import logging
import os
import platform
import re
import resource
import sys
import time
import traceback
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.workflow import gpus

ROOT = Path(__file__).resolve().parents[3]
log = logging.getLogger("pronouns")
_SHAPES = {
    str: "TEXT", int: "INTEGER", float: "NUMBER", bool: "true|false", list: "JSON_LIST", dict: "JSON_OBJECT",
    types.NoneType: "null",
}  # fmt: skip
_executed = set()
"""Files of code that was run in any way since :func:`run` began; those of imports before it are in ``sys.modules``."""


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    """Note the file of code that is run: a hook for what importlib, runpy and exec do alike."""
    if event == "exec":
        _executed.add(getattr(arguments[0], "co_filename", None))


def run(main: Callable[..., Any]) -> None:
    """Call ``main`` with the arguments of the Snakemake job, or of the command line.

    ``main`` takes keyword-only arguments. A :class:`UserError` ends the process with status 1
    and one line; any other exception keeps its traceback. Both go to the job's log too.
    """
    job = getattr(sys.modules["__main__"], "snakemake", None)
    if job is None:
        arguments = _parse(main)
        _configure(None)
    else:
        sys.addaudithook(_note)
        _configure(job.log[0] if len(job.log) else None)
        arguments = _job_arguments(main, job)
    started = time.monotonic()
    try:
        recorder = None if job is None else _recorder(job)
        # Snakemake bounds the GPUs of jobs that run side by side (--resources gpu=N) but does not say which are whose.
        with gpus.reserve_gpus(job.resources.get("gpu", 0) if job else 0):
            _log_place()
            try:
                main(**arguments)
            finally:
                _log_memory()
        if recorder is not None:
            _check_modules(job, recorder.root)
            recorder.finish()
    except UserError as error:
        log.error("%s", error)
        sys.exit(1)
    except Exception:
        log.error("%s", traceback.format_exc().rstrip())
        sys.exit(1)
    log.info("finished in %.1f s", time.monotonic() - started)
    # The end of the process frees what it holds; to search that for cycles first takes longer than a small job works.
    gc.freeze()


def run_named() -> None:
    """Call the function of the script that has the name of the rule, without that of the study, as :func:`run` does.

    On the command line the first word names it. Functions of rules take keyword-only arguments alone.
    """
    module = sys.modules["__main__"]
    known = rule_functions(module)
    job = getattr(module, "snakemake", None)
    if job is not None:
        run(known[job.rule.removeprefix(f"{Path(job.scriptdir).name}_")])
        return
    assert module.__spec__ is not None, "it is run as a module"
    command = f"python -m {module.__spec__.name}"
    parser = argparse.ArgumentParser(
        prog=command,
        description=f"{module.__doc__}\n\n"
        + "\n".join(
            f"{name:<26}{(inspect.getdoc(function) or '').partition(chr(10))[0]}" for name, function in known.items()
        ),
        epilog=f"{command} NAME --help says what a function takes.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=known, metavar="NAME", help="the function, and then its arguments")
    name = parser.parse_args(sys.argv[1:2]).name
    del sys.argv[1]
    run(known[name])


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


def _recorder(job: Any) -> Any:
    """Return the recorder of a Snakemake job; it removes the record of an earlier run."""
    # Found by name, so that it belongs to no script's closure: what records a job cannot change its results.
    job_records = importlib.import_module("scripts.core.provenance.job_records")
    return job_records.Recorder(
        job.rule, dict(job.wildcards.items()), list(job.input), list(job.output), dict(job.params.items()), ROOT
    )


def _check_modules(job: Any, root: Path) -> None:
    """Refuse a job that ran modules of the project which its rule does not declare.

    What a script imports in a statement is found by rules/modules.smk; a change of what it loads in other ways would go
    unseen.

    Raises:
        UserError: Naming such modules.
    """
    closure = importlib.import_module("scripts.core.provenance.closure")
    folder = f"{root / 'scripts'}/"
    paths = {getattr(module, "__file__", None) for module in list(sys.modules.values())} | _executed
    # A repository behind a link has two names.
    paths = {str(Path(path).resolve()) for path in paths if path and "/scripts/" in path}
    loaded = {path.removeprefix(f"{root}/") for path in paths if path.startswith(folder)}
    script = Path(getattr(sys.modules["__main__"], "__file__", root)).resolve()
    own = script.relative_to(root).as_posix() if script.is_relative_to(root / "scripts") else None
    unknown = sorted(loaded.difference(closure.undeclared(own, root), job.params.get("_code", {})))
    if unknown:
        raise UserError(
            f"rule {job.rule}: {', '.join(unknown)} {'were' if len(unknown) > 1 else 'was'} loaded without an import "
            "statement, so that a change there would rerun nothing; import it in the script or in a module of it"
        )


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


def _parse(main: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments of ``main`` from the command line."""
    return vars(_parser(main, sys.modules["__main__"]).parse_args())


def _parser(main: Callable[..., Any], module: types.ModuleType) -> argparse.ArgumentParser:
    """Build a command line from ``main`` of a module: text for plain annotations, JSON for lists, dicts and numbers.

    What ``--help`` says of it is the module's docstring and that of ``main``; of an argument without an entry there,
    what :mod:`scripts.core.workflow.arguments` says of its name, or else the words of the docstring's text about it.
    """
    # Found by name, so that it belongs to no script's closure: words for --help change no result.
    known = importlib.import_module("scripts.core.workflow.arguments").DESCRIPTIONS
    prose, described = _documentation(main)
    only = main.__name__ == "main"
    parser = argparse.ArgumentParser(
        prog=f"python -m {module.__spec__.name}{'' if only else f' {main.__name__}'}" if module.__spec__ else None,
        description="\n\n".join(filter(None, [(module.__doc__ or "").strip() if only else "", prose])),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, parameter in inspect.signature(main).parameters.items():
        kind = parameter.annotation
        required = parameter.default is parameter.empty
        words = described.get(name) or known.get(name) or _clause(prose, name)
        notes = [words, "required" if required else f"default: {json.dumps(parameter.default)}"]
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            dest=name,
            required=required,
            default=None if required else parameter.default,
            type=str if kind in (str, parameter.empty) else _json,
            metavar=_shape(kind),
            help="; ".join(filter(None, notes)).replace("%", "%%"),
        )
    return parser


def _documentation(main: Callable) -> tuple[str, dict[str, str]]:
    """Return what the docstring of ``main`` says before its sections, and what it says of each argument."""
    heads = re.split(r"^([A-Z]\w+):\n(?=    )", inspect.getdoc(main) or "", flags=re.MULTILINE)
    sections = dict(zip(heads[1::2], heads[2::2], strict=True))
    described = {}
    for entry in re.split(r"^    (?=\S)", sections.get("Args", ""), flags=re.MULTILINE)[1:]:
        names, _, words = re.sub(r" \([^)]*\)(?=: )", "", entry, count=1).partition(": ")
        described |= dict.fromkeys(names.split(", "), " ".join(words.split()).rstrip("."))
    return heads[0].strip(), described


def _clause(prose: str, name: str) -> str:
    """Return the part of a sentence that names an argument; an empty text if none does."""
    clauses = re.split(r"(?<=\w|\)|`)[.;](?:\s|$)", " ".join(prose.split()))
    return next((clause.strip() for clause in clauses if f"``{name}``" in clause), "")


def _shape(kind: Any) -> str:
    """Return how an argument is written on the command line, by its annotation."""
    if kind is inspect.Parameter.empty:
        return "PATH"
    return "|".join(_SHAPES.get(part, "JSON") for part in typing.get_args(kind) or (kind,))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _configure(path: str | None) -> None:
    """Send log lines to standard error or, in a job, to its log; of those only warnings and errors are seen beside it.

    In a job everything else that is written to standard error, such as bars of progress, goes to the log as well.
    """
    formatter = _PlacelessFormatter("%(asctime)s %(levelname)s %(message)s", datefmt="%H:%M:%S")
    handlers = [logging.StreamHandler(sys.stderr)]
    handlers[0].setFormatter(formatter)
    if path is not None:
        handlers.append(logging.FileHandler(path, mode="w", encoding="utf-8"))
        handlers[1].setFormatter(formatter)
        handlers[0].setLevel(logging.WARNING)
        handlers[0].setFormatter(_OneLineFormatter())
        sys.stderr = _Writer(handlers[1].stream, formatter.placeless)
    logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)
    logging.captureWarnings(True)
    # Embedding fonts is not worth a line for every table of every font.
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    log.info("Python %s, %s %s", platform.python_version(), platform.system(), platform.machine())


class _Writer(io.TextIOBase):
    """Writes text to a stream after a function has changed it; to standard error when Python has closed the log."""

    def __init__(self, stream: TextIO, change: Callable[[str], str]):
        super().__init__()
        self.stream, self.change = stream, change

    def write(self, text: str) -> int:
        stream = sys.__stderr__ if self.stream.closed else self.stream
        assert stream is not None, "a job has a standard error"
        stream.write(self.change(text))
        return len(text)

    def flush(self) -> None:
        if not self.stream.closed:
            self.stream.flush()

    def fileno(self) -> int:
        return self.stream.fileno()

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:
        return self.stream.encoding


class _PlacelessFormatter(logging.Formatter):
    """Names files relative to the working directory, the repository, the user's home (``~``) or the Python environment.

    In tracebacks as well. An environment inside one of the others is named relative to that.

    Logs are sent to others when something goes wrong; where a user keeps the project is no part of what went wrong.
    """

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self.folders = {str(Path.home()): "~", str(ROOT): ".", str(Path.cwd()): "."}
        for folder in files.environment_folders():
            if not any(Path(folder).is_relative_to(other) for other in self.folders.keys() - {"/"}):
                self.folders[folder] = files.ENVIRONMENT
        # The longest first: one may lie in the other. The root of the file system would be everything.
        known = sorted(self.folders.keys() - {"/"}, key=len, reverse=True)
        self.pattern = re.compile(rf"(?<![\w.~-])({'|'.join(map(re.escape, known))})(/|(?![\w./-])|(?=\.?(?:\s|$)))")

    def format(self, record: logging.LogRecord) -> str:
        return self.placeless(super().format(record))

    def placeless(self, text: str) -> str:
        """Return a text with the names of its files relative."""
        return self.pattern.sub(self._relative, text)

    def _relative(self, match: re.Match[str]) -> str:
        short = self.folders[match[1]]
        return f"{short}{match[2]}" if short != "." or not match[2] else ""


class _OneLineFormatter(_PlacelessFormatter):
    """What a job says in the terminal: a warning's first line, an error's last; the job's log has the rest."""

    def format(self, record: logging.LogRecord) -> str:
        lines = super().format(record).strip().splitlines() or [""]
        return f"{record.levelname.capitalize()}: {lines[-1 if record.levelno >= logging.ERROR else 0]}"
