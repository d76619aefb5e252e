"""Counter-GAP's rows of the summary over all studies."""

import pandas as pd

from scripts.core import files
from scripts.counter_gap import summary

FLAGS, RULE = ("released", "released", "BERT-base"), ("replica", "clusters", "First name (rule)")


def test_systems_rules_and_debiasing_are_told_apart(tmp_path):
    rows = [
        (*FLAGS, "none", "all", "delta_i", "all", 0.05, 0.03, 0.07),
        (*FLAGS, "n-CDA", "all", "delta_i", "all", 0.02, 0.01, 0.03),
        (*FLAGS, "none", "near", "delta_i", "all", 0.5, 0.3, 0.7),
        (*FLAGS, "none", "all", "accuracy", "M", 0.6, 0.5, 0.7),
        (*FLAGS, "none", "all", "split", "all", 0.6, 0.5, 0.7),
        (*RULE, "none", "all", "delta_i", "all", 0, 0, 0),
        ("replica", "clusters", "Mine", "none", "all", "delta_i", "all", 0.2, 0.1, 0.3),
        ("replica", "clusters", "Other", "none", "all", "delta_i", "all", 0.2, 0.1, 0.3),
        ("replica", "clusters_faithful", "First name (rule)", "none", "all", "delta_i", "all", 0.1, 0, 0.2),
    ]
    columns = ["data", "scoring", "system", "debiasing", "subset", "metric", "group", "value", "ci_low", "ci_high"]
    files.write_csv(tmp_path / "metrics.csv", pd.DataFrame(rows, columns=columns))
    sizes = [("released", "all", 1002), ("released", "near", 5), ("replica", "all", 24)]
    files.write_csv(tmp_path / "sizes.csv", pd.DataFrame(sizes, columns=["data", "subset", "quadruples"]))
    summary.main(
        metrics=str(tmp_path / "metrics.csv"),
        sizes=str(tmp_path / "sizes.csv"),
        summary=str(tmp_path / "summary.csv"),
        systems={"m": {"label": "Mine", "demonstration": True}, "o": {"label": "Other", "demonstration": False}},
    )
    made = files.read_csv(tmp_path / "summary.csv")
    assert made[["model", "status", "n", "headline", "value"]].values.tolist() == [
        ["BERT-base", "released", 1002, True, 0.05],
        ["BERT-base, n-CDA", "released", 1002, True, 0.02],
        ["First name (rule)", "baseline", 24, True, 0],
        ["Mine", "demonstration", 24, True, 0.2],
        ["Other", "run", 24, True, 0.2],
        ["BERT-base", "released", 1002, False, 0.6],
    ]
    assert made.group.tolist() == ["all"] * 5 + ["masculine"]
