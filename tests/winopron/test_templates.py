"""Sentences of the replica, of the authors and of Winogender Schemas: how they are read."""

import re
from collections import Counter
from itertools import pairwise

import pytest

from scripts.core.data.templates import CASES, read_pronouns, word_set
from scripts.core.errors import UserError
from scripts.winopron import template_checks, templates
from tests.refusals import refused
from tests.winopron import make


def counts(read):
    return Counter((row.case, row.answer) for row in read.rows)


def test_the_replica_has_every_sentence_and_passes(replica, root):
    assert len(replica.rows) == 360 and counts(replica) == {(c, a): 60 for c in CASES for a in templates.ANSWERS}
    assert len({row.double for row in replica.rows} | {row.single for row in replica.rows}) == 720
    template_checks.check_templates(replica, read_pronouns(root / "templates/pronouns.tsv"))
    assert replica.origins() == {"template_row": "sentences.tsv", "occupation_row": "occupations.tsv"}
    assert replica.occupation_rows["accountant"] == 3 and replica.rows[0].row == 3


AFTER_ACCUSATIVE = word_set(
    "a an the another one two half enough more less no nothing what how to with without from for of in on at by into "
    "up down out off away against after before as about only almost hardly too not and"
)
"""What follows *her* so that nobody takes it for a possessive."""


@pytest.mark.parametrize("entities", ["double", "single"])
def test_the_replica_reads_with_every_pronoun(replica, entities):
    for template in replica.rows:
        text = getattr(template, entities)
        assert re.fullmatch(r"[A-Z]\S*(?: \S+)+\.", text), template.row
        first, *rest = re.findall(r"[\w']+", text.partition(templates.PRONOUN)[2].lower())
        if template.case == "nominative":
            joined = [verb for word, verb in pairwise([first, *rest]) if word in ("and", "or", "but")]
            assert not template_checks.AGREEING & set(joined), template.row
        elif template.case == "accusative":
            assert first in AFTER_ACCUSATIVE, template.row
        else:
            assert first not in AFTER_ACCUSATIVE - {"one", "only", "two"}, template.row


@pytest.mark.parametrize(
    ("column", "word", "message"),
    [
        ("occupation", "weever", "unknown occupation 'weever'; did you mean 'weaver'?"),
        ("case", "genitive", "unknown case 'genitive'"),
        ("answer", "1", "unknown answer '1'; use one of occupation, participant"),
        ("second_reading", "read", "unknown second_reading 'read'; use one of kept, changed"),
    ],
)
def test_unknown_words_are_refused_with_file_and_row(tmp_path, column, word, message):
    with refused(f"{tmp_path / 'sentences.tsv'}, row 3: {message}"):
        make.read(tmp_path, make.edited(3, column, word))
    with refused("no sentence for the occupation 'pilot'"):
        make.read(tmp_path, make.cells()[:6])


def test_an_archive_like_the_authors_is_read(tmp_path):
    read = templates.read_official(make.archive())
    template_checks.check_templates(read, make.PRONOUNS)
    own = make.read(tmp_path)
    assert [(r.double, r.single, r.answer) for r in read.rows] == [(r.double, r.single, r.answer) for r in own.rows]
    path = tmp_path / "data.zip"
    path.write_bytes(make.archive())
    assert templates.read_official(path).origins() == {"template_row": "data.zip:new_templates.tsv"}


def test_messages_about_an_archive_have_no_sentence():
    rows = make.cells()
    rows[1][3] = "The weaver hid from the buyer where {pronoun} was safe."
    with pytest.raises(UserError) as caught:
        template_checks.check_templates(templates.read_official(make.archive(rows)), make.PRONOUNS)
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
    template_checks.check_templates(official, read_pronouns(root / "templates/pronouns.tsv"))
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
