"""A job leaves a record when it is done, which is complete and says nothing of the machine."""

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.core import files
from scripts.core.provenance import job_records

HERE = Path(__file__).parents[3]
NAME = "results/provenance/copy/templates=replica.json"
JOB = """
import sys
from types import SimpleNamespace
from scripts.core.errors import UserError
from scripts.core.workflow.job import run

class Named(dict):
    def __iter__(self):
        return iter(self.values())
    def __len__(self):
        return len(self.values())
    def __getitem__(self, n):
        return list(self.values())[n]

snakemake = SimpleNamespace(
    rule="copy", wildcards={"templates": "replica"}, input=Named(source="in.txt"),
    output=Named(target="results/out.txt", log="results/log.txt"),
    params=Named(n=3, _code={"scripts/core/files.py": "0"}),
    log=["job.log"], threads=1, resources={},
)

def main(*, source, target, log, n):
    from pathlib import Path
    import pandas
    if sys.argv[1] == "fail":
        raise UserError("no")
    Path(target).parent.mkdir(exist_ok=True)
    Path(target).write_text(Path(source).read_text() * n)
    if sys.argv[1] != "half":
        Path(log).write_text("done")

run(main)
"""


def run_job(folder, how):
    (folder / "in.txt").write_text("text")
    (folder / "job.py").write_text(JOB)
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    return subprocess.run([sys.executable, "job.py", how], cwd=folder, env=environment, check=False).returncode


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    assert run_job(folder, "well") == 0
    return folder


def test_a_finished_job_leaves_a_complete_record(finished, monkeypatch):
    record = json.loads((finished / NAME).read_text())
    assert record["inputs"] == {"in.txt": files.sha256(finished / "in.txt")}
    outputs = ("results/out.txt", "results/log.txt")
    assert record["outputs"] == {path: files.sha256(finished / path) for path in outputs}
    assert record["params"] == {"n": 3, "_code": {"scripts/core/files.py": "0"}}
    paths = {"source": "in.txt", "target": "results/out.txt", "log": "results/log.txt"}
    assert record["call"] == {"script": "job.py", "function": "main", "paths": paths}
    assert record["packages"]["pandas"] and record["lock"]["requirements.lock"] and record["machine"]["cpu"]
    assert record["started"] <= record["ended"]
    assert record["checksum"] == job_records.checksum(record)
    monkeypatch.chdir(finished)
    problems = {}
    assert (
        job_records.index_by_output(job_records.load_records(problems=problems)) == dict.fromkeys(outputs, NAME)
        and problems == {}
    )


def test_a_record_says_nothing_of_the_machine_or_its_folders(finished):
    text = (finished / NAME).read_text()
    for secret in (str(HERE), str(finished), str(Path.home()), platform.release()):
        assert secret not in text
    assert not re.search(rf"\b{re.escape(platform.node())}\b", text)


@pytest.mark.parametrize(("how", "status"), [("fail", 1), ("half", 0)])
def test_a_job_that_fails_or_makes_half_of_its_outputs_leaves_no_record(tmp_path, how, status):
    """Not even that of an earlier run."""
    (tmp_path / NAME).parent.mkdir(parents=True)
    (tmp_path / NAME).write_text("{}")
    assert run_job(tmp_path, how) == status
    assert not (tmp_path / NAME).exists()
