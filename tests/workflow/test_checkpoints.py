"""A local checkpoint that is overwritten in place is run again by ``snakemake`` alone, with all that follows."""

import json
import os
import shutil

import pytest

from scripts.core import files
from tests import forks
from tests.workflow.conftest import type_command

pytestmark = pytest.mark.workflow

SCORES = "results/ruff/scores/replica/tiny-llama.parquet"
ANSWERS = "results/ruff/answers/replica/tiny-llama.parquet"
DISTRIBUTIONS = "results/underspecification/distributions/mgc/tiny-llama.parquet"
ACCURACY = "results/ruff/estimates.csv"
TARGETS = (ACCURACY, ANSWERS, DISTRIBUTIONS)
RUN = {"score", "merge_scores", "prompt", "merge_answers", "token_distributions"}


def overwrite(path):
    """Give a checkpoint other weights in place: same size, same time of modification."""
    from safetensors.torch import load_file, save_file

    stat = path.stat()
    save_file({name: tensor.flip(0) for name, tensor in load_file(path).items()}, path, metadata={"format": "pt"})
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (stat.st_size, stat.st_mtime_ns)


def test_an_untouched_checkpoint_reruns_nothing(finished):
    assert finished.planned(*TARGETS) == {}
    (finished.folder / "zoo/tiny-llama/model.safetensors").touch()
    assert finished.planned(*TARGETS) == {}


@pytest.mark.nightly
def test_a_finished_run_outlives_its_checkpoint(finished):
    """Not even weights that only a dry run and an audit saw in its place count as those of the results."""
    folder = finished.folder / "zoo/tiny-llama"
    shutil.copytree(folder, finished.folder / "aside")
    overwrite(folder / "model.safetensors")
    assert set(finished.planned(*TARGETS)) >= RUN
    arguments = ["--configfile", "config/test.yaml", "--json"]
    forks.run_module("scripts.audit", arguments, finished.folder, apart=True)
    shutil.rmtree(folder)
    try:
        assert finished.planned(*TARGETS) == {}
        done = forks.run_module("scripts.audit", arguments, finished.folder, apart=True)
        shard = json.loads(done.stdout)["files"][SCORES.replace(".parquet", "/1of1.parquet")]
        assert shard["verdict"] == "current", shard
        done = forks.run_module(
            "scripts.audit", ["--configfile", "config/test.yaml", ACCURACY], finished.folder, apart=True
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert finished.snakemake(*TARGETS).returncode == 0
    finally:
        (finished.folder / "aside").rename(folder)


def test_an_overwritten_checkpoint_is_run_again_with_what_follows(finished):
    before = {path: files.read_parquet(finished.folder / path) for path in (SCORES, ANSWERS, DISTRIBUTIONS)}
    overwrite(finished.folder / "zoo/tiny-llama/model.safetensors")
    # The audit names the weights, once, as it does where nothing can be run.
    arguments = ["--configfile", "config/test.yaml", "--json"]
    done = forks.run_module("scripts.audit", arguments, finished.folder, apart=True)
    shard = json.loads(done.stdout)["files"][SCORES.replace(".parquet", "/1of1.parquet")]
    assert (shard["verdict"], [entry["kind"] for entry in shard["reasons"]]) == ("stale", ["weights"])
    assert set(finished.planned(*TARGETS)) >= RUN | {"ruff_predictions", "ruff_estimates"}
    done = finished.snakemake(*TARGETS)
    assert done.returncode == 0, done.stdout[-6000:]
    for path, frame in before.items():
        assert not frame.equals(files.read_parquet(finished.folder / path)), path
    assert finished.planned(*TARGETS) == {}


def test_scores_are_merged_again_after_a_shard_was_to_be_replaced_and_its_job_was_killed(finished, tmp_path):
    """Snakemake deletes the shard, and records the settings of the killed job as if it had succeeded."""
    settings, shard = (
        finished.folder / "config/test.yaml",
        finished.folder / SCORES.replace(".parquet", "/1of1.parquet"),
    )
    settings.write_text(settings.read_text().replace("tokens_per_batch: 8192", "tokens_per_batch: 4096"))
    killing = "import os, sys\nif sys.orig_argv[-1].endswith('.score.py'):\n    os.kill(os.getpid(), 9)\n"
    (tmp_path / "sitecustomize.py").write_text(killing)
    command = f"PYTHONPATH={tmp_path} snakemake --cores 1 --configfile config/test.yaml -- {SCORES}"
    done = type_command(command, finished.folder)
    assert done.returncode == 1 and "died with <Signals.SIGKILL: 9>" in done.stdout and not shard.exists(), done.stdout
    assert finished.planned(SCORES) == {"score": 1, "merge_scores": 1}
    assert finished.snakemake(SCORES).returncode == 0
    assert finished.planned(SCORES) == {}
