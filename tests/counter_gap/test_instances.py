"""Reading quadruples and GAP: what is right is read, and every bad row is named."""

import pytest

from scripts.core import files
from scripts.counter_gap import instances as script
from scripts.counter_gap import passages, released_flags, templates
from tests.counter_gap import make
from tests.refusals import refused


@pytest.fixture
def frame(tmp_path):
    return make.eight_instances(tmp_path / "quadruples.tsv")


@pytest.fixture
def records(frame):
    return make.records(frame)


def test_quadruples_become_four_instances(frame):
    assert frame.id.tolist()[:4] == ["rain", "rain-control", "rain-swap-1", "rain-swap-2"]
    assert frame.text.tolist()[:4] == [
        '"Wait," said Paul. Mina lent Judit a coat, as she had none; Otto slept.',
        '"Wait," said Otto. Judit lent Mina a coat, as she had none; Paul slept.',
        '"Wait," said Mina. Paul lent Otto a coat, as he had none; Judit slept.',
        '"Wait," said Judit. Otto lent Paul a coat, as he had none; Mina slept.',
    ]
    for row in frame.itertuples():
        for kind in passages.SPANS:
            word, offset = getattr(row, kind), getattr(row, f"{kind}_offset")
            assert row.text[offset : offset + len(word)] == word
    assert frame.case.tolist() == ["nominative"] * 4 + ["accusative"] * 4
    assert frame.gender.tolist() == list("FFMMMMFF")
    facts = released_flags.facts_of_texts(frame)
    assert facts.mark.tolist() == ["none", "splitting"]
    # Between Judit and she: a, coat, a comma, as. Between Paul and him: seven words and a comma.
    assert facts.words.tolist() == [4, 8]


def test_gendered_words_follow_their_person(tmp_path):
    row = (
        "king\tM\ta\tPaul\tOtto\tMina\tJudit\t{a} and {b} met {x}, who lost {other:possessive} way to the old "
        "{same:king/queen} with {y}; {target:nominative} knew."
    )
    texts = templates.read_quadruples(make.write_quadruples(tmp_path / "quadruples.tsv", [row]), make.PRONOUNS).text
    assert "who lost her way to the old king with" in texts[0]
    assert "who lost his way to the old queen with" in texts[3]


def test_the_shipped_quadruples_are_balanced_and_name_their_lines(root, tmp_path):
    made = tmp_path / "instances.parquet"
    paths = {
        "quadruples": root / "templates/counter_gap/quadruples.tsv", "pronouns": root / "templates/pronouns.tsv"
    }  # fmt: skip
    script.instances(instances=str(made), **{name: str(path) for name, path in paths.items()})
    origins = files.parquet_metadata(made)["origins"]
    assert origins == {"row": "quadruples.tsv", "pronoun_rows": "pronouns.tsv"}
    lines = {name: path.read_text(encoding="utf-8").split("\n") for name, path in paths.items()}
    # The canary.
    assert lines["quadruples"][0] == lines["pronouns"][0]
    frame = files.read_parquet(made)
    assert frame.original_gender.tolist() == [gender for gender in frame.gender[::4] for _ in range(4)]
    for row in frame.itertuples():
        assert lines["quadruples"][row.row - 1].startswith(f"{row.quadruple}\t")
        assert [lines["pronouns"][n - 1].partition("\t")[0] for n in row.pronoun_rows] == ["he", "she"]
    originals = frame[frame.role == "original"]
    assert originals.gender.value_counts().to_dict() == {"M": 12, "F": 12}
    assert originals.groupby("case").size().min() >= 7
    assert originals.a_coref.sum() == originals.b_coref.sum() == 11


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("\tF\t", "\tX\t", ["row 2", "gender 'X'"]),
        ("\tb\t", "\tc\t", ["row 2", "right name 'c'", "a, b, neither"]),
        ("Judit\tPaul", "Judit\tJudit", ["row 2", "four different names"]),
        ("{y}", "Otto", ["row 2", "slot '{y}' is missing", "'Otto' is outside its slot"]),
        ("{target:nominative}", "she", ["row 2", "one slot {target:…}", "'she' must be a slot"]),
        ("{target:nominative}", "{target:dative}", ["row 2", "slot '{target:dative}' is unknown"]),
        ("{a} lent {b}", "{b} lent {a}", ["row 2", "{a} must come before {b}"]),
        ("had none", "had none}", ["row 2", "brace"]),
        ("rain", "road", ["row 3", "'road'", "row 2"]),
    ],
)
def test_bad_rows_of_quadruples_are_named(tmp_path, old, new, named):
    path = make.write_quadruples(tmp_path / "quadruples.tsv", [make.ROWS[0].replace(old, new, 1), make.ROWS[1]])
    with refused(path, *named, "correct these rows"):
        templates.read_quadruples(path, make.PRONOUNS)


def test_c_gap_is_read_with_its_quotes(tmp_path, frame, records):
    path = make.write_c_gap(tmp_path / "c.tsv", records)
    assert '""' in path.read_text(encoding="utf-8")
    read = passages.read_c_gap(path)
    columns = ["id", "text", "pronoun", "a_offset", "b_coref", "quadruple", "role", "gender", "case"]
    assert read[columns].astype(object).equals(frame[columns].astype(object))


def edited(row, column, value):
    def change(records):
        records[row][passages.COLUMNS.index(column)] = value
        return records

    return change


def two_bad_rows(records):
    return edited(6, "B-coref", "no")(edited(0, "A-offset", "999")(records))


def another_case(records):
    text = "So her friends saw her and she and Mina and Judit."
    other = ["rain", text, "her", "3", "Mina", "35", "FALSE", "Judit", "44", "TRUE", "book"]
    return [other, ["rain-control", *other[1:]], *records[2:4]]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda r: [*r[:2], "\t".join(r[2]).replace(r[2][1], '"' + r[2][1]), *r[3:]], ["row 4", "quoting"]),
        (lambda r: [*r[:1], r[1][:-1], *r[2:]], ["row 3", "10 cells", "11"]),
        (edited(0, "Pronoun-offset", "7"), ["row 2", "Pronoun 'she'", "offset 7"]),
        (edited(3, "A-offset", "x"), ["row 5", "'x' is no offset of A"]),
        (edited(2, "B", "Karl"), ["row 4", "B 'Karl' is not at its offset"]),
        (edited(1, "A-coref", "yes"), ["row 3", "A-coref 'yes'", "TRUE nor FALSE"]),
        (edited(1, "A-coref", "TRUE"), ["row 3", "both names are marked TRUE"]),
        (edited(5, "Book", ""), ["row 7", "source is empty"]),
        (edited(1, "B-coref", "FALSE"), ["row 3", "labels differ", "row 2"]),
        (lambda r: [r[1], r[0], *r[2:]], ["row 2", "IDs rain-control, rain, rain-swap-1, rain-swap-2 should be"]),
        (lambda r: r[:-1], ["row 6", "IDs road, road-control, road-swap-1 should be"]),
        (lambda r: [*r, *r[:4]], ["row 10", "'rain'", "row 2"]),
        (lambda r: [*r[:3], [r[3][0], *r[1][1:]]], ["row 2", "'rain' are F F M F, not two and two"]),
        (another_case, ["row 2", "'rain' differ in case (he, her)"]),
        (two_bad_rows, ["row 2: A ", "row 8: B-coref"]),
        (lambda r: [], ["has no instance"]),
    ],
    ids=["quoting", "cells", "pronoun's offset", "no offset", "name's offset", "label", "both right", "source",
         "labels differ", "order", "three of four", "twice", "genders", "cases", "two rows", "empty"],
)  # fmt: skip
def test_bad_rows_of_c_gap_are_named(tmp_path, records, change, named):
    path = make.write_c_gap(tmp_path / "c.tsv", change(records))
    with refused(path, *named, "fetch the file again"):
        passages.read_c_gap(path)


def test_a_wrong_header_is_named(tmp_path):
    (tmp_path / "c.tsv").write_text("ID\tText\n", encoding="utf-8")
    with refused("c.tsv", "row 1", "header must be ID, Text"):
        passages.read_c_gap(tmp_path / "c.tsv")


def test_gap_is_read_without_quoting(tmp_path):
    rows = [
        ["test-1", 'She said "Mina, met Judit', "She", "0", "Mina", "10", "TRUE", "Judit", "20", "FALSE", "http://x"],
        ["test-2", "Paul saw his hat; Otto too", "his", "9", "Paul", "0", "TRUE", "Otto", "18", "FALSE", "http://y"],
        ["test-3", "Mina saw her hat; Judit too", "her", "9", "Mina", "0", "TRUE", "Judit", "18", "FALSE", "http://y"],
    ]
    path = tmp_path / "gap.tsv"
    path.write_text("\n".join("\t".join(r) for r in [passages.GAP_COLUMNS, *rows]), encoding="utf-8")
    frame = passages.read_gap(path)
    assert frame.text[0].count('"') == 1
    assert frame.gender.tolist() == ["F", "M", "F"]
    assert frame.case.tolist() == ["nominative", "possessive", "ambiguous"]


@pytest.mark.upstream
def test_the_authors_data_are_whole_and_name_their_lines(mirror):
    path = mirror / "counter_gap/data/C-GAP.tsv"
    frame = passages.read_c_gap(path)
    facts = released_flags.facts_of_texts(frame)
    assert len(frame) == 4008 and (frame.gender[::4] == "M").sum() == 501
    assert facts.source.value_counts().to_dict() == {"gutenberg": 573, "bookcorpus": 429}
    assert facts.mark.value_counts().to_dict() == {"none": 896, "splitting": 100, "other": 6}
    assert facts.words.isna().sum() == 32
    read = {path: frame}
    for part, size in {"test": 2000, "validation": 454, "development": 2000}.items():
        read[mirror / f"gap/gap-{part}.tsv"] = gap = passages.read_gap(mirror / f"gap/gap-{part}.tsv")
        assert len(gap) == size and (gap.gender == "M").sum() == size // 2
    for path, frame in read.items():
        lines = path.read_text(encoding="utf-8").split("\n")
        assert all(lines[n - 1].startswith(f"{name}\t") for n, name in zip(frame.row, frame.id, strict=True))
