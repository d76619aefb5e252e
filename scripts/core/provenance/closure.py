"""The local modules that a script imports, found without running it, and the digests of their code.

Snakemake reruns a job when its script changes, but does not look at the modules that the script
imports. Rules therefore carry the digests of a script's whole closure among their parameters.

A digest is of what runs: of the module's syntax tree without comments, docstrings, line numbers and annotations. Those
in the body of a class stay, since they make the fields of a dataclass. Messages stay as well: a constant is a constant.
"""

import ast
import hashlib
import json
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from scripts.core.errors import UserError

INERT = {
    "scripts/__init__.py": "loads modules from their source",
    "scripts/core/errors.py": "the class of errors that are shown in one line, and the wording of messages",
    "scripts/core/gpus.py": "finds this machine's GPUs and keeps jobs off those in use; metadata name the device",
    "scripts/core/job.py": "hands a rule's files and parameters to main as they are, and writes logs",
    "scripts/core/provenance/closure.py": "names the digests of code; others than before differ by themselves",
}
"""Modules that cannot change a result, with what they do. Records have the digests of their text, but a change reruns
nothing, nor does a change of what a script has only through them.

``config.py`` is not among them: jobs read declarations of annotation and of encoders with it.
"""
SKIPPED = ("ctx", "kind", "returns", "type_comment", "type_ignores")
"""Fields of the syntax tree that change nothing: the use of a name follows from its place."""


def closure(script, root, *, inert=True):
    """Return the script and every module below ``root/scripts`` that it imports, directly or not.

    Imports inside functions count as well. Packages count by their ``__init__.py``.

    Parameters
    ----------
    script : str
        Path relative to ``root``.
    root : str
        The repository's root.
    inert : bool
        Whether modules of ``INERT`` count, and those that are reached through them alone.

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
        if current in seen or (current in INERT and not inert):
            continue
        seen.add(current)
        waiting += [m for m in _imports(current, root) if m not in seen]
    return tuple(sorted(seen))


def digests(script, root):
    """Return ``{path: digest}`` of the code of ``script`` and of all that it imports, but for what is inert."""
    known = _known(str(root))
    before = len(known)
    found = {path: digest(path, root) for path in closure(script, str(root), inert=False)}
    if len(known) > before:
        _keep(str(root), known)
    return found


def digest(path: str, root: str | Path) -> str:
    """Return 16 hex digits of the SHA-256 of the code of ``root/path``."""
    return _module(path, str(root))[0]


def text_digest(path: str, root: str | Path) -> str:
    """Return 16 hex digits of the SHA-256 of ``root/path`` as it is written."""
    return hashlib.sha256(_read(path, root)).hexdigest()[:16]


def _read(path: str, root: str | Path) -> bytes:
    try:
        return (Path(root) / path).read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read as Python ({error}); restore it") from error


@cache
def _imports(path: str, root: str) -> tuple[str, ...]:
    """Return the files of the modules that one module imports itself."""
    return tuple(dict.fromkeys(file for name in _module(path, root)[1] for file in _files(name, root)))


@cache
def _files(name, root):
    """Return the files that are run where ``name`` is imported: for a.b.c those of the packages a and a.b as well."""
    parts = name.split(".")
    bases = [Path(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    candidates = [path for base in bases for path in (base / "__init__.py", base.with_suffix(".py"))]
    return tuple(path.as_posix() for path in candidates if (Path(root) / path).is_file())


def _module(path: str, root: str) -> tuple[str, list[str]]:
    """Return the digest of a module's code, and the names that it imports from ``scripts``."""
    source = _read(path, root)
    key = hashlib.sha256(source).hexdigest()
    known = _known(root)
    if key not in known:
        try:
            tree = ast.parse(source)
        except SyntaxError as error:
            raise UserError(f"{path}, line {error.lineno}: {error.msg}; correct it") from error
        except ValueError as error:
            raise UserError(f"{path}: cannot be read as Python ({error}); restore it") from error
        parts = []
        _write(tree, parts)
        known[key] = [hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16], list(_names(tree))]
    return known[key]


def _store(root: str) -> Path:
    return Path(root) / f"scripts/__pycache__/closure.{sys.implementation.cache_tag}.json"


@cache
def _own() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


@cache
def _known(root: str) -> dict[str, list]:
    """Return what is known of modules by the SHA-256 of their text: to parse all of them takes seconds.

    It lies where byte code does, and is of no use to another version of this module.
    """
    with suppress(OSError, ValueError, KeyError, TypeError):
        stored = json.loads(_store(root).read_text(encoding="utf-8"))
        if stored["by"] == _own():
            return stored["modules"]
    return {}


def _keep(root: str, known: dict[str, list]) -> None:
    """Write what is known; where that is not possible, modules are parsed again."""
    path = _store(root)
    if sys.dont_write_bytecode:
        return
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps({"by": _own(), "modules": known}), encoding="utf-8")
        new.replace(path)


def _names(tree: ast.Module) -> dict[str, None]:
    """Return what a module and its functions import from ``scripts``: modules, and names that may be modules."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names |= dict.fromkeys([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    return {name: None for name in names if name.partition(".")[0] == "scripts"}


def _write(value: object, parts: list[str], in_class: bool = False) -> None:
    """Append a part of a syntax tree to ``parts`` as text: what runs, in a form that is the same in all Pythons.

    Statements that do nothing are left out: docstrings, other constants and ``pass``.
    """
    if isinstance(value, ast.AnnAssign) and not in_class and value.value is not None:
        value = ast.Assign(targets=[value.target], value=value.value)
    if isinstance(value, ast.AST):
        function = isinstance(value, ast.FunctionDef | ast.AsyncFunctionDef)
        inner = isinstance(value, ast.ClassDef) or (in_class and isinstance(value, ast.stmt) and not function)
        skipped = SKIPPED if in_class else (*SKIPPED, "annotation")
        parts.append(f"({type(value).__name__}")
        for name in value._fields:
            member = getattr(value, name, None)
            if isinstance(member, list):
                member = [part for part in member if not _idle(part)] or None
            if name not in skipped and member is not None:
                parts.append(name)
                _write(member, parts, inner)
        parts.append(")")
    elif isinstance(value, list):
        for member in value:
            _write(member, parts, in_class)
        parts.append(";")
    else:
        parts.append(f"{type(value).__name__} {value!r}")


def _idle(part: object) -> bool:
    """Return whether a part of a syntax tree is a statement that does nothing."""
    return isinstance(part, ast.Pass) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
