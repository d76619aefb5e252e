"""Measurements of scoring: every engine has a row, and all agree."""

from scripts.scoring import bench_scoring
from tests.core.scoring.architectures import frame

INSTANCES = frame([(text, ["she", "they"]) for text in ("The weaver said that ___ came.", "The baker knows ___.")])


def test_every_engine_has_a_row_and_the_loops_scores(loaded):
    architecture, network, tokenizer = loaded["tiny-llama"]
    rows = bench_scoring.measure(network, tokenizer, architecture, network.device.type, INSTANCES, 1)
    assert [row["engine"] for row in rows] == ["loop", "minicons", "packed"]
    assert all(row["max_abs_difference"] < 1e-3 and row["sequences_per_second"] > 0 for row in rows)
