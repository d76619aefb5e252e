"""The local modules that a script imports, found without running it.

Snakemake reruns a job when its script changes, but does not look at the modules that the script
imports. Rules therefore carry the digests of a script's whole closure among their parameters.
"""

import dis
import hashlib
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

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
    """Return the modules that one module imports itself.

    Read from its compiled form, which Python keeps beside the source as long as that stays as it is: to parse some five
    hundred modules would be a third of every start of Snakemake.
    """
    try:
        code = SourceFileLoader(path, str(Path(root) / path)).get_code(path)
    except SyntaxError as error:
        raise UserError(f"{path}, line {error.lineno}: {error.msg}; correct it") from error
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read as Python ({error}); restore it") from error
    return tuple(dict.fromkeys(module for name in _names(code) for module in _files(name, root)))


@cache
def _files(name, root):
    """Return the files that are run where ``name`` is imported: for a.b.c those of the packages a and a.b as well."""
    parts = name.split(".")
    bases = [Path(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    candidates = [path for base in bases for path in (base / "__init__.py", base.with_suffix(".py"))]
    return tuple(path.as_posix() for path in candidates if (Path(root) / path).is_file())


def _names(code):
    """Yield what compiled code and its functions import from ``scripts``: modules, and names that may be modules."""
    if any(name.partition(".")[0] == "scripts" for name in code.co_names):
        module = ""
        for step in dis.get_instructions(code):
            if step.opname == "IMPORT_NAME":
                module = step.argval if step.argval.partition(".")[0] == "scripts" else ""
                if module:
                    yield module
            elif step.opname == "IMPORT_FROM" and module:
                yield f"{module}.{step.argval}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
