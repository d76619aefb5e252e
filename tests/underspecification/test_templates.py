"""What is refused in the study's template files."""

import pytest

from scripts.underspecification import templates
from tests.refusals import refused
from tests.underspecification.synthetic import SCHEMA


def read_schema(folder, **cells):
    path = folder / "winogender.tsv"
    lines = ["\t".join(SCHEMA), "\t".join((SCHEMA | cells).values())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return templates.read_schemas(path, {"clerk": "customer"})


def test_a_schema_has_the_other_person_and_its_line(tmp_path):
    assert read_schema(tmp_path) == [SCHEMA | {"other": "customer", "row": 2}]


@pytest.mark.parametrize(
    ("column", "cell", "named"),
    [
        ("stem", "A {occupation} met {participant} when", "row 2: the stem must begin with 'The {occupation}'"),
        ("stem", "The {occupation} met a friend when", "must hold {occupation} and {participant} once each"),
        ("professional", "the bus came.", "both ends must hold the same slot once"),
        ("participant", "{possessive} bus came.", "both ends must hold the same slot once"),
        ("participant", "{nominative} left.", "the two ends are the same"),
        ("professional", "{nominative} saw her bus.", "'her' in 'professional' is a pronoun"),
        ("simplified", "{nominative} left.", "simplified sentence must hold {occupation} and then"),
        ("occupation", "pilot", "row 2: unknown occupation 'pilot'"),
    ],
)
def test_bad_schemas_are_named(tmp_path, column, cell, named):
    with refused("winogender.tsv", named):
        read_schema(tmp_path, **{column: cell})


@pytest.mark.parametrize(
    ("read", "text", "named"),
    [
        (templates.read_words, "group\tword\nfemale\tShe\n", "row 2: 'She' must be one lower-case word"),
        (templates.read_words, "group\tword\nfemale\tshe\nmale\tshe\n", "row 3: 'she' is already in row 2"),
        (templates.read_words, "group\tword\nfemlae\tshe\n", "row 2: unknown group 'femlae'; did you mean 'female'?"),
        (templates.read_words, "group\tword\nfemale\tshe\nmale\the\n", "the group 'neutral' has no word"),
        (templates.read_places, "position\tplace\tend\n2\tMali\tbottom\n", "row 2: position '2' should be 1"),
        (templates.read_places, "position\tplace\tend\n1\tMali\tmiddle\n", "row 2: unknown end 'middle'"),
        (templates.read_dates, "range\tfirst\tlast\tdates\ncode\t1801\t1800\t3\n", "3 dates from 1801 to 1800"),
        (templates.read_dates, "range\tfirst\tlast\tdates\ncode\tx\t1800\t3\n", "first 'x' is not a whole number"),
        (templates.read_prompts, "prompt\tblank\ttext\nA\t_\tFill in.\n", "must hold {sentence} exactly once"),
        (templates.read_life_stages, "life_stage\n", "has no row"),
        (templates.read_verbs, "verb\tform\tphrase\nbe\tpast\t \n", "row 2: the cell 'phrase' is empty"),
    ],
)
def test_bad_rows_are_named(tmp_path, read, text, named):
    path = tmp_path / "file.tsv"
    path.write_text(text, encoding="utf-8")
    with refused(path, named):
        read(path)
