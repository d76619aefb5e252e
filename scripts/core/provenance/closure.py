"""The local modules that a script imports, found without running it.

Snakemake reruns a job when its script changes, but does not look at the modules that the script
imports. Rules therefore carry the digests of a script's whole closure among their parameters.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

from scripts.core.errors import UserError


@cache
def closure(script, root):
    """Return the script and every module below ``root/scripts`` that it imports, directly or not.

    Imports inside functions count as well. Packages count by their ``__init__.py``.

    Parameters
    ----------
    script : str
        Path relative to ``root``.
    root : str
        The repository's root.

    Returns
    -------
    tuple of str
        Sorted paths relative to ``root``, in POSIX form.

    Raises
    ------
    UserError
        If a module cannot be read or is not Python; names file and line.
    """
    seen, waiting = set(), [script]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        waiting += [m for m in _imports(current, root) if m not in seen]
    return tuple(sorted(seen))


def digests(script, root):
    """Return ``{path: digest}`` for the closure of ``script``."""
    return {path: digest(path, root) for path in closure(script, str(root))}


def digest(path, root):
    """Return the first 16 hex digits of the SHA-256 of ``root/path``."""
    return hashlib.sha256((Path(root) / path).read_bytes()).hexdigest()[:16]


@cache
def _imports(path, root):
    """Return the modules that one module imports itself; nearly all of Snakemake's start would go into reading them."""
    modules = {}
    try:
        tree = ast.parse((Path(root) / path).read_text(encoding="utf-8"), filename=path)
    except SyntaxError as error:
        raise UserError(f"{path}, line {error.lineno}: {error.msg}; correct it") from error
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read as Python ({error}); restore it") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] != "scripts":
                continue
            # Importing a.b.c runs a/__init__.py and a/b/__init__.py too.
            for depth in range(1, len(parts) + 1):
                base = Path(*parts[:depth])
                for candidate in (base / "__init__.py", base.with_suffix(".py")):
                    if (Path(root) / candidate).is_file():
                        modules[candidate.as_posix()] = True
    return tuple(modules)
