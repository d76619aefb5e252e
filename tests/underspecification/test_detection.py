"""Method 2 on sentences that are worked out by hand, and against plain loops and other libraries."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.underspecification import detection, study
from tests.underspecification.synthetic import GENDERS, winogender

STILL = (0.0, 0.0, 0.0)
CHANGES = {
    ("clerk", "man", 0): (0.02, -0.02, 0.0),
    ("clerk", "man", 1): (0.001, -0.001, 0.0),
    ("nurse", "man", 0): (0.004, -0.01, 0.006),
    ("nurse", "man", 1): (0.01, 0.0, -0.01),
}


def moved(occupation, well_specified, value, **columns):
    """Return the female metric of sentences as :func:`detection.specification_metric` does."""
    common = {
        "part": "preprint", "model": "M", "label": "M", "kind": "released", "scoring": "", "prompt": "mask",
        "evaluation_set": "winogender", "templates": "official", "accumulation": "top", "gender": "female", "dates": 1,
        "metric": detection.METRIC, "undefined": False,
    }  # fmt: skip
    sentences = {"occupation": occupation, "well_specified": well_specified, "value": value}
    return pd.DataFrame(sentences).assign(**common | columns)


def some(occupations, size, seed=8):
    """Return the metric of random sentences, those of well-specified ones half as large."""
    generator = np.random.default_rng(seed)
    well_specified = generator.random(size) < 0.3
    value = generator.integers(0, 30, size) / 10
    names = [f"o{i % occupations}" for i in range(size)]
    return moved(names, well_specified, np.where(well_specified, value / 2, value))


def test_the_metric_is_the_change_between_the_outer_dates():
    values = detection.specification_metric(winogender(CHANGES, values=(1901, 1902, 2015, 2016)))
    metrics = values.set_index(["item", "gender", "dates"]).value
    assert metrics[[("clerk_man_0", "female", 1), ("clerk_man_0", "female", 2)]].tolist() == pytest.approx([2, 2])
    assert metrics["nurse_man_0", "male", 1] == pytest.approx(1)
    share = (1 / 3 + 0.02) / (2 / 3) - 0.5
    assert metrics["clerk_man_0", "", 1] == pytest.approx(100 * share)
    assert not values.undefined.any() and set(values.dates) == {1, 2}


@pytest.mark.parametrize(("first", "last"), [(0.25, 0.255), (0.947, 0.952), (0.1, 0.105), (0.152, 0.147)])
def test_a_metric_of_exactly_the_threshold_is_not_above_it(first, last):
    rows = winogender({("clerk", "man", 0): STILL, ("clerk", "man", 1): STILL})
    values = detection.specification_metric(rows.assign(probability=rows.position.map({0: first, 1: last})))
    assert (values[values.gender.isin(GENDERS)].value == 0.5).all()
    assert detection.Detection(values[values.gender == "female"]).rates(0.5)["TPR"][0] == 0


def test_sentences_without_any_mass_at_a_date_are_marked():
    rows = winogender(CHANGES)
    silent = (rows["item"] == "clerk_man_0") | ((rows["item"] == "nurse_man_1") & (rows.position == 0))
    rows["probability"] = rows.probability.mask(silent, 0.0)
    values = detection.specification_metric(rows)
    assert set(values["item"][values.undefined]) == {"clerk_man_0", "nurse_man_1"} and (values.value >= 0).all()


def test_what_rounding_leaves_open():
    """All that rounds to the released probabilities, on a grid."""
    rows = winogender({("clerk", "man", 0): STILL})
    shown = {("female", 0): 0.011, ("female", 1): 0.024, ("male", 0): 0.5, ("male", 1): 0.3}
    for (gender, position), value in shown.items():
        rows.loc[(rows.gender == gender) & (rows.position == position), "probability"] = value
    values = detection.specification_metric(rows).set_index("gender")
    steps = np.linspace(-5e-4, 5e-4, 11)
    f0, m0, f1, m1 = (shown[key] + steps for key in (("female", 0), ("male", 0), ("female", 1), ("male", 1)))
    share = [f[:, None] / (f[:, None] + m) for f, m in ((f0, m0), (f1, m1))]
    change = np.abs(np.subtract.outer(share[1].ravel(), share[0].ravel())) * 100
    assert values.loc["", ["low", "high"]].tolist() == pytest.approx([change.min(), change.max()])
    assert values.loc["female", ["low", "high"]].tolist() == pytest.approx([1.2, 1.4])
    ours = detection.specification_metric(rows.assign(part=study.RUN))
    assert (ours.low == ours.value).all() and (ours.high == ours.value).all()
    still = detection.specification_metric(winogender({("clerk", "man", 0): STILL})).set_index("gender")
    assert still.loc["female", ["low", "high"]].tolist() == pytest.approx([0, 0.1])


def test_rates_by_hand():
    values = detection.specification_metric(winogender(CHANGES))
    table = detection.evaluate_detection(values, folds=2, draws=200, seed=1, threshold=0.5)
    fixed = table[table.choice == "fixed"].set_index(["gender", "metric"]).value
    # Female: 2 and 0.4 points where unspecified, 0.1 and 1 where well-specified; threshold 0.5.
    assert fixed["female"][["TPR", "TNR", "balanced accuracy"]].tolist() == [0.5, 0.5, 0.5]
    assert fixed["male"][["TPR", "TNR"]].tolist() == [1, 1]
    assert fixed["neutral"][["TPR", "TNR"]].tolist() == [0.5, 0.5]
    area = table[table.metric == "AUC"].set_index("gender")
    assert (area.value["female"], area.value["male"]) == (0.75, 1)
    assert area.n.tolist() == [4] * len(area) and area.clusters.tolist() == [2] * len(area)


def test_the_area_is_that_of_mann_and_whitney():
    metric = some(7, 70)
    detector = detection.Detection(metric)
    positives, negatives = metric[~metric.well_specified].value, metric[metric.well_specified].value
    expected = stats.mannwhitneyu(positives, negatives).statistic / (len(positives) * len(negatives))
    assert detector.auc()[0] == pytest.approx(expected)
    # An occupation that is drawn twice counts twice.
    weights = np.array([[0, 2, 0, 0, 1, 0, 0]])
    drawn = pd.concat([metric[metric.occupation == name] for name in ("o1", "o1", "o4")])
    alone = detection.Detection(drawn)
    assert detector.auc(weights)[0] == pytest.approx(alone.auc()[0])
    for rate, values in detector.rates(1.0, weights).items():
        assert values[0] == pytest.approx(alone.rates(1.0)[rate][0])


def best_threshold(metric):
    """Return the threshold of the highest balanced accuracy, by trying all: the middle one of several."""
    positives, negatives = (np.sort(metric.value[metric.well_specified == specified]) for specified in (False, True))
    scores = np.unique(np.concatenate([[0.0], positives, negatives]))
    limits = (scores[:-1] + scores[1:]) / 2
    gains = np.array([(positives > limit).mean() + (negatives <= limit).mean() for limit in limits])
    best = np.flatnonzero(np.isclose(gains, gains.max(), rtol=0, atol=1e-12))
    return limits[best[(len(best) - 1) // 2]]


@pytest.mark.parametrize(
    ("unspecified", "specified", "threshold"),
    [
        ((3, 4), (1, 2), 2.5),
        # Of several that are as good the middle one.
        ((2, 4, 6), (1, 3, 5), 3.5),
        # None is below zero, where all would be detected.
        ((0, 1), (3, 3), 0.5),
        ((0, 0), (0, 0), 0.0),
    ],
)
def test_the_threshold_of_equal_occupations(unspecified, specified, threshold):
    rows = [(f"o{i}", False, value) for i in range(4) for value in unspecified]
    rows += [(f"o{i}", True, value) for i in range(4) for value in specified]
    found = detection.Detection(moved(*zip(*rows, strict=True))).cross_validated(4, 1, np.ones((1, 4)))
    assert found["threshold"].tolist() == [threshold]


def test_every_draw_chooses_its_thresholds_anew():
    """Against a plain loop that makes each draw's sentences and asks for the best threshold of the other folds."""
    metric = some(9, 90)
    detector = detection.Detection(metric)
    weights = np.random.default_rng(8).multinomial(9, np.full(9, 1 / 9), size=40)
    rates = detector.cross_validated(4, 1, weights)
    fold = detector.folds(4, 1)
    for draw, chosen in enumerate(weights):
        right, threshold = {True: 0, False: 0}, 0.0
        copies = metric.loc[np.repeat(metric.index, chosen[metric.occupation.str[1:].astype(int)])]
        for k in range(4):
            held = copies.occupation.isin([name for name, f in zip(detector.occupations, fold, strict=True) if f == k])
            if held.any():
                limit = best_threshold(copies[~held])
                threshold += limit * chosen[fold == k].sum() / 9
                above = copies[held].value > limit
                for specified in (True, False):
                    right[specified] += ((copies[held].well_specified == specified) & (above != specified)).sum()
        tpr, tnr = right[False] / (~copies.well_specified).sum(), right[True] / copies.well_specified.sum()
        assert [rates[name][draw] for name in ("TPR", "TNR")] == pytest.approx([tpr, tnr])
        assert rates["balanced accuracy"][draw] == pytest.approx((tpr + tnr) / 2)
        assert rates["threshold"][draw] == pytest.approx(threshold)
    alone = detector.cross_validated(4, 1, np.where(np.arange(9) == 2, 9, 0)[None, :])
    assert np.isnan(alone["TPR"]).all()


def test_intervals_are_those_of_draws_of_occupations():
    metric = some(12, 96)
    table = detection.evaluate_detection(metric, folds=3, draws=300, seed=2, threshold=1.0).set_index(
        ["choice", "metric"]
    )
    weights = np.random.default_rng(2).multinomial(12, np.full(12, 1 / 12), size=300)
    detector = detection.Detection(metric)
    for key, drawn in {
        ("fixed", "TPR"): detector.rates(1.0, weights)["TPR"],
        ("cross-validated", "balanced accuracy"): detector.cross_validated(3, 2, weights)["balanced accuracy"],
        ("", "AUC"): detector.auc(weights),
    }.items():
        assert table.loc[key, ["low", "high"]].tolist() == pytest.approx(np.quantile(drawn, [0.025, 0.975]).tolist())


def test_level_and_change_with_the_first_and_the_middle_level():
    """Noise alone: the first level goes against the change that contains it, the middle one with nothing."""
    first, last = np.random.default_rng(6).random((2, 400))
    names = [f"o{i}" for i in range(400)]
    values = moved(names, False, np.abs(last - first), first=first, change=last - first)
    # Neither well-specified sentences nor other dates have a part in it.
    others = pd.concat([values.assign(well_specified=True, change=0.0), values.assign(dates=2, change=0.0)])
    table = detection.correlate_level_and_change(pd.concat([values, others])).set_index("metric")
    of_first, of_middle = (table.loc[metric] for metric in detection.LEVELS.values())
    assert of_first.value == pytest.approx(stats.pearsonr(first, last - first).statistic) and of_first.value < -0.6
    assert of_middle.value == pytest.approx(stats.pearsonr((first + last) / 2, last - first).statistic)
    low, high = np.tanh(np.arctanh(of_middle.value) + np.array([-1, 1]) * stats.norm.ppf(0.975) / np.sqrt(397))
    assert (of_middle.low, of_middle.high) == pytest.approx((low, high)) and abs(of_middle.value) < 0.1
    few = detection.correlate_level_and_change(values[values.occupation.isin(["o1", "o2", "o3"])])
    assert few.value.isna().all() and (few.clusters == 3).all()
