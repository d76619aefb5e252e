"""Instances of every set: counts, offsets, agreement with the pronoun, identifiers, and what models score of them."""

from collections import Counter

import pytest

from scripts.core import files
from scripts.core.data import options
from scripts.core.data.templates import CASES, read_pronouns
from scripts.winopron import instances, tables, templates
from tests.refusals import refused
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
def test_the_replicas_instances(replica, entities):
    frame = instances.build_instances(replica, entities, make.PRONOUNS)
    assert len(frame) == 1440 and frame.instance_id.is_unique and frame.text.is_unique
    assert Counter(zip(frame.case, frame.pronoun_set, strict=True)) == {(c, s): 120 for c in CASES for s in LABELS}
    assert Counter(frame.pair) == dict.fromkeys(frame.pair.unique(), 24) and frame.pair.nunique() == 60
    assert frame.template.nunique() == 360 and frame.template_pair.nunique() == 180
    check_offsets(frame, entities)
    # All sets of a template follow each other.
    assert frame.template.iloc[::4].is_unique and list(frame.pronoun_set[:4]) == LABELS


def test_one_sentence_by_hand(tmp_path):
    frame = instances.build_instances(
        make.read(tmp_path), "double", make.PRONOUNS, {"he": 2, "she": 3, "they": 4, "xe": 5}
    )
    row = frame.iloc[4 + 1]
    assert row.text == "The weaver told the buyer that she could buy the loom."
    assert (row.pronoun, row.pronoun_offset, row.occupation_offset, row.participant_offset) == ("she", 31, 4, 20)
    assert (row.answer, row.ending, row.pair, row.template, row.template_pair) == (
        "participant", 2, "weaver-buyer", "weaver-nominative-2", "weaver-nominative",
    )  # fmt: skip
    assert (row.template_row, row.occupation_row, row.pronoun_row) == (3, 2, 3)
    other = instances.build_instances(make.read(tmp_path), "double", {"she": make.PRONOUNS["she"]})
    assert other.instance_id[1] == row.instance_id


def test_sets_that_share_a_form_have_instances_of_their_own(tmp_path):
    shared = dict(zip(make.FORMS, ("e", "em", "eir", "eirs", "emself"), strict=True))
    spivak = {"e": shared, "ey": shared | {"nominative": "ey"}}
    frame = instances.build_instances(make.read(tmp_path), "double", spivak)
    assert frame.instance_id.is_unique and frame[frame.case == "accusative"].text.nunique() == 4


@pytest.mark.parametrize(
    ("after", "case", "name", "expected"),
    [
        (" was late and was sorry.", "nominative", "they", " were late and was sorry."),
        (" was late.", "nominative", "xe", " was late."),
        (" hat was old.", "possessive", "they", " hat was old."),
        (" wasted it.", "nominative", "they", " wasted it."),
        (" has gone.", "nominative", "they", " have gone."),
    ],
)
def test_the_verb_agrees_with_they(after, case, name, expected):
    assert instances.agree_verb(after, case, make.PRONOUNS[name]) == expected


def test_winogender_has_two_people_and_agreement(tmp_path):
    read = templates.read_winogender(make.write_winogender(tmp_path))
    frame = instances.build_instances(read, "double", make.PRONOUNS)
    assert list(frame.text[:3]) == [
        "The weaver smiled at the buyer because he was early.",
        "The weaver smiled at the buyer because she was early.",
        "The weaver smiled at the buyer because they were early.",
    ]
    assert set(frame.template_pair) == {"weaver-nominative"} and frame.occupation_row.isna().all()
    check_offsets(frame, "double")
    with refused("row 2", "'winogender' has no single sentences", "use double"):
        instances.build_instances(read, "single", make.PRONOUNS)
    read = make.read(tmp_path, make.edited(2, "double", "The buyer said that {pronoun} would sell."))
    with refused("row 2", "the double sentence does not name the occupation before the slot"):
        instances.build_instances(read, "double", make.PRONOUNS)


def test_the_job_writes_what_audits_follow(tmp_path):
    sentences, occupations = make.write(tmp_path)
    pronouns, path = tmp_path / "pronouns.tsv", tmp_path / "single.parquet"
    rows = ["\t".join((name, *forms.values(), "neo")) for name, forms in make.PRONOUNS.items()]
    pronouns.write_text("\n".join(["\t".join(("set", *make.FORMS, "type")), *rows]), encoding="utf-8")

    def fill(**sources):
        given = {"pronouns": str(pronouns), "entities": "single", "pronoun_sets": ["they", "he"]}
        instances.instances(instances=str(path), **given, **{name: str(source) for name, source in sources.items()})
        return files.read_parquet(path)

    frame = fill(sentences=sentences, occupations=occupations)
    assert len(frame) == 24 and list(frame.pronoun_row[:2]) == [4, 2]
    assert files.parquet_metadata(path)["origins"] == {
        "template_row": "sentences.tsv", "occupation_row": "occupations.tsv", "pronoun_row": "pronouns.tsv",
    }  # fmt: skip
    make.write(tmp_path, make.edited(3, "double", "The weaver told the buyer that {pronoun} was rich."))
    with refused(sentences, "row 3", "the double sentence has 'was' after the pronoun"):
        fill(sentences=sentences, occupations=occupations)
    archive = tmp_path / "data.zip"
    archive.write_bytes(make.archive())
    assert len(fill(archive=archive)) == 24


def test_every_template_is_scored_once_with_both_people(double, tmp_path):
    path, out = tmp_path / "double.parquet", tmp_path / "selected.parquet"
    files.write_parquet(path, double, {"origins": {"template_row": "sentences.tsv", "pronoun_row": "pronouns.tsv"}})
    instances.templates_to_score(instances=str(path), selected=str(out), pairs="all", seed=1)
    table = files.read_parquet(out)
    assert len(table) == double.template.nunique() == 12 and table.instance_id.is_unique
    assert files.parquet_metadata(out)["origins"] == {"template_row": "sentences.tsv"}
    weaver = table[(table.template == "weaver-possessive-1")].iloc[0]
    assert weaver.text == "The weaver let the buyer wait, because ___ tools still lay on the loom."
    assert list(weaver.options) == ["the weaver's", "the buyer's"]
    assert options.fill_slot(weaver.text, weaver.options[1]).endswith(
        "because the buyer's tools still lay on the loom."
    )
    assert not table.text.str.contains("|".join(rf"\b{form}\b" for form in make.PRONOUNS)).any()
    assert set(instances.select_templates(double, ["pilot-guest"]).pair) == {"pilot-guest"}


def test_verbs_of_what_is_scored_agree_with_nouns_and_not_with_they():
    row = {"occupation": "weaver", "participant": "buyer", "case": "nominative", "answer": "occupation"}
    template = templates.Template(**row, double="The weaver met the buyer when {pronoun} was late.", single=None, row=2)
    they_first = {name: make.PRONOUNS[name] for name in ("they", "xe")}
    frame = instances.build_instances(templates.Templates("winogender", "f", (template,)), "double", they_first)
    scored = instances.select_templates(frame, ["weaver-buyer"])
    assert scored.text.tolist() == ["The weaver met the buyer when ___ was late."]


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
        frame = instances.build_instances(read, entities, sets)
        check_offsets(frame, entities)
        assert frame.instance_id.is_unique
        sizes[name] = len(frame)
    assert sizes == {"double": 1440, "single": 1440, "winogender": 480, "winogender with three": 360}
    frame = instances.build_instances(winogender, "double", pronouns)
    after = [row.text[row.pronoun_offset + len(row.pronoun) :].split()[0] for row in frame.itertuples()]
    told = Counter(zip(frame.pronoun, after, strict=True))
    assert (told["they", "was"], told["they", "were"], told["he", "was"], told["xe", "was"]) == (0, 17, 17, 17)
    # The paper says 17 percent of all.
    counted = tables.count_templates(frame)
    assert (counted[tables.CHANGED_VERB], counted["All"]) == (17, 120)
