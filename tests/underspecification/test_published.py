"""The released outputs: complete, as the authors' script reads them, and against the printed tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.core.paper import published
from scripts.underspecification import correlation, detection, instances, releases, study, tables
from scripts.underspecification.published import name_models
from tests.underspecification.synthetic import own_mgc

pytestmark = pytest.mark.upstream

ARCHIVES = {"winogender": "detect_wino_raw", "simplified": "detect_wino_mod_raw", "mgc": "spur_mgc_raw"}


@pytest.fixture(scope="module")
def probabilities(mirror):
    folder = mirror / "underspecification/data"
    read = {name: releases.read_archive(folder / f"{file}.tar.xz", "preprint", name) for name, file in ARCHIVES.items()}
    return {name: study.identify(frame) for name, frame in read.items()}


def test_everything_was_released(probabilities):
    kept = probabilities["winogender"]
    assert (kept.groupby(["model", "prompt"])["item"].nunique() == 480).all()
    assert (probabilities["simplified"].groupby(["model", "prompt"])["item"].nunique() == 144).all()
    assert set(kept.model) == {*study.METHOD2}
    assert set(probabilities["mgc"].model) >= {*study.METHOD1}
    prompts = probabilities["mgc"].groupby("model").prompt.unique().map(sorted).to_dict()
    for model, names in prompts.items():
        assert names == (["A", "B", "C"] if study.MODELS[model].prompted else ["mask"])


def test_the_sentences_of_mgc_are_ours(probabilities):
    ours, theirs = own_mgc(), probabilities["mgc"]
    assert set(theirs["item"]) == set(ours["item"])
    for variable in instances.VARIABLES:
        grids = [frame[frame.variable == variable].drop_duplicates("position") for frame in (ours, theirs)]
        assert len({tuple(grid.sort_values("position").value) for grid in grids}) == 1


def test_probabilities_of_method_2_are_normalised_and_rounded_as_stated(probabilities):
    for name in ("winogender", "simplified"):
        steps = probabilities[name].probability / releases.ROUNDING
        assert (steps - steps.round()).abs().max() < 1e-6
    sums = probabilities["winogender"].groupby(["model", "prompt", "item", "position"]).probability.sum()
    # Three numbers that are rounded to 0.001, and of UL2 to more.
    assert (((sums - 1).abs() <= 0.0101) | (sums == 0)).all()


def test_slopes_are_those_of_the_authors_code(probabilities):
    """Of every model and prompt, with the regression that their script calls."""
    keys = ["model", "prompt", "variable", "gender"]
    table = correlation.estimate_slopes(probabilities["mgc"], draws=2, seed=1)
    table = table.set_index([*keys, "metric"]).value.sort_index()
    checked = 0
    for key, curves in probabilities["mgc"].groupby(keys):
        y = curves.groupby("position").probability.mean() * 100
        expected = stats.linregress(range(len(y)), y)
        # Without any probability there is no slope to observe; the script has 0.
        slope = expected.slope if y.any() else np.nan
        assert table[(*key, "slope")] == pytest.approx(slope, abs=1e-9, nan_ok=True)
        if np.ptp(y) > 1e-9:
            assert table[(*key, "r")] == pytest.approx(expected.rvalue, abs=1e-9)
        checked += 1
    assert checked == 25 * 2 * 3


def test_table_2_is_what_its_variant_gives_within_the_rounding_of_the_release(probabilities, root):
    folder = root / "paper/published"
    ends = ("", "_mapping", "_models")
    printed, mapping, known = published.read_study(*(folder / f"underspecification{end}.csv" for end in ends))
    metrics = detection.specification_metric(probabilities["winogender"]).astype({"dates": str}).fillna("")
    names = dict(zip(known.label, known.model, strict=True))
    tables = {name: pd.DataFrame() for name in mapping.table} | {"metrics.csv": name_models(metrics, names)}
    judged = published.compare_numbers(
        printed[printed.source == "Table 2"], mapping, known, {"preprint": tables}, ["preprint"]
    )
    assert judged.verdict.value_counts().to_dict() == {"as printed": 27, "within interval": 11, "differs": 10}
    verdict = judged.set_index([judged["row"].str[0], "column"]).verdict
    # 0.49 points beside a small sum of both genders, and 0.34 beside a large one.
    assert verdict["7", "BERT-large"] == "within interval" and verdict["7", "RoBERTa-base"] == "differs"


def test_the_printed_sums_are_consistent(root):
    printed = published.read_published(root / "paper/published/underspecification.csv")
    table = tables.printed_rates(printed).astype({"text": float})
    wide = table.pivot(index=["evaluation_set", "label"], columns="head", values="text").rename(columns=lambda h: h[9:])
    assert ((wide.BA - (wide.TPR + wide.TNR) / 2).abs() <= 1.001e-3).all() and len(wide) == 22
