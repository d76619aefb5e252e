"""What can be done to a run and how it is noticed: ``python -m tests.attacks`` prints it, from the tests that do it.

A test, or one of its parameters, has the mark ``attack``: what is done, and how it is noticed.
"""

import importlib
from collections.abc import Iterator

MODULES = (
    "tests.workflow.test_audit", "tests.test_audit", "tests.core.provenance.test_audit",
    "tests.core.provenance.test_reporting", "tests.core.provenance.test_environment",
    "tests.core.provenance.test_job_records", "tests.core.provenance.test_manifest",
    "tests.core.workflow.test_bytecode", "tests.test_rooms",
    "tests.paper.test_paper_pdf", "tests.core.paper.test_report", "tests.workflow.test_crate",
    "tests.core.models.test_loading",
)  # fmt: skip


def marked() -> Iterator[tuple[str, str]]:
    """Yield what is done and how it is noticed, of every mark of every module's tests."""
    for name in MODULES:
        for test in vars(importlib.import_module(name)).values():
            for mark in getattr(test, "pytestmark", []) if callable(test) else []:
                if mark.name == "attack":
                    yield mark.args
                for case in mark.args[1] if mark.name == "parametrize" else []:
                    yield from (inner.args for inner in getattr(case, "marks", []) if inner.name == "attack")


if __name__ == "__main__":
    for done, noticed in marked():
        print(f"{done}: {noticed}")
