"""The common format of coreference systems: written and read back, and bad lines named."""

import json

import pytest

from scripts.core.data import coreference as c
from tests.refusals import refused

TEXT = "Ann's dog saw her, and left."
TEXTS = {"d": TEXT}


def entry(**changes):
    tokens = [list(t) for t in c.split_words(TEXT)]
    return {
        "document": "d",
        "text_sha256": c.digest_text(TEXT),
        "tokens": tokens,
        "clusters": [[[0, 0], [5, 5]]],
        **changes,
    }


def test_tokens_are_words_and_marks():
    words = [TEXT[s:e] for s, e in c.split_words(TEXT)]
    assert words == ["Ann", "'", "s", "dog", "saw", "her", ",", "and", "left", "."]


def test_a_file_is_read_as_it_was_written(tmp_path):
    document = c.Document("d", c.digest_text(TEXT), c.split_words(TEXT), (((0, 0), (5, 5)),))
    c.write_clusters(tmp_path / "c.jsonl", [document])
    assert c.read_clusters(tmp_path / "c.jsonl", TEXTS) == {"d": document}


def test_spans_are_the_tokens_that_share_characters():
    document = c.Document("d", "", c.split_words(TEXT), (((0, 0), (5, 5)), ((3, 3),)))
    assert document.span(0, 3) == (0, 0)
    assert document.span(0, 9) == (0, 3)
    assert document.span(14, 17) == (5, 5)
    assert document.span(15, 16) == (5, 5)
    assert document.span(9, 10) is None
    assert document.clusters_with((5, 5)) == [((0, 0), (5, 5))]
    assert document.clusters_with((5, 6)) == []


def line(**changes):
    return json.dumps(entry(**changes)) + "\n"


PAIRS = "pairs of whole numbers"
BROKEN = {
    "no JSON": ("{", ["row 1", "not JSON"]),
    "nested too deeply": ('{"document": ' + "[" * 100_000 + "]" * 100_000 + "}", ["row 1", "nested too deeply"]),
    "a number of many digits": ('{"document": ' + "9" * 10_000 + "}", ["row 1", "not JSON", "digits"]),
    "a key twice": (line()[:-2] + ', "clusters": []}', ["row 1", "'clusters' is given twice"]),
    "an empty line": (line() + "\n", ["row 2", "not JSON"]),
    "a list": ("[]", ["row 1", "keys document, text_sha256, tokens, clusters"]),
    "nothing": ("null", ["row 1", "keys document"]),
    "keys missing": ('{"document": "d"}', ["row 1", "keys document"]),
    "nan": (line(clusters=[[[0, float("nan")]]]), ["row 1", "NaN"]),
    "infinite": (line(clusters=[[[0, float("inf")]]]), ["row 1", "Infinity"]),
    "unknown document": (line(document="e"), ["row 1", "'e' is not in the data"]),
    "another text": (line(text_sha256="0"), ["row 1", "the text of 'd' differs"]),
    "document twice": (line() + line(), ["row 2", "'d' occurs twice"]),
    "no document": ("", ["1 of 1 documents are missing", "'d'"]),
    "tokens overlap": (line(tokens=[[0, 3], [2, 5]]), ["row 1", "token [2, 5) of 'd'", "out of order"]),
    "token outside": (line(tokens=[[0, 99]]), ["row 1", "token [0, 99) of 'd'"]),
    "mention outside": (line(clusters=[[[0, 10]]]), ["row 1", "mention [0, 10] of 'd'", "its 10 tokens"]),
    "mention before": (line(clusters=[[[-1, 0]]]), ["row 1", "mention [-1, 0] of 'd'"]),
    "mention backwards": (line(clusters=[[[1, 0]]]), ["row 1", "mention [1, 0] of 'd'"]),
    "two clusters": (line(clusters=[[[0, 0], [5, 5]], [[5, 5], [7, 7]]]), ["row 1", "[5, 5] of 'd'", "two clusters"]),
    "twice in a cluster": (line(clusters=[[[0, 0], [0, 0]]]), ["row 1", "[0, 0] of 'd'", "in a cluster twice"]),
    "empty cluster": (line(clusters=[[[0, 0]], []]), ["row 1", "cluster 2 is empty"]),
    **{
        f"{key} {value!r}": (line(**{key: value}), ["row 1", f"'{key}' is {kind}", "was expected"])
        for key, value, kind in (
            ("document", ["d"], "a list"), ("document", {"d": 1}, "an object"), ("document", None, "null"),
            ("document", 7, "a number"), ("text_sha256", ["0"], "a list"), ("tokens", "0 4", "text"),
            ("tokens", {"0": 4}, "an object"), ("clusters", 3, "a number"), ("clusters", None, "null"),
        )
    },
    **{
        f"cluster {value!r}": (line(clusters=[value]), ["row 1", f"cluster 1 is {kind}", "list of mentions"])
        for value, kind in ((3, "a number"), ({}, "an object"), ("ab", "text"))
    },
    **{
        f"token {value!r}": (line(tokens=[value]), ["row 1", "tokens", PAIRS])
        for value in ([0], [0, 3.5], [0, 3.0], ["0", "3"], "03", [False, True], [0, None], [0, 3, 5], [[0], 3])
    },
    **{
        f"mention {value!r}": (line(clusters=[[value]]), ["row 1", "mentions", PAIRS])
        for value in ([0, 0.9], ["0", "0"], "05", [True, True], 0)
    },
}  # fmt: skip


@pytest.mark.parametrize(("text", "named"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_document_is_named_with_its_row(tmp_path, text, named):
    path = tmp_path / "c.jsonl"
    path.write_text(text, encoding="utf-8")
    with refused(path, *named):
        c.read_clusters(path, TEXTS)


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\x0c"])
def test_names_may_hold_any_character(tmp_path, mark):
    document = c.Document(f"d{mark}1", c.digest_text(TEXT), c.split_words(TEXT), ())
    c.write_clusters(tmp_path / "c.jsonl", [document])
    assert c.read_clusters(tmp_path / "c.jsonl", {document.document: TEXT}) == {document.document: document}
