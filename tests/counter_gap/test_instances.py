"""Reading quadruples and GAP: what is right is read, and every bad row is named."""

import pytest

from scripts.core import files
from scripts.core.data.templates import read_pronouns
from scripts.core.errors import UserError
from scripts.counter_gap import instances as script
from scripts.counter_gap import passages, released_flags, templates
from tests.counter_gap import make


@pytest.fixture
def frame(tmp_path):
    return make.eight_instances(tmp_path / "quadruples.tsv")


@pytest.fixture
def records(frame):
    return make.records(frame)


def test_quadruples_become_four_instances(frame):
    assert frame.id.tolist()[:4] == ["rain", "rain-control", "rain-swap-1", "rain-swap-2"]
    assert frame.text[0] == '"Wait," said Paul. Mina lent Judit a coat, as she had none; Otto slept.'
    assert frame.text[1] == '"Wait," said Otto. Judit lent Mina a coat, as she had none; Paul slept.'
    assert frame.text[2] == '"Wait," said Mina. Paul lent Otto a coat, as he had none; Judit slept.'
    assert frame.text[3] == '"Wait," said Judit. Otto lent Paul a coat, as he had none; Mina slept.'
    for row in frame.itertuples():
        for kind in passages.SPANS:
            word, offset = getattr(row, kind), getattr(row, f"{kind}_offset")
            assert row.text[offset : offset + len(word)] == word
    assert frame.case.tolist() == ["nominative"] * 4 + ["accusative"] * 4
    assert frame.gender.tolist() == list("FFMMMMFF")


def test_gendered_words_follow_their_person(tmp_path):
    row = (
        "king\tM\ta\tPaul\tOtto\tMina\tJudit\t{a} and {b} met {x}, who lost {other:possessive} way to the old "
        "{same:king/queen} with {y}; {target:nominative} knew."
    )
    texts = templates.read_quadruples(make.write_quadruples(tmp_path / "quadruples.tsv", [row]), make.PRONOUNS).text
    assert "who lost her way to the old king with" in texts[0]
    assert "who lost his way to the old queen with" in texts[3]


def test_instances_name_the_lines_they_were_made_from(root, tmp_path):
    folder, made = root / "templates", tmp_path / "instances.parquet"
    paths = {"quadruples": folder / "counter_gap/quadruples.tsv", "pronouns": folder / "pronouns.tsv"}
    script.instances(instances=str(made), **{name: str(path) for name, path in paths.items()})
    origins = files.parquet_metadata(made)["origins"]
    assert origins == {"row": "quadruples.tsv", "pronoun_rows": "pronouns.tsv"}
    lines = {name: path.read_text(encoding="utf-8").split("\n") for name, path in paths.items()}
    frame = files.read_parquet(made)
    assert frame.original_gender.tolist() == [gender for gender in frame.gender[::4] for _ in range(4)]
    for row in frame.itertuples():
        assert lines["quadruples"][row.row - 1].startswith(f"{row.quadruple}\t")
        assert [lines["pronouns"][n - 1].partition("\t")[0] for n in row.pronoun_rows] == ["he", "she"]


@pytest.mark.upstream
def test_instances_of_c_gap_and_gap_name_their_lines(mirror):
    for frame, path in (
        (passages.read_c_gap(mirror / "counter_gap/data/C-GAP.tsv"), mirror / "counter_gap/data/C-GAP.tsv"),
        (passages.read_gap(mirror / "gap/gap-test.tsv"), mirror / "gap/gap-test.tsv"),
    ):
        lines = path.read_text(encoding="utf-8").split("\n")
        assert all(lines[n - 1].startswith(f"{name}\t") for n, name in zip(frame.row, frame.id, strict=True))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tF\t", "\tX\t", "row 2: the gender 'X' is neither M nor F"),
        ("\tb\t", "\tc\t", "row 2: the right name 'c' is none of a, b, neither"),
        ("Judit\tPaul", "Judit\tJudit", "row 2: an id and four different names are needed"),
        ("{y}", "Otto", "row 2: the slot '{y}' is missing; row 2: the name 'Otto' is outside its slot"),
        ("{target:nominative}", "she", "row 2: one slot {target:…} is needed; row 2: 'she' must be a slot"),
        ("{target:nominative}", "{target:dative}", "row 2: the slot '{target:dative}' is unknown"),
        ("{a} lent {b}", "{b} lent {a}", "row 2: {a} must come before {b}"),
        ("had none", "had none}", "row 2: a brace is not closed"),
        ("rain", "road", "row 3: the id 'road' is already in row 2"),
    ],
)
def test_bad_rows_of_quadruples_are_named(tmp_path, old, new, message):
    rows = [make.ROWS[0].replace(old, new, 1), make.ROWS[1]]
    with pytest.raises(UserError) as error:
        templates.read_quadruples(make.write_quadruples(tmp_path / "quadruples.tsv", rows), make.PRONOUNS)
    assert message in str(error.value) and "quadruples.tsv" in str(error.value) and "\n" not in str(error.value)


def test_c_gap_is_read_with_its_quotes(tmp_path, frame, records):
    path = make.write_c_gap(tmp_path / "c.tsv", records)
    assert '""' in path.read_text(encoding="utf-8")
    read = passages.read_c_gap(path)
    columns = ["id", "text", "pronoun", "a_offset", "b_coref", "quadruple", "role", "gender", "case"]
    assert read[columns].astype(object).equals(frame[columns].astype(object))


def edited(records, row, column, value):
    records[row][passages.COLUMNS.index(column)] = value
    return records


def broken_quote(records):
    return [
        *records[:2],
        "\t".join(records[2]).replace('"', '"', 1).replace(records[2][1], '"' + records[2][1]),
        *records[3:],
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: broken_quote(r), "row 4: broken quoting"),
        (lambda r: [*r[:1], r[1][:-1], *r[2:]], "row 3: 10 cells where the header has 11"),
        (lambda r: edited(r, 0, "Pronoun-offset", "7"), "row 2: Pronoun 'she' is not at its offset 7"),
        (lambda r: edited(r, 3, "A-offset", "x"), "row 5: 'x' is no offset of A"),
        (lambda r: edited(r, 2, "B", "Karl"), "row 4: B 'Karl' is not at its offset"),
        (lambda r: edited(r, 1, "A-coref", "yes"), "row 3: A-coref 'yes' is neither TRUE nor FALSE"),
        (lambda r: edited(r, 1, "A-coref", "TRUE"), "row 3: both names are marked TRUE"),
        (lambda r: edited(r, 5, "Book", ""), "row 7: the source is empty"),
        (lambda r: edited(r, 1, "B-coref", "FALSE"), "row 3: the labels differ from those of the original in row 2"),
        (lambda r: [r[1], r[0], *r[2:]], "row 2: the IDs rain-control, rain, rain-swap-1, rain-swap-2 should be"),
        (lambda r: r[:-1], "row 6: the IDs road, road-control, road-swap-1 should be"),
        (lambda r: [*r, *r[:4]], "row 10: the ID 'rain' is already in row 2"),
        (
            lambda r: [r[0], r[1], r[2], [r[3][0], *r[1][1:]]],
            "row 2: the genders of quadruple 'rain' are F F M F, not two and two",
        ),
    ],
)
def test_bad_rows_of_c_gap_are_named(tmp_path, records, change, message):
    path = make.write_c_gap(tmp_path / "c.tsv", change(records))
    with pytest.raises(UserError) as error:
        passages.read_c_gap(path)
    assert message in str(error.value) and str(path) in str(error.value) and "\n" not in str(error.value)


def test_cases_that_differ_are_named(tmp_path, records):
    text = "So her friends saw her and she and Mina and Judit."
    other = ["rain", text, "her", "3", "Mina", "35", "FALSE", "Judit", "44", "TRUE", "book"]
    path = make.write_c_gap(tmp_path / "c.tsv", [other, ["rain-control", *other[1:]], *records[2:4]])
    with pytest.raises(UserError, match=r"row 2: the pronouns of quadruple 'rain' differ in case \(he, her\)"):
        passages.read_c_gap(path)


def test_all_bad_rows_are_named_at_once(tmp_path, records):
    edited(edited(records, 0, "A-offset", "999"), 6, "B-coref", "no")
    with pytest.raises(UserError, match=r"2 problems: row 2: .*; row 8: "):
        passages.read_c_gap(make.write_c_gap(tmp_path / "c.tsv", records))


def test_a_wrong_header_is_named(tmp_path):
    (tmp_path / "c.tsv").write_text("ID\tText\n", encoding="utf-8")
    with pytest.raises(UserError, match="row 1: the header must be ID, Text"):
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
    rows[1][3] = "8"
    path.write_text("\n".join("\t".join(r) for r in [passages.GAP_COLUMNS, *rows]), encoding="utf-8")
    with pytest.raises(UserError, match="row 3: Pronoun 'his' is not at its offset 8"):
        passages.read_gap(path)


def test_factors_come_from_the_data(frame):
    facts = released_flags.facts_of_texts(frame)
    assert facts.mark.tolist() == ["none", "splitting"]
    # Between Judit and she: a, coat, a comma, as. Between Paul and him: seven words and a comma.
    assert facts.words.tolist() == [4, 8]


def test_the_shipped_quadruples_are_balanced(root):
    pronouns = read_pronouns(root / "templates/pronouns.tsv")
    frame = templates.read_quadruples(root / "templates/counter_gap/quadruples.tsv", pronouns)
    originals = frame[frame.role == "original"]
    assert originals.gender.value_counts().to_dict() == {"M": 12, "F": 12}
    assert originals.groupby("case").size().min() >= 7
    assert originals.a_coref.sum() == originals.b_coref.sum() == 11
    first = (root / "templates/counter_gap/quadruples.tsv").read_text(encoding="utf-8").splitlines()[0]
    assert first == (root / "templates/pronouns.tsv").read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.upstream
def test_the_authors_data_are_whole(mirror):
    frame = passages.read_c_gap(mirror / "counter_gap/data/C-GAP.tsv")
    facts = released_flags.facts_of_texts(frame)
    assert len(frame) == 4008 and (frame.gender[::4] == "M").sum() == 501
    assert facts.source.value_counts().to_dict() == {"gutenberg": 573, "bookcorpus": 429}
    assert facts.mark.value_counts().to_dict() == {"none": 896, "splitting": 100, "other": 6}
    assert facts.words.isna().sum() == 32
    sizes = {"test": 2000, "validation": 454, "development": 2000}
    for part, size in sizes.items():
        gap = passages.read_gap(mirror / f"gap/gap-{part}.tsv")
        assert len(gap) == size and (gap.gender == "M").sum() == size // 2
