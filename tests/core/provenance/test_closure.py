"""The closure of a script holds every local module that it imports, and no other."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.core.errors import UserError
from scripts.core.provenance import closure

ROOT = Path(__file__).parents[3]


@pytest.fixture
def tree(tmp_path):
    package = tmp_path / "scripts" / "core"
    package.mkdir(parents=True)
    (tmp_path / "scripts" / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("from scripts.core import b\n")
    (package / "b.py").write_text("def f():\n    import scripts.core.c\n    return scripts.core.c\n")
    (package / "c.py").write_text("import json\n")
    (package / "unrelated.py").write_text("")
    (tmp_path / "scripts" / "job.py").write_text("import pandas\nfrom scripts.core.a import thing\n")
    return tmp_path


def test_a_script_depends_on_all_that_it_imports_inside_functions_too(tree):
    assert [*closure.digest_modules("scripts/job.py", tree)] == [
        "scripts/__init__.py",
        "scripts/core/__init__.py",
        "scripts/core/a.py",
        "scripts/core/b.py",
        "scripts/core/c.py",
        "scripts/job.py",
    ]


def test_the_rules_import_nothing_slow():
    """Every start of Snakemake runs the rules, several times on a cluster."""
    imports = [
        line
        for path in [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]
        for line in path.read_text().splitlines()
        if re.match(r"(from|import) scripts", line)
    ]
    assert len(imports) > 5
    slow = "{'torch', 'transformers', 'matplotlib', 'scipy', 'statsmodels'}"
    program = "\n".join(["import sys", *imports, f"print(*({slow} & sys.modules.keys()))"])
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import json\ndef f(:\n", r"scripts/core/b\.py, line 2: invalid syntax"),
        ("x = 1\n\0", r"scripts/core/b\.py.*null bytes"),
        (b"x = 1\n\xff\xfe", r"scripts/core/b\.py, line 2: .*can't decode byte 0xff"),
        ("x = 1\nfrom . import c\n", r"scripts/core/b\.py, line 2: a relative import"),
    ],
)
def test_a_module_whose_imports_cannot_be_found_is_named(tree, text, message):
    (tree / "scripts/core/b.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=message):
        closure.digest_modules("scripts/job.py", tree)


SAME = {
    "a comment": ("x = 1\n", "# Why.\nx = 1  # one\n"),
    "a docstring": ("def f():\n    return 1\n", '"""Module."""\ndef f():\n    """Say."""\n    return 1\n'),
    "nothing but a docstring": ("", '"""Module."""\n'),
    "another docstring of a class": ('class A:\n    """An A."""\n', 'class A:\n    """An A.\n\n    Or two.\n    """\n'),
    "a text below a constant": ("x = 1\n", 'x = 1\n"""What it is."""\n'),
    "lines and quotes": ("x = f('a', 1)\n", 'x = f(\n    "a",\n    1,\n)\n'),
}
OTHER = {
    "a constant": ("x = 1\n", "x = 2\n"),
    "a constant's type": ("x = 1\n", "x = 1.0\n"),
    "truth": ("x = 1\n", "x = True\n"),
    "a text in use": ("x = 'a'\n", "x = 'b'\n"),
    "a default": ("def f(a=1): return a\n", "def f(a=2): return a\n"),
    "a decorator": ("def f(): return 1\n", "@cache\ndef f(): return 1\n"),
    "a field's type": ("class A:\n    x: int\n", "class A:\n    x: str\n"),
    "an order": ("x = 1\ny = 2\n", "y = 2\nx = 1\n"),
    "a nesting": ("if a:\n    x = 1\ny = 2\n", "if a:\n    x = 1\n    y = 2\n"),
    "a call": ("f(1)\n", "f(2)\n"),
    "an import": ("import a\n", "import b\n"),
}


@pytest.mark.parametrize(("pair", "same"), [*((p, True) for p in SAME.values()), *((p, False) for p in OTHER.values())],
                         ids=[*SAME, *OTHER])  # fmt: skip
def test_a_digest_is_of_what_runs(tmp_path, pair, same):
    found = []
    for text in pair:
        (tmp_path / "a.py").write_text(text)
        closure._module.cache_clear()
        found.append(closure.digest_module("a.py", tmp_path))
    assert (found[0] == found[1]) == same


FOR_MODELS = (
    "scoring/score", "scoring/import_scores", "scoring/merge_scores", "prompting/prompt", "prompting/ask_server",
    "distributions/token_distributions", "distributions/completions", "coreference/coreference",
    "coreference_training/train_coreference",
)  # fmt: skip


@pytest.mark.parametrize("script", FOR_MODELS)
def test_a_job_of_a_model_depends_on_no_plotting_paper_messages_or_study(script):
    """An edit there must not repeat hours of work."""
    modules = closure.digest_modules(f"scripts/{script}.py", ROOT)
    packages = {re.sub(r"^scripts/(core/)?([^/]+)(/.*)?$", r"\1\2", path) for path in modules}
    allowed = {
        "__init__.py", "core/__init__.py", "core/files.py", "core/data", "core/models", "core/scoring",
        "core/generation", "core/coreference_systems", "core/provenance", "core/workflow", script.partition("/")[0],
    }  # fmt: skip
    assert packages <= allowed, script
    # Of these two only the packages themselves, and what takes up the parts of a job that was cut off: what runs and
    # records a job changes no result.
    assert {path for path in modules if re.match("scripts/core/(provenance|workflow)/", path)} <= {
        "scripts/core/provenance/__init__.py",
        "scripts/core/workflow/__init__.py",
        "scripts/core/workflow/parts.py",
    }
    assert not closure.INERT.keys() & modules.keys()
    assert {f"scripts/{script}.py", "scripts/core/files.py"} <= modules.keys()


def test_what_is_known_of_modules_is_that_of_their_text(tree):
    """Another process takes it. An edit of the same size and time is read anew, and another file is passed over."""
    program = """
import sys
from scripts.core.provenance import closure
parse = closure.ast.parse
closure.ast.parse = lambda text: print("parsed") or parse(text)
print(closure.digest_modules("scripts/job.py", sys.argv[1])["scripts/core/c.py"])
closure.store_digests(sys.argv[1])
"""

    def outcome():
        done = subprocess.run(
            [sys.executable, "-c", program, str(tree)], cwd=ROOT, capture_output=True, text=True, check=True
        )
        *parsed, digest = done.stdout.split()
        return len(parsed), digest

    first = outcome()
    (known,) = (tree / "scripts/__pycache__").iterdir()
    assert first[0] == 6 and outcome() == (0, first[1])
    stat = (tree / "scripts/core/c.py").stat()
    (tree / "scripts/core/c.py").write_text("import ison\n")
    os.utime(tree / "scripts/core/c.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    edited = outcome()
    assert edited[0] == 1 and edited[1] != first[1]
    for broken in ("", "[]", "1"):
        known.write_text(broken)
        assert outcome() == (6, edited[1])
