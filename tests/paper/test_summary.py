"""The summary over all studies."""

import json

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.paper import paper_summary, summary
from tests.refusals import refused


def row(**given):
    usual = {"part": "replica", "model": "a", "kind": "model", "scoring": "probability", "metric": "accuracy"}
    return usual | {"value": 0.5, "n": 10, "n_unit": "instances", "label": "A", "headline": True} | given


def test_every_study_has_the_same_columns_and_factors_of_its_own(tmp_path):
    one, two, none = (tmp_path / f"{name}.csv" for name in ("one", "two", "none"))
    estimate_rows.write_estimates(
        one, "one", [row(low=0.4, high=0.6, shots=2), row(model="b", headline=False, shots=float("nan"))]
    )
    estimate_rows.write_estimates(two, "two", [row(kind="released", scoring="", value=None, case="nominative")])
    estimate_rows.write_estimates(none, "none", [])
    csv, as_json = tmp_path / "summary.csv", tmp_path / "summary.json"
    paper_summary.main(summaries_of_studies=[str(one), str(none), str(two)], csv=str(csv), json_file=str(as_json))
    made = estimate_rows.read_estimates([csv])
    assert estimate_rows.factor_columns(made) == ["shots", "case"]
    assert made.columns.tolist()[6:10] == ["metric", "shots", "case", "value"]
    assert made.study.tolist() == ["one", "one", "two"]
    # A number stays one where other rows have none; what is empty is pooled.
    assert made.shots.tolist() == ["2", "", ""] and made.case.tolist() == ["", "", "nominative"]
    assert made.low.notna().tolist() == made.level.eq(0.95).tolist() == [True, False, False]
    assert made.unit.eq("share").all() and made.headline.tolist() == [True, False, True]
    listed = json.loads(as_json.read_text(encoding="utf-8"))
    assert listed[0]["study"] == "one" and listed[0]["shots"] == "2" and listed[2]["value"] is None
    assert estimate_rows.read_estimates([none]).columns.tolist() == estimate_rows.COLUMNS


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row(kind="modle")], "A, accuracy: kind 'modle'; did you mean 'model'"),
        ([row(scoring="probabilty")], "scoring 'probabilty'; did you mean 'probability'"),
        ([row(n_unit="things")], "n_unit 'things'"),
        ([row(low=0.4)], "one end of the interval is missing"),
        ([row(low=0.6, high=0.4)], "ends before it begins"),
        ([row(case="x"), row(case="x", value=0.7)], "two rows for s, replica, a, model, probability, accuracy, x"),
    ],
)
def test_rows_that_are_no_summary_are_refused(tmp_path, rows, words):
    with pytest.raises(ValueError, match=words):
        estimate_rows.write_estimates(tmp_path / "s.csv", "s", rows)
    assert not (tmp_path / "s.csv").exists()


def test_a_file_of_another_form_is_refused(tmp_path):
    files.write_csv(tmp_path / "s.csv", pd.DataFrame({"study": ["s"]}))
    with refused(tmp_path / "s.csv", "column 'part'", "delete the file"):
        estimate_rows.read_estimates([tmp_path / "s.csv"])


def written(tmp_path, rows):
    estimate_rows.write_estimates(tmp_path / "s.csv", "s", rows)
    return estimate_rows.read_estimates([tmp_path / "s.csv"])


def test_rows_are_found_by_what_they_are_of(tmp_path):
    rows = [row(), row(case="nominative"), row(case="nominative", prompt="B"), row(metric="slope", case="nominative")]
    frame = written(tmp_path, rows)
    assert estimate_rows.rows_at(frame, metric="accuracy").index.tolist() == [0]
    # A prompt is another way of asking for the same.
    assert estimate_rows.rows_at(frame, metric="accuracy", case="nominative").index.tolist() == [1, 2]
    assert estimate_rows.rows_at(frame, metric="accuracy", case="nominative", prompt="B").index.tolist() == [2]
    assert estimate_rows.rows_at(frame, metric="accuracy", shots=2).empty


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n_distractors": 0}, "no distractors"),
        ({"n_distractors": 1, "pronoun": "xe"}, "1 distractor, xe"),
        ({"shots": 0, "pronoun_type": "binary"}, "binary pronouns"),
        ({"gender": "female", "evaluation_set": "winogender"}, "Winogender, female"),
        ({"role": "swap-1|swap-2"}, "counterfactual"),
    ],
)
def test_levels_are_told_in_words(tmp_path, given, words):
    assert summary.describe_levels(written(tmp_path, [row(**given)]).iloc[0].to_dict()) == words


def test_models_are_told_with_how_they_decided():
    given = row(debiasing="n-CDA", scoring=estimate_rows.FULL, prompt="B")
    assert summary.describe_subject(given) == "A, n-CDA, full likelihood, prompt B"
