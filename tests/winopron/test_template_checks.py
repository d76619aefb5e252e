"""What every template must be: each check seen on a planted error."""

from dataclasses import replace

import pytest

from scripts.winopron import template_checks
from tests.refusals import refused
from tests.winopron import make

TOLD = "The weaver told the buyer that "
PLANTED = [
    ("double", 2, TOLD + "{pronoun} would, {pronoun} would.", "has 2 slots for a pronoun"),
    ("single", 2, "The weaver slept.", "the single sentence has 0 slots for a pronoun"),
    ("double", 2, TOLD + "{pronoun} would sell {person} the loom.", "has a slot of another kind"),
    ("double", 2, TOLD + "{pronoun} would sell them the loom.", "has another pronoun, 'them'"),
    ("double", 2, TOLD + "{pronoun} would sell my loom.", "has another pronoun, 'my'"),
    ("double", 2, TOLD + "{pronoun} would sell the loom for xem.", "has another pronoun, 'xem'"),
    (
        "double",
        2,
        TOLD + "{pronoun} would pay the buyer.",
        "names 'buyer' 1 time before the pronoun and 1",
    ),
    (
        "double",
        2,
        "The weaver said that {pronoun} would sell to the buyer.",
        "names 'buyer' 0 times before",
    ),
    ("double", 2, "The buyer said that {pronoun} would sell.", "names 'weaver' 0 times before the pronoun and 0"),
    ("single", 2, "The weaver told the buyer that {pronoun} would sell.", "names 'buyer', who is not meant"),
    ("single", 2, "A thief said that {pronoun} would sell.", "the single sentence names 'weaver' 0 times before"),
    ("double", 2, TOLD + "{pronoun} was about to sell.", "has 'was' after the pronoun, which 'they' takes in another"),
    ("double", 2, TOLD + "{pronoun} has sold the loom.", "has 'has' after the pronoun"),
    ("double", 2, TOLD + "{pronoun} probably doesn't sell.", "has 'doesn't' after the pronoun"),
    ("double", 2, TOLD + "{pronoun} sells the loom.", "has 'sells' after the pronoun"),
    ("single", 2, "The weaver knew that {pronoun} sells looms.", "the single sentence has 'sells' after the pronoun"),
    ("double", 3, "The weaver swore to the buyer that {pronoun} could buy.", "differs from row 2 before the pronoun"),
    ("answer", 3, "occupation", "the pronoun means the occupation as in row 2; write an ending about the participant"),
    ("double", 3, TOLD + "{pronoun} would sell the loom.", "the double sentence is that of row 2"),
    ("single", 2, "", "there is no single sentence"),
    ("case", 2, "accusative", "a sentence about 'weaver' and 'buyer' in the nominative is expected here"),
]


@pytest.mark.parametrize(("column", "row", "text", "message"), PLANTED)
def test_every_check_sees_its_error(tmp_path, column, row, text, message):
    with refused(tmp_path / "sentences.tsv", f"row {row}: ", message):
        template_checks.check_templates(make.read(tmp_path, make.edited(row, column, text)), make.PRONOUNS)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([*range(2), *range(3, 12)], "row 5: a sentence about 'weaver' and 'buyer' in the accusative is expected"),
        ([2, 3, 0, 1, *range(4, 12)], "row 2: a sentence about 'weaver' and 'buyer' in the nominative is expected"),
        ([*range(12), *range(6)], "row 14: 'weaver' has sentences from row 2 on already; six"),
        (range(11), "row 12: a sentence about 'pilot' is missing after this one"),
    ],
    ids=["one missing", "cases exchanged", "twice", "last missing"],
)
def test_six_sentences_about_a_pair_follow_each_other(tmp_path, order, message):
    rows = make.cells()
    template_checks.check_templates(make.read(tmp_path, rows), make.PRONOUNS)
    with refused(message):
        template_checks.check_templates(make.read(tmp_path, [rows[place] for place in order]), make.PRONOUNS)


def test_a_pair_of_people_stays_together(tmp_path):
    """Where the file names both people, as the authors' does."""
    rows = list(make.read(tmp_path).rows)
    rows[3] = replace(rows[3], participant="guest")
    ((row, problem),) = template_checks.structure_problems(rows)
    assert row == 5 and "'weaver' and 'buyer' in the accusative" in problem
