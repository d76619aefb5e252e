"""Bad input ends a run with one line that names file, row and remedy, and leaves no half-written output.

Each refusal is tested where it is raised; here one of each way that they take: while Snakemake reads the configuration,
in a job, in a download, and where the disk is full.
"""

import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.workflow

CONTEXT_FREE = "results/ruff/instances/replica/context_free.parquet"


@pytest.fixture(scope="module")
def workflow(fresh):
    return fresh(("tiny-bert",))


def replace(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def unknown_key(workflow):
    replace(workflow.folder / "config/test.yaml", "sample_size", "sample_sise")
    done = workflow.snakemake("scores")
    replace(workflow.folder / "config/test.yaml", "sample_sise", "sample_size")
    return done, "results/ruff", ["config/test.yaml, line ", "sample_sise", "did you mean 'sample_size'?"]


def control_character(workflow):
    path = workflow.folder / "templates/ruff/task.tsv"
    before = path.read_text(encoding="utf-8")
    lines = before.splitlines(keepends=True)
    lines[19] = lines[19].replace("{", "\0{", 1)
    path.write_text("".join(lines), encoding="utf-8")
    done = workflow.snakemake(CONTEXT_FREE)
    path.write_text(before, encoding="utf-8")
    return done, CONTEXT_FREE, ["task.tsv, row 20: ", "control character U+0000; remove it"]


def corrupted_archive(workflow):
    path = workflow.folder / "mirror/ruff/data.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(7000))
    target = "results/upstream/ruff/data.zip"
    done = workflow.snakemake(target, environment={"PRONOUN_UPSTREAM_MIRROR": str(workflow.folder / "mirror")})
    return done, target, ["data.zip", "sha256"]


def truncated_parquet(workflow):
    """Half of a file that an earlier job made."""
    assert workflow.snakemake(CONTEXT_FREE).returncode == 0
    path, target = workflow.folder / CONTEXT_FREE, "results/ruff/instances/replica/selected.parquet"
    path.write_bytes(path.read_bytes()[:-30])
    done = workflow.snakemake(target)
    return done, target, ["context_free.parquet", "truncated", "delete it"]


PROBE = '''"""Write a table that does not fit."""
import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.workflow import job, logs


def main(*, path: str = "small/table.parquet"):
    """Write random numbers."""
    files.write_parquet(path, pd.DataFrame({"x": np.random.default_rng(0).random(100_000)}))


if __name__ == "__main__":
    logs.configure(None)
    job.call(main, {})
'''


def no_space_left(workflow):
    """Write a full set into a file system of 64 kB."""
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode:
        pytest.skip("user namespaces are not allowed here: no small file system can be mounted")
    (workflow.folder / "small").mkdir()
    (workflow.folder / "scripts/core/fill_disk_probe.py").write_text(PROBE)
    command = (
        "mount -t tmpfs -o size=64k tmpfs small && "
        f"{sys.executable} -m scripts.core.fill_disk_probe; status=$?; find small -type f | head; exit $status"
    )
    done = subprocess.run(
        [*unshare, "bash", "-c", command],
        cwd=workflow.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert "\nsmall/" not in done.stdout, "a temporary file was left"
    return done, "small/table.parquet", ["small/table.parquet", "no space left", "free some space"]


CASES = [unknown_key, control_character, corrupted_archive, truncated_parquet, no_space_left]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_bad_input(workflow, case):
    done, output, words = case(workflow)
    assert done.returncode != 0
    lines = [line for line in done.stdout.splitlines() if all(word in line for word in words)]
    assert lines, f"no single line has all of {words}:\n{done.stdout[-3000:]}"
    assert "Traceback" not in done.stdout
    assert not (workflow.folder / output).exists()
