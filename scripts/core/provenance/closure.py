"""The local modules that a script imports, found without running it, and the digests of their code.

Snakemake reruns a job when its script changes, but does not look at the modules that the script
imports. Rules therefore carry the digests of a script's whole closure among their parameters.

A digest is of what runs: of the module's syntax tree without comments, docstrings, line numbers, annotations and
imports for annotations alone. Annotations in the body of a class stay, since they make the fields of a dataclass.
Messages stay as well: a constant is a constant.

Of a script with the functions of several rules (:func:`scripts.core.workflow.job.run_named`), a rule has what its own
function reaches: the statements of the script that bind the names it uses, and the modules that these import.
"""

import ast
import hashlib
import json
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from scripts.core.errors import UserError

INERT = {
    "scripts/core/errors.py": "the class of errors that are shown in one line, and the wording of messages",
    "scripts/core/workflow/gpus.py": "finds this machine's GPUs, keeps jobs off those in use; metadata name the device",
    "scripts/core/workflow/job.py": "hands a rule's files and parameters to main as they are, and writes logs",
    "scripts/core/provenance/closure.py": "names the digests of code; others than before differ by themselves",
}
"""Modules that cannot change a result, with what they do. Records have the digests of their text, but a change reruns
nothing, nor does a change of what a script has only through them.

``config.py`` is not among them: jobs read declarations of encoders with it.
"""
RUNNER = "run_named"
"""The name by which a script shows that it has the functions of several rules."""
SKIPPED = ("ctx", "kind", "returns", "type_comment", "type_ignores")
"""Fields of the syntax tree that change nothing: the use of a name follows from its place."""
TYPES = ("typing", "collections.abc", "numpy.typing", "pathlib")
"""Modules from which annotations take their names. What they bind is seen where it is used."""
FOR_TYPES = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
"""The condition of what runs in type checkers alone."""


def closure(script: str, root: str | Path, *, inert: bool = True, rule: str | None = None) -> tuple[str, ...]:
    """Return the script and every module below ``root/scripts`` that it imports, directly or not.

    Imports inside functions count as well. Packages count by their ``__init__.py``.

    Args:
        script: Path relative to ``root``.
        root: The repository's root.
        inert: Whether modules of ``INERT`` count, and those that are reached through them alone.
        rule: The rule whose function counts, if the script has those of several; None: all of the script.

    Returns:
        Sorted paths relative to ``root``, in POSIX form.

    Raises:
        UserError: If a module cannot be read or is not Python; names file and line.
    """
    root = str(root)
    seen, waiting = set(), [(script, _function(script, rule))]
    while waiting:
        current, function = waiting.pop()
        if current in seen or (current in INERT and not inert):
            continue
        seen.add(current)
        waiting += [(path, "") for path in _imports(current, root, function) if path not in seen]
    return tuple(sorted(seen))


def digests(script: str, root: str | Path, rule: str | None = None) -> dict[str, str]:
    """Return ``{path: digest}`` of the code of ``script``, for a rule if it has several, and of all that it imports.

    What is inert is left out.
    """
    function = _function(script, rule)
    modules = closure(script, root, inert=False, rule=rule)
    return {path: digest(path, root, function if path == script else "") for path in modules}


def _function(script: str, rule: str | None) -> str:
    """Return the name of a rule's function in a script with several: the rule's, without that of the study."""
    return rule.removeprefix(f"{Path(script).parent.name}_") if rule else ""


def rule_digest(path: str, root: str | Path, rule: str) -> str:
    """Return the digest of a module as a rule has it among its parameters (:func:`digests`)."""
    return digest(path, root, _function(path, rule))


def digest(path: str, root: str | Path, function: str = "") -> str:
    """Return 16 hex digits of the SHA-256 of the code of ``root/path``, or of what a function of it reaches."""
    return _module(path, str(root), function)[0]


def top_level_imports(path: str, root: str | Path) -> list[str]:
    """Return the top-level modules that ``root/path`` imports, also for types alone."""
    return _module(path, str(root))[2]


def text_digest(path: str, root: str | Path) -> str:
    """Return 16 hex digits of the SHA-256 of ``root/path`` as it is written."""
    return hashlib.sha256(_read(path, root)).hexdigest()[:16]


def _read(path: str, root: str | Path) -> bytes:
    try:
        return (Path(root) / path).read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read as Python ({error}); restore it") from error


@cache
def _imports(path: str, root: str, function: str) -> tuple[str, ...]:
    """Return the files of the modules that one module, or a function of it, imports itself."""
    return tuple(dict.fromkeys(file for name in _module(path, root, function)[1] for file in _files(name, root)))


@cache
def _files(name: str, root: str) -> tuple[str, ...]:
    """Return the files that are run where ``name`` is imported: for a.b.c those of the packages a and a.b as well."""
    parts = name.split(".")
    bases = [Path(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    candidates = [path for base in bases for path in (base / "__init__.py", base.with_suffix(".py"))]
    return tuple(path.as_posix() for path in candidates if (Path(root) / path).is_file())


def _module(path: str, root: str, function: str = "") -> tuple[str, list[str], list[str]]:
    """Return the digest of a module's code, the names that it imports from ``scripts``, and :func:`top_level_imports`.

    Where ``function`` is one of several rules' functions of the module, all are of what it reaches.
    """
    source = _read(path, root)
    # Most modules are no script with several functions; as such they would be parsed for every rule that uses them.
    if RUNNER.encode() not in source or function.encode() not in source:
        function = ""
    key = f"{hashlib.sha256(source).hexdigest()}:{function}"
    known = _known(root)
    if key not in known:
        tree = _tree(path, source)
        if function and RUNNER in _used(tree) and any(_bound(statement) == {function} for statement in tree.body):
            tree = reached_code(tree, function)
        parts = []
        _write(tree, parts)
        code = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
        known[key] = [code, list(_names(tree)), sorted(_top_level(tree))]
    code, imported, top_level = known[key]
    return code, imported, top_level


@cache
def _tree(path: str, source: bytes) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise UserError(f"{path}, line {error.lineno}: {error.msg}; correct it") from error
    except ValueError as error:
        raise UserError(f"{path}: cannot be read as Python ({error}); restore it") from error


def reached_code(tree: ast.Module, function: str) -> ast.Module:
    """Return a module with those of its statements alone that a function of it reaches.

    They are what binds the names that the function uses, directly or not, and what binds no name, such as a call. Of a
    statement that imports several names those that are used stay. A name counts wherever it stands, so that a local
    variable may keep more than is needed, and never less.
    """
    binding, waiting = {}, [function]
    for statement in tree.body:
        bound = _bound(statement)
        for name in bound:
            binding.setdefault(name, []).append(statement)
        if not bound and not _idle(statement):
            waiting += _used(statement)
    names = set()
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += [used for statement in binding.get(name, ()) for used in _used(statement)]
    body = []
    for statement in tree.body:
        bound = _bound(statement)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            kept = [alias for alias in statement.names if _imported(alias) in names]
            fields: dict[str, Any] = {**dict(ast.iter_fields(statement)), "names": kept}
            statement = type(statement)(**fields) if kept else None
        elif bound and not names.intersection(bound):
            statement = None
        if statement is not None:
            body.append(statement)
    return ast.Module(body=body, type_ignores=[])


def _imported(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names of the module that one of its statements binds."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {_imported(alias) for alias in statement.names}
    nodes = list(ast.walk(statement))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    inner = [node for node in nodes if isinstance(node, ast.stmt) and node is not statement]
    # What changes a name, as in NAMES["a"] = 1, is part of what binds it.
    changed = {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Subscript | ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
    }
    return stored.union(changed, *(_bound(node) for node in inner))


@cache
def _used(statement: ast.AST) -> frozenset[str]:
    """Return the names that stand in a part of a module, those of variables inside functions included.

    In the body of a function its arguments are not the module's names.
    """
    return frozenset(_collect_used(statement))


def _collect_used(statement: ast.AST) -> set[str]:
    used = {statement.id} if isinstance(statement, ast.Name) else set()
    for field, value in ast.iter_fields(statement):
        inner = set()
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                inner |= _collect_used(node)
        if field == "body" and isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            inner -= {node.arg for node in ast.walk(statement.args) if isinstance(node, ast.arg)}
        used |= inner
    return used


def _store(root: str) -> Path:
    return Path(root) / f"scripts/__pycache__/closure.{sys.implementation.cache_tag}.json"


@cache
def _own() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


@cache
def _known(root: str) -> dict[str, list]:
    """Return digests and imports of modules by the SHA-256 of their text: to parse all modules takes seconds."""
    return dict(_stored(root))


@cache
def _stored(root: str) -> dict[str, list]:
    """Return what an earlier process wrote (:func:`store`), unless another version of this module did."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        stored = json.loads(_store(root).read_text(encoding="utf-8"))
        if stored["by"] == _own():
            return stored["modules"]
    return {}


def store(root: str | Path) -> None:
    """Write the digests that were asked for; where that is not possible, the next process parses the modules again."""
    path = _store(str(root))
    modules = _known(str(root))
    if modules.keys() == _stored(str(root)).keys():
        return
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps({"by": _own(), "modules": modules}), encoding="utf-8")
        new.replace(path)


def forget(root: str | Path) -> None:
    """Remove what earlier processes wrote: an audit trusts no digest that somebody may have edited."""
    _store(str(root)).unlink(missing_ok=True)
    _stored.cache_clear()
    _known.cache_clear()


def _names(tree: ast.Module) -> dict[str, None]:
    """Return what a module and its functions import from ``scripts``: modules, and names that may be modules."""
    names = {}
    for_types = {id(node) for block in ast.walk(tree) if _is_for_types(block) for node in ast.walk(block)}
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            names |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names |= dict.fromkeys([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    return {name: None for name in names if name.partition(".")[0] == "scripts"}


def _top_level(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


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
                member = [part for part in member if not _idle(part, inner)] or None
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


def _idle(part: object, in_class: bool = False) -> bool:
    """Return whether a part of a syntax tree is a statement that does nothing, or serves annotations alone."""
    if isinstance(part, ast.AnnAssign):
        return part.value is None and not in_class
    if isinstance(part, ast.ImportFrom) and part.module in TYPES:
        return True
    return (
        isinstance(part, ast.Pass)
        or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        or _is_for_types(part)
    )


def _is_for_types(part: object) -> bool:
    """Return whether a statement is ``if TYPE_CHECKING:``, which runs in type checkers alone."""
    return isinstance(part, ast.If) and not part.orelse and ast.unparse(part.test) in FOR_TYPES
