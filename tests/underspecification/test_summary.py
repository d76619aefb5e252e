"""Underspecification's rows of the summary over all studies."""

import pandas as pd

from scripts.core import files
from scripts.underspecification import summary

SLOPES = ["release", "model", "prompt", "variable", "gender", "accumulation", "metric", "value"]
DETECTION = [
    "release", "model", "prompt", "evaluation_set", "templates", "accumulation", "gender", "dates", "choice", "metric",
    "value",
]  # fmt: skip


def test_slopes_and_detection_are_listed_by_source_and_prompt(tmp_path):
    slopes = [
        ("run", "A", "mask", "date", "female", "top", "slope", 1.2),
        ("run", "A", "mask", "date", "female minus male", "top", "slope", 0.3),
        ("run", "A", "mask", "date", "female minus male", "full", "slope", 0.4),
        ("run", "A", "authors' mean of prompts", "date", "female minus male", "top", "slope", 0.1),
        ("run", "A", "mask", "date", "female", "top", "r", 0.9),
        ("aaai", "B", "C", "place", "female minus male", "top", "slope", 0.7),
    ]
    detection = [
        ("run", "A", "mask", "winogender", "replica", "top", "female", 1, "none", "AUC", 0.6),
        ("run", "A", "mask", "winogender", "replica", "top", "female", 1, "fixed", "balanced accuracy", 0.5),
        ("run", "A", "mask", "winogender", "replica", "top", "female", 1, "cross-validated", "balanced accuracy", 0.4),
        ("run", "A", "mask", "simplified", "replica", "top", "male", 1, "none", "AUC", 0.3),
        ("aaai", "B", "A", "winogender", "official", "top", "female", 2, "none", "AUC", 0.8),
    ]
    numbers = {"ci_low": 0.0, "ci_high": 1.0, "sentences": 60}
    files.write_csv(tmp_path / "slopes.csv", pd.DataFrame(slopes, columns=SLOPES).assign(**numbers))
    files.write_csv(tmp_path / "detection.csv", pd.DataFrame(detection, columns=DETECTION).assign(**numbers))
    models = {"a": {"label": "A", "demonstration": True}}
    summary.main(
        slopes=str(tmp_path / "slopes.csv"), detection=str(tmp_path / "detection.csv"),
        summary=str(tmp_path / "summary.csv"), models=models,
    )  # fmt: skip
    made = files.read_csv(tmp_path / "summary.csv").fillna("")
    told = made[["data", "model", "metric", "group", "value", "status", "headline"]].values.tolist()
    assert told == [
        ["", "A", "slope over dates", "female minus male", 0.3, "demonstration", True],
        ["aaai", "B, prompt C", "slope over places", "female minus male", 0.7, "released", True],
        ["replica", "A", "AUC, Winogender", "female", 0.6, "demonstration", True],
        ["", "A", "slope over dates", "female", 1.2, "demonstration", False],
        ["replica", "A", "balanced accuracy, Winogender", "female", 0.5, "demonstration", False],
        ["replica", "A", "AUC, simplified", "male", 0.3, "demonstration", False],
    ]
