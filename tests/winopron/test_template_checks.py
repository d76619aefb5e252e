"""What every template must be: each check seen on a planted error."""

import pytest

from scripts.winopron import template_checks, templates
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
    ("double", 2, TOLD + "{pronoun} would pay the buyer.", "names 'buyer' once before the pronoun and once after it"),
    ("double", 2, "The weaver said that {pronoun} would sell to the buyer.", "names 'buyer' never before the pronoun"),
    ("double", 2, "The buyer said that {pronoun} would sell.", "names 'weaver' never before the pronoun and never"),
    ("single", 2, "The weaver told the buyer that {pronoun} would sell.", "names 'buyer', who is not meant"),
    ("single", 2, "A thief said that {pronoun} would sell.", "the single sentence names 'weaver' never before"),
    ("double", 2, TOLD + "{pronoun} was about to sell.", "has 'was' after the pronoun, which 'they' takes in another"),
    ("double", 2, TOLD + "{pronoun} has sold the loom.", "has 'has' after the pronoun"),
    ("double", 2, TOLD + "{pronoun} probably doesn't sell.", "has 'doesn't' after the pronoun"),
    ("double", 2, TOLD + "{pronoun} sells the loom.", "has 'sells' after the pronoun, which is no simple past"),
    ("single", 2, "The weaver knew that {pronoun} sells looms.", "the single sentence has 'sells' after the pronoun"),
    ("double", 2, TOLD + "{pronoun} slept and was late.", "has 'and was' after the pronoun"),
    ("double", 3, "The weaver swore to the buyer that {pronoun} could buy.", "differs from row 2 before the pronoun"),
    ("answer", 3, "occupation", "the pronoun means the occupation as in row 2; write an ending about the participant"),
    ("double", 2, TOLD + "{pronoun} could buy the loom.", "row 3: the double sentence is that of row 2"),
    ("double", 2, TOLD.lower() + "{pronoun} would sell the loom.", "must begin with a capital"),
    ("double", 2, TOLD + "{pronoun} would  sell.", "have single blanks"),
    ("double", 4, "The weaver met the buyer after the loom had cost {pronoun} work.", "'work' after the accusative"),
    ("double", 6, "The weaver let the buyer wait, because {pronoun} of the loom.", "no noun after the possessive"),
    ("single", 2, "", "there is no single sentence"),
    ("case", 2, "accusative", "row 2: the accusative sentence about 'weaver' is without its partner"),
]


@pytest.mark.parametrize(("column", "row", "text", "message"), PLANTED)
def test_every_check_sees_its_error(tmp_path, column, row, text, message):
    named = message if message.startswith("row ") else f"row {row}: "
    with refused(tmp_path / "sentences.tsv", named, message):
        template_checks.check_templates(make.read(tmp_path, make.edited(row, column, text)), make.PRONOUNS)


@pytest.mark.parametrize(
    ("order", "messages"),
    [
        (
            [*range(2), *range(3, 12)],
            ["row 4: the accusative sentence about 'weaver' is without its partner; put the one with the other",
             "row 2: 5 sentences about 'weaver' where 6 are needed"],
        ),
        (
            [2, 3, 0, 1, *range(4, 12)],
            ["row 2: the sentences about 'weaver' begin with the accusative",
             "row 4: the nominative follows the accusative"],
        ),
        ([*range(12), 0, 1], ["row 14: 'weaver' has sentences from row 2 on already; put all six together"]),
        (range(11), ["row 12: the possessive sentence about 'pilot' is without its partner"]),
    ],
    ids=["one missing", "cases exchanged", "apart", "last missing"],
)  # fmt: skip
def test_the_order_of_a_pair_is_checked(tmp_path, order, messages):
    rows = make.cells()
    template_checks.check_templates(make.read(tmp_path, rows), make.PRONOUNS)
    with refused(*messages):
        template_checks.check_templates(make.read(tmp_path, [rows[place] for place in order]), make.PRONOUNS)


def test_a_pair_of_people_stays_together(tmp_path):
    """Where the file names both people, as the authors' does."""
    rows = list(make.read(tmp_path).rows)
    rows[3] = templates.Template(**{**vars(rows[3]), "participant": "guest"})
    found = template_checks.structure_problems(rows)
    assert (5, "'weaver' comes with 'guest' after 'buyer'; name one of them") in found
