"""Environments beside the main one: each made from a lock, once for all runs of a repository."""

import atexit
import contextlib
import importlib.metadata
import logging
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError

log = logging.getLogger("pronouns")

STAMP = "stamp"
"""The file in the environment that says what it was made from."""


def normalise_name(name: str) -> str:
    """Return a package's name as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(*paths: str | Path) -> dict[str, str]:
    """Return ``{package: version}`` of files of requirements, of which the last has the last word."""
    text = "\n".join(Path(path).read_text(encoding="utf-8") for path in paths)
    found = re.findall(r"^([\w.-]+)==([^\s\\;]+)", text, flags=re.MULTILINE)
    return {normalise_name(name): version for name, version in found}


def installed_versions(names: Iterable[str]) -> dict[str, str]:
    """Return ``{package: version}`` of those packages that are installed here."""
    versions = {}
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def without_blanks(interpreter: str) -> str:
    """Return a path of a Python interpreter that holds no blank.

    Snakemake writes the interpreter of a script into a shell command without quotes. A link to the environment stands
    in for one whose folder has blanks; it goes when this process ends.
    """
    if not re.search(r"\s", interpreter):
        return interpreter
    folder = Path(tempfile.mkdtemp(prefix="pronouns-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(interpreter)
    (folder / "environment").symlink_to(path.parents[1], target_is_directory=True)
    return str(folder / "environment" / path.parent.name / path.name)


def prepare_environment(lock: str | Path, folder: str | Path, requirements: str | Path | None = None) -> Path:
    """Return the interpreter of an environment with the packages of a lock, and make one where there is none.

    Args:
        lock: Names, versions and hashes of everything but torch, whose build depends on the machine.
        folder: The virtual environment, made if it is not what the lock says. It is not touched if this interpreter
            itself has all packages, as in an environment that conda made.
        requirements: The file with torch's version, if torch is one of the packages.

    Raises:
        UserError: If packages cannot be installed; has the last line of what pip said.
    """
    from filelock import FileLock

    named = [path for path in (lock, requirements) if path]
    wanted = read_pins(*named)
    if not _differing(wanted, installed_versions(wanted)):
        log.info("%s has all packages", sys.executable)
        return Path(sys.executable)
    folder = Path(folder)
    python = folder / "bin/python"
    stamp = f"{sys.version_info[0]}.{sys.version_info[1]} {' '.join(map(files.sha256, named))}\n"
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Two runs may want it at the same time.
    with FileLock(f"{folder}.lock"):
        made = folder / STAMP
        if made.is_file() and made.read_text(encoding="utf-8") == stamp and python.exists():
            log.info("%s is what the lock says", folder)
            return python
        log.info("making %s, a few minutes with a fast connection", folder)
        _run([sys.executable, "-m", "venv", "--clear", str(folder)], folder)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        # Most modules are never imported. Where byte code cannot be kept, each start would compile those that are.
        pip += [] if sys.dont_write_bytecode else ["--no-compile"]
        _run([*pip, "--no-deps", "--require-hashes", "--requirement", str(lock)], folder)
        if "torch" in wanted:
            _run([*pip, f"torch=={wanted['torch']}"], folder)
        files.write_text(made, stamp)
    return python


def describe_environment(path: str | Path, python: Path, *locks: str | Path) -> None:
    """Write what an environment is (JSON): its interpreter, in this folder or anywhere, and the packages' versions."""
    here = Path.cwd()
    shown = python.relative_to(here) if python.is_relative_to(here) else python
    files.write_json(path, {"python": str(shown), "packages": read_pins(*locks)})


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    log.info("%s", done.stdout + done.stderr)
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        reason = next((line for line in said if line.startswith("ERROR")), (said or ["no reason given"])[-1])
        raise UserError(
            f"{folder}: the environment cannot be made ({reason.strip()[:200]}); it needs the package index, or conda "
            "(--sdm conda)"
        )


def _differing(wanted: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """Return the packages whose versions are not as wanted; a build tag such as +cpu belongs to the machine."""
    return sorted(name for name, version in wanted.items() if found.get(name, "").partition("+")[0] != version)
