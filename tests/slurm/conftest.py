"""One real Slurm for all tests, a local run as the measure, and copies of it in which something goes wrong."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest
import yaml
from filelock import FileLock

from tests import zoo as builder
from tests.slurm.cluster import ACCOUNT, MARK, Cluster, missing_programs
from tests.workflow.conftest import ROOT, Workflow, made_once

# One model for each kind of job: no GPU, one GPU, two GPUs. None uses a GPU: the configuration says device cpu.
GPUS = {"tiny-bert": 0, "tiny-opt": 1, "tiny-llama": 2}
QUICKLY = str(Path(__file__).with_name("quickly.py"))
PROFILE = ("--profile", "slurm")
SCORES = "results/ruff/scores/replica"
# What differs from a complete run where only tiny-bert was asked for.
OTHERS = [f"{SCORES}/tiny-{name}{part}.parquet" for name in ("llama", "opt") for part in ("", "/1of1")]
# Made anew by every run, or carrying its time and place.
UNEQUAL = ("logs", "benchmarks", "provenance")


@pytest.fixture(scope="session")
def cluster():
    """A Slurm with accounting; skipped where its programs are missing, unless PRONOUN_REQUIRE_SLURM says otherwise."""
    yield from start(accounting=True)


@pytest.fixture(scope="session")
def bare_cluster():
    """A Slurm without an accounting database, which some sites have."""
    yield from start(accounting=False)


def start(accounting):
    missing = missing_programs()
    if missing:
        reason = f"Slurm is not installed here ({missing[0]} is missing): see envs/slurm.sh"
        if os.environ.get("PRONOUN_REQUIRE_SLURM"):
            pytest.fail(reason)
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    cluster = Cluster(folder, accounting)
    try:
        # Test processes side by side start their clusters in turns.
        with FileLock(Path(tempfile.gettempdir()) / "pronoun-test-cluster.lock"):
            cluster.up()
        yield cluster
    finally:
        cluster.down()
        shutil.rmtree(folder, ignore_errors=True)


def scores(comment, model):
    """Whether a job with this comment scores the model."""
    return re.match(rf"rule_score_.*_{model}(_|$)", comment) is not None


def minutes(job):
    """Return the time limit of a job from the accounts."""
    hours, minute, _ = map(int, job["Timelimit"].split(":"))
    return hours * 60 + minute


class Run:
    """A Snakemake in the background of a copy of the repository; what it prints is in ``text``."""

    def __init__(self, cluster, folder, *arguments):
        self.cluster, self.folder = cluster, folder
        self.log = Path(tempfile.mkstemp(suffix=".log", dir=folder)[1])
        # Snakemake's usual output, from which the tests read what became of each job.
        overlay = ["--configfile", "config/test.yaml"] if (folder / "config").exists() else []
        command = [sys.executable, QUICKLY, *overlay, "--nocolor", "-p", *arguments]
        with self.log.open("w") as out:
            self.process = subprocess.Popen(
                command, cwd=folder, env={**cluster.environment, "PROJECT": str(ROOT)},
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                # Whoever runs the tests in the background may have told them to ignore Ctrl-C.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )  # fmt: skip

    @property
    def text(self):
        return self.log.read_text(encoding="utf-8")

    def until(self, condition, what, seconds=300):
        """Wait for a condition and return its value."""
        end = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < end, f"no {what} after {seconds} s\n{self.text[-3000:]}"
            time.sleep(0.3)
        return value

    def says(self, words, seconds=300):
        self.until(lambda: words in self.text or self.process.poll() is not None, f"'{words}'", seconds)
        assert words in self.text, self.text[-3000:]

    def jobs(self, model):
        """Return the numbers of the running jobs that score a model in this folder."""
        return {
            job["id"]
            for job in self.cluster.queue()
            if scores(job["comment"], model) and job["state"] == "RUNNING" and job["folder"] == str(self.folder)
        }

    def hold(self, *models):
        """Stop the scoring processes of models, so that their jobs run on without an end; return the jobs' numbers.

        All are looked for at the same time: another one may be done before the first is seen.
        """
        held = {}

        def all_held():
            scoring = {number: model for model in models for number in self.jobs(model)}
            for process in psutil.process_iter(["cmdline"]):
                if not (process.info["cmdline"] or [""])[-1].endswith("score.py"):
                    continue
                try:
                    number = process.environ().get("SLURM_JOB_ID")
                    if number in scoring and process.environ().get(MARK) == str(self.cluster.folder):
                        process.send_signal(signal.SIGSTOP)
                        held[scoring[number]] = number
                except psutil.Error:
                    continue
            return len(held) == len(models)

        self.until(all_held, f"scoring processes of {', '.join(models)}")
        return [held[model] for model in models]

    def wait(self, seconds=600):
        """Return the exit status."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"the run hangs\n{self.text[-4000:]}") from None


@pytest.fixture(scope="session")
def snakemake():
    """Start runs; those that a failed test leaves behind are ended."""
    runs = []

    def start_run(cluster, folder, *arguments):
        runs.append(Run(cluster, folder, *arguments))
        return runs[-1]

    yield start_run
    for run in runs:
        if run.process.poll() is None:
            run.process.kill()
            run.process.wait()


@pytest.fixture(scope="session")
def untouched(tmp_path_factory, worker_id):
    """A copy of the repository with the zoo and the profile of a site, in which nothing runs; shared, as ``local``."""
    return made_once(tmp_path_factory, worker_id, "untouched", lambda: site(tmp_path_factory.mktemp("site")))


def site(folder):
    registry = builder.build(folder / "zoo", tuple(GPUS))
    Workflow(folder)
    shutil.copytree(ROOT / "slurm", folder / "slurm")
    # Relative to the run, so that the folder can be copied with all that is in it.
    models = yaml.safe_load(registry.read_text().replace(f"{folder}/", ""))
    for name, count in GPUS.items():
        models["models"][name]["gpus"] = count
    registry.write_text(yaml.safe_dump(models, sort_keys=False))
    overlay = folder / "config/test.yaml"
    text = re.sub(r"^models: \[.*\]", f"models: [{', '.join(GPUS)}]", overlay.read_text(), flags=re.MULTILINE)
    # Without prompted models: one job for each kind of resources is enough.
    text = re.sub(r"( +.*\bmodels: )\[.*?\]", r"\1[]", text)
    # The other studies' models are scored and prompted by the same jobs as RUFF's.
    text = f"studies: [ruff, counter_gap, underspecification]\n{text}"
    overlay.write_text(
        text.replace("sample_size: 12", "sample_size: 4").replace("[0, 1, 2]", "[0, 1]").replace("[0, 2]", "[0, 1]")
    )
    # A site's account; no more threads than this machine may have.
    change(folder, "slurm_account: null", f"slurm_account: {ACCOUNT}")
    change(folder, "cores: 4", "cores: 2\nset-threads: {score: 1}")
    change(folder, "status-checks: 20", "status-checks: 2")
    return folder


def change(folder, old, new):
    """Change the profile; ``status-checks: 20``: a first look at the jobs after that many seconds."""
    path = folder / "slurm/profile.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.fixture
def small(tmp_path):
    """A folder with small.smk in place of the workflow, under the profile for Slurm."""
    shutil.copytree(ROOT / "slurm", tmp_path / "slurm")
    shutil.copy2(Path(__file__).with_name("small.smk"), tmp_path / "Snakefile")
    change(tmp_path, "status-checks: 20", "status-checks: 2")
    return tmp_path


@pytest.fixture(scope="session")
def local(untouched, tmp_path_factory, worker_id):
    """The same after a complete local run; test processes side by side share one, which none of them changes."""

    def run():
        folder = Path(shutil.copytree(untouched, tmp_path_factory.mktemp("local") / "site"))
        done = subprocess.run(
            [sys.executable, "-m", "snakemake", "--configfile", "config/test.yaml", "--nocolor", "--cores", "2",
             "--set-threads", "score=1", "--", "ruff", "ruff_section"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-4000:]
        return folder

    return made_once(tmp_path_factory, worker_id, "local", run)


def without_scores(local, folder):
    """Copy the local run without its scores: a run of ``scores`` then makes one job for each model."""
    return Path(shutil.copytree(local, folder / "site", ignore=shutil.ignore_patterns("scores")))


@pytest.fixture
def unscored(local, tmp_path):
    """A copy of the local run without its scores."""
    return without_scores(local, tmp_path)


def unequal(folder, measure, part="results"):
    """Return the files below ``part`` that are not in both folders, byte for byte the same."""

    def content(root):
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in sorted((root / part).rglob("*"))
            if path.is_file() and path.relative_to(root).parts[1] not in UNEQUAL
        }

    ours, theirs = content(folder), content(measure)
    assert theirs
    return sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
