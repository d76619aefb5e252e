"""Underspecification's rows of the summary over all studies."""

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import summary as summaries
from scripts.underspecification import paper

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
    numbers = {"ci_low": 0.0, "ci_high": 1.0, "sentences": 60, "occupations": 12}
    files.write_csv(tmp_path / "slopes.csv", pd.DataFrame(slopes, columns=SLOPES).assign(**numbers))
    files.write_csv(tmp_path / "detection.csv", pd.DataFrame(detection, columns=DETECTION).assign(**numbers))
    models = {"a": {"label": "A", "demonstration": True}}
    paper.summary(
        slopes=str(tmp_path / "slopes.csv"), detection=str(tmp_path / "detection.csv"),
        summary=str(tmp_path / "summary.csv"), models=models,
    )  # fmt: skip
    made = estimate_rows.read([tmp_path / "summary.csv"])
    told = [
        (
            row["part"],
            row["model"],
            summaries.describe_subject(row),
            summaries.describe_metric(row),
            row["value"],
            "demonstration" if row["demonstration"] else row["kind"],
        )
        for row in made.to_dict("records")
    ]
    assert told == [
        ("run", "a", "A", "slope, female minus male, over dates", 0.3, "demonstration"),
        ("aaai", "B", "B, prompt C", "slope, female minus male, over places", 0.7, "released"),
        ("run", "a", "A", "AUC, Winogender, replica, female", 0.6, "demonstration"),
        ("run", "a", "A", "slope, over dates, female", 1.2, "demonstration"),
        ("run", "a", "A", "balanced accuracy, Winogender, replica, female", 0.5, "demonstration"),
        ("run", "a", "A", "AUC, simplified, replica, male", 0.3, "demonstration"),
    ]
    assert made.headline.tolist() == 3 * [True] + 3 * [False]
    assert set(made.unit) == {"percentage points a step", "share"} and made.n.tolist() == [60, 60, 12, 60, 12, 12]
    assert made.n_unit.tolist() == [{60: "sentences", 12: "occupations"}[n] for n in made.n]
