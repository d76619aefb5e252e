"""Documents of text corpora: read from every layout, counted as grep counts them, once."""

import gzip
import io
import json
import lzma
import re
import subprocess
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

from scripts.core import files
from scripts.core.data.templates import read_pronouns
from scripts.misgendered import corpora, study
from scripts.misgendered.documents import read_documents
from tests.misgendered import make
from tests.refusals import refused

GROUPS = study.select_groups(read_pronouns(make.PRONOUNS), study.PRONOUN_GROUPS)
WANTED = corpora.distinct_forms(GROUPS)
WORDS = {word for words in WANTED.values() for word in words}
BOOK = make.FOLDER / "pride_and_prejudice.jsonl.gz"
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


def write(folder, *contents):
    """Write files of JSON Lines, one for each list of texts; return their paths."""
    paths = [folder / f"{number}.jsonl" for number in range(len(contents))]
    for path, texts in zip(paths, contents, strict=True):
        path.write_bytes(json_lines(texts))
    return [str(path) for path in paths]


def count(path, layout="jsonl"):
    return corpora.count_file(path, layout, WANTED)


def grepped(texts, word):
    """How many texts hold a word, by a program that knows nothing of ours."""
    pattern = re.compile(rf"(?<![^\W]){re.escape(word)}(?![^\W])", flags=re.IGNORECASE)
    return sum(pattern.search(text) is not None for text in texts)


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("layout", ["c4", "pile", "openwebtext"])
def test_documents_are_counted_whatever_holds_them(tmp_path, layout, suffix):
    path = tmp_path / f"part{suffix}"
    PACKED[suffix](path, archive(DOCUMENTS) if layout == "openwebtext" else json_lines(DOCUMENTS))
    counts = count(path, layout)
    assert counts["total"] == len(DOCUMENTS)
    found = {word: counts["documents"].get(word, 0) for word in WORDS}
    assert found == {word: grepped(DOCUMENTS, word) for word in WORDS}
    assert (found["she"], found["e"], found["co"], found["em"], found["vis"], found["their"]) == (1, 1, 1, 1, 1, 1)
    assert counts["occurrences"]["thon"] == 2 and counts["occurrences"]["e"] == 4
    assert counts["documents"].get("his") == counts["occurrences"]["his"] == 1


def test_plain_text_is_one_document_or_one_for_each_paragraph(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"\xef\xbb\xbfShe came.\nXe too.\n\n \r\nThey left.\n\n")
    whole = count(path, "text")
    assert (whole["total"], whole["documents"]) == (1, {"she": 1, "they": 1, "xe": 1})
    assert list(read_documents(path, "paragraphs")) == ["She came.\nXe too.\n", "They left.\n"]


def test_the_book_that_ships_is_counted_as_grep_counts_it(tmp_path):
    with gzip.open(BOOK, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    (tmp_path / "plain.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")

    def grep(word):
        command = ["grep", "-c", "-w", "-i", "--", word, str(tmp_path / "plain.txt")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={"LC_ALL": "C.UTF-8"})
        return int(done.stdout)

    counts = count(BOOK)
    assert counts["total"] == len(texts) == 2063
    assert {word: counts["documents"].get(word, 0) for word in WORDS} == {word: grep(word) for word in WORDS}
    assert (counts["documents"]["he"], counts["documents"]["she"]) == (662, 760)


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
    with gzip.open(BOOK, "rt", encoding="utf-8") as file:
        assert [json.loads(line) for line in file] == expected


# Bad input: one line each, and the other files' counts are kept.

SHE, TWO = json_lines(["She came."]), archive(["She came.", "Xe left."])
BROKEN = [
    ("jsonl", SHE + '{"text": "Ren\xe9"}\n'.encode("latin-1"), "line 2: not UTF-8 ("),
    ("paragraphs", b"She\n\nRen\xe9\n", "line 3: not UTF-8 ("),
    ("text", b"She\n\nRen\xe9\n", ": not UTF-8 ("),
    ("c4", SHE + b"{text}\n", "line 2: not JSON ("),
    ("pile", b'{"body": "She came."}\n', "line 1: has no key 'text'"),
    ("openwebtext", SHE, "not of the layout openwebtext, behind 0 documents"),
    ("openwebtext", TWO.replace(b"Xe left.", b"X\xe9 left."), "openwebtext/1.txt: not UTF-8"),
    ("openwebtext", archive(["She came. " * 500, "Xe left. " * 500])[:7000], "behind 1 document ("),
]


@pytest.mark.parametrize(("layout", "content", "named"), BROKEN)
def test_a_file_that_is_not_of_its_layout_is_refused_with_the_place(tmp_path, layout, content, named):
    path = tmp_path / "part"
    path.write_bytes(content)
    with refused(path, named):
        count(path, layout)


@pytest.mark.parametrize("kind", [".zst", ".gz", ".xz"])
def test_a_truncated_file_and_one_of_another_kind_are_refused(tmp_path, kind):
    path = tmp_path / f"part.jsonl{kind}"
    PACKED[kind](path, json_lines([f"She said {number * 7919}." for number in range(20_000)]))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with refused(path, "get an unbroken copy"):
        count(path)
    path.write_bytes(SHE)
    with refused(path, "damaged or not of the layout jsonl"):
        count(path)


def test_a_broken_file_keeps_the_counts_of_the_others(tmp_path, monkeypatch):
    paths = write(tmp_path, ["She came."] * 2, [], ["They came."] * 2)
    Path(paths[1]).write_bytes(b"\xff\n")

    def whole(wanted=WANTED):
        return corpora.count_corpus(paths, "jsonl", wanted, tmp_path / "parts", 2)

    with refused(f"{paths[1]}, line 1: not UTF-8", "the counts of 2 other files are kept"):
        whole()
    Path(paths[1]).write_bytes(json_lines(["Xe came."]))
    read, original = [], corpora.count_file
    monkeypatch.setattr(corpora, "count_file", lambda path, *rest: read.append(path) or original(path, *rest))
    # Threads, because a process would not tell what it reads.
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", ThreadPoolExecutor)
    counts = whole()
    assert read == [paths[1]]
    assert counts["total"] == 5
    assert counts["documents"] == {"she": 2, "xe": 1, "they": 2}
    assert whole() == counts and read == [paths[1]]
    # Another question, or another file of the same name, is counted anew.
    assert whole({"she": ["came"]})["documents"] == {"came": 5}
    assert sorted(read[1:]) == paths
    Path(paths[0]).write_bytes(json_lines(["She came."] * 3))
    assert whole({"she": ["came"]})["documents"] == {"came": 6}
    # Of the same size, too.
    Path(paths[0]).write_bytes(json_lines(["She left."] * 3))
    assert whole({"she": ["came"]})["documents"] == {"came": 3}


def test_processes_change_nothing_and_files_need_names_of_their_own(tmp_path):
    paths = write(tmp_path, *(DOCUMENTS * (number + 1) for number in range(5)))
    one, three = (
        corpora.count_corpus(paths, "jsonl", WANTED, tmp_path / f"parts {processes}", processes) for processes in (1, 3)
    )
    assert one == three and one["total"] == len(DOCUMENTS) * 15
    with refused("two files of a corpus are called 0.jsonl"):
        corpora.count_corpus([*paths, "again/0.jsonl"], "jsonl", WANTED, tmp_path / "x")


def test_a_finished_corpus_has_its_tables_alone(tmp_path):
    parts, counts = tmp_path / "parts", str(tmp_path / "counts.csv")
    given = {"pronouns": str(make.PRONOUNS), "pronoun_sets": ["she", "xe"], "layout": "jsonl"}
    corpora.corpus(
        texts=write(tmp_path, DOCUMENTS), **given, name="mine", label="Mine", parts=str(parts), counts=counts
    )
    assert not parts.exists()
    corpora.corpus_counts(counted=[counts], corpus_counts=str(tmp_path / "all.csv"))
    sums = corpora.document_sums(files.read_csv(tmp_path / "all.csv"))
    assert sums.values.tolist() == [["mine", "she", 2], ["mine", "xe", 3]]


def test_patterns_stand_for_files(tmp_path):
    for name in ("b/2.gz", "b/1.gz", "a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")

    def configured(*patterns, times=1):
        corpus = {"name": "mine", "label": "Mine", "layout": "text", "files": patterns}
        return corpora.configured_corpora([corpus] * times, lambda path: str(tmp_path / path))

    found = configured("b/*.gz", "a.txt", "b/1.gz")["mine"]["files"]
    assert found == [str(tmp_path / name) for name in ("b/1.gz", "b/2.gz", "a.txt")]
    assert configured("**/*.gz")["mine"]["files"] == found[:2]
    with refused("'mine'", "no file c/*.gz", "correct"):
        configured("c/*.gz")
    with refused("'mine' is listed twice"):
        configured("a.txt", times=2)
