"""What RUFF asks of a run's pronoun sets, and what it has in common with the study."""

import pytest

from scripts.core.data import options, templates
from scripts.core.errors import UserError
from scripts.ruff import study
from tests.conftest import ROOT

KNOWN = templates.read_pronouns(ROOT / "templates/pronouns.tsv") | {
    "e": {"nominative": "e", "accusative": "em", "possessive": "es"},
    "ey": {"nominative": "ey", "accusative": "em", "possessive": "eir"},
}


def refusal(names):
    with pytest.raises(UserError) as caught:
        study.select_pronoun_sets(KNOWN, names)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("names", "has"), [(["he"], "has one, he"), (["he", "xe"], "has two, he and xe"), ([], "has none")]
)
def test_fewer_than_three_sets_are_refused_with_the_reason(names, has):
    message = refusal(names)
    assert message.startswith(f"pronoun_sets: RUFF needs at least three sets, and this run {has}: ")
    assert "a right one, the distractor's and a third" in message
    assert "with two, every error with distractors is the distractor's" in message
    assert message.endswith("; add some of " + ", ".join(name for name in KNOWN if name not in names))


def test_three_sets_are_enough():
    assert list(study.select_pronoun_sets(KNOWN, ["xe", "he", "they"])) == ["xe", "he", "they"]


def test_sets_that_share_a_form_are_refused_with_the_reason():
    message = refusal(["he", "e", "they", "ey"])
    assert "'e' and 'ey' share the accusative form 'em'" in message
    assert "remove one of the two sets" in message


@pytest.mark.parametrize(("names", "chance"), [(["he", "she", "they", "xe"], 0.25), (["he", "she", "xe"], 1 / 3)])
def test_chance_is_one_among_the_sets(names, chance):
    assert options.chance_of_sets(study.select_pronoun_sets(KNOWN, names), templates.CASES) == chance


def test_only_the_studys_own_sets_are_compared_with_it():
    assert options.other_choice(["xe", "they", "she", "he"], study.PRONOUN_SETS) == ""
    assert study.other_sets(["xe", "they", "she", "he"]) == ""
    assert "exactly he, she, they, xe" in options.other_choice(["he", "she", "they"], study.PRONOUN_SETS)
    assert study.other_sets(["he", "she", "they"]) == (
        "the study counts instances of the pronoun sets he, she, they, xe; this run has he, she, they"
    )
