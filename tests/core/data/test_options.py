"""Filling slots and choosing among options."""

import pandas as pd
import pytest

from scripts.core.data import options
from tests.refusals import refused


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
        ("Did it? ___ left.", "Did it? Xe left."),
        ("It did! ___ left.", "It did! Xe left."),
        ("It rained, so ___ left.", "It rained, so xe left."),
    ],
)
def test_fill_capitalises_at_the_start_of_a_sentence(text, filled):
    assert options.fill_slot(text, "xe") == filled


@pytest.mark.parametrize("text", ["no slot", "___ and ___"])
def test_fill_wants_one_slot(text):
    with refused("exactly once"):
        options.fill_slot(text, "xe")


def test_predictions_break_ties_by_order():
    scores = pd.DataFrame(
        {
            "instance_id": ["a", "a", "a", "b", "b", "b"],
            "option_index": [0, 1, 2, 0, 1, 2],
            "log_probability": [-2.0, -1.0, -1.0, -3.0, -2.5, -1.0],
        }
    )
    picks = options.pick_best(scores.sample(frac=1, random_state=0))
    assert picks.option_index.to_dict() == {"a": 1, "b": 2}
    assert picks.tie.to_dict() == {"a": True, "b": False}
    assert picks.margin["b"] == pytest.approx(1.5)


def test_a_missing_option_is_refused():
    scores = pd.DataFrame(
        {"instance_id": ["a", "a", "b"], "option_index": [0, 1, 0], "log_probability": [-1.0, -2.0, -1.0]}
    )
    with refused("lack an option"):
        options.pick_best(scores)


SETS = {
    "she": {"nominative": "she", "accusative": "her"},
    "e": {"nominative": "e", "accusative": "em"},
    "xe": {"nominative": "xe", "accusative": "xem"},
    "ey": {"nominative": "ey", "accusative": "em"},
}
"""e and ey share the accusative."""


def sharing():
    """Return an instance for each set and case: three options in the accusative, four in the nominative."""
    rows = []
    for case, text in (("nominative", "The clerk said that ___ left."), ("accusative", "The clerk said I saw ___.")):
        for name, forms in SETS.items():
            choice = list(options.candidate_forms(SETS, case))
            rows.append((f"{case}-{forms[case]}", text, choice, forms[case], name))
    return pd.DataFrame(rows, columns=["instance_id", "text", "options", "gold", "pronoun"])


def test_a_shared_form_is_one_option_of_all_its_sets():
    assert options.candidate_forms(SETS, "nominative") == {"she": ("she",), "e": ("e",), "xe": ("xe",), "ey": ("ey",)}
    shared = options.candidate_forms(SETS, "accusative")
    assert list(shared.items()) == [("her", ("she",)), ("em", ("e", "ey")), ("xem", ("xe",))]


def test_a_repeated_option_is_refused():
    """Scored twice, the option would win ties and make chance wrong."""
    instances = pd.DataFrame({"instance_id": ["a"], "text": ["I saw ___."], "options": [["em", "her", "em"]]})
    with refused("instance a", "'em' is offered twice"):
        options.option_texts(instances)


def test_instances_may_differ_in_their_number_of_options():
    instances = sharing()
    rows = options.option_texts(instances)
    assert rows.groupby("instance_id", sort=False).size().tolist() == [4, 4, 4, 4, 3, 3, 3]
    scores = rows.assign(log_probability=-1.0 - rows.option_index)
    scores.loc[rows.option.isin(["ey", "em"]), "log_probability"] = -0.5
    picks = options.pick_best(scores, options.option_counts(instances))
    read = instances.assign(picked=options.predicted_form(instances, picks))
    assert read.picked.tolist() == ["ey"] * 4 + ["em"] * 4
    # The shared form is right for both of its sets.
    assert read[read.picked == read.gold].pronoun.tolist() == ["ey", "e", "ey"]
    assert picks.margin["accusative-em"] == pytest.approx(0.5)


def test_a_lost_option_is_not_taken_for_one_that_was_not_offered():
    instances = sharing()
    scores = options.option_texts(instances).assign(log_probability=-1.0)
    for lost in ("xem", "her"):
        with refused("lack an option"):
            options.pick_best(scores[scores.option != lost], options.option_counts(instances))
    last = scores[~((scores.instance_id == "nominative-e") & (scores.option_index == 3))]
    with refused("lack an option"):
        options.pick_best(last, options.option_counts(instances))
    # Nothing but the instances can tell.
    with refused("lack an option"):
        options.pick_best(scores)


def test_chance_is_the_mean_share_of_right_options():
    four = [["he", "she", "they", "xe"]] * 12
    assert options.chance_accuracy(four, ["he", "she", "xe"] * 4) == 0.25
    assert options.chance_accuracy([["he", "she", "they", "xe", "ze"]] * 15, ["he"] * 15) == 0.2
    instances = sharing()
    # Four instances with four options and four with three, one of which is right for both e and ey.
    assert options.chance_accuracy(instances.options, instances.gold) == pytest.approx((4 / 4 + 4 / 3) / 8)
    with pytest.raises(ValueError, match="'he' is not among the options"):
        options.chance_accuracy([["she", "xe"]], ["he"])
