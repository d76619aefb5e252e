import gzip
import hashlib
import io
import json
import lzma
import re
import subprocess
import tarfile
from pathlib import Path

import pyarrow as pa
import pytest

from scripts.core import files
from scripts.core.data.templates import read_pronouns
from scripts.core.errors import UserError
from scripts.misgendered import corpora, study
from scripts.misgendered.documents import read_documents
from tests.misgendered import make

GROUPS = study.select_groups(read_pronouns(make.PRONOUNS), study.PRONOUN_GROUPS)
WANTED = corpora.distinct_forms(GROUPS)
WORDS = {word for words in WANTED.values() for word in words}
DOCUMENTS = [
    "She said so. She's early, and (hers) is late.\nXe waited; xem, XYR!",
    "e-e-e is a sound; E. coli too. Theirs? thems himalaya",
    "Nothing about anybody.",
    "A co-author met thon at thon's house, vis-à-vis: their co_op 'em. his2 his",
    "",
    "Ça va? ey’re ZIR zirself éy aer",
]


def zstd(path, raw):
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(raw)


PACKED = {"": Path.write_bytes, ".gz": lambda path, raw: path.write_bytes(gzip.compress(raw)), ".zst": zstd,
          ".xz": lambda path, raw: path.write_bytes(lzma.compress(raw))}  # fmt: skip


def json_lines(texts):
    return "".join(json.dumps({"text": text, "url": "x"}, ensure_ascii=False) + "\n" for text in texts).encode()


def archive(texts):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for number, text in enumerate(texts):
            member = tarfile.TarInfo(f"openwebtext/{number}.txt")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


def grepped(texts, word):
    """How many texts hold a word, by a program that knows nothing of ours."""
    pattern = re.compile(rf"(?<![^\W]){re.escape(word)}(?![^\W])", flags=re.IGNORECASE)
    return sum(pattern.search(text) is not None for text in texts)


def refused(function, *arguments):
    with pytest.raises(UserError) as error:
        function(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("layout", ["c4", "pile", "openwebtext"])
def test_documents_are_counted_whatever_holds_them(tmp_path, layout, suffix):
    path = tmp_path / f"part{suffix}"
    PACKED[suffix](path, archive(DOCUMENTS) if layout == "openwebtext" else json_lines(DOCUMENTS))
    counts = corpora.count_file(path, layout, WANTED, 1)
    assert counts["total"] == len(DOCUMENTS)
    found = {word: counts["documents"].get(word, 0) for word in WORDS}
    assert found == {word: grepped(DOCUMENTS, word) for word in WORDS}
    assert (found["she"], found["e"], found["co"], found["em"], found["vis"], found["their"]) == (1, 1, 1, 1, 1, 1)
    assert counts["occurrences"]["thon"] == 2 and counts["occurrences"]["e"] == 4
    assert counts["documents"].get("his") == counts["occurrences"]["his"] == 1


def grep(path, word):
    """How many lines of a file hold a word, by grep."""
    command = ["grep", "-c", "-w", "-i", "--", word, str(path)]
    return int(subprocess.run(command, capture_output=True, text=True, check=False, env={"LC_ALL": "C.UTF-8"}).stdout)


def test_three_small_corpora_are_counted_as_grep_counts_them(tmp_path):
    """A document a line: the book that ships, the lines of template files, and the paragraphs of the code."""
    root = make.ROOT
    with gzip.open(root / "templates/misgendered/pride_and_prejudice.jsonl.gz", "rt", encoding="utf-8") as file:
        book = [json.loads(line)["text"] for line in file]
    sentences = [
        line
        for path in sorted((root / "templates").rglob("*.tsv"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    code = [
        " ".join(block.split())
        for path in sorted((root / "scripts").rglob("*.py"))
        for block in path.read_text(encoding="utf-8").split("\n\n")
    ]
    for name, texts in {"book": book, "sentences": sentences, "code": code}.items():
        path = tmp_path / f"{name}.jsonl.zst"
        zstd(path, json_lines(texts))
        plain = tmp_path / f"{name}.txt"
        plain.write_text("\n".join(texts) + "\n", encoding="utf-8")
        counts = corpora.count_file(path, "jsonl", WANTED, 1)
        assert counts["total"] == len(texts) > 500
        assert {w: counts["documents"].get(w, 0) for w in WORDS} == {w: grep(plain, w) for w in WORDS}, name
        assert counts["documents"]["they"] > 0


def test_the_book_that_ships():
    path = make.FOLDER / "pride_and_prejudice.jsonl.gz"
    counts = corpora.count_file(path, "jsonl", WANTED, 1)
    assert counts["total"] == 2063
    assert counts["documents"]["he"] == 662 and counts["documents"]["she"] == 760
    assert "thon" not in counts["documents"]


@pytest.mark.upstream
def test_the_book_that_ships_is_project_gutenbergs(mirror):
    """Chapters as they are, a paragraph a document, without line breaks and marks of emphasis."""
    text = (mirror / "gutenberg/Pride-and-Prejudice_1342/1342-0.txt").read_bytes().decode("utf-8-sig")
    text = text.replace("\r\n", "\n").partition("\nEnd of the Project Gutenberg EBook")[0]
    expected = []
    for number, chapter in enumerate(re.split(r"^Chapter \d+$", text, flags=re.MULTILINE)[1:], start=1):
        for paragraph in re.split(r"\n\s*\n", chapter):
            if plain := " ".join(paragraph.replace("_", "").split()):
                expected.append({"chapter": number, "text": plain})
    with gzip.open(make.FOLDER / "pride_and_prejudice.jsonl.gz", "rt", encoding="utf-8") as file:
        assert [json.loads(line) for line in file] == expected


def test_plain_text_is_one_document_or_one_for_each_paragraph(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"\xef\xbb\xbfShe came.\nXe too.\n\n \r\nThey left.\n\n")
    whole = corpora.count_file(path, "text", WANTED, 1)
    assert (whole["total"], whole["documents"]) == (1, {"she": 1, "they": 1, "xe": 1})
    parts = list(read_documents(path, "paragraphs"))
    assert parts == ["She came.\nXe too.\n", "They left.\n"]


# Bad input: one line each, and the other files' counts are kept.


def damaged(tmp_path, kind):
    raw = json_lines([f"She said {number * 7919}." for number in range(20_000)])
    path = tmp_path / f"part.jsonl{kind}"
    PACKED[kind](path, raw)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    return path


@pytest.mark.parametrize("kind", [".zst", ".gz", ".xz"])
def test_a_truncated_file_is_refused(tmp_path, kind):
    path = damaged(tmp_path, kind)
    message = refused(corpora.count_file, path, "jsonl", WANTED, 1)
    assert message.startswith(f"{path}") and "get an unbroken copy" in message


@pytest.mark.parametrize("kind", [".zst", ".gz", ".xz"])
def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path, kind):
    path = tmp_path / f"part.jsonl{kind}"
    path.write_bytes(json_lines(["She came."]))
    assert "damaged or not what its name says" in refused(corpora.count_file, path, "jsonl", WANTED, 1)


def test_files_that_are_not_utf_8_json_or_an_archive_are_refused(tmp_path):
    path = tmp_path / "part"
    path.write_bytes(json_lines(["She came."]) + '{"text": "Ren\xe9"}\n'.encode("latin-1"))
    assert f"{path}, line 2: not UTF-8 (" in refused(corpora.count_file, path, "jsonl", WANTED, 1)
    path.write_bytes(b"She\n\nRen\xe9\n")
    assert f"{path}, line 3: not UTF-8 (" in refused(corpora.count_file, path, "paragraphs", WANTED, 1)
    assert f"{path}: not UTF-8 (" in refused(corpora.count_file, path, "text", WANTED, 1)
    path.write_bytes(json_lines(["She came."]) + b"{text}\n")
    assert f"{path}, line 2: not JSON (" in refused(corpora.count_file, path, "c4", WANTED, 1)
    path.write_bytes(b'{"body": "She came."}\n')
    assert f"{path}, line 1: has no key 'text' with a text" in refused(corpora.count_file, path, "pile", WANTED, 1)
    assert "no archive of texts" in refused(corpora.count_file, path, "openwebtext", WANTED, 1)
    path.write_bytes(archive(["She came.", "Xe left."]).replace(b"Xe left.", b"X\xe9 left."))
    assert "openwebtext/1.txt: not UTF-8" in refused(corpora.count_file, path, "openwebtext", WANTED, 1)
    path.write_bytes(archive(["She came. " * 500, "Xe left. " * 500])[:7000])
    assert "no archive of texts, behind 1 document (" in refused(corpora.count_file, path, "openwebtext", WANTED, 1)
    assert "no such file" in refused(corpora.count_file, tmp_path / "none.gz", "jsonl", WANTED, 1)


def test_a_broken_file_keeps_the_counts_of_the_others(tmp_path, monkeypatch):
    paths = []
    for number, text in enumerate(["She came.", "Xe came.", "They came."]):
        paths.append(str(tmp_path / f"{number}.jsonl"))
        Path(paths[-1]).write_bytes(json_lines([text, text]))
    Path(paths[1]).write_bytes(b"\xff\n")
    message = refused(corpora.count_corpus, paths, "jsonl", WANTED, 1, tmp_path / "parts", 2)
    assert message.startswith(f"{paths[1]}, line 1: not UTF-8") and "the counts of 2 other files are kept" in message
    Path(paths[1]).write_bytes(json_lines(["Xe came."]))
    read = []
    original = corpora.count_file
    monkeypatch.setattr(corpora, "count_file", lambda path, *rest: read.append(path) or original(path, *rest))
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", _Here)
    counts = corpora.count_corpus(paths, "jsonl", WANTED, 1, tmp_path / "parts", 2)
    assert read == [paths[1]]
    assert counts["total"] == 5
    assert counts["documents"] == {"she": 2, "xe": 1, "they": 2}
    assert corpora.count_corpus(paths, "jsonl", WANTED, 1, tmp_path / "parts", 2) == counts
    assert read == [paths[1]]
    # Another question, or another file of the same name, is counted anew.
    corpora.count_corpus(paths, "jsonl", WANTED, 2, tmp_path / "parts", 2)
    assert read == [paths[1], *paths]
    Path(paths[0]).write_bytes(json_lines(["She came.", "She came.", "She came."]))
    assert corpora.count_corpus(paths, "jsonl", WANTED, 2, tmp_path / "parts", 2)["documents"]["she"] == 3
    (tmp_path / "parts/0.jsonl.json").write_text("{")
    assert corpora.count_corpus(paths, "jsonl", WANTED, 2, tmp_path / "parts", 2)["documents"]["she"] == 3


class _Here:
    """An executor in this process."""

    def __init__(self, processes):
        self.processes = processes

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return False

    def submit(self, function, *arguments):
        from concurrent.futures import Future

        future = Future()
        try:
            future.set_result(function(*arguments))
        except UserError as error:
            future.set_exception(error)
        return future


def test_processes_change_nothing(tmp_path):
    paths = []
    for number in range(5):
        paths.append(str(tmp_path / f"{number}.jsonl"))
        Path(paths[-1]).write_bytes(json_lines(DOCUMENTS * (number + 1)))
    one = corpora.count_corpus(paths, "jsonl", WANTED, 1, tmp_path / "one", 1)
    assert one == corpora.count_corpus(paths, "jsonl", WANTED, 1, tmp_path / "three", 3)
    assert one["total"] == len(DOCUMENTS) * 15
    copy = tmp_path / "again"
    copy.mkdir()
    (copy / "0.jsonl").write_bytes(b"")
    assert "two files of a corpus are called 0.jsonl" in refused(
        corpora.count_corpus, [*paths, str(copy / "0.jsonl")], "jsonl", WANTED, 1, tmp_path / "x"
    )


# Excerpts and tables.


def test_an_excerpt_shows_the_word_in_its_surroundings():
    assert corpora.excerpt("Then she left.", "she") == "Then she left."
    long = "word " * 30 + "and  She\nspoke " + "more " * 30
    found = corpora.excerpt(long, "she")
    assert found.startswith("… word") and found.endswith("more …") and " and She spoke more" in found
    assert len(found) <= 2 * corpora.EXCERPT_MARGIN + len("She") + 4
    assert corpora.excerpt("(e)", "e") == "(e)"


def test_the_excerpt_is_from_the_drawn_document(tmp_path):
    texts = [f"Document {number}: then she left." for number in range(50)]
    path = tmp_path / "a.jsonl"
    path.write_bytes(json_lines(texts))
    numbers = set()
    for seed in range(10):
        counts = corpora.count_file(path, "jsonl", {"she": ["she"]}, seed)
        digest, name, number, shown = counts["excerpts"]["she"]
        assert (name, shown) == ("a.jsonl", texts[number - 1])
        digests = [hashlib.sha256(f"{seed}|she|a.jsonl|{n}".encode()).hexdigest() for n in range(1, 51)]
        assert digest == min(digests) == digests[number - 1]
        numbers.add(number)
    assert len(numbers) > 5


def test_tables_have_a_row_for_each_form(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(json_lines(DOCUMENTS))
    counts = corpora.count_file(path, "jsonl", WANTED, 1)
    table = corpora.count_table(counts, GROUPS, "mine", "My corpus")
    assert len(table) == 77 and list(table.columns) == list(corpora.COLUMNS) and set(table.total) == {6}
    # The first and the fourth document hold forms of xe and they; "hers" and "she" are of one document.
    every = table[table.form == corpora.ANY].set_index(["group", "quantity"])["count"]
    assert (every["she", corpora.SUM], every["she", corpora.DOCUMENTS]) == (2, 1)
    assert (every["he", corpora.SUM], every["he", corpora.DOCUMENTS]) == (1, 1)
    assert (every["xe", corpora.SUM], every["xe", corpora.DOCUMENTS]) == (3, 1)
    shared = table[table.word == "em"]
    assert shared.group.tolist() == ["e", "ey"] and shared["count"].tolist() == [1, 1]
    excerpts = corpora.excerpt_table(counts, GROUPS, "mine", "My corpus")
    assert set(excerpts.word) == set(counts["documents"])
    files.write_csv(tmp_path / "a.csv", table)
    assert files.read_csv(tmp_path / "a.csv").word.fillna("").tolist() == table.word.tolist()


def test_patterns_stand_for_files(tmp_path):
    for name in ("b/2.gz", "b/1.gz", "a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    base = {"name": "mine", "label": "Mine", "layout": "text"}

    def place(path):
        return str(tmp_path / path)

    found = corpora.configured_corpora([{**base, "files": ["b/*.gz", "a.txt", "b/1.gz"]}], place)
    assert found["mine"]["files"] == [str(tmp_path / name) for name in ("b/1.gz", "b/2.gz", "a.txt")]
    assert (
        corpora.configured_corpora([{**base, "files": ["**/*.gz"]}], place)["mine"]["files"]
        == found["mine"]["files"][:2]
    )
    assert "there is no file c/*.gz" in refused(corpora.configured_corpora, [{**base, "files": ["c/*.gz"]}], place)
    assert "listed twice" in refused(corpora.configured_corpora, [{**base, "files": ["a.txt"]}] * 2, place)
