"""What golden files do not have: models without any mass at a date, slopes that may be none, the sentence on cards."""

from pathlib import Path

import pandas as pd
import pytest

from scripts.core.data import estimate_rows
from scripts.core.paper import sections
from scripts.paper.front import Front
from scripts.paper.paper_overview import overview_text
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


@pytest.mark.parametrize(("low", "said"), [(0.4, "not distinguishable from"), (0.52, "above")])
def test_the_sentence_for_abstract_and_card_says_how_the_area_compares_with_chance(tmp_path, low, said):
    row = {"kind": "model", "part": "run", "scoring": "", "model": "m", "label": "M", "n": 40, "n_unit": "occupations"}
    row |= {"headline": True, "metric": "AUC", "gender": "female", "evaluation_set": "winogender"}
    row |= {"value": 0.55, "low": low, "high": 0.7}
    estimate_rows.write_estimates(tmp_path / "summary.csv", "underspecification", [row])
    front = Front("underspecification", estimate_rows.read_estimates([tmp_path / "summary.csv"]), {"AUC": 0.5})
    template = Path(__file__).parents[2] / "paper/sections/underspecification_front.tex.j2"
    text = sections.unmark_numbers(overview_text(front, template, "thesis"))
    assert text.startswith("By the probabilities of M, sentences that leave the pronoun open are told from others")
    assert text.endswith(rf"of 0.55 ({low:.2f} to 0.70; n = 40 occupations), {said} chance (50\%).")
