"""Estimates as means over units: what units are of each statistic, and when a difference is paired."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.statistics import outcomes


def rows(**columns):
    frame = pd.DataFrame(columns)
    return frame.assign(content=[f"d{n}" for n in range(len(frame))])


def of_items(right, clusters):
    names = [f"i{n:04}" for n in range(len(right))]
    return rows(unit=names, cluster=clusters, value=np.asarray(right, float))


def test_statistics_are_means_of_units():
    quadruples = rows(
        unit=["q"] * 4 + ["r"] * 4, cluster=["q"] * 4 + ["r"] * 4, by=list("MMFF") * 2, value=[1, 1, 0, 0, 1, 0, 1, 0.0]
    )
    # Two right men and two wrong women; then one right of either.
    assert outcomes._units(quadruples, "disagreement").value.tolist() == [1.0, -0.5]
    sentences = rows(
        unit=["s"] * 6,
        cluster=["s"] * 6,
        by=[0, 1, 2] * 2,
        sign=[1] * 3 + [-1] * 3,
        value=[0.1, 0.2, 0.3, 0.3, 0.2, 0.1],
    )
    assert outcomes._units(sentences, "slope").value.tolist() == pytest.approx([20.0])
    # Changes of 0.2 and 0.1 against 0.1 and 0: three of four pairs are above, and half of the one that is equal.
    changed = rows(
        unit=list("abcd") * 2, cluster=list("abcd") * 2, by=[0] * 4 + [1] * 4, sign=[1, 1, -1, -1] * 2,
        value=[0.3, 0.2, 0.1, 0.4, 0.1, 0.3, 0.2, 0.4],
    )  # fmt: skip
    assert outcomes._units(changed, "area").value.mean() == pytest.approx(3.5 / 4)


def test_pseudo_values_of_an_area_have_its_mean_and_its_error():
    generator = np.random.default_rng(3)
    places = np.repeat(np.arange(40), 4)
    sign = np.tile([1, 1, -1, -1], 40)
    change = generator.normal(np.where(sign == 1, 0.5, 0.3), 0.2) + np.repeat(generator.normal(0, 0.1, 40), 4)
    units = [f"u{n}" for n in range(160)]
    table = rows(
        unit=np.tile(units, 2), cluster=np.tile(places, 2), sign=np.tile(sign, 2), by=np.repeat([0, 1], 160),
        value=np.concatenate([np.zeros(160), change]),
    )  # fmt: skip
    made = outcomes._units(table, "area")
    scores = np.abs(change)

    def area(chosen):
        weight = np.bincount(chosen, minlength=40)[places]
        wins = (scores[sign == 1][:, None] > scores[sign == -1]) * weight[sign == 1][:, None] * weight[sign == -1]
        return wins.sum() / (weight[sign == 1].sum() * weight[sign == -1].sum())

    assert made.value.mean() == pytest.approx(area(np.arange(40)))
    resampled = np.std([area(generator.integers(0, 40, 40)) for _ in range(400)])
    assert made.groupby("cluster").value.mean().sem() == pytest.approx(resampled, rel=0.15)


def test_intervals_cover_a_known_difference(monkeypatch):
    monkeypatch.setattr(outcomes, "DRAWS", 400)
    generator = np.random.default_rng(7)
    clusters = np.repeat(np.arange(60), 4)
    made = []
    for _ in range(200):
        ease = generator.uniform(-0.25, 0.25, 60)[clusters]
        sides = [of_items(generator.random(240) < accuracy + ease, clusters) for accuracy in (0.5, 0.6)]
        made.append(outcomes.paired_difference(*sides, "mean"))
    assert 0.91 <= np.mean([entry["low"] <= 0.1 <= entry["high"] for entry in made]) <= 0.99


def test_same_ids_with_other_texts_are_no_pairs():
    clusters = np.repeat(np.arange(10), 2)
    first, second = of_items([1, 0] * 10, clusters), of_items([1, 1] * 10, clusters)
    assert outcomes.paired_difference(first, second, "mean")["n"] == 20
    # A unit of several instances has the contents of them all.
    pairs = [side.assign(unit=[f"u{n}" for n in clusters]) for side in (first, second)]
    assert outcomes.paired_difference(*pairs, "mean")["n"] == 10
    for sides, counts in (((first, second), "19 of 20 and 20"), (pairs, "9 of 10 and 10")):
        sides[1].loc[3, "content"] = "edited"
        with pytest.raises(outcomes.NotComparable, match=f"other instances: {counts} are shared"):
            outcomes.paired_difference(*sides, "mean")
