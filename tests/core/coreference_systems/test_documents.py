"""Annotated documents: read from CoNLL-2012 and LitBank's files, written, read back, and bad input named."""

import io
import json
import tarfile
from dataclasses import asdict

import pytest

from scripts.core.coreference_systems import conll
from scripts.core.coreference_systems import documents as d
from tests.refusals import refused


def row(word, number, cell="-", *, tag="NN", speaker="-", identifier="bc/x", part=0, more=()):
    """A row of OntoNotes' layout: aligned with spaces, coreference last."""
    columns = [identifier, part, number, word, tag, "*", "-", "-", "-", speaker, "*", *more, cell]
    return "   ".join(map(str, columns))


def text(*lines, part="000", end="#end document\n"):
    return "\n".join([f"#begin document (bc/x); part {part}", *lines, end])


ONTONOTES = text(
    row("Ada", 0, "(3", tag="NNP", speaker="Ben"),
    row("'s", 1, "-", tag="POS", speaker="Ben"),
    row("king", 2, "3)|(12)", speaker="Ben"),
    row("/.", 3, "-", tag=".", speaker="Ben"),
    "",
    row("He", 0, "(3)", tag="PRP", speaker="Tom", more=["(V*)"]),
    row("left", 1, "(12)", tag="VBD", speaker="Tom", more=["*"]),
    "",
)


def read(tmp_path, content):
    path = tmp_path / "x_gold_conll"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return conll.read_conll2012(path)


def pack(tmp_path, contents):
    """Write LitBank's archive of files by name and return its path."""
    path = tmp_path / "conll.tar.xz"
    with tarfile.open(path, "w:xz") as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_a_document_of_ontonotes_is_read(tmp_path):
    (document,) = read(tmp_path, ONTONOTES)
    assert document == d.AnnotatedDocument(
        name="bc/x",
        # The slash before the full stop is the corpus's mark.
        words=("Ada", "'s", "king", ".", "He", "left"),
        sentences=((0, 4), (4, 6)),
        clusters=(((0, 2), (4, 4)), ((2, 2), (5, 5))),
        speakers=("Ben",) * 4 + ("Tom",) * 2,
        tags=("NNP", "POS", "NN", ".", "PRP", "VBD"),
    )
    assert document.mentions == [(0, 2), (2, 2), (4, 4), (5, 5)]


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    (document,) = read(tmp_path, ONTONOTES.encode("utf-8-sig"))
    assert conll.read_litbank(pack(tmp_path, {"x.conll": ONTONOTES.encode("utf-8-sig")})) == [document]


@pytest.mark.parametrize(("name", "genre"), [("bc/cnn/00/cnn_0003; part 2", "bc"), ("105_persuasion_brat", None)])
def test_the_genre_is_the_first_directory_of_ontonotes_names(name, genre):
    assert d.AnnotatedDocument(name, ("a",), ((0, 1),), ()).genre == genre


def test_each_part_of_a_file_and_each_file_of_a_folder_is_a_document(tmp_path):
    second = text(row("So", 0, part=1), "", part="001")
    (tmp_path / "b/c").mkdir(parents=True)
    (tmp_path / "b/c/one.v4_gold_conll").write_text(ONTONOTES + second, encoding="utf-8")
    (tmp_path / "a_gold_conll").write_text(ONTONOTES.replace("bc/x", "bc/a"), encoding="utf-8")
    (tmp_path / "a.txt").write_text("no corpus", encoding="utf-8")
    found = conll.read_conll2012(tmp_path)
    assert [document.name for document in found] == ["bc/a", "bc/x", "bc/x; part 1"]
    assert found[2].speakers is None and found[2].tags == ("NN",)


def test_files_that_are_not_there_are_named(tmp_path):
    with refused(tmp_path, "no file", "*gold_conll"):
        conll.read_conll2012(tmp_path)
    with refused("x_gold_conll", "cannot be read"):
        conll.read_conll2012(tmp_path / "x_gold_conll")


def test_mentions_of_one_entity_may_lie_in_each_other(tmp_path):
    (document,) = read(tmp_path, text(row("a", 0, "(1|(1"), row("b", 1, "1)"), row("c", 2, "1)"), ""))
    assert document.clusters == (((0, 1), (0, 2)),)


def test_windows_line_ends_and_many_empty_lines_change_nothing(tmp_path):
    assert read(tmp_path, ONTONOTES.replace("\n", "\r\n")) == read(tmp_path, ONTONOTES)
    assert read(tmp_path, ONTONOTES.replace("\n\n", "\n\n\n\n")) == read(tmp_path, ONTONOTES)


FIRST = [row("a", 0, "(1)"), row("b", 1, "(2)"), ""]


BAD = {
    "not closed": (text(row("a", 0, "(1"), row("b", 1), ""), ["row 2", "entity 1", "not closed"]),
    "not opened": (text(row("a", 0), row("b", 1, "1)"), ""), ["row 3", "entity 1", "not opened"]),
    "other columns": (text(row("a", 0), row("b", 1, more=["*"]), ""), ["row 3", "13 columns", "12"]),
    "few columns": (text("bc/x 0 0 a"), ["row 2", "4 columns", "at least 12"]),
    "no words": (text(""), ["row 1", "'bc/x'", "no words"]),
    "no bracket": (text(row("a", 0, "1"), ""), ["row 2", "'1'", "coreference cell"]),
    "no number": (text(row("a", 0, "(x)"), ""), ["row 2", "'(x)'", "coreference cell"]),
    "another document": (text(row("a", 0, identifier="bc/y"), ""), ["row 2", "'bc/y', part 0", "'bc/x', part 0"]),
    "another part": (text(row("a", 0, part=1), ""), ["row 2", "'bc/x', part 1", "'bc/x', part 0"]),
    "no end": (text(*FIRST, end=""), ["row 1", "'bc/x'", "#end document"]),
    "begins within": (text(*FIRST, end="") + text(*FIRST), ["row 5", "begins before"]),
    "ends before": ("#end document\n", ["row 1", "did not begin"]),
    "word outside": (row("a", 0), ["row 1", "outside a document"]),
    "remark outside": ("# a remark\n", ["row 1", "#begin document", "expected"]),
    "remark within": (text(*FIRST, "# a remark"), ["row 5", "not a row", "'bc/x'"]),
    "nothing": ("", ["no document", "CoNLL-2012"]),
    "same document": (text(*FIRST) + text(*FIRST), ["'bc/x'", "twice", "remove"]),
    "bytes": (text(*FIRST).encode("utf-16"), ["UTF-8"]),
}


@pytest.mark.parametrize(("content", "named"), BAD.values(), ids=BAD)
def test_bad_input_is_named_by_file_and_row(tmp_path, content, named):
    with refused("x_gold_conll", *named):
        read(tmp_path, content)


def test_clusters_that_share_a_mention_become_one(tmp_path, caplog):
    lines = [row("a", 0, "(1)|(2)"), row("b", 1, "(2)|(3)"), row("c", 2, "(3)"), row("d", 3, "(4)"), ""]
    (document,) = read(tmp_path, text(*lines))
    assert document.clusters == (((0, 0), (1, 1), (2, 2)), ((3, 3),))
    assert "the document 'bc/x': 4 clusters are 2 since some share a mention" in caplog.text


def litbank(name, *sentences):
    lines = [f"#begin document ({name}); part 0"]
    for sentence in sentences:
        lines += ["\t".join([name, "0", str(i), word, *["_"] * 8, cell]) for i, (word, cell) in enumerate(sentence)]
        lines.append("")
    return "\n".join([*lines, "#end document", ""])


def test_files_of_litbank_are_read_in_the_order_of_their_names(tmp_path):
    contents = {
        f"{name}.conll": litbank(name, [("Ada", "(0"), ("King", "0)"), (".", "")], [("She", "(0)"), ("-", "")]).encode()
        for name in ("2_b_brat", "1_a_brat")
    }
    first, second = conll.read_litbank(pack(tmp_path, contents))
    assert (first.name, second.name) == ("1_a_brat", "2_b_brat")
    assert first.words == ("Ada", "King", ".", "She", "-") and first.sentences == ((0, 3), (3, 5))
    assert first.clusters == (((0, 1), (3, 3)),)
    assert first.speakers is None and first.tags is None


def test_every_tenth_document_of_litbank_is_tested_on():
    corpus = [d.AnnotatedDocument(f"{number:02d}", ("a",), ((0, 1),), ()) for number in range(25)]
    parts = {part: [document.name for document in some] for part, some in conll.litbank_split(corpus[::-1]).items()}
    assert parts["test"] == ["00", "10", "20"]
    assert parts["development"] == ["01", "11", "21"]
    assert parts["train"] == [f"{number:02d}" for number in range(25) if number % 10 > 1]


def test_litbank_has_its_documents_words_and_mentions(mirror):
    corpus = conll.read_litbank(mirror / "litbank/coref/conll.tar.xz")
    counts = {
        part: (len(some), sum(len(one.words) for one in some), sum(len(one.mentions) for one in some))
        for part, some in conll.litbank_split(corpus).items()
    }
    assert counts == {"train": (80, 167577, 22988), "development": (10, 20816, 3010), "test": (10, 22139, 3105)}


def test_documents_are_read_as_they_were_written(tmp_path):
    corpus = read(tmp_path, ONTONOTES + text(row("é", 0, "(0)|(1", part=7), row("b", 1, "1)", part=7), "", part="007"))
    d.write_documents(tmp_path / "y.jsonl", corpus)
    assert d.read_documents(tmp_path / "y.jsonl") == corpus


DOCUMENT = d.AnnotatedDocument("x", ("a", "b", "c"), ((0, 2), (2, 3)), (((0, 1), (2, 2)),), ("s",) * 3, ("t",) * 3)


DAMAGED = {
    "no JSON": ("{", ["row 1", "not JSON"]),
    "too few fields": (json.dumps({"name": "x"}), ["row 1", "sentences", "expected"]),
    "a list": ("[1]", ["row 1", "expected"]),
    "same name": ("\n".join([json.dumps(asdict(DOCUMENT))] * 2), ["'x'", "twice"]),
}


@pytest.mark.parametrize(("lines", "named"), DAMAGED.values(), ids=DAMAGED)
def test_lines_that_are_no_documents_are_refused(tmp_path, lines, named):
    (tmp_path / "c.jsonl").write_text(f"{lines}\n", encoding="utf-8")
    with refused("c.jsonl", *named):
        d.read_documents(tmp_path / "c.jsonl")
