"""What a job writes: its log, in which no line names a folder of the machine, and a line or two in the terminal."""

import io
import logging
import platform
import re
import resource
import sys
from functools import cache
from pathlib import Path

from scripts.core import files

ROOT = Path(__file__).resolve().parents[3]
log = logging.getLogger("pronouns")


@cache
def _names_of_folders() -> dict[str, str]:
    named = {str(Path.home()): "~", **dict.fromkeys(files.environment_folders(), files.ENVIRONMENT)}
    return {folder: name for folder, name in {**named, str(ROOT): ".", str(Path.cwd()): "."}.items() if folder != "/"}


def hide_folders(text: str) -> str:
    """Return text in which the repository, the working directory, the environment and the user's home have no path."""
    named = _names_of_folders()
    folders = "|".join(map(re.escape, sorted(named, key=len, reverse=True)))
    return re.sub(rf"(?<![\w.~-])({folders})(?![\w.-])", lambda match: named[match[1]], text)


class _JobLog(io.TextIOWrapper):
    def write(self, text: str, /) -> int:
        return super().write(hide_folders(text))


class _OneLineFormatter(logging.Formatter):
    """What a job says in the terminal: a warning's first line, an error's last; the job's log has the rest."""

    def format(self, record: logging.LogRecord) -> str:
        lines = hide_folders(super().format(record)).strip().splitlines() or [""]
        return f"{record.levelname.capitalize()}: {lines[-1 if record.levelno >= logging.ERROR else 0]}"


def configure(path: str | None) -> None:
    """Send log lines to standard error or, in a job, to its log; of those only warnings and errors are seen beside it.

    In a job everything else that is written to standard error, such as bars of progress, goes to the log as well.
    """
    terminal = logging.StreamHandler(sys.stderr)
    handlers = [terminal]
    if path is not None:
        terminal.setLevel(logging.WARNING)
        terminal.setFormatter(_OneLineFormatter())
        Path(path).write_text("")
        sys.stderr = _JobLog(Path(path).open("ab"), encoding="utf-8", line_buffering=True)  # noqa: SIM115
        handlers.append(logging.StreamHandler(sys.stderr))
    form = "%(asctime)s %(levelname)s %(message)s"
    logging.basicConfig(level=logging.INFO, format=form, datefmt="%H:%M:%S", handlers=handlers, force=True)
    logging.captureWarnings(True)
    # Embedding fonts is not worth a line for every table of every font.
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    log.info("Python %s, %s %s", platform.python_version(), platform.system(), platform.machine())


def log_memory() -> None:
    """Log the most memory that this process had at a time, and PyTorch on each GPU that it used."""
    # macOS counts bytes, Linux KiB.
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    log.info("memory high-water mark: %d MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_initialized():
        for device in range(torch.cuda.device_count()):
            log.info("memory high-water mark of GPU %d: %d MB", device, torch.cuda.max_memory_reserved(device) / 2**20)
