"""The common format of coreference systems: written and read back, and bad lines named."""

import json

import pytest

from scripts.core.data import coreference as c
from scripts.core.errors import UserError

TEXT = "Ann's dog saw her, and left."
TEXTS = {"d": TEXT}


def entry(**changes):
    tokens = [list(t) for t in c.tokenise(TEXT)]
    return {"document": "d", "text_sha256": c.digest(TEXT), "tokens": tokens, "clusters": [[[0, 0], [5, 5]]], **changes}


def test_tokens_are_words_and_marks():
    words = [TEXT[s:e] for s, e in c.tokenise(TEXT)]
    assert words == ["Ann", "'", "s", "dog", "saw", "her", ",", "and", "left", "."]


def test_a_file_is_read_as_it_was_written(tmp_path):
    document = c.Document("d", c.digest(TEXT), c.tokenise(TEXT), (((0, 0), (5, 5)),))
    c.write(tmp_path / "c.jsonl", [document])
    assert c.read(tmp_path / "c.jsonl", TEXTS) == {"d": document}


def test_spans_are_the_tokens_that_share_characters():
    document = c.Document("d", "", c.tokenise(TEXT), (((0, 0), (5, 5)), ((3, 3),)))
    assert document.span(0, 3) == (0, 0)
    assert document.span(0, 9) == (0, 3)
    assert document.span(14, 17) == (5, 5)
    assert document.span(15, 16) == (5, 5)
    assert document.span(9, 10) is None
    assert document.clusters_with((5, 5)) == [((0, 0), (5, 5))]
    assert document.clusters_with((5, 6)) == []


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{"], "row 1: not JSON"),
        ([json.dumps({"document": "d"})], "row 1: an object with the keys document, text_sha256, tokens, clusters"),
        ([json.dumps(entry(document="e"))], "row 1: the document 'e' is not in the data"),
        ([json.dumps(entry(text_sha256="0"))], "row 1: the text of 'd' differs from that in the data"),
        ([json.dumps(entry(tokens=[[0, 3], [2, 5]]))], r"row 1: the token \[2, 5\) of 'd' is empty, out of order"),
        ([json.dumps(entry(tokens=[[0, 99]]))], r"row 1: the token \[0, 99\) of 'd'"),
        ([json.dumps(entry(tokens=[[0]]))], "row 1: tokens must be pairs"),
        ([json.dumps(entry(clusters=[[[0, 10]]]))], r"row 1: the mention \[0, 10\] of 'd' is outside its 10 tokens"),
        ([json.dumps(entry()), json.dumps(entry())], "row 2: the document 'd' occurs twice"),
        ([], "1 of 1 documents are missing, the first is 'd'"),
    ],
)
def test_bad_lines_are_named(tmp_path, lines, message):
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        c.read(path, TEXTS)


NUMBER = "must be pairs of whole numbers; write the document again"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"document": ["d"]}, "row 1: 'document' is a list where text was expected; write the document again"),
        ({"document": {"d": 1}}, "row 1: 'document' is an object where text was expected"),
        ({"document": None}, "row 1: 'document' is null where text was expected"),
        ({"document": 7}, "row 1: 'document' is a number where text was expected"),
        ({"text_sha256": ["0"]}, "row 1: 'text_sha256' is a list where text was expected"),
        ({"tokens": "0 4"}, "row 1: 'tokens' is text where a list was expected"),
        ({"tokens": {"0": 4}}, "row 1: 'tokens' is an object where a list was expected"),
        ({"clusters": 3}, "row 1: 'clusters' is a number where a list was expected"),
        ({"clusters": None}, "row 1: 'clusters' is null where a list was expected"),
        ({"clusters": [3]}, "row 1: cluster 1 is a number where a list of mentions was expected"),
        ({"clusters": [{}]}, "row 1: cluster 1 is an object where a list of mentions was expected"),
        ({"clusters": ["ab"]}, "row 1: cluster 1 is text where a list of mentions was expected"),
        ({"clusters": [[[0, 0]], []]}, "row 1: cluster 2 is empty; leave it out"),
        ({"tokens": [[0, 3.5]]}, f"row 1: tokens {NUMBER}"),
        ({"tokens": [[0, 3.0]]}, f"row 1: tokens {NUMBER}"),
        ({"tokens": [["0", "3"]]}, f"row 1: tokens {NUMBER}"),
        ({"tokens": ["03"]}, f"row 1: tokens {NUMBER}"),
        ({"tokens": [[False, True]]}, f"row 1: tokens {NUMBER}"),
        ({"tokens": [[0, None]]}, f"row 1: tokens {NUMBER}"),
        ({"tokens": [[0, 3, 5]]}, f"row 1: tokens {NUMBER}"),
        ({"tokens": [[[0], 3]]}, f"row 1: tokens {NUMBER}"),
        ({"clusters": [[[0, 0.9], [5, 5]]]}, f"row 1: mentions {NUMBER}"),
        ({"clusters": [[["0", "0"]]]}, f"row 1: mentions {NUMBER}"),
        ({"clusters": [["05"]]}, f"row 1: mentions {NUMBER}"),
        ({"clusters": [[[True, True]]]}, f"row 1: mentions {NUMBER}"),
        ({"clusters": [[0, 0]]}, f"row 1: mentions {NUMBER}"),
        ({"clusters": [[[0, float("nan")]]]}, "row 1: not JSON (NaN"),
        ({"clusters": [[[0, float("inf")]]]}, "row 1: not JSON (Infinity"),
        ({"clusters": [[[-1, 0]]]}, "row 1: the mention [-1, 0] of 'd' is outside"),
        ({"clusters": [[[1, 0]]]}, "row 1: the mention [1, 0] of 'd' is outside"),
        ({"clusters": [[[0, 0], [5, 5]], [[5, 5], [7, 7]]]}, "row 1: the mention [5, 5] of 'd' is in two clusters"),
        ({"clusters": [[[0, 0], [0, 0]]]}, "row 1: the mention [0, 0] of 'd' is in a cluster twice; remove one"),
    ],
)
def test_documents_that_are_not_what_they_should_be(tmp_path, changes, message):
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps(entry(**changes)), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        c.read(path, TEXTS)
    assert str(caught.value).startswith(f"{path}, {message}") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[" * 100_000, "row 1: nested too deeply; write one document a line"),
        ('{"document": ' + "[" * 100_000 + "]" * 100_000 + "}", "row 1: nested too deeply"),
        ('{"document": ' + "9" * 10_000 + "}", "row 1: not JSON"),
        (
            json.dumps(entry())[:-1] + ', "clusters": []}',
            "row 1: the key 'clusters' is given twice; write the document",
        ),
        (json.dumps(entry()) + "\n", "row 2: not JSON"),
        ("[]", "row 1: an object with the keys"),
        ("null", "row 1: an object with the keys"),
    ],
    ids=range(7),
)
def test_lines_that_are_not_what_they_should_be(tmp_path, line, message):
    path = tmp_path / "c.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        c.read(path, TEXTS)
    assert str(caught.value).startswith(f"{path}, {message}")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\x0c"])
def test_names_may_hold_any_character(tmp_path, mark):
    document = c.Document(f"d{mark}1", c.digest(TEXT), c.tokenise(TEXT), ())
    c.write(tmp_path / "c.jsonl", [document])
    assert c.read(tmp_path / "c.jsonl", {document.document: TEXT}) == {document.document: document}
