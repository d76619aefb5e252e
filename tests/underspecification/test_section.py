"""Numbers that golden files do not have: models without any mass at a date, and slopes that may be none."""

import pandas as pd

from scripts.underspecification import detection, section
from tests.underspecification.synthetic import winogender


def test_sentences_without_any_mass_at_one_date_are_counted_with_their_metrics():
    """Their probability counts as zero there, so that they can move most: as unspecified, not as well-specified."""
    rows = winogender({("clerk", "man", 0): (0.02, -0.02, 0.0), ("nurse", "man", 1): (0.0, 0.0, 0.0)}, label="A")
    rows.loc[(rows["item"] == "nurse_man_1") | (rows.position == 0), "probability"] = 0.0
    values = detection.specification_metric(rows).astype({"dates": str})
    found = section.count_undefined(values, "winogender", 0.5)
    assert {name: entry["text"] for name, entry in found.items()} == {
        "winogender.undefined": "2", "winogender.undefined.moved": "1", "winogender.undefined.most": "35.3",
    }  # fmt: skip
    assert found["winogender.undefined"]["label"] == "A"


def test_slopes_whose_interval_holds_zero_are_counted_as_curves_alone():
    rows = [("A", 0.3, 0.1), ("B", 0.2, -0.1), ("A|B", 0.3, 0.2), ("C", None, None)]
    table = pd.DataFrame(rows, columns=["prompt", "value", "low"]).assign(
        evaluation_set="mgc", variable="date", accumulation="top", gender="female", metric="slope"
    )
    found = {name: entry["value"] for name, entry in section.count_slopes(table).items()}
    assert (found["method1.date.curves"], found["method1.date.significant"]) == (2, 1)
