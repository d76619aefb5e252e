"""Scores that are drawn look like those of models, and say what they are."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import losses, model_outputs
from scripts.synthetic import draw_scores


def drawn(folder, seed=1, score="log_likelihood", name="scores.parquet"):
    """Draw scores of 60 instances, one of which comes twice, and return them with their metadata."""
    table = pd.DataFrame(
        {
            "instance_id": [f"{i:016x}" for i in range(60)],
            "options": [["he", "she", "they"][: 2 + i % 2] for i in range(60)],
            "gold": [None if i % 10 == 0 else "she" for i in range(60)],
        }
    )
    table = pd.concat([table, table.iloc[3:4]], ignore_index=True)
    files.write_parquet(folder / "instances.parquet", table)
    entry = {"source": {"synthetic": seed}, "architecture": "decoder", "precision": "float32", "demonstration": False}
    path = folder / name
    draw_scores.main(
        instances=str(folder / "instances.parquet"), scores=str(path), model="synthetic-01", entry=entry, score=score
    )
    return model_outputs.read_scores(path, "synthetic-01", table), files.parquet_metadata(path)


def test_they_are_read_like_a_model_s_and_say_that_they_were_drawn(tmp_path):
    scores, facts = drawn(tmp_path)
    assert len(scores) == 150
    assert facts["engine"] == "synthetic" and facts["synthetic"] is True and facts["source"] == {"synthetic": 1}
    assert facts["weights_sha256"] == "none, drawn" and facts["revision"] is None


def test_they_follow_from_the_seed(tmp_path):
    first, other = drawn(tmp_path)[0], drawn(tmp_path, seed=2)[0]
    pd.testing.assert_frame_equal(first, drawn(tmp_path)[0])
    assert not np.allclose(first.log_probability, other.log_probability)


def test_parts_of_the_instances_change_nothing(tmp_path, monkeypatch):
    whole = drawn(tmp_path)[0]
    monkeypatch.setattr(draw_scores, "BATCH", 7)
    pd.testing.assert_frame_equal(drawn(tmp_path)[0], whole)


@pytest.mark.parametrize("capitals", ["corrected", "faithful"])
def test_losses_have_their_columns(tmp_path, capitals):
    scores, _ = drawn(tmp_path, score="label_loss")
    compared = losses.comparable_scores(scores, "mean", capitals=capitals)
    assert compared.log_probability.notna().all() and (scores.option_tokens > 0).all()
