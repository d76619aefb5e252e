"""Mutants can be made in the tree as it is; `make mutants` makes them."""

from tests.conftest import ROOT
from tests.mutants import __main__ as mutants


def test_what_a_mutant_changes_occurs_once_in_its_file():
    rows = [mutant for area in mutants.areas() for mutant in mutants.read(area)]
    assert rows and not list(filter(None, (mutant.problem(ROOT) for mutant in rows)))


def test_a_mutant_that_cannot_be_made_is_named():
    def problem(**changes):
        row = {"file": "Makefile", "old": "PYTHON ?= python3", "new": "x", "why": "", "tests": ("tests/test_docs.py",)}
        return mutants.Mutant("area:1", **row | changes).problem(ROOT)

    assert not problem()
    for changes in ({"old": "PYTHON"}, {"old": "none of it"}, {"file": "none"}, {"tests": ()}, {"tests": ("none.py",)}):
        assert problem(**changes).startswith("area:1: ")
