"""A workstation with several GPUs and no Slurm: a scoring job sees one that no job beside it uses."""

import os
import re

import pytest
import yaml

from scripts.core.workflow import gpus

pytestmark = pytest.mark.workflow


def test_a_scoring_job_sees_a_gpu_that_no_other_job_uses(fresh, monkeypatch, tmp_path):
    workflow = fresh(("tiny-bert",))
    registry = workflow.folder / "zoo/models.yaml"
    models = yaml.safe_load(registry.read_text())
    models["models"]["tiny-bert"]["gpus"] = 1
    registry.write_text(yaml.safe_dump(models, sort_keys=False))
    monkeypatch.setenv(gpus.VISIBLE, "0,1")
    # The test is the job beside it, so that nothing depends on which of two jobs ends first.
    with gpus.reserve_gpus(1, folder=tmp_path / f"pronoun-gpus-{os.getuid()}") as held:
        monkeypatch.setenv(gpus.VISIBLE, "0,1")
        scores = "results/ruff/scores/replica/tiny-bert.parquet"
        done = workflow.snakemake("--resources", "gpu=2", "--", scores, environment={"TMPDIR": str(tmp_path)})
    assert held == ["0"]
    assert done.returncode == 0, done.stdout[-4000:]
    log = (workflow.folder / "results/logs/score/ruff/replica/tiny-bert/1of1.log").read_text(encoding="utf-8")
    assert re.search(r"GPUs (\S+)\n", log).group(1) == "1"
