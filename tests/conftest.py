"""Fixtures that several rooms of the tests share."""

import os
from pathlib import Path

import pytest

# Set before torch is imported anywhere: the tests share two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def root():
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def mirror():
    """The folder with the authors' files; tests that need it are skipped without one."""
    folder = os.environ.get("PRONOUN_UPSTREAM_MIRROR")
    if not folder:
        pytest.skip("PRONOUN_UPSTREAM_MIRROR is not set: the authors' files are not at hand")
    return Path(folder)


@pytest.fixture(scope="session")
def zoo(tmp_path_factory):
    """The registry of the tiny random checkpoints, built once for each test process."""
    from tests import zoo as builder

    return builder.build(tmp_path_factory.mktemp("zoo"))
