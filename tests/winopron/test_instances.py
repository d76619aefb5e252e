"""Instances of every set: counts, offsets, agreement with the pronoun, identifiers."""

from collections import Counter

import pytest

from scripts.core import files
from scripts.core.data.templates import CASES, read_pronouns
from scripts.core.errors import UserError
from scripts.winopron import instances, tables, templates
from tests.winopron import make

LABELS = ["he/him/his", "she/her/her", "they/them/their", "xe/xem/xyr"]


def check_offsets(frame, entities):
    for row in frame.itertuples():
        assert row.text[row.pronoun_offset :].startswith(row.pronoun)
        for who in templates.ANSWERS:
            offset = getattr(row, f"{who}_offset")
            if entities == "double" or who == row.answer:
                assert row.text[offset:].startswith(getattr(row, who)) and offset < row.pronoun_offset
            else:
                assert str(offset) == "<NA>" and getattr(row, who) not in row.text


@pytest.mark.parametrize("entities", ["double", "single"])
def test_the_replicas_instances(root, entities):
    read = templates.read_replica(root / "templates/winopron/sentences.tsv", root / "templates/occupations.tsv")
    known = read_pronouns(root / "templates/pronouns.tsv")
    frame = instances.build(read, entities, {name: known[name] for name in ("he", "she", "they", "xe")})
    assert len(frame) == 1440 and frame.instance_id.is_unique and frame.text.is_unique
    assert Counter(zip(frame.case, frame.pronoun_set, strict=True)) == {(c, s): 120 for c in CASES for s in LABELS}
    assert Counter(frame.pair) == dict.fromkeys(frame.pair.unique(), 24) and frame.pair.nunique() == 60
    assert frame.template.nunique() == 360 and frame.template_pair.nunique() == 180
    check_offsets(frame, entities)
    # All sets of a template follow each other.
    assert frame.template.iloc[::4].is_unique and list(frame.pronoun_set[:4]) == LABELS


def test_one_sentence_by_hand(tmp_path):
    frame = instances.build(make.read(tmp_path), "double", make.PRONOUNS, {"he": 2, "she": 3, "they": 4, "xe": 5})
    row = frame.iloc[4 + 1]
    assert row.text == "The weaver told the buyer that she could buy the loom."
    assert (row.pronoun, row.pronoun_offset, row.occupation_offset, row.participant_offset) == ("she", 31, 4, 20)
    assert (row.answer, row.ending, row.pair, row.template, row.template_pair) == (
        "participant", 2, "weaver-buyer", "weaver-nominative-2", "weaver-nominative",
    )  # fmt: skip
    assert (row.template_row, row.occupation_row, row.pronoun_row) == (3, 2, 3)
    other = instances.build(make.read(tmp_path), "double", {"she": make.PRONOUNS["she"]})
    assert other.instance_id[1] == row.instance_id


def test_sets_that_share_a_form_have_instances_of_their_own(tmp_path):
    spivak = {name: dict(zip(make.FORMS, forms.split(), strict=True)) for name, forms in (
        ("e", "e em eir eirs emself"), ("ey", "ey em eir eirs emself"),
    )}  # fmt: skip
    frame = instances.build(make.read(tmp_path), "double", spivak)
    assert frame.instance_id.is_unique and frame[frame.case == "accusative"].text.nunique() == 4


@pytest.mark.parametrize(
    ("after", "case", "they", "expected"),
    [
        (" was late and was sorry.", "nominative", "they", " were late and was sorry."),
        (" was late.", "nominative", "xe", " was late."),
        (" hat was old.", "possessive", "they", " hat was old."),
        (" wasted it.", "nominative", "they", " wasted it."),
        (" has gone.", "nominative", "they", " have gone."),
    ],
)
def test_the_verb_agrees_with_they(after, case, they, expected):
    assert instances.agree_verb(after, case, make.PRONOUNS[they]) == expected


def test_winogender_has_two_people_and_agreement(tmp_path):
    path = tmp_path / "templates.tsv"
    path.write_text("\n".join(["\t".join(templates.WINOGENDER_COLUMNS), *make.WINOGENDER]), encoding="utf-8")
    read = templates.read_winogender(path)
    frame = instances.build(read, "double", make.PRONOUNS)
    assert list(frame.text[:3]) == [
        "The weaver smiled at the buyer because he was early.",
        "The weaver smiled at the buyer because she was early.",
        "The weaver smiled at the buyer because they were early.",
    ]
    assert set(frame.template_pair) == {"weaver-nominative"} and frame.occupation_row.isna().all()
    check_offsets(frame, "double")
    with pytest.raises(UserError, match="row 2: the set 'winogender' has no single sentences; use double"):
        instances.build(read, "single", make.PRONOUNS)


def test_a_sentence_without_a_person_is_refused(tmp_path):
    rows = make.cells()
    rows[0][3] = "The buyer said that {pronoun} would sell."
    with pytest.raises(UserError, match="row 2: the double sentence does not name the occupation before the slot"):
        instances.build(make.read(tmp_path, rows), "double", make.PRONOUNS)


def test_the_job_writes_what_audits_follow(tmp_path):
    sentences, occupations = make.write(tmp_path)
    pronouns = tmp_path / "pronouns.tsv"
    rows = ("\t".join((name, *forms.values(), "neo")) for name, forms in make.PRONOUNS.items())
    lines = ["\t".join(("set", *make.FORMS, "type")), *rows]
    pronouns.write_text("\n".join(lines), encoding="utf-8")
    given = {"pronouns": str(pronouns), "entities": "single", "pronoun_sets": ["they", "he"]}
    path = tmp_path / "single.parquet"
    instances.instances(instances=str(path), sentences=str(sentences), occupations=str(occupations), **given)
    frame = files.read_parquet(path)
    assert len(frame) == 24 and list(frame.pronoun_row[:2]) == [4, 2]
    assert files.parquet_metadata(path)["origins"] == {
        "template_row": "sentences.tsv", "occupation_row": "occupations.tsv", "pronoun_row": "pronouns.tsv",
    }  # fmt: skip
    rows = make.cells()
    rows[1][3] = "The weaver told the buyer that {pronoun} was rich."
    make.write(tmp_path, rows)
    with pytest.raises(UserError, match="row 3: the double sentence has 'was' after the pronoun"):
        instances.instances(instances=str(path), sentences=str(sentences), occupations=str(occupations), **given)
    archive = tmp_path / "data.zip"
    archive.write_bytes(make.archive())
    instances.instances(instances=str(path), archive=str(archive), **given)
    assert len(files.read_parquet(path)) == 24


@pytest.mark.upstream
def test_the_published_sets_have_the_papers_sizes(mirror, root):
    known = read_pronouns(root / "templates/pronouns.tsv")
    pronouns = {name: known[name] for name in ("he", "she", "they", "xe")}
    official = templates.read_official(mirror / "winopron/data.zip")
    winogender = templates.read_winogender(mirror / "winogender/data/templates.tsv")
    three = {name: pronouns[name] for name in ("he", "she", "they")}
    sizes = {}
    for name, read, entities, sets in (
        ("double", official, "double", pronouns), ("single", official, "single", pronouns),
        ("winogender", winogender, "double", pronouns), ("winogender with three", winogender, "double", three),
    ):  # fmt: skip
        frame = instances.build(read, entities, sets)
        check_offsets(frame, entities)
        assert frame.instance_id.is_unique
        sizes[name] = len(frame)
    assert sizes == {"double": 1440, "single": 1440, "winogender": 480, "winogender with three": 360}
    frame = instances.build(winogender, "double", pronouns)
    after = [row.text[row.pronoun_offset + len(row.pronoun) :].split()[0] for row in frame.itertuples()]
    told = Counter(zip(frame.pronoun, after, strict=True))
    assert (told["they", "was"], told["they", "were"], told["he", "was"], told["xe", "was"]) == (0, 17, 17, 17)
    # The paper says 17 percent of all.
    counted = tables.count_templates(frame)
    assert (counted[tables.CHANGED_VERB], counted["All"]) == (17, 120)
