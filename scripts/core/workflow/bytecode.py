"""Byte code of the project that Python uses for its source alone.

Python takes byte code for current if size and second of modification of its source are the same; an edit may keep both,
and files from a zip archive all carry 1980. The digests that are recorded would then be of other code than what ran.
Byte code with a hash of its source is checked against the source whenever it is loaded, and renewed with a hash.
"""

import importlib.util
import py_compile
from contextlib import suppress
from pathlib import Path

CHECKED = importlib.util.MAGIC_NUMBER + (0b11).to_bytes(4, "little")
"""How byte code begins that carries a hash which Python checks."""


def compile_checked(folder: Path) -> None:
    """Write such byte code for every module in a folder that has none for its source.

    A module that is no Python is left to whoever imports it, and a folder that cannot be written is passed over.
    """
    for path in folder.rglob("*.py"):
        compiled = Path(importlib.util.cache_from_source(path))
        head = CHECKED + importlib.util.source_hash(path.read_bytes())
        with suppress(OSError):
            if compiled.is_file() and compiled.read_bytes()[: len(head)] == head:
                continue
            with suppress(py_compile.PyCompileError):
                mode = py_compile.PycInvalidationMode.CHECKED_HASH
                py_compile.compile(str(path), doraise=True, invalidation_mode=mode)
