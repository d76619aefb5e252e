"""`snakemake --profile slurm` on a Slurm without an accounting database, which some sites have."""

import pytest

from tests.slurm.conftest import OTHERS, PROFILE, SCORES, unequal

pytestmark = [pytest.mark.slurm, pytest.mark.nightly]


def test_without_accounting_nothing_hangs(bare_cluster, snakemake, unscored, local):
    """No database, so no sacct to fall back on: the controller is away at a poll, and a job is cancelled."""
    run = snakemake(bare_cluster, unscored, *PROFILE, "--", f"{SCORES}/tiny-bert.parquet")
    run.hold("tiny-bert")
    bare_cluster.stop_controller()
    run.says("Slurm does not answer", 90)
    bare_cluster.start_controller()
    (job,) = run.jobs("tiny-bert")
    bare_cluster.run("scancel", job)
    assert run.wait() == 0, run.text[-4000:]
    assert f"SLURM-job '{job}' failed, SLURM status is: 'CANCELLED'" in run.text
    assert unequal(unscored, local) == OTHERS
