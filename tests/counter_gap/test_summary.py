"""Counter-GAP's rows of the summary over all studies."""

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import summary as summaries
from scripts.counter_gap import paper

FLAGS, RULE = ("released", "released", "BERT-base"), ("replica", "clusters", "First name (rule)")


def test_systems_rules_and_debiasing_are_told_apart(tmp_path):
    rows = [
        (*FLAGS, "none", "all", "delta_i", "all", 0.05, 0.03, 0.07),
        (*FLAGS, "n-CDA", "all", "delta_i", "all", 0.02, 0.01, 0.03),
        (*FLAGS, "none", "near", "delta_i", "all", 0.5, 0.3, 0.7),
        (*FLAGS, "none", "all", "accuracy", "M", 0.6, 0.5, 0.7),
        (*FLAGS, "none", "all", "split", "all", 0.6, 0.5, 0.7),
        (*FLAGS, "none", "all", "i_across", "M2F", 0.3, 0.2, 0.4),
        (*FLAGS, "none", "all", "i_across", "F2M", 0.3, 0.2, 0.4),
        (*FLAGS, "none", "all", "accuracy", "original", 0.3, 0.2, 0.4),
        (*RULE, "none", "all", "delta_i", "all", 0, 0, 0),
        ("replica", "clusters", "Mine", "none", "all", "delta_i", "all", 0.2, 0.1, 0.3),
        ("replica", "clusters", "Other", "none", "all", "delta_i", "all", 0.2, 0.1, 0.3),
        ("replica", "clusters_faithful", "First name (rule)", "none", "all", "delta_i", "all", 0.1, 0, 0.2),
    ]
    columns = ["data", "scoring", "system", "debiasing", "subset", "metric", "group", "value", "ci_low", "ci_high"]
    files.write_csv(tmp_path / "metrics.csv", pd.DataFrame(rows, columns=columns))
    sizes = [("released", "all", 1002, 400), ("released", "near", 5, 3), ("replica", "all", 24, 12)]
    files.write_csv(tmp_path / "sizes.csv", pd.DataFrame(sizes, columns=["data", "subset", "quadruples", "masculine"]))
    paper.summary(
        metrics=str(tmp_path / "metrics.csv"),
        sizes=str(tmp_path / "sizes.csv"),
        summary=str(tmp_path / "summary.csv"),
        systems={
            "m": {"label": "Mine", "debiasing": "none", "demonstration": True},
            "o": {"label": "Other", "debiasing": "none", "demonstration": False},
        },
    )
    made = estimate_rows.read([tmp_path / "summary.csv"])
    told = [
        (summaries.describe_subject(row), "demonstration" if row["demonstration"] else row["kind"])
        for row in made.to_dict("records")
    ]
    columns = made[["model", "n", "headline", "value"]].values.tolist()
    assert [(*first, *rest) for first, rest in zip(told[:5], columns, strict=False)] == [
        ("BERT-base", "released", "BERT-base", 1002, True, 0.05),
        ("BERT-base, n-CDA", "released", "BERT-base", 1002, True, 0.02),
        ("First name (rule)", "heuristic", "first", 24, True, 0),
        ("Mine", "demonstration", "m", 24, True, 0.2),
        ("Other", "system", "o", 24, True, 0.2),
    ]
    # A group names what instances have, and n counts the quadruples of that group.
    groups = made[5:][["original_gender", "gender", "role", "n"]].values.tolist()
    assert groups == [["M", "", "", 400], ["F", "", "", 602], ["", "M", "", 1002], ["", "", "original|control", 1002]]
