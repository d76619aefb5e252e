"""A copy of the repository in which the workflow runs small, once for all workflow tests."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from filelock import FileLock

from tests import forks
from tests import zoo as builder

ROOT = Path(__file__).parents[2]
# One encoder and two decoders; tests/core/scoring/test_scores.py scores with every architecture of the zoo.
NAMES = ("tiny-bert", "tiny-opt", "tiny-llama")
# Prompted as well: a Llama-style decoder and an encoder-decoder, which is not scored.
PROMPTED = ("tiny-llama", "tiny-flan-t5")
COPIED = (
    "Snakefile",
    "config.yaml",
    "config",
    "profiles",
    "envs",
    "rules",
    "scripts",
    "templates",
    "paper",
    "pyproject.toml",
    "requirements.lock",
    "requirements.in",
    "models.lock",
    "CITATION.cff",
)


# The file that takes longest.
FIRST = "workflow/test_audit.py"
# Without TeX everything but the PDF.
PAPER = "paper" if shutil.which("latexmk") else "paper_provenance"
TARGETS = (PAPER, "figures", "tables")


def pytest_collection_modifyitems(items):
    """Have one file make the shared run first, while other processes run the files that do without it."""

    def turn(item):
        if FIRST in item.nodeid:
            return 0
        return 2 if "complete" in getattr(item, "fixturenames", ()) else 1

    items.sort(key=lambda item: turn(item) if item.get_closest_marker("workflow") else -1)


class Workflow:
    """A copy of the repository and the ways to run its workflow.

    The copy is edited freely; the repository itself never is.
    """

    def __init__(self, folder):
        self.folder = folder
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, folder / name)
        # Digests of modules by their text, which take a second to compute anew.
        for stored in (ROOT / "scripts/__pycache__").glob("modules.*.json"):
            (folder / "scripts/__pycache__").mkdir(exist_ok=True)
            shutil.copy2(stored, folder / "scripts/__pycache__")

    @classmethod
    def of(cls, folder):
        """Return the copy that is in ``folder`` already."""
        made = cls.__new__(cls)
        made.folder = folder
        return made

    def snakemake(self, *arguments, overlay="config/test.yaml", cores=2, environment=None):
        """Run Snakemake, with jobs as forks, and return the finished process; its output is text, errors included."""
        # --cores comes last, so that no target is taken for one more overlay.
        options = ["--configfile", overlay, "--quiet", "host", "--nocolor", "--cores", str(cores)]
        return forks.run_snakemake([*options, *arguments], self.folder, {**os.environ, **(environment or {})})

    def planned(self, *arguments, **options):
        """Return the rules that a dry run would execute, with the number of jobs; empty if nothing is to be done."""
        done = self.snakemake("--dry-run", *arguments, **options)
        assert done.returncode == 0, done.stdout
        if "Nothing to be done" in done.stdout:
            return {}
        table = re.search(r"^job +count\n[- ]+\n(.*?)\ntotal", done.stdout, flags=re.MULTILINE | re.DOTALL)
        assert table, done.stdout
        return {name: int(count) for name, count in re.findall(r"^(\S+) +(\d+)$", table.group(1), flags=re.MULTILINE)}


def type_command(command, folder, program=("bash", "-ec")):
    """Type a command into a folder, as a user whose environment is activated; its output holds errors too."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        [*program, command], cwd=folder, env={**os.environ, "PATH": path, "PYTHONPATH": ""}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip


@contextlib.contextmanager
def edited(path, change):
    """Have another text in a file for the block: ``change`` of the one that it has, or what is appended to it."""
    before, stat = path.read_bytes(), path.stat()
    text = before.decode()
    after = change(text) if callable(change) else text + change
    assert after != text
    path.write_text(after, encoding="utf-8")
    try:
        yield
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def bring_ontonotes(folder):
    """Put empty files where config/counter_gap_training.yaml has OntoNotes: a dry run asks whether they are there."""
    overlay = yaml.safe_load((ROOT / "config/counter_gap_training.yaml").read_text(encoding="utf-8"))
    for path in overlay["corpora"]["ontonotes"].values():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).touch()


def audit_options(*arguments, overlay="config/test.yaml", targets=TARGETS):
    """Return the command line of the audit."""
    return ["--configfile", str(overlay), *(f"--target={target}" for target in targets), *map(str, arguments)]


def audit(folder, *arguments, code=None, **options):
    """Run the audit in ``folder``, with the repository of ``code``; return the exit status and what was printed."""
    environment = {**os.environ, "PYTHONPATH": str(code or folder)}
    done = forks.run_module("scripts.audit", audit_options(*arguments, **options), folder, environment, apart=True)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    """Make further copies of the repository with the zoo, not run yet."""

    def make(names=("tiny-bert", "tiny-opt")):
        folder = tmp_path_factory.mktemp("workflow")
        asked = PROMPTED if "tiny-llama" in names else ()
        registry = builder.build(folder / "zoo", {*names, *asked})
        # Relative to the run, so that the folder can be copied with all that is in it.
        registry.write_text(registry.read_text().replace(f"{folder}/", ""))
        workflow = Workflow(folder)
        overlay = folder / "config/test.yaml"
        text = re.sub(r"^models: \[.*\]", f"models: [{', '.join(names)}]", overlay.read_text(), flags=re.MULTILINE)
        overlay.write_text(re.sub(r"( +.*\bmodels: )\[.*?\]", rf"\1[{', '.join(asked)}]", text))
        return workflow

    return make


def made_once(tmp_path_factory, worker_id, name, make):
    """Return the folder ``name``, which test processes side by side share: the first one makes it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / name
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            make().rename(folder)
    return folder


@pytest.fixture(scope="session")
def complete(fresh, tmp_path_factory, worker_id):
    """The folder of a complete run on the project's own templates; no test changes it."""

    def run():
        workflow = fresh(NAMES)
        done = workflow.snakemake(*TARGETS)
        assert done.returncode == 0, done.stdout[-6000:]
        return workflow.folder

    return made_once(tmp_path_factory, worker_id, "complete", run)


@pytest.fixture(scope="module")
def finished(complete, tmp_path_factory):
    """A copy of the complete run; each file of tests has its own."""
    return Workflow.of(Path(shutil.copytree(complete, tmp_path_factory.mktemp("finished") / "site")))


@pytest.fixture(scope="module")
def asked(finished):
    """Ask the audit of the finished run; as :func:`audit`, but the run is planned once for all questions of a file."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("answer.py"))],
        cwd=finished.folder,
        env={**os.environ, "PYTHONPATH": str(finished.folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def ask(*arguments):
        process.stdin.write(json.dumps(audit_options(*arguments)) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        assert answer, f"the audit ended at {arguments}"
        return tuple(json.loads(answer))

    yield ask
    process.stdin.close()
    process.wait()
