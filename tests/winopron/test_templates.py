"""The replica's sentences, the authors' and Winogender's: reading and checks, each check seen on a planted error."""

import re
from collections import Counter

import pytest

from scripts.core.data.templates import CASES, read_pronouns
from scripts.core.errors import UserError
from scripts.winopron import templates
from tests.winopron import make


def refusal(function, *arguments, **options):
    with pytest.raises(UserError) as caught:
        function(*arguments, **options)
    return str(caught.value)


@pytest.fixture(scope="module")
def replica(root):
    return templates.read_replica(root / "templates/winopron/sentences.tsv", root / "templates/occupations.tsv")


def counts(read):
    return Counter((row.case, row.answer) for row in read.rows)


def test_the_replica_has_every_sentence_and_passes(replica, root):
    assert len(replica.rows) == 360 and counts(replica) == {(c, a): 60 for c in CASES for a in templates.ANSWERS}
    assert len({row.double for row in replica.rows} | {row.single for row in replica.rows}) == 720
    templates.check(replica, read_pronouns(root / "templates/pronouns.tsv"))
    assert replica.origins() == {"template_row": "sentences.tsv", "occupation_row": "occupations.tsv"}
    assert replica.occupation_rows["accountant"] == 3 and replica.rows[0].row == 3


def test_a_small_set_passes(tmp_path):
    templates.check(make.read(tmp_path), make.PRONOUNS)


def edited(number, column, text):
    """Return the small set's rows with one cell changed; ``number`` is the line in the file."""
    rows = make.cells()
    rows[number - 2][templates.COLUMNS.index(column)] = text
    return rows


def planted(tmp_path, rows):
    return refusal(templates.check, make.read(tmp_path, rows), make.PRONOUNS)


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
    (
        "double",
        6,
        "The weaver let the buyer wait, because {pronoun} of the loom.",
        "no noun after the possessive ('of')",
    ),
    ("single", 2, "", "there is no single sentence"),
    ("case", 2, "accusative", "row 2: the accusative sentence about 'weaver' is without its partner"),
]


@pytest.mark.parametrize(("column", "row", "text", "message"), PLANTED)
def test_every_check_sees_its_error(tmp_path, column, row, text, message):
    said = planted(tmp_path, edited(row, column, text))
    assert said.startswith(f"{tmp_path / 'sentences.tsv'}: ") and message in said and re.search(r"row \d", said)
    assert f"row {row}: " in said or f"row {row + 1}: " in said


def test_the_order_of_a_pair_is_checked(tmp_path):
    rows = make.cells()
    said = planted(tmp_path, [*rows[:2], *rows[3:]])
    assert "row 4: the accusative sentence about 'weaver' is without its partner; put the one with the other" in said
    assert "row 2: 5 sentences about 'weaver' where 6 are needed" in said
    said = planted(tmp_path, [*rows[2:4], *rows[:2], *rows[4:]])
    assert "row 2: the sentences about 'weaver' begin with the accusative" in said
    assert "row 4: the nominative follows the accusative" in said
    said = planted(tmp_path, [*rows[:6], *rows[6:12], rows[0], rows[1]])
    assert "row 14: 'weaver' has sentences from row 2 on already; put all six together" in said
    said = planted(tmp_path, rows[:-1])
    assert "row 12: the possessive sentence about 'pilot' is without its partner" in said


def test_a_pair_of_people_stays_together(tmp_path):
    """Where the file names both people, as the authors' does."""
    rows = list(make.read(tmp_path).rows)
    rows[3] = templates.Template(**{**vars(rows[3]), "participant": "guest"})
    found = templates.structure_problems(rows)
    assert (5, "'weaver' comes with 'guest' after 'buyer'; name one of them") in found


def test_unknown_words_are_refused_with_file_and_row(tmp_path):
    where = tmp_path / "sentences.tsv"
    for column, word, message in (
        ("occupation", "weever", "unknown occupation 'weever'; did you mean 'weaver'?"),
        ("case", "genitive", "unknown case 'genitive'"),
        ("answer", "1", "unknown answer '1'; expected one of occupation, participant"),
        ("second_reading", "", "unknown second reading ''; expected one of kept, changed"),
    ):
        assert refusal(make.read, tmp_path, edited(3, column, word)).startswith(f"{where}, row 3: {message}")
    said = refusal(make.read, tmp_path, make.cells()[:6])
    assert "has no sentence for the occupation 'pilot'" in said


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
    said = refusal(templates.check, templates.read_official(make.archive(rows)), make.PRONOUNS, own=False)
    assert "data.zip:new_templates.tsv: 2 problems: row 3: " in said and "hid" not in said and "safe" not in said
    with pytest.raises(UserError, match="does not open with the password of the authors' README"):
        templates.read_official(make.archive(encrypted=True))


def test_winogender_has_no_sentences_about_one_person(tmp_path):
    path = tmp_path / "templates.tsv"
    path.write_text("\n".join(["\t".join(templates.WINOGENDER_COLUMNS), *make.WINOGENDER]), encoding="utf-8")
    read = templates.read_winogender(path)
    assert [(row.case, row.answer, row.single, row.row) for row in read.rows] == [
        ("nominative", "occupation", None, 2),
        ("possessive", "participant", None, 3),
    ]
    path.write_text("\n".join(["\t".join(templates.WINOGENDER_COLUMNS), "weaver\tbuyer\t0\tNo slot."]))
    assert refusal(templates.read_winogender, path) == (
        f"{path}, row 2: has no slot for a pronoun; fetch the file again"
    )


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
