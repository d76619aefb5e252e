"""The closure of a script holds every local module that it imports, and no other."""

import os
import re
import shutil
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


def test_closure_is_transitive_and_sees_lazy_imports(tree):
    assert closure.closure("scripts/job.py", str(tree)) == (
        "scripts/__init__.py",
        "scripts/core/__init__.py",
        "scripts/core/a.py",
        "scripts/core/b.py",
        "scripts/core/c.py",
        "scripts/job.py",
    )


def test_digests_change_with_a_module_and_not_with_another(tree):
    before = closure.digests("scripts/job.py", str(tree))
    (tree / "scripts/core/unrelated.py").write_text("x = 1\n")
    assert closure.digests("scripts/job.py", str(tree)) == before
    (tree / "scripts/core/c.py").write_text("import csv\n")
    after = closure.digests("scripts/job.py", str(tree))
    assert {k for k in before if before[k] != after[k]} == {"scripts/core/c.py"}


def test_the_rules_import_nothing_slow():
    """Every start of Snakemake runs the rules, several times on a cluster."""
    imports = [
        line
        for path in [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]
        for line in path.read_text().splitlines()
        if re.match(r"(from|import) scripts", line)
    ]
    assert len(imports) > 5
    slow = "{'torch', 'transformers', 'matplotlib', 'seaborn', 'scipy', 'statsmodels'}"
    program = "\n".join(["import sys", *imports, f"print(*({slow} & sys.modules.keys()))"])
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import json\ndef f(:\n", r"scripts/core/b\.py, line 2: invalid syntax"),
        ("x = 1\n\0", r"scripts/core/b\.py.*null bytes"),
        (b"x = 1\n\xff\xfe", r"scripts/core/b\.py, line 2: .*can't decode byte 0xff"),
    ],
)
def test_a_module_that_is_no_python_is_named(tree, text, message):
    (tree / "scripts/core/b.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=message):
        closure.closure("scripts/job.py", str(tree))


def test_byte_code_of_an_edited_source_is_not_used(tmp_path):
    """An edit may keep size and second of modification, by which Python tells whether its byte code is stale."""
    shutil.copytree(ROOT / "scripts/core/provenance", tmp_path / "scripts/core/provenance")
    for name in ("scripts/__init__.py", "scripts/core/__init__.py", "scripts/core/errors.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    module = tmp_path / "scripts/core/value.py"
    program = "from scripts.core.provenance import closure\nfrom scripts.core import value\n"
    program += "print(value.VALUE, closure.digest('scripts/core/value.py', '.'))"

    def outcome():
        os.utime(module, (315532800, 315532800))
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True,
            env={key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
        )  # fmt: skip
        as_module = subprocess.run(
            [sys.executable, "-m", "scripts.core.value"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return (as_module.stdout.strip(), *done.stdout.split())

    module.write_text("VALUE = 1\nprint(VALUE, end=' ')\n")
    first = outcome()
    assert first == outcome()
    module.write_text("VALUE = 2\nprint(VALUE, end=' ')\n")
    second = outcome()
    assert (first[:3], second[:3]) == (("1", "1", "1"), ("2", "2", "2"))
    assert first[3] != second[3]
