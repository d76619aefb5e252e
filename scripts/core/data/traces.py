"""How tables of a study call what its instances have other names for, so that the audit finds the rows behind a cell.

:mod:`scripts.core.provenance.origins` reads the entries; studies declare theirs as ``traced``.
"""

from collections.abc import Sequence
from typing import Any


def trace(files: str, when: dict | None = None, then: dict | None = None, without: Sequence[str] = ()) -> dict:
    """Return an entry for the cells of ``files`` in rows that match ``when`` and lack the columns ``without``.

    Examples:
        >>> trace("*/set_sizes.csv", {"@column": "masculine"}, {"gender": "M"})
        {'files': '*/set_sizes.csv', 'when': {'@column': 'masculine'}, 'then': {'gender': 'M'}}
    """
    optional = {"when": when, "without": list(without)}
    return {"files": files, **{key: value for key, value in optional.items() if value}, "then": then or {}}


def trace_tables(folder: str, names: str, **entry: Any) -> list[dict]:
    """Return the same entry (:func:`trace`) for several tables of a folder, whose names are separated by blanks."""
    return [trace(f"{folder}/{name}.csv", **entry) for name in names.split()]


def trace_pairs(files: str, one: str, other: str, column: str) -> dict:
    """Return an entry for rows about two values of a ``column``, which are in the columns ``one`` and ``other``."""
    return trace(files, {one: ".+", other: ".+"}, {column: [f"{{{one}}}", f"{{{other}}}"]})


def trace_published(study: str, column: str = "model") -> dict:
    """Return the entry for a study's published numbers next to ours; ``column`` has its models in the other tables."""
    return trace(
        f"results/{study}/tables/published_vs_ours.csv",
        {"table": ".+", "cells": ".*", "models": ".*"},
        {"@file": f"results/{study}/{{table}}", "@cells": "{cells}", column: "{models}"},
    )
