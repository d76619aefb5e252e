"""Method 1, Method 2, the toy model and the accumulation, on data that are worked out by hand."""

import io
import tarfile

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.core import files
from scripts.core.errors import UserError
from scripts.underspecification import correlation, detection, probabilities, releases, section, study, toy_model

SLOPE = "slope, female minus male"
WORDS = {"female": ["she", "her"], "male": ["he"], "neutral": ["they"], "neo": ["xe"]}


def frame(rows, **common):
    """Return tidy probabilities from rows (item, gender, position, probability, ...)."""
    base = {
        "part": "preprint", "model": "M", "label": "M", "prompt": "mask", "evaluation_set": "mgc",
        "templates": "official",
        "occupation": "", "participant": "", "coreferent": "", "well_specified": False, "variable": "date",
        "accumulation": "top",
    }  # fmt: skip
    made = pd.DataFrame([{**base, **common, **row} for row in rows])
    made["value"] = made.position.astype(str)
    return study.identify(made[list(probabilities.COLUMNS)])


def mgc(prompt="mask", slope=(0.02, -0.01, 0.0), sentences=4, values=6, noise=0.0):
    generator = np.random.default_rng(3)
    return frame(
        [
            {"item": f"s{i}", "gender": gender, "position": x, "prompt": prompt,
             "probability": 0.4 + rise * x + i / 100 + noise * generator.standard_normal()}
            for i in range(sentences)
            for gender, rise in zip(("female", "male", "neutral"), slope, strict=True)
            for x in range(values)
        ]
    )  # fmt: skip


def test_only_the_ratio_of_neopronouns_may_be_above_one(tmp_path):
    """Off MGC probabilities are divided by that of the three genders, which neopronouns are no part of."""
    path = tmp_path / "probabilities.parquet"
    shares = {"female": 0.2, "male": 0.8, "neutral": 0.0}

    def written(evaluation_set, **changed):
        rows = [{"item": "s", "gender": g, "position": 0, "probability": p} for g, p in (shares | changed).items()]
        files.write_parquet(path, frame(rows, evaluation_set=evaluation_set))
        return probabilities.read_probabilities(str(path))

    assert written("winogender", neo=3.3).probability.max() == 3.3
    for evaluation_set, changed in (
        ("mgc", {"neo": 3.3}),
        ("winogender", {"male": 3.3}),
        ("winogender", {"neo": -0.1}),
    ):
        with pytest.raises(UserError, match=r"probability is (3.3|-0.1); delete the file"):
            written(evaluation_set, **changed)
    with pytest.raises(UserError, match="probability is inf"):
        written("winogender", neo=np.inf)


def test_slopes_are_those_of_scipy():
    masses_ = mgc(noise=0.05)
    table = correlation.slopes(masses_, draws=200, seed=1)
    y = masses_[masses_.gender == "female"].groupby("position").probability.mean() * 100
    expected = stats.linregress(np.arange(6), y)
    female = table[(table.gender == "female") & (table.prompt == "mask")].set_index("metric")
    assert female.value["slope"] == pytest.approx(expected.slope)
    assert female.value["intercept"] == pytest.approx(expected.intercept)
    assert female.value["r"] == pytest.approx(expected.rvalue)
    assert female.value["r2"] == pytest.approx(expected.rvalue**2)
    assert (female.low <= female.value).all() and (female.value <= female.high).all()


def test_constant_curves_have_no_correlation_and_exact_ones_no_interval():
    table = correlation.slopes(mgc(), draws=50, seed=1).set_index(["prompt", "gender", "metric"])
    assert np.isnan(table.value["mask", "neutral", "r"]) and table.value["mask", "neutral", "slope"] == 0
    assert table.value["mask", "female", "slope"] == pytest.approx(2)
    assert np.isnan(table.high["mask", "female", "slope"])
    assert table.value["mask", "", SLOPE] == pytest.approx(3)


def test_lines_of_curves_are_the_fits_with_their_intervals():
    masses_ = mgc(noise=0.05)
    table = correlation.slopes(masses_, draws=200, seed=1)
    values = table[(table.prompt == "mask") & (table.gender == "male")].set_index("metric")
    curve = correlation.curves(masses_, draws=200, seed=1)
    curve = curve[curve.gender == "male"].sort_values("position")
    assert curve.fit.to_numpy() == pytest.approx(values.value["intercept"] + values.value["slope"] * np.arange(6))
    # At the first position the line is the intercept, with the same draws.
    first = curve.iloc[0]
    assert (first.low, first.high) == pytest.approx((values.low["intercept"], values.high["intercept"]))
    assert ((curve.low < curve.fit) & (curve.fit < curve.high)).all()


def test_averages_over_prompts_right_and_as_the_authors_did():
    parts = [mgc("A", (0.03, 0, 0)), mgc("B", (0.01, 0, 0)), mgc("C", (0.02, 0, 0))]
    table = correlation.slopes(pd.concat(parts), 50, 1).set_index(["prompt", "gender", "metric"]).value
    assert table["A|B|C", "", SLOPE] == pytest.approx(2)
    # C, B, A with 1/27, 1/9 and 1/3.
    assert table["A|B|C", "", f"{SLOPE}, authors' mean"] == pytest.approx(2 / 27 + 1 / 9 + 3 / 3)
    masked = correlation.slopes(mgc(), 50, 1).set_index(["prompt", "gender", "metric"]).value
    theirs, right = (masked["mask", "", metric] for metric in (f"{SLOPE}, authors' mean", SLOPE))
    assert theirs / right == pytest.approx(13 / 27)
    two = correlation.slopes(pd.concat(parts[:2]), 50, 1)
    assert set(two.prompt) == {"A", "B", "A|B"} and not two.metric.str.contains("authors").any()


def winogender(table, dates=2):
    """Return those of two occupations; ``table``: (occupation, well-specified) to (female, male, neutral) changes."""
    rows = []
    for (occupation, specified), changes in table.items():
        for gender, change in zip(("female", "male", "neutral"), changes, strict=True):
            for position in range(dates):
                last = position >= dates / 2
                rows.append(
                    {"item": f"{occupation}_{'man_1' if specified else 'man_0'}", "occupation": occupation,
                     "participant": "man", "coreferent": "participant" if specified else "professional",
                     "well_specified": specified, "gender": gender, "position": position,
                     "probability": 1 / 3 + change * last}
                )  # fmt: skip
    return frame(rows, evaluation_set="winogender")


TABLE = {
    ("clerk", False): (0.02, -0.02, 0.0),
    ("clerk", True): (0.001, -0.001, 0.0),
    ("nurse", False): (0.004, -0.01, 0.006),
    ("nurse", True): (0.01, 0.0, -0.01),
}


def test_the_metric_is_the_change_between_the_outer_dates():
    values = detection.specification_metric(winogender(TABLE, dates=4))
    metrics = values.set_index(["item", "gender", "dates"]).value
    assert metrics["clerk_man_0", "female", 1] == pytest.approx(2) and metrics[
        "clerk_man_0", "female", 2
    ] == pytest.approx(2)
    assert metrics["nurse_man_0", "male", 1] == pytest.approx(1)
    share = (1 / 3 + 0.02) / (2 / 3) - 0.5
    assert metrics["clerk_man_0", "", 1] == pytest.approx(100 * share)
    assert not values.undefined.any() and set(values.dates) == {1, 2}


@pytest.mark.parametrize(("first", "last"), [(0.25, 0.255), (0.947, 0.952), (0.1, 0.105), (0.152, 0.147)])
def test_a_metric_of_exactly_the_threshold_is_not_above_it(first, last):
    rows = winogender({("clerk", False): (0, 0, 0), ("clerk", True): (0, 0, 0)})
    rows.loc[rows.position == 0, "probability"], rows.loc[rows.position == 1, "probability"] = first, last
    values = detection.specification_metric(rows)
    assert (values[values.gender.isin(["female", "male", "neutral"])].value == 0.5).all()
    assert detection.Detection(values[values.gender == "female"]).rates(0.5)["TPR"][0] == 0


def test_sentences_without_any_mass_are_marked():
    empty = winogender(TABLE)
    empty.loc[empty["item"] == "clerk_man_0", "probability"] = 0.0
    values = detection.specification_metric(empty)
    assert values[values["item"] == "clerk_man_0"].undefined.all() and (values.value >= 0).all()
    assert not values[values["item"] == "nurse_man_0"].undefined.any()


def test_sentences_without_any_mass_at_one_date_are_counted_with_their_metrics():
    """Their probability counts as zero there, so that they can move most: as unspecified, not as well-specified."""
    rows = winogender({**TABLE, ("nurse", True): (0.0, 0.0, 0.0)})
    rows.loc[rows["item"].isin(["clerk_man_0", "nurse_man_1"]) & (rows.position == 0), "probability"] = 0.0
    rows.loc[(rows["item"] == "nurse_man_1"), "probability"] = 0.0
    values = detection.specification_metric(rows.assign(label="A"))
    rates = detection.evaluate(values, folds=2, draws=20, seed=1, threshold=0.5)
    found = section.count_detection(rates.astype({"dates": str}), values.astype({"dates": str}), 0.5)
    told = {name: entry["text"] for name, entry in found.items() if "undefined" in name}
    assert told == {
        "winogender.undefined": "2", "winogender.undefined.moved": "1", "winogender.undefined.most": "35.3",
    }  # fmt: skip
    assert found["winogender.undefined"]["label"] == "A"


def test_the_studys_band_is_two_standard_errors_of_the_line():
    from statsmodels.api import OLS, add_constant

    means = np.array([3.0, 4.5, 4.0, 7.0, 6.0])
    line = OLS(means, add_constant(np.arange(5.0))).fit()
    assert correlation.study_band(means) == pytest.approx(2 * line.get_prediction().se_mean)
    assert np.isnan(correlation.study_band(means[:2])).all()


def best_threshold(metric):
    """Return the threshold of the highest balanced accuracy, by trying all: the middle one of several."""
    positives, negatives = (np.sort(metric.value[metric.well_specified == specified]) for specified in (False, True))
    scores = np.unique(np.concatenate([[0.0], positives, negatives]))
    limits = (scores[:-1] + scores[1:]) / 2
    gains = np.array([(positives > limit).mean() + (negatives <= limit).mean() for limit in limits])
    best = np.flatnonzero(np.isclose(gains, gains.max(), rtol=0, atol=1e-12))
    return limits[best[(len(best) - 1) // 2]]


def test_no_threshold_is_below_zero():
    metric = pd.DataFrame(
        [(f"o{i}", specified, score) for i in range(4) for specified, score in ((False, i % 2), (True, 3.0))],
        columns=["occupation", "well_specified", "value"],
    )
    found = detection.Detection(metric).cross_validated(4, 1, np.ones((1, 4)))["threshold"]
    assert best_threshold(metric) == 0.5 and found[0] >= 0


def test_rates_by_hand():
    values = detection.specification_metric(winogender(TABLE))
    table = detection.evaluate(values, folds=2, draws=200, seed=1, threshold=0.5)
    fixed = table[table.choice == "fixed"].set_index(["gender", "metric"]).value
    # Female: 2 and 0.4 points where unspecified, 0.1 and 1 where well-specified; threshold 0.5.
    assert (fixed["female", "TPR"], fixed["female", "TNR"], fixed["female", "balanced accuracy"]) == (0.5, 0.5, 0.5)
    assert (fixed["male", "TPR"], fixed["male", "TNR"]) == (1, 1)
    assert (fixed["neutral", "TPR"], fixed["neutral", "TNR"]) == (0.5, 0.5)
    area = table[table.metric == "AUC"].set_index("gender").value
    assert (area["female"], area["male"]) == (0.75, 1)


def test_the_area_is_that_of_mann_and_whitney():
    generator = np.random.default_rng(5)
    metric = pd.DataFrame({"occupation": [f"o{i % 7}" for i in range(70)], "value": generator.integers(0, 12, 70) / 4})
    metric["well_specified"] = metric.index % 3 == 0
    detector = detection.Detection(metric)
    positives, negatives = metric[~metric.well_specified].value, metric[metric.well_specified].value
    expected = stats.mannwhitneyu(positives, negatives).statistic / (len(positives) * len(negatives))
    assert detector.auc()[0] == pytest.approx(expected)
    weights = np.zeros((1, 7))
    weights[0, [1, 1, 4]] = 1
    chosen = metric[metric.occupation.isin(["o1", "o4"])]
    alone = detection.Detection(chosen)
    assert detector.auc(weights)[0] == pytest.approx(alone.auc()[0])
    assert detector.rates(1.0, weights)["TPR"][0] == pytest.approx(alone.rates(1.0)["TPR"][0])


def test_the_best_threshold_is_found_and_never_from_the_occupation_itself():
    rows = [
        (f"o{i}", specified, score)
        for i in range(6)
        for specified, score in ((False, 3.0 + i / 10), (True, 1.0 + i / 10))
    ]
    metric = pd.DataFrame(rows, columns=["occupation", "well_specified", "value"])
    # An outlier changes the thresholds of all other occupations but not of its own.
    metric.loc[metric.occupation == "o0", "value"] = [9.0, 8.0]
    thresholds = [best_threshold(metric[metric.occupation != f"o{i}"]) for i in range(6)]
    assert thresholds[0] == pytest.approx((1.5 + 3.1) / 2) and thresholds[0] != thresholds[1]
    found = detection.Detection(metric).cross_validated(6, 1, np.ones((1, 6)))["threshold"]
    assert found[0] == pytest.approx(np.mean(thresholds))


def test_every_draw_chooses_its_thresholds_anew():
    """Against a plain loop that makes each draw's sentences and asks for the best threshold of the other folds."""
    generator = np.random.default_rng(8)
    metric = pd.DataFrame({"occupation": [f"o{i % 9}" for i in range(90)], "value": generator.integers(0, 30, 90) / 10})
    metric["well_specified"] = generator.random(90) < 0.3
    metric.loc[metric.well_specified, "value"] /= 2
    detector = detection.Detection(metric)
    weights = generator.multinomial(9, np.full(9, 1 / 9), size=40)
    rates = detector.cross_validated(4, 1, weights)
    fold, checked = detector.folds(4, 1), 0
    for draw, chosen in enumerate(weights):
        right = {True: 0, False: 0}
        copies = metric.loc[np.repeat(metric.index, chosen[metric.occupation.str[1:].astype(int)])]
        for k in range(4):
            held = copies.occupation.isin([name for name, f in zip(detector.occupations, fold, strict=True) if f == k])
            if held.any():
                limit = best_threshold(copies[~held])
                above = copies[held].value > limit
                for specified in (True, False):
                    right[specified] += ((copies[held].well_specified == specified) & (above != specified)).sum()
        tpr = right[False] / (~copies.well_specified).sum()
        tnr = right[True] / copies.well_specified.sum()
        assert rates["TPR"][draw] == pytest.approx(tpr) and rates["TNR"][draw] == pytest.approx(tnr)
        assert rates["balanced accuracy"][draw] == pytest.approx((tpr + tnr) / 2)
        checked += 1
    assert checked == 40
    alone = detector.cross_validated(4, 1, np.where(np.arange(9) == 2, 9, 0)[None, :])
    assert np.isnan(alone["TPR"]).all()


def test_intervals_of_cross_validated_thresholds_are_those_of_draws_that_choose():
    generator = np.random.default_rng(4)
    rows = [
        {"item": f"o{i}_man_{int(s)}", "occupation": f"o{i}", "participant": "man",
         "coreferent": "participant" if s else "professional", "well_specified": s, "gender": gender,
         "position": position, "probability": 0.3 + position * generator.random() * (0.02 if s else 0.05)}
        for i in range(12) for s in (True, False) for gender in ("female", "male", "neutral") for position in (0, 1)
    ]  # fmt: skip
    values = detection.specification_metric(frame(rows, evaluation_set="winogender"))
    sentences = values[values.gender == "female"]
    table = detection.evaluate(sentences, folds=3, draws=300, seed=2, threshold=0.5)
    row = table[(table.choice == "cross-validated") & (table.metric == "balanced accuracy")].iloc[0]
    weights = np.random.default_rng(2).multinomial(12, np.full(12, 1 / 12), size=300)
    anew = detection.Detection(sentences).cross_validated(3, 2, weights)["balanced accuracy"]
    assert (row.low, row.high) == pytest.approx(tuple(np.quantile(anew, [0.025, 0.975])))


def test_what_rounding_leaves_open():
    """All that rounds to the released probabilities, on a grid."""
    rows = winogender({("clerk", False): (0, 0, 0)})
    shown = {("female", 0): 0.011, ("female", 1): 0.024, ("male", 0): 0.5, ("male", 1): 0.3}
    for (gender, position), value in shown.items():
        rows.loc[(rows.gender == gender) & (rows.position == position), "probability"] = value
    values = detection.specification_metric(rows).set_index("gender")
    steps = np.linspace(-5e-4, 5e-4, 11)
    f0, m0, f1, m1 = (shown[key] + steps for key in (("female", 0), ("male", 0), ("female", 1), ("male", 1)))
    share = [f[:, None] / (f[:, None] + m) for f, m in ((f0, m0), (f1, m1))]
    change = np.abs(np.subtract.outer(share[1].ravel(), share[0].ravel())) * 100
    both = values.loc[""]
    assert (both.low, both.high) == pytest.approx((change.min(), change.max()))
    female = values.loc["female"]
    assert (female.low, female.high) == pytest.approx((1.2, 1.4))
    ours = detection.specification_metric(rows.assign(part=study.RUN))
    assert (ours.low == ours.value).all() and (ours.high == ours.value).all()
    still = detection.specification_metric(winogender({("clerk", False): (0, 0, 0)})).set_index("gender").loc["female"]
    assert (still.low, still.high) == pytest.approx((0, 0.1))


def test_level_and_change_with_the_first_and_the_middle_level():
    """Noise alone: the first level goes against the change that contains it, the middle one with nothing."""
    generator = np.random.default_rng(6)
    rows = [
        {"item": f"o{i}_man_0", "occupation": f"o{i}", "participant": "man", "coreferent": "professional",
         "gender": gender, "position": position, "probability": 0.2 + 0.1 * generator.random()}
        for i in range(400) for gender in ("female", "male", "neutral") for position in (0, 1)
    ]  # fmt: skip
    values = detection.specification_metric(frame(rows, evaluation_set="winogender"))
    table = detection.independence(values).set_index("metric")
    first, middle = (table.loc[metric] for metric in detection.LEVELS.values())
    assert first.value == pytest.approx(-np.sqrt(0.5), abs=0.06) and abs(middle.value) < 0.1
    female = values[values.gender == "female"]
    expected = stats.pearsonr(female["first"] + female.change / 2, female.change)
    assert middle.value == pytest.approx(expected.statistic)
    low, high = np.tanh(np.arctanh(middle.value) + np.array([-1, 1]) * stats.norm.ppf(0.975) / np.sqrt(397))
    assert (middle.low, middle.high) == pytest.approx((low, high))
    few = detection.independence(values[values.occupation.isin(["o1", "o2", "o3"])])
    assert few.value.isna().all() and (few.clusters == 3).all()


def test_the_toy_model_agrees_with_its_simulation():
    table = toy_model.correlate(10, 200_000, 7)
    assert len(table) == 24
    gap = (table.simulated - table.exact).abs() / table.standard_error
    assert gap.max() < 4.5
    keyed = table.set_index(["task", "population", "a", "b"]).exact
    # Nothing but selection connects X and Y of the unspecified task.
    assert keyed["unspecified", "all", "X", "Y"] == 0 and keyed["unspecified", "selected", "X", "Y"] < -0.6
    assert keyed["well-specified", "all", "X", "Y"] > 0.9
    assert table[table.population == "selected"].exact_share.iloc[0] == pytest.approx(stats.norm.sf(20 / np.sqrt(126)))


def test_the_exact_covariance_is_that_of_quadrature():
    from scipy.integrate import dblquad

    a, sd = 2.0, np.sqrt(1 + 4)

    def moment(power_w, power_t):
        # W = e0, T = e0 + rest with rest ~ N(0, 5), selected where T > 4.
        def density(rest, w):
            return w**power_w * (w + rest) ** power_t * stats.norm.pdf(w) * stats.norm.pdf(rest, 0, sd)

        return dblquad(density, -8, 8, lambda w: 2 * a - w, 30)[0]

    share = moment(0, 0)
    assert share == pytest.approx(toy_model.selected_share(a), rel=1e-4)
    variance = moment(2, 0) / share - (moment(1, 0) / share) ** 2
    assert toy_model.exact_covariance("unspecified", a, "selected")[0, 0] == pytest.approx(variance, rel=1e-4)


def distributions(rows):
    return pd.DataFrame(rows, columns=["text_id", "step", "rank", "token", "probability", "chosen"])


def test_masses_at_a_mask():
    top = distributions(
        [("t", 0, 0, " She", 0.4, True), ("t", 0, 1, "her", 0.1, False), ("t", 0, 2, " he", 0.2, False),
         ("t", 0, 3, "hers", 0.1, False), ("u", 0, 0, "it", 0.9, True)]
    )  # fmt: skip
    methods = pd.Series({"t": "mask", "u": "mask"})
    sums = probabilities.accumulate(top, methods, WORDS)
    assert sums.loc["t"].to_dict() == pytest.approx({"female": 0.5, "male": 0.2, "neutral": 0, "neo": 0})
    assert sums.loc["u"].sum() == 0


def test_masses_of_continuations_take_the_one_written_word_or_all_steps():
    rows = [
        ("one", 0, 0, "\n", 0.9, True), ("one", 0, 1, "she", 0.1, False),
        ("one", 1, 0, "She", 0.6, True), ("one", 1, 1, " he", 0.3, False),
        ("two", 0, 0, "he", 0.5, True), ("two", 0, 1, "she", 0.2, False),
        ("two", 1, 0, " or", 0.9, True), ("two", 2, 0, "she", 0.4, True),
        ("none", 0, 0, "it", 0.8, True), ("none", 0, 1, "she", 0.2, False),
    ]  # fmt: skip
    methods = pd.Series({"one": "generate", "two": "generate", "none": "generate"})
    sums = probabilities.accumulate(distributions(rows), methods, WORDS)
    assert sums.loc["one"].to_dict() == pytest.approx({"female": 0.6, "male": 0.3, "neutral": 0, "neo": 0})
    # Several such words, or none: sums over all steps, divided by their number.
    assert sums.loc["two"].to_dict() == pytest.approx({"female": 0.6 / 3, "male": 0.5 / 3, "neutral": 0, "neo": 0})
    assert sums.loc["none"].to_dict() == pytest.approx({"female": 0.2, "male": 0, "neutral": 0, "neo": 0})
    written = probabilities.accumulate(distributions(rows), methods, WORDS, written_only=True)
    assert written.loc["one"].equals(sums.loc["one"]) and written.loc["none"].sum() == 0
    assert written.loc["two"].to_dict() == pytest.approx({"female": 0.3, "male": 0.25, "neutral": 0, "neo": 0})
    full = pd.DataFrame(
        [("one", 0, "female", 0.3), ("one", 1, "female", 0.7), ("one", 1, "neo", 0.01), ("none", 0, "female", 0.3)],
        columns=["text_id", "step", "group", "probability"],
    )
    whole = probabilities.accumulate_full(full, distributions(rows), methods, WORDS)
    assert whole.loc["one"].to_dict() == pytest.approx({"female": 0.7, "male": 0, "neutral": 0, "neo": 0.01})
    assert whole.loc["none"].to_dict() == pytest.approx({"female": 0.3, "male": 0, "neutral": 0, "neo": 0})


def archive(path, files):
    with tarfile.open(path, "w:xz") as made:
        for name, text in files.items():
            info = tarfile.TarInfo(f"folder/{name}")
            info.size = len(text.encode())
            made.addfile(info, io.BytesIO(text.encode()))
    return path


NAME = "{}p_wikibio_bert-base-uncased_date_clerk_man_0_testFalse.csv"
TEXT = ",date,In 2016: The clerk told the man that [MASK] left.\n0,1901,25.0\n1,2016,40.0\n"


def test_raw_files_become_tidy(tmp_path):
    prompted = "{}p_wikibio_text-davinci-002_date_clerk_woman_1_testFalse_P3.csv"
    files = {name.format(letter): TEXT for name in (NAME, prompted) for letter in "fmn"}
    trial = {NAME.format("f").replace("testFalse", "testTrue"): TEXT}
    tidy = releases.read(archive(tmp_path / "raw.tar.xz", files | trial), "preprint", "winogender")
    assert list(tidy.columns) == [*probabilities.COLUMNS, "text_id", "row"] and len(tidy) == 12
    assert set(tidy.text_id) == {f"raw.tar.xz:{name}" for name in files}
    row = tidy[(tidy.model == "BERT-base") & (tidy.gender == "neutral") & (tidy.position == 1)].iloc[0]
    assert (row.model, row.prompt, row["item"], row.value, row.probability) == (
        "BERT-base", "mask", "clerk_man_0", "2016", 0.4,
    )  # fmt: skip
    assert set(tidy[tidy.model == "GPT-3.5 SFT"].prompt) == {"A"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("notes.csv", TEXT, "notes.csv: the name is not that of a raw file"),
        (NAME.format("f").replace("bert-base-uncased", "bert-huge"), TEXT, "the model 'bert-huge' with prompt mask"),
        (NAME.format("f"), TEXT.replace("25.0", "nan"), "row 2: 'nan' is not a percentage"),
        (NAME.format("f"), TEXT.replace("40.0", "140.0"), "row 3: '140.0' is not a percentage"),
        (NAME.format("f"), TEXT.replace("1901", "early"), "row 2: 'early' is not a date"),
        (NAME.format("f"), TEXT.replace("0,1901", "1901"), "row 2: 2 cells where the header has 3"),
        (NAME.format("f"), ",place,x\n", "row 1: the header must be an index, 'date' and the sentences"),
        (NAME.format("f").replace("_0_", "_7_"), TEXT, "is not a sentence of winogender"),
        (NAME.format("f"), TEXT, "BERT-base, mask, clerk_man_0: has no file for male"),
    ],
)  # fmt: skip
def test_bad_raw_files_are_named(tmp_path, name, text, message):
    with pytest.raises(UserError) as caught:
        releases.read(archive(tmp_path / "raw.tar.xz", {name: text}), "preprint", "winogender")
    assert message in str(caught.value) and str(tmp_path) in str(caught.value)


def test_an_archive_that_is_cut_off_is_named(tmp_path):
    path = archive(tmp_path / "raw.tar.xz", {NAME.format("f"): TEXT})
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(UserError, match=r"raw\.tar\.xz: damaged or not a \.tar\.xz .*fetch it again"):
        releases.read(path, "preprint", "winogender")


def test_models_of_files_are_told_apart_by_their_prompt():
    assert study.label("google_ul2", "mask") == "UL2-20B denoiser" and study.label("google_ul2", "B") == "UL2-20B gen"
    assert study.label("davinci", "mask") is None
    assert study.order(["own", "GPT-3", "BERT-base"]) == ["BERT-base", "GPT-3", "own"]
