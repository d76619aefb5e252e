"""The common format of coreference systems: written and read back, and bad lines named."""

import json

import pytest

from scripts.core import coreference as c
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
        ([json.dumps(entry(text_sha256="0"))], "row 1: the text of 'd' is another one"),
        ([json.dumps(entry(tokens=[[0, 3], [2, 5]]))], r"row 1: the token \[2, 5\) of 'd' is empty, out of order"),
        ([json.dumps(entry(tokens=[[0, 99]]))], r"row 1: the token \[0, 99\) of 'd'"),
        ([json.dumps(entry(tokens=[[0]]))], "row 1: tokens and mentions must be pairs"),
        ([json.dumps(entry(clusters=[[[0, 10]]]))], r"row 1: the mention \[0, 10\] of 'd' is outside its 10 tokens"),
        ([json.dumps(entry()), json.dumps(entry())], "row 2: the document 'd' is there twice"),
        ([], "1 of 1 documents are missing, the first is 'd'"),
    ],
)
def test_bad_lines_are_named(tmp_path, lines, message):
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        c.read(path, TEXTS)
