"""What models are called in files, in tables and among a run's own."""

import pandas as pd

from scripts.core import files
from scripts.underspecification import study
from tests.refusals import refused


def test_models_are_told_apart_by_their_prompt():
    assert [study.released_label("google_ul2", prompt) for prompt in ("mask", "B")] == [
        "UL2-20B denoiser",
        "UL2-20B gen",
    ]
    assert [study.run_label("UL2-20B", prompt) for prompt in ("mask", "B")] == ["UL2-20B denoiser", "UL2-20B gen"]
    assert study.released_label("davinci", "mask") is None and study.run_label("BERT-base", "mask") == "BERT-base"
    assert study.order_labels(["own", "GPT-3", "BERT-base"]) == ["BERT-base", "GPT-3", "own"]


def test_a_table_without_rows_is_refused(tmp_path):
    files.write_csv(tmp_path / "curves.csv", pd.DataFrame(columns=["model"]))
    with refused("curves.csv", "no row", "config"):
        study.read_table(tmp_path / "curves.csv")
