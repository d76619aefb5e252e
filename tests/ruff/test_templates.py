"""Both template sets are read into one structure; no message quotes a sentence of the authors'."""

import zipfile

import pytest

from scripts.core.data.templates import CASES, read_pronouns
from scripts.core.errors import UserError
from scripts.ruff import check_templates, narratives, templates
from tests.conftest import ROOT
from tests.refusals import refused
from tests.ruff import small_templates
from tests.ruff.synthetic import FOUR

REPLICA = [ROOT / "templates" / path for path in ("ruff/task.tsv", "ruff/context.tsv", "occupations.tsv")]
LINES = small_templates.template_lines()
UNKNOWN = {
    "occupation": ("task", 1, "weaver\t", "waever\t", ["task.tsv, row 3", "'waever'", "'weaver'"]),
    "case": ("task", 1, "nominative", "nominal", ["task.tsv, row 3", "'nominal'", "'nominative'"]),
    "polarity": ("context", 6, "positive", "postive", ["context.tsv, row 8", "'postive'", "'positive'"]),
    "not-listed": ("occupations", 1, "weaver", "tailor", ["task.tsv, row 3", "unknown occupation 'weaver'"]),
    "no-sentence": ("occupations", 3, "glazier", "tailor\tguest\nglazier", ["task.tsv", "'tailor'", "add it"]),
}


@pytest.mark.parametrize(("name", "place", "old", "new", "named"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_words_get_the_nearest_known_one(tmp_path, name, place, old, new, named):
    lines = list(LINES[name])
    lines[place] = lines[place].replace(old, new)
    given = small_templates.given(tmp_path, **{name: lines})
    with refused(*named):
        templates.read_replica(*given["templates"])


def test_the_projects_templates_have_no_problem():
    replica = templates.read_replica(*REPLICA)
    assert check_templates.find_problems(replica, read_pronouns(ROOT / "templates/pronouns.tsv")) == []
    assert len(replica.tasks) == 180


def test_the_official_format_gives_the_same_structure(tmp_path):
    replica = templates.read_replica(*small_templates.given(tmp_path)["templates"])
    official = templates.read_official(small_templates.archive())
    for ours, theirs in zip(replica.tasks, official.tasks, strict=True):
        facts = ("occupation", "participant", "case", "sentence")
        assert [getattr(ours, name) for name in facts] == [getattr(theirs, name) for name in facts]
    for case in CASES:
        for ours, theirs in zip(replica.contexts[case], official.contexts[case], strict=True):
            assert (ours.polarity, ours.explicit) == (theirs.polarity, theirs.explicit)
            # Blanks at the end are part of the official texts.
            assert theirs.implicit == ours.implicit + " " * (ours.polarity == "positive")
        assert [c.theme for c in official.contexts[case]] == list("1234512345")
    assert check_templates.blocking_problems(official) == []


def bad_password(archive):
    # The flag bit "encrypted" without any encryption: the password check fails.
    content = bytearray(archive)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = -1
        while (start := content.find(signature, start + 1)) >= 0:
            content[start + offset] |= 1
    return bytes(content)


DAMAGED = {
    "cut": (lambda content: content[:200], "not a zip archive"),
    "page": (lambda content: b"<html>", "not a zip archive"),
    "checksum": (lambda content: content.replace(b"stopped", b"skipped"), "not a zip archive"),
    "member": (lambda content: content.replace(b"data/task.tsv", b"data/tusk.tsv"), "lacks data/task.tsv"),
    "password": (bad_password, "password"),
}


@pytest.mark.parametrize(("damage", "named"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_archives_are_refused(tmp_path, damage, named):
    path = tmp_path / "data.zip"
    path.write_bytes(damage(small_templates.archive()))
    with refused(path, named, "fetch it again"):
        templates.read_official(path)


def test_files_that_make_no_template_set_are_refused(tmp_path):
    with refused("data.zip", "fetch_upstream"):
        templates.read_official(tmp_path / "data.zip")
    with refused("templates: 2 files", "archive"):
        narratives.load(["task.tsv", "context.tsv"], small_templates.write(tmp_path)["pronouns"], FOUR)


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ("weaver\tbuyer\tThe weaver saw nobody.\t$NOM_PRONOUN\tweaver\n", ["row 2", "{pronoun}", "has 0"]),
        ("weaver\tbuyer\tThe weaver.\t$NOM_PRONOUN\tweaver\nThe weaver saw nobody.\n", ["row 3", "1 cell", "has 5"]),
    ],
    ids=["no-slot", "cells"],
)
def test_problems_of_the_archive_never_quote_it(tmp_path, rows, named):
    text = "occupation\tparticipant\tsentence\tpronoun_type\tword\n" + rows
    given = small_templates.given_archive(tmp_path, small_templates.archive(task=text))
    with pytest.raises(UserError) as caught:
        narratives.load(pronoun_sets=["he", "she"], **given)
    message = str(caught.value)
    assert message.startswith(f"{given['templates'][0]}:data/task.tsv") and "nobody" not in message
    assert all(name in message for name in named), message


@pytest.mark.upstream
def test_the_authors_archive_is_read_and_the_replica_is_no_copy(mirror):
    archive = mirror / "ruff" / "data.zip"
    ours, official = templates.read_replica(*REPLICA), templates.read_official(archive)
    assert check_templates.blocking_problems(official) == []
    assert len(official.tasks) == 180 and len({t.occupation for t in official.tasks}) == 60
    with zipfile.ZipFile(archive) as file:
        assert all(info.flag_bits & 1 for info in file.infolist() if not info.is_dir())

    def contexts(read):
        return [s for rows in read.contexts.values() for c in rows for s in (c.explicit, c.implicit)]

    def sentences(read):
        return {" ".join(text.lower().split()) for text in [*contexts(read), *(task.sentence for task in read.tasks)]}

    assert len(contexts(official)) == 60 and sum(text.endswith(" ") for text in contexts(official)) == 3
    # The count alone, so that a failure prints no sentence.
    assert len(sentences(ours) & sentences(official)) == 0
    assert {t.occupation: t.participant for t in ours.tasks} == {t.occupation: t.participant for t in official.tasks}
