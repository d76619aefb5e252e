"""What each room of scripts/ may import: README's list, held by program."""

import ast
import graphlib
import itertools
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = "scripts.core"
FLOORS = (
    "scoring",
    "prompting",
    "distributions",
    "coreference",
    "planning",
    "paper",
    "card",
    "explorer",
    "provenance",
    "upstream",
    "demo_encoder",
    "coreference_corpora",
    "coreference_training",
)
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in sorted((ROOT / "scripts").rglob("*.py"))
}
STUDIES = sorted({name.split(".")[1] for name in MODULES if name.count(".") > 1} - {"core", *FLOORS})
# What the packages of the core may import of each other: a package, or a module; errors, files and config are for all.
OPEN = tuple(f"{CORE}.{name}" for name in ("data", "statistics", "workflow"))
ALLOWED = {
    CORE: (),
    f"{CORE}.data": (),
    f"{CORE}.workflow": (),
    f"{CORE}.statistics": (f"{CORE}.data",),
    f"{CORE}.provenance": (f"{CORE}.data", f"{CORE}.workflow", f"{CORE}.models.checkpoints"),
    f"{CORE}.paper": (f"{CORE}.data", f"{CORE}.statistics"),
    f"{CORE}.models": (f"{CORE}.data", f"{CORE}.workflow", f"{CORE}.provenance.closure"),
    f"{CORE}.scoring": (f"{CORE}.data", f"{CORE}.models", f"{CORE}.workflow"),
    f"{CORE}.generation": (
        f"{CORE}.data",
        f"{CORE}.models",
        f"{CORE}.scoring",
        f"{CORE}.workflow",
        f"{CORE}.provenance.closure",
    ),
    f"{CORE}.coreference_systems": (
        f"{CORE}.data",
        f"{CORE}.workflow",
        f"{CORE}.models",
        f"{CORE}.provenance.closure",
    ),
}
# What studies may import besides ``paper`` and what is open to all.
STUDY_TOOLS = (
    f"{CORE}.models.entries",
    f"{CORE}.models.registry",
    f"{CORE}.coreference_systems.augmentation",
    f"{CORE}.coreference_systems.sentences",
)


def imported(source, known):
    """Return the modules of ``known`` that a module's source imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names & set(known)


def room(name):
    """Return the room of a module: a study or a floor, the core, or one of its packages."""
    parts = name.split(".")
    return ".".join(parts[: 3 if parts[1] == "core" and len(parts) > 3 else 2])


@pytest.fixture(scope="module")
def imports():
    """What each module imports."""
    return {name: imported(path.read_text(encoding="utf-8"), MODULES) for name, path in MODULES.items()}


def forbidden(name, other):
    """Return whether a module may not import another."""
    here, there = room(name), room(other)
    if there in (here, CORE):
        return False
    if there.split(".")[1] in STUDIES:
        return True
    if here in ALLOWED:
        return not {other, there} & set(ALLOWED[here])
    return here.split(".")[1] in STUDIES and there not in (*OPEN, f"{CORE}.paper") and other not in STUDY_TOOLS


def test_modules_import_what_their_room_may(imports):
    wrong = [
        f"{name} imports {other}" for name, others in imports.items() for other in others if forbidden(name, other)
    ]
    assert not wrong


def test_modules_of_a_study_lie_in_one_folder():
    for study in STUDIES:
        folder = ROOT / "scripts" / study
        assert {path.parent for path in folder.rglob("*.py")} == {folder}
        assert {"study", "plan", "instances", "tables", "figures", "findings", "section", "published"} <= {
            path.stem for path in folder.glob("*.py")
        }


def test_no_two_names_in_a_folder_differ_by_a_letter():
    alike = [
        pair
        for pair in itertools.combinations(MODULES, 2)
        if MODULES[pair[0]].parent == MODULES[pair[1]].parent and difference(*pair) < 2
    ]
    assert not alike


def difference(a, b):
    """Return how many letters are to be put in, left out or changed to make one name of another."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        row, above = [i], row
        for j, other in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (letter != other)))
    return row[-1]


def test_there_are_no_circles(imports):
    assert list(graphlib.TopologicalSorter(imports).static_order())


def test_a_circle_and_a_forbidden_import_are_seen():
    """The checks themselves: imports inside functions count, and so does each form of the statement."""
    source = "def f():\n    from scripts.core.paper import plotting\n    import scripts.core.files\n"
    assert imported(source, MODULES) == {"scripts.core.paper.plotting", "scripts.core.files"}
    with pytest.raises(graphlib.CycleError):
        list(graphlib.TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())
    for name, other in (("ruff.study", "winopron.study"), ("core.data.options", "core.paper.plotting"),
                        ("ruff.study", "core.scoring.decoder"), ("scoring.score", "ruff.study")):  # fmt: skip
        assert forbidden(f"scripts.{name}", f"scripts.{other}"), (name, other)
    assert not forbidden("scripts.ruff.study", "scripts.core.models.registry")
    assert room("scripts.core.scoring.decoder") == "scripts.core.scoring"
    assert room("scripts.core.files") == CORE
    # Whatever else is new there belongs into a package.
    assert {name for name in MODULES if room(name) == CORE} == {
        f"{CORE}.{name}" for name in ("__init__", "config", "errors", "files")
    }
    assert room("scripts.ruff.estimates") == "scripts.ruff"


def test_every_floor_has_a_rules_file_and_a_room():
    assert STUDIES == ["counter_gap", "misgendered", "ruff", "underspecification", "winopron"]
    for floor in FLOORS:
        assert (ROOT / f"rules/{floor}.smk").is_file()
        assert (ROOT / f"scripts/{floor}/__init__.py").read_text(encoding="utf-8").startswith('"""')


def hidden(source, own):
    """Return the ways in which a module runs code that neither its record nor its digest can see.

    A job's record names the modules that its script imports. What is run by a path, a text or a name that is put
    together is in no list, so that a change of it would make nothing again.
    """
    tree = ast.parse(source)
    local = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
             and (node.module or "").startswith("scripts") for alias in node.names}  # fmt: skip
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found += [name for name in names if name.split(".")[0] in ("runpy", "imp", "tests", "rules")]
            # A module beside the Snakefile.
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
