"""A workstation with several GPUs and no Slurm: scoring jobs side by side see one each, not the same one."""

import re

import pytest
import yaml

pytestmark = pytest.mark.workflow


def test_scoring_jobs_side_by_side_see_distinct_gpus(fresh):
    names = ("tiny-bert", "tiny-opt")
    workflow = fresh(names)
    registry = workflow.folder / "zoo/models.yaml"
    models = yaml.safe_load(registry.read_text())
    for name in names:
        models["models"][name]["gpus"] = 1
    registry.write_text(yaml.safe_dump(models, sort_keys=False))
    done = workflow.snakemake(
        "--resources", "gpu=2", "--set-threads", "score=1", "--", "scores",
        environment={"PRONOUN_PRETEND_GPUS": "0,1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    logs = [
        (workflow.folder / f"results/logs/score/ruff/replica/{name}/1of1.log").read_text(encoding="utf-8")
        for name in names
    ]
    assert sorted(re.search(r"GPUs (\S+)\n", log).group(1) for log in logs) == ["0", "1"]
