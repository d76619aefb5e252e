"""Folders of runs: a configuration with a name of its own is run in a folder of that name, beside the default run."""

import os
from collections.abc import Sequence
from pathlib import Path

from scripts.core import config
from scripts.core.errors import UserError

FOLDER = "runs"
"""Where the folders of named runs lie in the repository."""


def check_folder(name: str | None, folder: Path, root: Path) -> None:
    """Refuse to run a configuration in the folder of another one.

    Args:
        name: ``run`` of the configuration.
        folder: The working directory.
        root: The repository.

    Raises:
        UserError: If ``name`` is set and ``folder`` is called otherwise; if it is not set and ``folder`` is one of
            ``runs/`` in the repository. The line says what to add to the command.
    """
    folder, root = Path(folder), Path(root)
    if name and folder.name != name:
        raise UserError(
            f"this configuration is the run '{name}', which has its own folder; rerun with: --directory {FOLDER}/{name}"
        )
    if not name and folder.parent == root / FOLDER:
        raise UserError(
            f"{FOLDER}/{folder.name} is the folder of a run, and this configuration has no key run; rerun with the "
            f"overlay that sets it: --configfile=FILE, or write 'run: {folder.name}' into it"
        )


def in_repository(path: str | Path, folder: Path, root: Path) -> str:
    """Return a file of the repository as a path of the working directory.

    Relative where one of them lies in the other, so that a moved copy of both stays up to date; absolute otherwise.

    Args:
        path: Relative to the repository ``root``, or absolute.
        folder: The working directory.

    Examples:
        >>> in_repository("config.yaml", Path("/project/runs/mine"), Path("/project"))
        '../../config.yaml'
    """
    absolute, folder = Path(root) / path, Path(folder)
    inside = folder.is_relative_to(root) and absolute.is_relative_to(root)
    return os.path.relpath(absolute, folder) if inside or absolute.is_relative_to(folder) else str(absolute)


def resolve_path(path: str | Path, folder: Path, root: Path) -> str:
    """Return a file that the configuration names: one of the working directory or else of the repository.

    ``~`` is left as it is.
    """
    here = str(path).startswith("~") or (Path(folder) / path).exists()
    return str(path) if here else in_repository(path, folder, root)


def overlay_option(overlays: Sequence[str]) -> list[str]:
    """Return the words that name overlays in a command of Snakemake.

    A single overlay takes the equals sign, so that targets may follow it. Of several such options Snakemake would read
    the last one only, so several overlays share one option.

    Examples:
        >>> overlay_option(["mine.yaml"]), overlay_option(["a.yaml", "b.yaml"]), overlay_option([])
        (['--configfile=mine.yaml'], ['--configfile', 'a.yaml', 'b.yaml'], [])
    """
    if len(overlays) > 1:
        return ["--configfile", *overlays]
    return [f"--configfile={path}" for path in overlays]


def set_in(key: str, configfiles: Sequence[str | Path], root: Path) -> str:
    """Return the file that gives a key, with dots between the levels, its value: the last overlay, or config.yaml."""
    for path in [*reversed(configfiles), Path(root) / "config.yaml"]:
        value = config.load_yaml(path)
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            return str(path)
    return str(Path(root) / "config.yaml")
