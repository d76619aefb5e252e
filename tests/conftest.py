"""Fixtures that several packages of the tests share."""

import functools
import json
import os
import subprocess
from pathlib import Path

import pytest

# Set before torch is imported anywhere: the tests share two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

ROOT = Path(__file__).parents[1]
# Where models are run, pages are opened in a browser, papers are typeset, environments are made, workflows are planned,
# or results are drawn or resampled at length: files that take more than some ten seconds.
SLOW = (
    "card",
    "core/coreference_systems",
    "core/generation",
    "core/models",
    "core/scoring",
    "coreference",
    "coreference_training",
    "distributions",
    "explorer/test_page.py",
    "misgendered/test_findings.py",
    "paper/test_paper_pdf.py",
    "paper/test_ruff_section.py",
    "prompting",
    "ruff/test_findings.py",
    "scoring",
    "test_docs.py",
    "test_environments.py",
    "test_overlays.py",
    "underspecification/test_published.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as quick what is neither in a slow place nor marked as slow."""
    places = [Path(__file__).parent / place for place in SLOW]

    @functools.cache
    def slow(path: Path) -> bool:
        return path.name == "test_figures.py" or any(path.is_relative_to(place) for place in places)

    for item in items:
        marked = item.get_closest_marker("workflow") or item.get_closest_marker("slurm")
        if not marked and not slow(item.path):
            item.add_marker("quick")


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


@pytest.fixture(scope="session")
def entries(tmp_path_factory):
    """Registry entries of the tiny random checkpoints by name, each built when it is first asked for."""
    from tests import zoo as builder

    folder = tmp_path_factory.mktemp("entries")
    return builder.Lazy(lambda name: builder.build_model(folder, name))


@pytest.fixture(scope="module")
def loaded(entries):
    """Architecture, network and tokenizer of the tiny random checkpoints, each loaded when it is first asked for."""
    from tests import zoo as builder

    return builder.Lazy(lambda name: (entries[name]["architecture"], *builder.load(name, entries[name])))


@pytest.fixture(scope="session")
def coreference_python():
    """The interpreter of the environment of the packages' coreference systems, made once for all tests."""
    from scripts.core.errors import UserError
    from scripts.core.workflow import environments

    envs = ROOT / "envs"
    try:
        return environments.prepare_environment(
            envs / "coreference.lock", ROOT / ".venv-coreference", envs / "coreference.in"
        )
    except UserError as error:
        pytest.skip(f"the environment of the packages' systems is not there and cannot be made: {error}")


@pytest.fixture(scope="session")
def package_systems(coreference_python, tmp_path_factory):
    """Registry entries of tiny random systems of packages, by name; their packages themselves build them."""
    folder = tmp_path_factory.mktemp("packages")
    command = [coreference_python, "-m", "tests.coreference_zoo", "--folder", folder]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "systems.json").read_text(encoding="utf-8"))
