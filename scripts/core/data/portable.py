"""Values as records and files of results have them: without a machine's folders."""

import os
from pathlib import Path
from typing import Any

from scripts.core import files


def make_portable(value: Any, root: str | Path) -> Any:
    """Return a JSON-able copy of ``value`` in which paths below ``root`` are relative to it, as keys too.

    So are paths that begin with ``../`` and lead there from the working directory. Paths below the user's home begin
    with ``~``, those in a Python environment elsewhere with ``<environment>``. Of a folder elsewhere that the key
    ``path`` names, such as a checkpoint's, only its name stays, behind ``<elsewhere>``: digests say what is in it.
    Tuples become lists, keys text, and whatever JSON does not know its text.
    """
    if isinstance(value, dict):
        return {
            _portable_text(key, root): _without_folders(make_portable(member, root))
            if key == "path"
            else make_portable(member, root)
            for key, member in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [make_portable(member, root) for member in value]
    if isinstance(value, (set, frozenset)):
        return sorted(make_portable(member, root) for member in value)
    if value is None or type(value) in (bool, int, float):
        return value
    return _portable_text(value, root)


def _without_folders(value: Any) -> Any:
    """Return a path without the folders that it is in, if they are neither the repository's nor the user's."""
    return f"{files.ELSEWHERE}/{Path(value).name}" if isinstance(value, str) and value.startswith("/") else value


def _portable_text(value: Any, root: str | Path) -> str:
    text = str(value)
    # A run in a folder of its own inside the repository names files of the repository so.
    if text.startswith("../"):
        absolute = os.path.normpath(Path.cwd() / text)
        text = absolute if absolute.startswith(f"{root}/") else text
    text = text.removeprefix(f"{root}/")
    for folder, name in ((Path.home(), "~"), *((folder, files.ENVIRONMENT) for folder in files.environment_folders())):
        if text.startswith(f"{folder}/"):
            return f"{name}/{text.removeprefix(f'{folder}/')}"
    return text
