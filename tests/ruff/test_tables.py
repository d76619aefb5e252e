"""The cells of the tables, from small tidy tables."""

import numpy as np
import pandas as pd
import pytest

from scripts.ruff import numbers, tables


def facts(label, family, size, architecture, parameters, demonstration):
    return {
        "label": label, "family": family, "size": size, "architecture": architecture, "parameters": parameters,
        "demonstration": demonstration,
    }  # fmt: skip


MODELS = {
    "a": facts("A-base", "A", "base", "encoder", 11_000_000, False),
    "b": facts("A-large", "A", "large", "encoder", 1_300_000_000, False),
    "c": facts("C", "C", "tiny", "decoder", 46_392, True),
}


def test_instance_counts_count_files_and_what_is_scored():
    selected = pd.DataFrame({"n_distractors": [None, None, 0, 0, 0, 1]})
    table = tables.instance_counts(2, {0: 10, 1: 1000}, {0: [5, 5], 1: [5, 5]}, selected)
    assert table.scored.tolist() == [2, 3, 1]
    cells = tables.instance_counts_cells(table)
    assert cells.values.tolist() == [
        ["no context", "2", "–", "2"],
        ["+ 0 distractors", "10", "2 × 5", "3"],
        ["+ 1 distractor", "1,000", "2 × 5", "1"],
    ]
    with pytest.raises(ValueError, match="differ in size"):
        tables.instance_counts(2, {0: 10}, {0: [5, 6]}, selected)


def test_models_are_listed_by_family():
    cells = tables.models_cells(MODELS)
    assert cells.values.tolist() == [
        ["A", "base (11M), large (1.3B)", "encoder"],
        ["C (demonstration)", "tiny (46k)", "decoder"],
    ]


def test_accuracies_show_their_sd_where_there_is_one():
    frame = pd.DataFrame(
        {"model": ["a", "a", "b", "b"], "n_distractors": [0, 1, 0, 1], "factor": "all", "accuracy": [0.5, 0.25, 1, 0],
         "sd": [0.1, np.nan, 0, 0]}
    )  # fmt: skip
    cells = tables.accuracy_cells(frame, {k: MODELS[k] for k in "ab"})
    assert cells.values.tolist() == [["A-base", "0.50 ± 0.10", "0.25"], ["A-large", "1.00 ± 0.00", "0.00 ± 0.00"]]


def test_tests_of_many_models_are_shown_pooled_only():
    tests = pd.DataFrame(
        {"model": ["all", "a"], "pronoun_a": "he", "pronoun_b": "she", "difference": [-0.1, 0.2], "t": [-2.0, np.nan],
         "df": [10.0, np.nan], "p": [0.0004, np.nan], "p_holm": [0.04, np.nan], "significant_holm": [True, False]}
    )  # fmt: skip
    labels = [{"set": "he", "label": "he/him/his"}, {"set": "she", "label": "she/her/her"}]
    cells = tables.pronoun_tests_cells(tests, MODELS, labels)
    assert cells.values.tolist() == [
        ["all models", "he/him/his – she/her/her", "−0.10", "−2.00", "10.0", "< 0.001", "0.040*"],
        ["A-base", "he/him/his – she/her/her", "+0.20", "–", "–", "–", "–"],
    ]
    assert len(tables.pronoun_tests_cells(tests, MODELS, labels, most=2)) == 1


def test_error_shares_side_by_side():
    frame = pd.DataFrame(
        [
            ("a", n, kind, share)
            for n in (1, 2)
            for kind, share in (("distraction", 0.5), ("bias", np.nan), ("other", 0.5))
        ],
        columns=["model", "n_distractors", "error_type", "share"],
    )
    cells = tables.error_types_cells(frame, {"a": MODELS["a"]})
    assert cells.columns.tolist() == ["Model", "D1", "D2", "B1", "B2"]
    assert cells.values.tolist() == [["A-base", "0.50", "0.50", "–", "–"]]


def test_numbers_name_their_cells():
    accuracy = pd.DataFrame(
        {"model": "a", "factor": "all", "level": "all", "n_distractors": [0, 1], "accuracy": [0.8, np.nan]}
    )
    over = pd.DataFrame(
        {"architecture": "all", "factor": "all", "level": "all", "n_distractors": [0, 1], "accuracy": [0.8, 0.46]}
    )
    made = numbers.from_accuracy(accuracy, over)
    assert made["accuracy.a.all.all.0"] == {
        "value": 0.8,
        "text": "0.80",
        "source": "accuracy.csv",
        "cell": {"model": "a", "factor": "all", "level": "all", "n_distractors": 0},
    }
    assert made["accuracy.a.all.all.1"]["text"] == "–"
    assert made["accuracy_change.all"]["text"] == "−34"
