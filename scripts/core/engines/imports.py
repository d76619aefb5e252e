"""What files of imported scores and answers say of their model."""

import importlib.metadata
from collections.abc import Iterable
from pathlib import Path

from scripts.core import files
from scripts.core.data import sample_logs
from scripts.core.provenance import closure

ENTRY_KEYS = ("label", "outputs", "architecture", "demonstration")
"""The part of a registry entry that imports depend on."""
NOT_LOGGED = "not logged"


def describe_import(model: str, entry: dict, logged: list[str], script: str, libraries: Iterable[str] = ()) -> dict:
    """Return what metadata say of a model whose outputs were imported.

    Args:
        model: Its name in the registry.
        entry: :data:`ENTRY_KEYS` of its entry.
        logged: Files of one format.
        script: The script that imports them, relative to the repository.
        libraries: Packages whose versions belong to the facts.

    Raises:
        UserError: If the files have different formats.
    """
    tool = sample_logs.common_format(logged)
    return {
        "model": model,
        "label": entry["label"],
        "source": {"outputs": tool},
        "revision": None,
        "architecture": entry["architecture"],
        "precision": NOT_LOGGED,
        "device": NOT_LOGGED,
        "libraries": {name: importlib.metadata.version(name) for name in libraries},
        "code": closure.digests(script, str(Path(closure.__file__).parents[3])),
        "demonstration": entry["demonstration"],
        "engine": tool,
        "logged_sha256": [files.sha256(path) for path in logged],
    }
