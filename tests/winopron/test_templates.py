"""The replica's sentences, the authors' and Winogender's: reading and checks, each check seen on a planted error."""

import re
from collections import Counter

import pytest

from scripts.core.data.templates import CASES, read_pronouns
from scripts.core.errors import UserError
from scripts.winopron import templates
from tests.refusals import refused
from tests.winopron import make


def counts(read):
    return Counter((row.case, row.answer) for row in read.rows)


def test_the_replica_has_every_sentence_and_passes(replica, root):
    assert len(replica.rows) == 360 and counts(replica) == {(c, a): 60 for c in CASES for a in templates.ANSWERS}
    assert len({row.double for row in replica.rows} | {row.single for row in replica.rows}) == 720
    templates.check(replica, read_pronouns(root / "templates/pronouns.tsv"))
    assert replica.origins() == {"template_row": "sentences.tsv", "occupation_row": "occupations.tsv"}
    assert replica.occupation_rows["accountant"] == 3 and replica.rows[0].row == 3


def edited(number, column, text):
    """Return the small set's rows with one cell changed; ``number`` is the line in the file."""
    rows = make.cells()
    rows[number - 2][templates.COLUMNS.index(column)] = text
    return rows


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
        templates.check(make.read(tmp_path, edited(row, column, text)), make.PRONOUNS)


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
    templates.check(make.read(tmp_path, rows), make.PRONOUNS)
    with refused(*messages):
        templates.check(make.read(tmp_path, [rows[place] for place in order]), make.PRONOUNS)


def test_a_pair_of_people_stays_together(tmp_path):
    """Where the file names both people, as the authors' does."""
    rows = list(make.read(tmp_path).rows)
    rows[3] = templates.Template(**{**vars(rows[3]), "participant": "guest"})
    found = templates.structure_problems(rows)
    assert (5, "'weaver' comes with 'guest' after 'buyer'; name one of them") in found


@pytest.mark.parametrize(
    ("column", "word", "message"),
    [
        ("occupation", "weever", "unknown occupation 'weever'; did you mean 'weaver'?"),
        ("case", "genitive", "unknown case 'genitive'"),
        ("answer", "1", "unknown answer '1'; expected one of occupation, participant"),
        ("second_reading", "", "unknown second reading ''; expected one of kept, changed"),
    ],
)
def test_unknown_words_are_refused_with_file_and_row(tmp_path, column, word, message):
    with refused(f"{tmp_path / 'sentences.tsv'}, row 3: {message}"):
        make.read(tmp_path, edited(3, column, word))


def test_every_occupation_has_its_sentences(tmp_path):
    with refused("no sentence for the occupation 'pilot'"):
        make.read(tmp_path, make.cells()[:6])


def test_an_archive_like_the_authors_is_read(tmp_path):
    read = templates.read_official(make.archive())
    templates.check(read, make.PRONOUNS, own=False)
    own = make.read(tmp_path)
    assert [(r.double, r.single, r.answer) for r in read.rows] == [(r.double, r.single, r.answer) for r in own.rows]
    path = tmp_path / "data.zip"
    path.write_bytes(make.archive())
    assert templates.read_official(path).origins() == {"template_row": "data.zip:new_templates.tsv"}


def test_messages_about_an_archive_have_no_sentence():
    rows = make.cells()
    rows[1][3] = "The weaver hid from the buyer where {pronoun} was safe."
    with pytest.raises(UserError) as caught:
        templates.check(templates.read_official(make.archive(rows)), make.PRONOUNS, own=False)
    said = str(caught.value)
    assert "data.zip:new_templates.tsv: 2 problems: row 3: " in said and "hid" not in said and "safe" not in said
    with refused("does not open", "password of the authors' README"):
        templates.read_official(make.archive(encrypted=True))


def test_winogender_has_no_sentences_about_one_person(tmp_path):
    read = templates.read_winogender(make.write_winogender(tmp_path))
    assert [(row.case, row.answer, row.single, row.row) for row in read.rows] == [
        ("nominative", "occupation", None, 2),
        ("possessive", "participant", None, 3),
    ]
    path = make.write_winogender(tmp_path, "weaver\tbuyer\t0\tNo slot.")
    with refused(f"{path}, row 2", "no slot for a pronoun"):
        templates.read_winogender(path)


@pytest.mark.upstream
def test_the_authors_templates_are_as_described(mirror, root):
    official = templates.read_official(mirror / "winopron/data.zip")
    assert len(official.rows) == 360 and counts(official) == {(c, a): 60 for c in CASES for a in templates.ANSWERS}
    templates.check(official, read_pronouns(root / "templates/pronouns.tsv"), own=False)
    assert len({row.double for row in official.rows}) == len({row.single for row in official.rows}) == 360
    winogender = templates.read_winogender(mirror / "winogender/data/templates.tsv")
    # Table 1 of the paper.
    assert Counter(row.case for row in winogender.rows) == {"nominative": 89, "accusative": 4, "possessive": 27}
    pairs = [{(row.occupation, row.participant) for row in read.rows} for read in (official, winogender)]
    assert pairs[0] ^ pairs[1] == {("examiner", "intern"), ("examiner", "victim")}
    with pytest.raises(UserError, match="does not open with the password"):
        templates.read_official(mirror / "winopron/data.zip", b"yesterday's")


@pytest.mark.upstream
def test_the_replica_is_not_a_copy(replica, mirror):
    """No seven words in a row are shared; numbers alone, so that a failure prints no sentence."""
    official = templates.read_official(mirror / "winopron/data.zip")
    winogender = templates.read_winogender(mirror / "winogender/data/templates.tsv")

    def runs(*sets):
        texts = [text for read in sets for row in read.rows for text in (row.double, row.single) if text]
        worded = [re.findall(r"[\w']+", text.lower()) for text in texts]
        return {tuple(words[i : i + 7]) for words in worded for i in range(len(words) - 6)}

    assert len(runs(replica) & runs(official, winogender)) == 0
    assert {(r.occupation, r.participant) for r in replica.rows} == {
        (r.occupation, r.participant) for r in official.rows
    }


def test_the_note_on_the_second_reading_is_right(root):
    lines = (root / "templates/winopron/sentences.tsv").read_text(encoding="utf-8").splitlines()
    changed = sum(line.endswith("\tchanged") for line in lines)
    readme = (root / "templates/README.md").read_text(encoding="utf-8")
    assert f"changed {changed} of\nthe 360" in readme
