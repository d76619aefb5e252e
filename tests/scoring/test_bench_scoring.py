"""Measurements of scoring: every engine has a row, and all agree."""

import pandas as pd

from scripts.core import config
from scripts.scoring import bench_scoring
from tests import zoo as builder

INSTANCES = pd.DataFrame(
    {
        "instance_id": ["a", "b"],
        "text": ["The weaver said that ___ would come.", "The baker knows what ___ wants."],
        "options": [["she", "they"], ["she", "they"]],
    }
)


def test_every_engine_has_a_row_and_the_loops_scores(tmp_path):
    entry = config.load_yaml(builder.build(tmp_path, ["tiny-llama"]))["models"]["tiny-llama"]
    network, tokenizer = builder.load("tiny-llama", entry, device="cpu")
    rows = bench_scoring.measure(network, tokenizer, "decoder", "cpu", INSTANCES, 1)
    assert [row["engine"] for row in rows] == ["loop", "minicons", "packed"]
    assert all(row["max_abs_difference"] < 1e-3 and row["sequences_per_second"] > 0 for row in rows)
