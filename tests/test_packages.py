"""What each package of scripts/ may import: CONTRIBUTING's table, enforced."""

import ast
import graphlib
import itertools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = "scripts.core"
SNAKEFILE = (ROOT / "Snakefile").read_text(encoding="utf-8")
STUDIES = re.findall(
    r'^    "(\w+)",$', SNAKEFILE.partition("select_studies(")[2].partition("):")[0], flags=re.MULTILINE
)
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in sorted((ROOT / "scripts").rglob("*.py"))
}
# What the packages of the core may import: packages of the core, or modules. All may import errors, files and config.
ALLOWED = {
    "data": (),
    "workflow": (),
    "statistics": ("data",),
    "provenance": ("data", "workflow", "models.checkpoints"),
    "paper": ("data", "statistics"),
    "models": ("data", "workflow", "provenance.closure"),
    "scoring": ("data", "models", "workflow"),
    "generation": ("data", "models", "scoring", "workflow", "provenance.closure"),
    "coreference_systems": ("data", "workflow", "models", "provenance.closure"),
    "study": (
        "data", "statistics", "workflow", "paper", "models.entries", "models.registry",
        "coreference_systems.augmentation", "coreference_systems.sentences",
    ),
}  # fmt: skip


def imported(source):
    """Return the modules of this project that a source imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names & MODULES.keys()


def package(module):
    """Return the package of a module: a study, a shared stage, the core, or a package of the core."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[1] == "core" and len(parts) > 3 else 2])


def is_forbidden(module, other):
    here, there = package(module), package(other)
    if there in (here, CORE):
        return False
    if there.split(".")[1] in STUDIES:
        return True
    of = here.split(".")[1]
    if of not in (*STUDIES, "core"):
        return False
    allowed = ALLOWED["study"] if of in STUDIES else ALLOWED.get(here.removeprefix(f"{CORE}."), ())
    return not {other, there} & {f"{CORE}.{name}" for name in allowed}


@pytest.fixture(scope="module")
def imports():
    return {name: imported(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def test_modules_import_what_their_package_may_and_there_are_no_circles(imports):
    wrong = [f"{name} imports {other}" for name, others in imports.items() for other in others]
    wrong = [line for line in wrong if is_forbidden(*line.split(" imports "))]
    assert not wrong
    assert list(graphlib.TopologicalSorter(imports).static_order())


def test_studies_are_flat_and_alike_and_stages_have_rules():
    assert len(STUDIES) >= 5
    for study in STUDIES:
        folder = ROOT / "scripts" / study
        assert {path.parent for path in folder.rglob("*.py")} == {folder}
        # What no study can do without; the five have more in common (docs/extending.md).
        needed = {"__init__", "instances", "estimates", "tables", "figures", "section"}
        assert needed <= {path.stem for path in folder.glob("*.py")}, study
    stages = {name.split(".")[1] for name in MODULES if name.count(".") > 1} - {"core", *STUDIES}
    assert len(stages) > 10
    for stage in stages:
        assert (ROOT / f"rules/{stage}.smk").is_file()
        assert (ROOT / f"scripts/{stage}/__init__.py").read_text(encoding="utf-8").startswith('"""')
    # Whatever else is new in the core belongs into a package.
    flat = {name.rpartition(".")[2] for name in MODULES if package(name) == CORE}
    assert flat == {"__init__", "config", "errors", "files"}


def test_a_forbidden_import_is_seen():
    """The checks themselves: imports inside functions count, and so does each form of the statement."""
    source = "def f():\n    from scripts.core.paper import plotting\n    import scripts.core.files\n"
    assert imported(source) == {"scripts.core.paper.plotting", "scripts.core.files"}
    for module, other, forbidden in (
        ("ruff.study", "winopron.study", True),
        ("core.data.options", "core.paper.plotting", True),
        ("ruff.study", "core.scoring.packed", True),
        ("scoring.score", "ruff.study", True),
        ("ruff.study", "core.models.registry", False),
    ):
        assert is_forbidden(f"scripts.{module}", f"scripts.{other}") == forbidden, (module, other)


def hidden(source, own):
    """Return the calls and imports by which a module runs code that neither its record nor its digest can see.

    A job's record names the modules that its script imports. What is run by a path, a text or a name that is put
    together is in no list, so that a change of it would rerun nothing.
    """
    tree = ast.parse(source)
    local = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
             and (node.module or "").startswith("scripts") for alias in node.names}  # fmt: skip
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found += [name for name in names if name.split(".")[0] in ("runpy", "imp", "tests", "rules")]
            # A module next to the Snakefile.
            found += [name for name in names if (ROOT / f"{name.split('.')[0]}.py").exists()]
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            put_together = called.endswith("import_module") and not isinstance(node.args[0], ast.Constant)
            if put_together or called in ("exec", "eval", "__import__", "importlib.util.spec_from_file_location"):
                found.append(called)
        elif isinstance(node, ast.List):
            words = [*map(ast.unparse, node.elts), ""]
            for flag, module in itertools.pairwise(words):
                # Itself, a module that is imported here as well, or no module of this project.
                imported_here = module.split(".")[0] in local and module.endswith(("__name__", "__spec__.name"))
                if flag == "'-m'" and not (imported_here or module == repr(own) or "scripts" not in module != ""):
                    found.append(f"-m {module}")
    return found


# They make no result: the audit runs Snakemake to learn what is expected; a job that is run again leaves no record.
AUDITORS = ("scripts.provenance.run_state", "scripts.replay")


def test_no_module_runs_code_that_its_record_cannot_see():
    wrong = {name: hidden(path.read_text(encoding="utf-8"), name) for name, path in MODULES.items()}
    assert not {name: found for name, found in wrong.items() if found and name not in AUDITORS}


@pytest.mark.attack("a script runs code that its record cannot see (exec, runpy, python -m)", "refused by the tests")
def test_hidden_code_is_seen():
    for source in (
        "import runpy", "from runpy import run_path", "exec(open('x.py').read())", "eval('1')", "__import__('x')",
        "import importlib\nimportlib.import_module('scripts.' + name)", "from tests import zoo",
        "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'scripts.audit'])",
        "import sys\ncall([sys.executable, '-m', f'scripts.{name}'])",
    ):  # fmt: skip
        assert hidden(source, "scripts.core.files"), source
