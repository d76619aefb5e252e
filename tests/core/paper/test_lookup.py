"""Numbers that a section looks up: which row, how it is printed, and where it says that it is from."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.paper import lookup, sections


@pytest.fixture
def looked_up():
    rows = [
        ("replica", "a", "", 0.625, 0.5, 0.75, 1200), ("replica", "b", "", 0.875, np.nan, np.nan, 9),
        ("replica", "c", "", np.nan, np.nan, np.nan, 0), ("replica", "a", "xe", 0.25, 0.125, 0.5, 40),
    ]  # fmt: skip
    columns = ["templates", "model", "pronoun_set", "value", "low", "high", "below"]
    table = pd.DataFrame(rows, columns=columns).assign(metric="accuracy")
    part = {"id": "s.replica", "numbers": {}}
    return lookup.Numbers(part, table, ["templates", "model"], ["pronoun_set"], "estimates.csv")


def test_rows_are_found_by_their_levels_and_what_is_not_named_is_pooled(looked_up):
    assert looked_up.rows("accuracy").model.tolist() == ["a", "b"]
    assert (looked_up.lowest("accuracy").model, looked_up.highest("accuracy").model) == ("a", "b")
    assert looked_up.highest("accuracy", pronoun_set="xe").value == 0.25


def test_a_number_is_printed_and_kept_with_its_cell(looked_up):
    low, high = looked_up.lowest("accuracy"), looked_up.highest("accuracy")
    told = [looked_up.value(low), looked_up.plain(low), looked_up.ends(low), looked_up.ends(high), looked_up.count(low)]
    assert [sections.unmark_numbers(text) for text in told] == ["62.5", "0.625", "50.0 to 75.0", "no interval", "1,200"]
    assert looked_up.part["numbers"]["accuracy.a.below"] == {
        "value": 1200, "text": "1,200", "source": "estimates.csv",
        "cell": {"templates": "replica", "model": "a", "metric": "accuracy"},
    }  # fmt: skip
    looked_up.value(looked_up.highest("accuracy", pronoun_set="xe"), signed=True)
    assert looked_up.part["numbers"]["accuracy.a.xe.value"]["text"] == "+25.0"
