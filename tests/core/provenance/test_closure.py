"""The closure of a script holds every local module that it imports, and no other."""

import ast
import json
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


def test_closure_is_transitive_and_sees_lazy_imports(tree):
    assert closure.closure("scripts/job.py", str(tree)) == (
        "scripts/__init__.py",
        "scripts/core/__init__.py",
        "scripts/core/a.py",
        "scripts/core/b.py",
        "scripts/core/c.py",
        "scripts/job.py",
    )


def test_what_only_type_checkers_import_is_no_part(tree):
    block = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from scripts.core.unrelated import Thing\n"
    path = tree / "scripts/core/a.py"
    path.write_text(path.read_text() + block)
    found = closure.closure("scripts/job.py", str(tree))
    assert "scripts/core/b.py" in found and "scripts/core/unrelated.py" not in found


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
    ],
)
def test_a_module_that_is_no_python_is_named(tree, text, message):
    (tree / "scripts/core/b.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=message):
        closure.closure("scripts/job.py", str(tree))


SAME = {
    "a comment": ("x = 1\n", "# Why.\nx = 1  # one\n"),
    "a docstring": ("def f():\n    return 1\n", '"""Module."""\ndef f():\n    """Say."""\n    return 1\n'),
    "nothing but a docstring": ("", '"""Module."""\n'),
    "pass and a docstring": ("class A:\n    pass\n", 'class A:\n    """An A."""\n'),
    "a text below a constant": ("x = 1\n", 'x = 1\n"""What it is."""\n'),
    "annotations of a function": (
        "def f(a, *b, c=1): return a\n",
        "def f(a: int, *b: str, c: int = 1) -> int: return a\n",
    ),
    "annotations of variables": ("x = 1\ndef f():\n    y = 2\n", "x: int = 1\ndef f():\n    y: int = 2\n"),
    "annotations of a method": (
        "class A:\n    def f(self): x = 1\n",
        "class A:\n    def f(self) -> None: x: int = 1\n",
    ),
    "a variable that is only announced": ("def f():\n    x = 1\n", "def f():\n    x: int\n    x = 1\n"),
    "imports for annotations": (
        "def f(a): return a\n",
        "from pathlib import Path\nfrom typing import TYPE_CHECKING, Any\nif TYPE_CHECKING:\n    import pandas as pd\n"
        "def f(a: 'pd.Series | Path') -> Any: return a\n",
    ),
    "lines and quotes": ("x = f('a', 1)\n", 'x = f(\n    "a",\n    1,\n)\n'),
}
OTHER = {
    "a constant": ("x = 1\n", "x = 2\n"),
    "a constant's type": ("x = 1\n", "x = 1.0\n"),
    "truth": ("x = 1\n", "x = True\n"),
    "a text in use": ("x = 'a'\n", "x = 'b'\n"),
    "a default": ("def f(a=1): return a\n", "def f(a=2): return a\n"),
    "a decorator": ("def f(): return 1\n", "@cache\ndef f(): return 1\n"),
    "a field of a dataclass": ("class A:\n    x: int = 1\n", "class A:\n    x = 1\n"),
    "a field's type": ("class A:\n    x: int\n", "class A:\n    x: str\n"),
    "a field below a condition": ("class A:\n    if B:\n        x: int\n", "class A:\n    if B:\n        x: str\n"),
    "an order": ("x = 1\ny = 2\n", "y = 2\nx = 1\n"),
    "a nesting": ("if a:\n    x = 1\ny = 2\n", "if a:\n    x = 1\n    y = 2\n"),
    "an import": ("import a\n", "import b\n"),
    "a choice that only looks like one of types": (
        "if TYPE_CHECKING:\n    x = 1\nelse:\n    x = 2\n",
        "if TYPE_CHECKING:\n    x = 1\nelse:\n    x = 3\n",
    ),
    "a field that is only announced": ("class A:\n    pass\n", "class A:\n    x: int\n"),
    "a return": ("def f(): return None\n", "def f(): return\n"),
}


@pytest.mark.parametrize(("pair", "same"), [*((p, True) for p in SAME.values()), *((p, False) for p in OTHER.values())],
                         ids=[*SAME, *OTHER])  # fmt: skip
def test_a_digest_is_of_what_runs(tmp_path, pair, same):
    found = []
    for text in pair:
        (tmp_path / "a.py").write_text(text)
        found.append((closure.digest("a.py", tmp_path), closure.text_digest("a.py", tmp_path)))
    assert (found[0][0] == found[1][0]) == same
    assert found[0][1] != found[1][1]


def test_modules_of_scoring_are_the_same_with_another_docstring_and_others_with_another_constant(tmp_path):
    modules = closure.closure("scripts/scoring/score.py", str(ROOT))
    assert len(modules) >= 25
    for number, module in enumerate(modules):
        text = (ROOT / module).read_text(encoding="utf-8")
        first = ast.get_docstring(ast.parse(text), clean=False)
        start = text.index('"""') + 3 if first else 0
        texts = text[:start] + ("Edited. " if first else '"""Edited."""\n') + text[start:], f"{text}\n_EDITED = 1\n"
        names = [f"{number}.{kind}.py" for kind in ("docstring", "constant")]
        for name, edited in zip(names, texts, strict=True):
            (tmp_path / name).write_text(edited, encoding="utf-8")
        before, worded, changed = closure.digest(module, ROOT), *(closure.digest(name, tmp_path) for name in names)
        assert (worded == before, changed == before) == (True, False), module


def test_inert_modules_and_what_only_they_reach_are_no_part_of_the_digests():
    score = "scripts/scoring/score.py"
    every = set(closure.closure(score, str(ROOT)))
    counting = closure.digests(score, ROOT).keys()
    assert closure.INERT.keys() <= every and every - counting == closure.INERT.keys()
    # What such a module has alone does not come in behind it.
    assert "scripts/core/workflow/__init__.py" in closure.closure("scripts/core/workflow/job.py", str(ROOT))
    assert closure.closure("scripts/core/workflow/job.py", str(ROOT), inert=False) == ()


def test_what_is_known_of_modules_is_that_of_their_text(tree):
    """Another process takes it. An edit of the same size and time is read anew, and another file is passed over."""
    program = """
import sys
from scripts.core.provenance import closure
parse = closure.ast.parse
closure.ast.parse = lambda text: print("parsed") or parse(text)
print(closure.digests("scripts/job.py", sys.argv[1])["scripts/core/c.py"])
closure.store(sys.argv[1])
"""

    def outcome():
        done = subprocess.run(
            [sys.executable, "-c", program, str(tree)], cwd=ROOT, capture_output=True, text=True, check=True
        )
        *parsed, digest = done.stdout.split()
        return len(parsed), digest

    first = outcome()
    (known,) = (tree / "scripts/__pycache__").iterdir()
    # The two empty __init__.py are one text.
    assert first[0] == 5 and outcome() == (0, first[1])
    stat = (tree / "scripts/core/c.py").stat()
    (tree / "scripts/core/c.py").write_text("import ison\n")
    os.utime(tree / "scripts/core/c.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    edited = outcome()
    assert edited[0] == 1 and edited[1] != first[1]
    for broken in ("", "[]", "{}", '{"by": "another version", "modules": {}}'):
        known.write_text(broken)
        assert outcome() == (5, edited[1])


def test_of_a_script_with_several_functions_a_rule_has_what_its_own_reaches(tmp_path):
    """A rule has the statements and the modules that its function needs, and no others."""
    (tmp_path / "scripts/core").mkdir(parents=True)
    for name in ("a", "b", "c"):
        (tmp_path / f"scripts/core/{name}.py").write_text(f"{name.upper()} = 1\n", encoding="utf-8")
    text = (
        "from scripts.core import a, b\nfrom scripts.core.workflow.job import run_named\n\n"
        "ROWS = {}\nROWS['c'] = 2\n\n\ndef helper():\n    return ROWS\n\n\n"
        "def first(*, path):\n    return a.A, helper()\n\n\n"
        "def second(*, first):\n    from scripts.core import c\n\n    return b.B, c.C, first\n\n\n"
        "third = first\n\nif __name__ == '__main__':\n    run_named()\n"
    )
    script = "scripts/study/figures.py"
    (tmp_path / "scripts/study").mkdir()

    def written(old="", new=""):
        (tmp_path / script).write_text(text.replace(old, new), encoding="utf-8")
        names = ("study_first", "study_second", "study_third")
        return [closure.digests(script, tmp_path, name) for name in names], closure.digests(script, tmp_path)

    before, whole = written()
    assert [sorted(path[-4] for path in found if path != script) for found in before] == [["a"], ["b", "c"], ["a"]]
    assert sorted(path[-4] for path in whole if path != script) == ["a", "b", "c"]
    for old, new, changed in (
        ("ROWS['c'] = 2", "ROWS['c'] = 3", [True, False, True]),
        ("return ROWS", "return [ROWS]", [True, False, True]),
        ("a.A", "a.a.A", [True, False, True]),
        ("b.B", "b.b.B", [False, True, False]),
        ("third = first", "third = (lambda: first)()", [False, False, True]),
    ):
        after, _ = written(old, new)
        assert [one != other for one, other in zip(before, after, strict=True)] == changed, old
    assert closure.rule_digest(script, tmp_path, "study_first") != closure.rule_digest(script, tmp_path, "study_second")


def test_a_module_without_functions_of_rules_is_parsed_once(tree, monkeypatch):
    """The audit asks for it once for every rule that uses it."""
    parsed, parse = [], closure._tree
    monkeypatch.setattr(closure, "_tree", lambda path, source: parsed.append(path) or parse(path, source))
    found = {closure.rule_digest("scripts/core/c.py", tree, f"study_{name}") for name in ("import", "b", "c")}
    assert found == {closure.digest("scripts/core/c.py", tree)}
    assert parsed == ["scripts/core/c.py"]


def test_an_audit_trusts_no_stored_digest(tree):
    right = closure.digest("scripts/core/c.py", tree)
    closure.store(tree)
    (known,) = (tree / "scripts/__pycache__").iterdir()
    stored = json.loads(known.read_text())
    forged = {key: ["0" * 16, *rest] for key, (_, *rest) in stored["modules"].items()}
    known.write_text(json.dumps(stored | {"modules": forged}))
    closure._stored.cache_clear()
    closure._known.cache_clear()
    assert closure.digest("scripts/core/c.py", tree) == "0" * 16
    closure.forget(tree)
    assert closure.digest("scripts/core/c.py", tree) == right and not known.exists()
