"""Ratios of sums with intervals over clusters, and which rows a look-up picks."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.statistics import procedures, ratios


def items():
    """Return items of two models in twelve clusters, in no order, with factors."""
    random = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"model": random.choice(["m", "n"], 200), "case": random.choice(["nominative", "accusative"], 200),
         "template": [f"t{n:02}" for n in random.integers(0, 12, 200)], "metric": "accuracy", "below": 1.0}
    )  # fmt: skip
    return frame.assign(above=(random.random(200) < 0.6) * 1.0)


def test_a_ratio_is_that_of_the_sums_with_the_interval_of_its_clusters_by_name():
    table = items()
    made = ratios.estimate_ratios(table, ["model", "case"], "template", 300, 7).set_index(["model", "case", "metric"])
    assert len(made) == 4
    part = table[(table.model == "n") & (table.case == "accusative")].sort_values("template")
    sums = part.groupby("template")[["above", "below"]].sum()
    low, high = procedures.cluster_bootstrap(sums.above, sums.below, 300, 7)
    expected = [part.above.mean(), low, high, part.above.sum(), len(part), part.template.nunique()]
    assert made.loc[("n", "accusative", "accuracy"), ratios.MEASURES].tolist() == pytest.approx(expected)
    # Neither the order of items nor other models change it.
    again = ratios.estimate_ratios(table[table.model == "n"][::-1], ["model", "case"], "template", 300, 7)
    pd.testing.assert_frame_equal(
        again.set_index(["model", "case", "metric"]).sort_index(), made.loc[["n"]].sort_index()
    )


def test_pooled_items_are_those_of_all_levels():
    pooled = ratios.estimate_ratios(
        ratios.pool_levels(items(), "case"), ["model", "case"], "template", 50, 7
    ).set_index("model")
    assert set(pooled.case) == {ratios.POOLED}
    assert pooled.value.to_dict() == pytest.approx(items().groupby("model").above.mean().to_dict())


def test_a_ratio_without_a_denominator_is_missing_or_what_the_metric_says():
    empty = items().assign(above=0.0, below=0.0)
    two = pd.concat([empty, empty.assign(metric="precision")])
    made = ratios.estimate_ratios(two, ["model"], "template", 50, 7, {"precision": 0.0}).set_index(["model", "metric"])
    assert np.isnan(made.value["m", "accuracy"]) and made.value["m", "precision"] == 0
    assert made[["low", "high"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("levels", "rows"),
    [
        ({}, [0]),
        ({"case": "nominative"}, [1]),
        ({"case": ["nominative", "accusative"]}, [1, 2]),
        ({"case": ...}, [0, 1, 2]),
        ({"case": "accusative", "size": "2"}, [3]),
        ({"case": ..., "size": ..., "metric": "f1"}, [4]),
    ],
)
def test_factors_that_are_not_named_are_pooled(levels, rows):
    table = pd.DataFrame(
        [("", "", "accuracy"), ("nominative", "", "accuracy"), ("accusative", "", "accuracy"),
         ("accusative", "2", "accuracy"), ("", "2", "f1")],
        columns=["case", "size", "metric"],
    )  # fmt: skip
    assert ratios.select_rows(table, ["case", "size"], **{"metric": "accuracy"} | levels).index.tolist() == rows
