"""Entries of numbers."""

import json
import math

import numpy as np
import pytest

from scripts.core.paper import numbers


def test_an_entry_says_where_it_comes_from():
    made = numbers.make_entry(0.5, "0.50", "accuracy.csv", model="a", n_distractors=[0, 1])
    cell = {"model": "a", "n_distractors": [0, 1]}
    assert made == {"value": 0.5, "text": "0.50", "source": "accuracy.csv", "cell": cell}
    assert numbers.make_count(np.int64(1234), "a.csv", column="n") == {
        "value": 1234, "text": "1,234", "source": "a.csv", "cell": {"column": "n"},
    }  # fmt: skip


@pytest.mark.parametrize("value", [np.int64(0), np.float64(0.5), np.float32(0.5), None, math.nan])
def test_numbers_of_numpy_can_be_written_and_a_missing_one_is_a_dash(value):
    made = numbers.make_entry(value, "0", "a.csv")
    missing = value is None or math.isnan(value)
    assert json.loads(json.dumps(made))["value"] == (None if missing else value)
    assert made["text"] == ("–" if missing else "0")


def test_settings_name_their_keys():
    made = numbers.of_settings({"draws": 10000, "alpha": 0.05}, {"draws": "s.bootstrap.draws", "alpha": "s.alpha"})
    assert {name: (entry["text"], entry["cell"]) for name, entry in made.items()} == {
        "setting.draws": ("10,000", {"key": "s.bootstrap.draws"}),
        "setting.alpha": ("0.05", {"key": "s.alpha"}),
    }
