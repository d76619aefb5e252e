"""References in docstrings and comments lead somewhere: to a module, a function, a class or its member, or a file."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for folder in ("scripts", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
}
REFERENCE = re.compile(r":(?:func|class|data|mod|meth|attr|exc):`[~!]?([\w.]+)`")
FOLDERS, ENDINGS = "scripts|rules|templates|config|paper|docs|envs", "py|smk|md|yaml|j2|sty|tsv"
FILE = re.compile(rf"(?<![\w/.>])(?:{FOLDERS})/[\w./-]*\w\.(?:{ENDINGS})\b")


@cache
def members(module):
    """Return what a module binds, and ``Class.member`` of its classes."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    names = set()
    for node in tree.body:
        names |= bound(node)
        if isinstance(node, ast.ClassDef):
            inner = {name for part in node.body for name in bound(part)}
            inner |= {
                part.attr
                for part in ast.walk(node)
                if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self"
            }
            names |= {f"{node.name}.{name}" for name in inner}
    return names


@cache
def imported(module):
    """Return the modules of this project that a module imports, by the names that it has for them."""
    found = {}
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return {name: full for name, full in found.items() if full in MODULES}


def bound(node):
    """Return the names that a statement binds, also below a condition."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)} | {
        name for part in getattr(node, "body", ()) for name in bound(part)
    }


def resolves(name, module):
    """Return whether a reference in a module leads somewhere; names of other packages are not looked up."""
    known = members(module)
    if name in known or name in MODULES:
        return True
    if "." not in name:
        # A member of one of the module's classes.
        return any(one.endswith(f".{name}") for one in known)
    first, _, rest = name.partition(".")
    parts = f"{imported(module).get(first, first)}.{rest}".split(".")
    for cut in range(len(parts) - 1, 0, -1):
        of = ".".join(parts[:cut])
        if of in MODULES:
            return ".".join(parts[cut:]) in members(of)
    return parts[0] not in ("scripts", "tests") and parts[0] not in known


def test_every_reference_leads_somewhere():
    lost = [
        (module, name)
        for module, path in MODULES.items()
        for name in REFERENCE.findall(path.read_text(encoding="utf-8"))
        if not resolves(name, module)
    ]
    assert not lost


def test_every_file_that_code_names_is_there():
    named = {
        (module, name)
        for module, path in MODULES.items() if module.startswith("scripts")
        for name in FILE.findall(path.read_text(encoding="utf-8"))
    }  # fmt: skip
    assert not [(module, name) for module, name in sorted(named) if not (ROOT / name).exists()]


def test_a_reference_that_leads_nowhere_is_seen():
    for name in ("scripts.core.files.no_such", "scripts.core.no_such", "no_such", "files.no_such", "Path.no_such"):
        assert not resolves(name, "scripts.core.paper.tables"), name
