"""Filling slots and choosing among options."""

import pandas as pd
import pytest

from scripts.core import options
from scripts.core.errors import UserError


def test_an_instance_of_several_samples_has_its_options_once():
    one = pd.DataFrame({"instance_id": ["a", "b"], "text": ["___ left.", "I saw ___."], "options": [["he", "xe"]] * 2})
    rows = options.option_texts(pd.concat([one, one]))
    assert rows.text.tolist() == ["He left.", "Xe left.", "I saw he.", "I saw xe."]
    assert rows.option_index.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("___ left.", "Xe left."),
        ("It rained. ___ left.", "It rained. Xe left."),
        ("It rained, so ___ left.", "It rained, so xe left."),
    ],
)
def test_fill_capitalises_at_the_start_of_a_sentence(text, filled):
    assert options.fill(text, "xe") == filled


@pytest.mark.parametrize("text", ["no slot", "___ and ___"])
def test_fill_wants_one_slot(text):
    with pytest.raises(UserError, match="exactly once"):
        options.fill(text, "xe")


def test_predictions_break_ties_by_order():
    scores = pd.DataFrame(
        {
            "instance_id": ["a", "a", "a", "b", "b", "b"],
            "option_index": [0, 1, 2, 0, 1, 2],
            "log_probability": [-2.0, -1.0, -1.0, -3.0, -2.5, -1.0],
        }
    )
    picks = options.predict(scores.sample(frac=1, random_state=0))
    assert picks.option_index.to_dict() == {"a": 1, "b": 2}
    assert picks.tie.to_dict() == {"a": True, "b": False}
    assert picks.margin["b"] == pytest.approx(1.5)


def test_a_missing_option_is_refused():
    scores = pd.DataFrame(
        {"instance_id": ["a", "a", "b"], "option_index": [0, 1, 0], "log_probability": [-1.0, -2.0, -1.0]}
    )
    with pytest.raises(UserError, match="lack an option"):
        options.predict(scores)
