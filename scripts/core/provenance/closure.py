"""The local modules that a script imports, found without running it, and the digests of their code.

Snakemake reruns a job when its script changes, but does not look at the modules that the script imports. Rules
therefore carry the digests of a script and of every module behind it among their parameters.

A digest is of a module's syntax tree without docstrings, so that comments and layout are no part of it.
"""

import ast
import hashlib
import json
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError

INERT = {
    "scripts/core/errors.py": "the class of errors that are shown in one line, and the wording of messages",
    "scripts/core/workflow/gpus.py": "finds this machine's GPUs, keeps jobs off those in use; metadata name the device",
    "scripts/core/workflow/job.py": "hands a rule's files and parameters to its function as they are, and writes logs",
    "scripts/core/provenance/closure.py": "names the digests of code; others than before differ by themselves",
}
"""Modules that cannot change a result, with what they do. A change reruns nothing, nor does a change of what a script
has only through them.

``config.py`` is not among them: jobs read declarations of encoders with it.
"""

OWN = Path(__file__).read_bytes()
"""What is known of modules was found by this text."""


def digest_modules(script: str, root: str | Path) -> dict[str, str]:
    """Return ``{path: digest}`` of a script and of every module that it imports, directly or not.

    Imports inside functions count, and packages by their ``__init__.py``; what is inert is left out.

    Args:
        script: Path relative to ``root``, as those that are returned.
        root: The repository's root.

    Raises:
        UserError: If a module cannot be read or is not Python; names file and line.
    """
    found, waiting = {}, [script]
    while waiting:
        path = waiting.pop()
        if path not in found and path not in INERT:
            found[path], imported = _module(path, str(root))
            waiting += [file for name in imported for file in _files(name, str(root))]
    return dict(sorted(found.items()))


def digest_module(path: str, root: str | Path) -> str:
    """Return 16 hex digits of the SHA-256 of the code of ``root/path``."""
    return _module(path, str(root))[0]


def top_level_imports(path: str, root: str | Path) -> set[str]:
    """Return the top-level modules that ``root/path`` imports."""
    return {name.partition(".")[0] for name in _module(path, str(root))[1]}


@cache
def _files(name: str, root: str) -> tuple[str, ...]:
    """Return the files that are run where ``name`` is imported: for a.b.c those of the packages a and a.b as well."""
    parts = name.split(".")
    if parts[0] != "scripts":
        return ()
    bases = [Path(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    candidates = [path for base in bases for path in (base / "__init__.py", base.with_suffix(".py"))]
    return tuple(path.as_posix() for path in candidates if (Path(root) / path).is_file())


@cache
def _module(path: str, root: str) -> tuple[str, list[str]]:
    """Return the digest of a module's code and the names that it imports: modules, and what may be modules."""
    try:
        source = (Path(root) / path).read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read as Python ({error}); restore it") from error
    text = hashlib.sha256(OWN + source).hexdigest()
    known = _known(root)
    if known.get(path, [None])[0] != text:
        known[path] = [text, *_parse(path, source)]
    _, code, imported = known[path]
    return code, imported


def _parse(path: str, source: bytes) -> tuple[str, list[str]]:
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise UserError(f"{path}, line {error.lineno}: {error.msg}; correct it") from error
    except ValueError as error:
        raise UserError(f"{path}: cannot be read as Python ({error}); restore it") from error
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise UserError(f"{path}, line {node.lineno}: a relative import; write the module's name in full")
            imported |= dict.fromkeys(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _is_text(part)]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:16], list(imported)


def _is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is a docstring, or a text below the constant that it explains."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def digest_store(root: str | Path) -> Path:
    """Return the file of what is known of modules by their text: to parse all of them takes a second."""
    return Path(root) / f"scripts/__pycache__/modules.{sys.implementation.cache_tag}.json"


def _load(root: str) -> dict[str, list]:
    with suppress(OSError, ValueError, TypeError):
        return dict(json.loads(digest_store(root).read_text(encoding="utf-8")))
    return {}


_known = cache(_load)


def store_digests(root: str | Path) -> None:
    """Keep what is known of modules for the next process, where that is possible."""
    if _known(str(root)) != _load(str(root)):
        with suppress(UserError):
            files.write_json(digest_store(root), _known(str(root)))
