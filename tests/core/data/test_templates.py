import pytest

from scripts.core.data.templates import (
    line_numbers,
    read_frame,
    read_occupations,
    read_pronouns,
    read_tsv,
    select_pronoun_sets,
)
from tests.refusals import refused

HEADER = "set\tnominative\taccusative\tpossessive\tpossessive_independent\treflexive\ttype"
ROWS = {
    "he": "he\the\thim\this\this\thimself\tneo",
    "she": "she\tshe\ther\ther\thers\therself\tneo",
    "e": "e\te\tem\teir\teirs\temself\tneo",
    "ey": "ey\tey\tem\teir\teirs\temself\tneo",
}


def file(tmp_path, *lines, name="pronouns.tsv", end="\n"):
    path = tmp_path / name
    path.write_bytes((end.join(lines) + end).encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_know_their_line_and_keep_their_blanks(tmp_path, end):
    path = file(tmp_path, "# canary", "# more", "a\tb", "1\t x ", '# not a comment\t"q"', end=end)
    rows = [(4, {"a": "1", "b": " x "}), (5, {"a": "# not a comment", "b": '"q"'})]
    assert read_tsv(path, ("b", "a")) == rows


def test_the_last_line_may_lack_its_end(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb\n1\t2")
    assert read_tsv(path, ("a", "b")) == [(2, {"a": "1", "b": "2"})]


BIG = 10_000_000
BROKEN = {
    "short row": ("a\tb\n1", ["row 2", "1 cell", "header has 2"]),
    "empty line": ("a\tb\n1\t2\n\n3\t4", ["row 3", "1 cell"]),
    "unknown column": ("a\tbb\tc", ["row 1", "'bb'", "did you mean 'b'"]),
    "missing column": ("# canary\na", ["row 2", "'b' is missing"]),
    "column twice": ("a\tb\ta", ["row 1", "'a' occurs twice"]),
    "no header": ("# canary", ["no header row", "a, b"]),
    "nul": ("a\tb\n1\tx\x00y", ["row 2", "'b'", "control character U+0000"]),
    "escape": ("a\tb\n1\tx\x1b[31my", ["row 2", "'b'", "control character U+001B"]),
    "carriage return": ("a\tb\n1\tx\ry", ["row 2", "'b'", "control character U+000D"]),
    "delete": ("a\tb\n1\tx\x7f", ["row 2", "'b'", "control character U+007F"]),
    "next line": ("a\tb\n1\tx\x85y", ["row 2", "'b'", "control character U+0085"]),
    "line separator": ("a\tb\n1\tx\u2028y", ["row 2", "'b'", "line separator U+2028"]),
    "long cell": ("a\tb\n1\t" + "x" * 10_001, ["row 2", "'b'", "10001 characters", "10000"]),
    "huge cell": ("a\tb\n1\t" + "x" * BIG, ["row 2", "'b'", f"{BIG} characters", "10000"]),
    "control character in the header": ("a\x00\tb\n1\t2", ["row 1", "header", "control character U+0000"]),
    "huge cell in the header": ("a\t" + "b" * BIG, ["row 1", "header", f"{BIG} characters", "10000"]),
}


@pytest.mark.parametrize(("text", "named"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_named_with_row_and_remedy(tmp_path, text, named):
    path = file(tmp_path, text)
    with refused(path, *named):
        read_tsv(path, ("a", "b"))


def test_files_that_cannot_be_read_are_named(tmp_path):
    path = tmp_path / "x.tsv"
    with refused(path, "no such file"):
        read_tsv(path, ("a",))
    path.write_bytes(b"a\n\xe9\n")
    with refused(path, "UTF-8"):
        read_tsv(path, ("a",))
    # Far too large ones are not read.
    with path.open("wb") as stream:
        stream.truncate(200 << 20)
    with refused(path, "209715200 bytes", "67108864"):
        read_tsv(path, ("a",))


def test_long_cells_are_read(tmp_path):
    assert read_tsv(file(tmp_path, "a", "x" * 10_000), ("a",)) == [(2, {"a": "x" * 10_000})]


def test_a_table_has_the_line_of_each_row(tmp_path):
    frame = read_frame(file(tmp_path, "# canary", "a\tb", "1\tx", "2\t"), ("b", "a"), key="a", optional=["b"])
    assert list(frame) == ["b", "a"] and frame.to_dict("index") == {3: {"b": "x", "a": "1"}, 4: {"b": "", "a": "2"}}
    assert line_numbers(tmp_path / "pronouns.tsv", ("a", "b")) == {"1": 3, "2": 4}


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([], ["no row", "add"]),
        (["1\tx", "2\t "], ["row 3", "'b'", "empty", "fill"]),
        (["1\tx", "2\ty", "1\ty"], ["row 4", "'1'", "row 2", "remove"]),
        (["1\tx", "2\txx"], ["row 3", "unknown b 'xx'", "did you mean 'x'"]),
        (["1\tx", "2\tq"], ["row 3", "unknown b 'q'", "use one of x, y"]),
    ],
)
def test_a_table_without_rows_and_cells_that_cannot_be_are_refused(tmp_path, rows, named):
    path = file(tmp_path, "a\tb", *rows)
    with refused(path, *named):
        read_frame(path, ("a", "b"), key="a", levels={"b": ("x", "y")})


def test_pronouns_keep_file_order_and_name_their_forms(tmp_path):
    sets = read_pronouns(file(tmp_path, "# canary", HEADER, ROWS["she"], ROWS["he"]))
    assert list(sets) == ["she", "he"] and sets["she"].type == "neo"
    assert (sets["she"]["possessive"], sets["she"]["possessive_independent"]) == ("her", "hers")


BROKEN_PRONOUNS = {
    "empty": ("xe\txe\t\txyr\txyrs\txemself\tneo", ["row 3", "'accusative' is empty"]),
    "capital": ("xe\tXe\txem\txyr\txyrs\txemself\tneo", ["row 3", "'Xe' (nominative)", "lower-case"]),
    "blank": ("xe\txe\txem \txyr\txyrs\txemself\tneo", ["row 3", "'xem ' (accusative)", "one lower-case word"]),
    "twice": (ROWS["he"], ["row 3", "'he'", "row 2"]),
    "short": ("xe\txe\txem\txyr\txyrs", ["row 3", "5 cells", "header has 7"]),
    "type": (ROWS["she"].replace("neo", "new"), ["row 3", "type 'new'", "did you mean 'neo'"]),
}


@pytest.mark.parametrize(("row", "named"), BROKEN_PRONOUNS.values(), ids=BROKEN_PRONOUNS)
def test_broken_pronouns_are_named(tmp_path, row, named):
    path = file(tmp_path, HEADER, ROWS["he"], row)
    with refused(path, *named):
        read_pronouns(path)


def test_sets_are_selected_in_the_order_of_the_configuration(tmp_path):
    pronouns = read_pronouns(file(tmp_path, HEADER, *ROWS.values()))
    # One set may use a form in two cases (her), and two sets may share one across cases.
    assert list(select_pronoun_sets(pronouns, ["she", "he"])) == ["she", "he"]
    assert list(select_pronoun_sets(pronouns, ["e", "ey"], forms=("nominative",))) == ["e", "ey"]
    # A study that only asks for a form may have both.
    assert list(select_pronoun_sets(pronouns, ["e", "he", "ey"], shared=True)) == ["e", "he", "ey"]
    for names, named in (
        (["he", "shee"], ["'shee'", "did you mean 'she'"]),
        (["he", "he"], ["'he' is listed twice"]),
        (["e", "he", "ey"], ["'e' and 'ey'", "accusative form 'em'"]),
    ):
        with refused("pronoun_sets", *named):
            select_pronoun_sets(pronouns, names)


def test_sets_that_share_every_form_are_one_set(tmp_path):
    twin = ROWS["e"].replace("e\te\t", "es\te\t", 1)
    pronouns = read_pronouns(file(tmp_path, HEADER, ROWS["e"], twin))
    with refused("pronoun_sets", "'e' and 'es' share all their forms"):
        select_pronoun_sets(pronouns, ["e", "es"], shared=True)


BROKEN_OCCUPATIONS = {
    "twice": ("weaver\tguest", ["row 3", "'weaver'", "row 2"]),
    "empty": ("pilot\t", ["row 3", "'participant' is empty"]),
    "blank": ("pilot\tguest ", ["row 3", "'participant' has blanks"]),
    "one person": ("pilot\tpilot", ["row 3", "both 'pilot'"]),
}


@pytest.mark.parametrize(("row", "named"), BROKEN_OCCUPATIONS.values(), ids=BROKEN_OCCUPATIONS)
def test_broken_occupations_are_named(tmp_path, row, named):
    path = file(tmp_path, "occupation\tparticipant", "weaver\tbuyer", "poet\tguest")
    assert read_occupations(path) == {"weaver": "buyer", "poet": "guest"}
    path = file(tmp_path, "occupation\tparticipant", "weaver\tbuyer", row)
    with refused(path, *named):
        read_occupations(path)
