"""Underspecification's rows of the summary over all studies."""

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import summary as summaries
from scripts.underspecification import section, study

COLUMNS = [
    "part", "label", "prompt", "evaluation_set", "templates", "variable", "accumulation", "gender", "dates", "choice",
    "metric", "value",
]  # fmt: skip
DIFFERENCE = "slope, female minus male"


def test_slopes_and_detection_are_listed_by_part_and_prompt(tmp_path):
    rows = [
        ("run", "A", "mask", "mgc", "", "date", "top", "female", "", "", "slope", 1.2),
        ("run", "A", "mask", "mgc", "", "date", "top", "", "", "", DIFFERENCE, 0.3),
        ("run", "A", "mask", "mgc", "", "date", "full", "", "", "", DIFFERENCE, 0.4),
        ("run", "A", "mask", "mgc", "", "date", "top", "", "", "", f"{DIFFERENCE}, authors' mean", 0.1),
        ("run", "A", "mask", "mgc", "", "date", "top", "female", "", "", "r", 0.9),
        ("aaai", "B", "C", "mgc", "", "place", "top", "", "", "", DIFFERENCE, 0.7),
        ("aaai", "B", "A|B|C", "mgc", "", "place", "top", "", "", "", DIFFERENCE, 0.8),
        ("run", "A", "mask", "winogender", "replica", "", "top", "female", 1, "", "AUC", 0.6),
        ("run", "A", "mask", "winogender", "replica", "", "top", "female", 1, "fixed", "balanced accuracy", 0.5),
        ("run", "A", "mask", "winogender", "replica", "", "top", "female", 1, "crossed", "balanced accuracy", 0.4),
        ("run", "A", "mask", "simplified", "replica", "", "top", "male", 1, "", "AUC", 0.3),
        ("aaai", "B", "A", "winogender", "official", "", "top", "female", 2, "", "AUC", 0.8),
    ]  # fmt: skip
    table = study.identify(pd.DataFrame(rows, columns=COLUMNS))
    table = table.assign(model=table.label.replace("A", "a"), low=0.0, high=1.0, n=60)
    table["clusters"] = table.evaluation_set.map({"mgc": 60}).fillna(12)
    files.write_csv(tmp_path / "estimates.csv", table)
    models = {"a": {"label": "A", "demonstration": True}}
    section.summary(estimates=str(tmp_path / "estimates.csv"), summary=str(tmp_path / "summary.csv"), models=models)
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
