"""The table of attacks in docs/audit.md, from the tests that carry them out: ``python -m tests.attacks`` writes it.

A test, or one of its parameters, has the mark ``attack``: what is done, and how it is noticed.
"""

import importlib
from collections.abc import Iterator
from pathlib import Path

MODULES = (
    "tests.workflow.test_audit", "tests.test_audit", "tests.core.provenance.test_audit",
    "tests.core.provenance.test_reporting", "tests.core.provenance.test_environment",
    "tests.core.provenance.test_job_records", "tests.core.provenance.test_manifest",
    "tests.core.workflow.test_bytecode", "tests.test_rooms",
    "tests.paper.test_paper_pdf", "tests.core.paper.test_report", "tests.workflow.test_crate",
    "tests.core.models.test_loading",
)  # fmt: skip
PAGE = Path(__file__).parents[1] / "docs/audit.md"
BEGIN, END = "<!-- attacks: made by python -m tests.attacks -->\n", "<!-- end of attacks -->\n"


def marked() -> Iterator[tuple[str, str]]:
    """Yield what is done and how it is noticed, of every mark of every module's tests."""
    for name in MODULES:
        for test in vars(importlib.import_module(name)).values():
            for mark in getattr(test, "pytestmark", []) if callable(test) else []:
                if mark.name == "attack":
                    yield mark.args
                for case in mark.args[1] if mark.name == "parametrize" else []:
                    yield from (inner.args for inner in getattr(case, "marks", []) if inner.name == "attack")


def table() -> str:
    """Return the table as the page has it, between its marks."""
    rows = [f"| {done} | {noticed} |\n" for done, noticed in marked()]
    return "".join([BEGIN, "| what is done | noticed as |\n| --- | --- |\n", *rows, END])


def replaced(page: str) -> str:
    """Return the page with the table as it is now."""
    start, stop = page.index(BEGIN), page.index(END) + len(END)
    return page[:start] + table() + page[stop:]


if __name__ == "__main__":
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
