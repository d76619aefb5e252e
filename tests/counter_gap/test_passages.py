"""Reading C-GAP and GAP: what is right is read, and every bad row is named."""

import pytest

from scripts.counter_gap import passages, released_flags
from tests.counter_gap import make
from tests.refusals import refused


@pytest.fixture
def records(frame):
    return make.records(frame)


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


def another_case(records):
    text = "So her friends saw her and she and Mina and Judit."
    other = ["rain", text, "her", "3", "Mina", "35", "FALSE", "Judit", "44", "TRUE", "book"]
    return [other, ["rain-control", *other[1:]], *records[2:4]]


def swallowed(records):
    """Let the source of a quadruple's last row begin with a quote that ends with the next quadruple."""
    *others, row = ["\t".join(cells[:-1]) + "\tbook" for cells in records[4:]]
    return [*others, row.replace("\tbook", '\t"book'), *[row] * 3, f'{row}"']


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda r: [*r[:2], "\t".join(r[2]).replace(r[2][1], '"' + r[2][1]), *r[3:]], ["row 4", "is not at"]),
        (swallowed, ["row 5: a quote is not closed"]),
        (lambda r: [*r[:4], [""], *edited(4, "A-offset", "999")(r)[4:]], ["row 6", "row 7: A "]),
        (lambda r: [*r[:2], "\t".join(r[2]) + "\tx", *r[3:]], ["line 4, saw 12"]),
        (lambda r: [*r[:1], r[1][:-1], *r[2:]], ["row 3: the source is empty"]),
        (edited(0, "Pronoun-offset", "7"), ["row 2", "Pronoun 'she'", "offset 7"]),
        (edited(3, "A-offset", "x"), ["row 5", "is not at its offset x"]),
        (edited(2, "B", "Karl"), ["row 4", "B 'Karl' is not at its offset"]),
        (edited(1, "A-coref", "yes"), ["row 3", "A-coref 'yes' is not TRUE or FALSE"]),
        (edited(1, "A-coref", "TRUE"), ["row 3", "both names are marked TRUE"]),
        (edited(1, "B-coref", "FALSE"), ["row 2: the labels of quadruple 'rain' differ"]),
        (lambda r: [r[1], r[0], *r[2:]], ["row 2", "IDs rain-control, rain, rain-swap-1, rain-swap-2 should be"]),
        (lambda r: r[:-1], ["row 6", "IDs road, road-control, road-swap-1 should be"]),
        (lambda r: [*r, *r[:4]], ["row 10", "'rain'", "row 2"]),
        (lambda r: [*r[:3], [r[3][0], *r[1][1:]]], ["row 2", "'rain' are F F M F, not two and two"]),
        (another_case, ["row 2", "'rain' differ in case (her, her, he, he)"]),
        (lambda r: edited(6, "B-coref", "no")(edited(0, "A-offset", "999")(r)), ["row 2: A ", "row 8: B-coref"]),
        (lambda r: [], ["needs the columns ID, Text"]),
    ],
    ids=["quoting", "quote over rows", "blank line", "one cell more", "one less", "pronoun's offset", "no offset",
         "name's offset", "label", "both right", "labels differ", "order", "three of four", "twice", "genders", "cases",
         "two rows", "empty"],
)  # fmt: skip
def test_bad_rows_of_c_gap_are_named(tmp_path, records, change, named):
    path = make.write_c_gap(tmp_path / "c.tsv", change(records))
    with refused(path, *named, "fetch the file again"):
        passages.read_c_gap(path)


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
