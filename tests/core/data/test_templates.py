import pytest

from scripts.core.data.templates import (
    line_numbers,
    read_frame,
    read_occupations,
    read_pronouns,
    read_tsv,
    select_pronoun_sets,
)
from scripts.core.errors import UserError
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


def refusal(call, *arguments):
    with pytest.raises(UserError) as caught:
        call(*arguments)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_know_their_line_and_keep_their_blanks(tmp_path, end):
    path = file(tmp_path, "# canary", "# more", "a\tb", "1\t x ", '# not a comment\t"q"', end=end)
    rows = [(4, {"a": "1", "b": " x "}), (5, {"a": "# not a comment", "b": '"q"'})]
    assert read_tsv(path, ("b", "a")) == rows


def test_the_last_line_may_lack_its_end(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb\n1\t2")
    assert read_tsv(path, ("a", "b")) == [(2, {"a": "1", "b": "2"})]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a\tb", "1"], "row 2: 1 cell where the header has 2"),
        (["a\tb", "1\t2", "", "3\t4"], "row 3: 1 cell"),
        (["a\tbb\tc"], "row 1: unknown column 'bb'; did you mean 'b'?"),
        (["# canary", "a"], "row 2: the column 'b' is missing"),
        (["a\tb\ta"], "row 1: the column 'a' occurs twice"),
        (["# canary"], "has no header row; expected the columns a, b"),
    ],
)
def test_a_broken_file_is_named_with_row_and_remedy(tmp_path, lines, expected):
    path = file(tmp_path, *lines)
    message = refusal(read_tsv, path, ("a", "b"))
    assert message.startswith(str(path)) and expected in message


def test_missing_and_undecodable_files(tmp_path):
    assert "no such file" in refusal(read_tsv, tmp_path / "none.tsv", ("a",))
    path = tmp_path / "latin.tsv"
    path.write_bytes(b"a\n\xe9\n")
    assert "UTF-8" in refusal(read_tsv, path, ("a",))


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
    assert list(sets) == ["she", "he"]
    assert (
        sets["she"].type == "neo"
        and sets["she"]["possessive"] == "her"
        and sets["she"]["possessive_independent"] == "hers"
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("xe\txe\t\txyr\txyrs\txemself\tneo", "row 3: the cell 'accusative' is empty"),
        ("xe\tXe\txem\txyr\txyrs\txemself\tneo", "row 3: 'Xe' (nominative) must be one lower-case word"),
        ("xe\txe\txem \txyr\txyrs\txemself\tneo", "row 3: 'xem ' (accusative) must be one lower-case word"),
        (ROWS["he"], "row 3: the pronoun set 'he' occurs twice"),
        ("xe\txe\txem\txyr\txyrs", "row 3: 5 cells where the header has 7"),
        (ROWS["she"].replace("neo", "new"), "row 3: the type 'new' is unknown; write binary, neutral or neo"),
    ],
)
def test_broken_pronoun_rows(tmp_path, row, expected):
    assert expected in refusal(read_pronouns, file(tmp_path, HEADER, ROWS["he"], row))


def test_a_file_without_sets_is_refused(tmp_path):
    assert "no pronoun set" in refusal(read_pronouns, file(tmp_path, HEADER))


def test_selection_follows_the_configuration(tmp_path):
    pronouns = read_pronouns(file(tmp_path, HEADER, *ROWS.values()))
    assert list(select_pronoun_sets(pronouns, ["she", "he"])) == ["she", "he"]
    assert "no set 'shee'; did you mean 'she'?" in refusal(select_pronoun_sets, pronouns, ["he", "shee"])
    assert "'he' is listed twice" in refusal(select_pronoun_sets, pronouns, ["he", "he"])


def test_configured_sets_must_differ_in_the_forms_that_are_options(tmp_path):
    pronouns = read_pronouns(file(tmp_path, HEADER, *ROWS.values()))
    message = refusal(select_pronoun_sets, pronouns, ["e", "he", "ey"])
    assert "'e' and 'ey' share the accusative form 'em'" in message
    assert list(select_pronoun_sets(pronouns, ["e", "ey"], forms=("nominative",))) == ["e", "ey"]
    # A study that only asks for a form may have both.
    assert list(select_pronoun_sets(pronouns, ["e", "he", "ey"], shared=True)) == ["e", "he", "ey"]
    # One set may use a form in two cases (her), and two sets may share one across cases.
    assert select_pronoun_sets(pronouns, ["she", "he"])


def test_sets_that_share_every_form_are_one_set(tmp_path):
    twin = ROWS["e"].replace("e\te\t", "es\te\t", 1)
    pronouns = read_pronouns(file(tmp_path, HEADER, ROWS["e"], twin))
    message = refusal(lambda: select_pronoun_sets(pronouns, ["e", "es"], shared=True))
    assert message == "pronoun_sets: 'e' and 'es' share all their forms, so that nothing tells them apart; remove one"


def test_occupations(tmp_path):
    path = file(tmp_path, "occupation\tparticipant", "weaver\tbuyer", "pilot\tguest")
    assert read_occupations(path) == {"weaver": "buyer", "pilot": "guest"}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("weaver\tguest", "row 3: the occupation 'weaver' occurs twice"),
        ("pilot\t", "row 3: the cell 'participant' is empty"),
        ("pilot\tpilot", "row 3: occupation and participant are both 'pilot'"),
    ],
)
def test_broken_occupations(tmp_path, row, expected):
    assert expected in refusal(read_occupations, file(tmp_path, "occupation\tparticipant", "weaver\tbuyer", row))


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("x\x00y", "row 3: the cell 'b' holds the control character U+0000; remove it"),
        ("x\x1b[31my", "row 3: the cell 'b' holds the control character U+001B; remove it"),
        ("x\ry", "row 3: the cell 'b' holds the control character U+000D; remove it"),
        ("x\x7f", "row 3: the cell 'b' holds the control character U+007F; remove it"),
        ("x\x85y", "row 3: the cell 'b' holds the control character U+0085; remove it"),
        ("x\u2028y", "row 3: the cell 'b' holds the line separator U+2028; remove it"),
        ("x" * 10_000_000, "row 3: the cell 'b' has 10000000 characters, more than 10000; shorten it"),
        ("x" * 10_001, "row 3: the cell 'b' has 10001 characters, more than 10000; shorten it"),
    ],
)
def test_cells_that_no_template_has_are_refused(tmp_path, cell, expected):
    path = file(tmp_path, "a\tb", "1\t2", f"3\t{cell}")
    message = refusal(read_tsv, path, ("a", "b"))
    assert message == f"{path}, {expected}"


def test_control_characters_and_huge_cells_in_headers_are_refused(tmp_path):
    assert "row 1: the header holds the control character U+0000; remove it" in refusal(
        read_tsv, file(tmp_path, "a\x00\tb", "1\t2"), ("a", "b")
    )
    message = refusal(read_tsv, file(tmp_path, "a\t" + "b" * 10**7, "1\t2"), ("a", "b"))
    assert "row 1: the header has a cell of 10000000 characters, more than 10000; shorten it" in message


def test_long_cells_are_read(tmp_path):
    assert read_tsv(file(tmp_path, "a", "x" * 10_000), ("a",)) == [(2, {"a": "x" * 10_000})]


def test_files_that_are_far_too_large_are_refused_unread(tmp_path):
    path = tmp_path / "x.tsv"
    with path.open("wb") as stream:
        stream.truncate(200 << 20)
    assert refusal(read_tsv, path, ("a",)) == f"{path}: has 209715200 bytes, more than 67108864; correct the path"
