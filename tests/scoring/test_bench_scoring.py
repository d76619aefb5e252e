"""Measurements of scoring: every engine has a row; the peer is a stand-in, so that nothing is installed."""

import pandas as pd
import pytest

from scripts.core import config
from scripts.core.engines import models
from scripts.scoring import bench_scoring
from tests import zoo as builder
from tests.prompting.test_bench_prompting import python  # noqa: F401

INSTANCES = pd.DataFrame(
    {
        "instance_id": ["a", "b"],
        "text": ["The weaver said that ___ would come.", "The baker knows what ___ wants."],
        "options": [["she", "they"], ["she", "they"]],
    }
)


def test_decoders_are_scored_by_the_peer_as_well(python, tmp_path):  # noqa: F811
    entry = config.load_yaml(builder.build(tmp_path, ["tiny-llama"]))["models"]["tiny-llama"]
    network, tokenizer = models.load("tiny-llama", entry, models.locate("tiny-llama", entry, None), "cpu")
    rows = bench_scoring.measure(network, tokenizer, "decoder", "cpu", INSTANCES, 1, str(python))
    assert [row["engine"] for row in rows] == ["loop", "minicons", "lm-evaluation-harness", "packed"]
    assert rows[1]["max_abs_difference"] < 1e-3 and rows[3]["max_abs_difference"] < 1e-3
    # What the stand-in says is no score.
    assert rows[2]["max_abs_difference"] > 1


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-gpt2"])
def test_the_first_token_is_what_the_rest_is_asked_for_given(name, tmp_path):
    """Tiny Llama's tokenizer begins texts with a token of its own, which the harness puts before an empty text."""
    entry = config.load_yaml(builder.build(tmp_path, [name]))["models"][name]
    _, tokenizer = models.load(name, entry, models.locate(name, entry, None), "cpu")
    for text in ("The weaver said so.", "Xe came."):
        first, rest = bench_scoring.split_first_token(tokenizer, text)
        assert first + rest == text
        tokens = tokenizer(text)["input_ids"]
        begun = tokenizer(first, add_special_tokens=False)["input_ids"] or [tokenizer.bos_token_id]
        assert begun[0] == tokens[0]
        assert (first == "") == (name == "tiny-llama")
