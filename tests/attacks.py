"""What can be done to a run and how it is noticed: ``python -m tests.attacks`` prints it, from the tests that do it.

A test, or one of its parameters, has the mark ``attack``: what is done, and how it is noticed.
"""

import importlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def marked() -> Iterator[tuple[str, str]]:
    """Yield what is done and how it is noticed, of every mark of every module's tests."""
    for path in sorted((ROOT / "tests").rglob("test_*.py"), key=lambda path: path.name):
        if "pytest.mark.attack(" not in path.read_text(encoding="utf-8"):
            continue
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for test in vars(importlib.import_module(module)).values():
            for mark in getattr(test, "pytestmark", []) if callable(test) else []:
                if mark.name == "attack":
                    yield mark.args
                for case in mark.args[1] if mark.name == "parametrize" else []:
                    yield from (inner.args for inner in getattr(case, "marks", []) if inner.name == "attack")


if __name__ == "__main__":
    for done, noticed in marked():
        print(f"{done}: {noticed}")
