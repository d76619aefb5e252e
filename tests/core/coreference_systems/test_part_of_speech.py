"""Parts of speech: any tagger, the process in another environment, files of tags."""

import json
import sys

import pytest

from scripts.core.coreference_systems import part_of_speech as p
from scripts.core.coreference_systems.documents import AnnotatedDocument
from scripts.core.coreference_systems.packages import process
from scripts.core.errors import UserError


def test_a_tagger_gets_sentences_and_keeps_words():
    words = ("Ada", "left", ".", "So", "?")
    one = AnnotatedDocument("d", words, ((0, 3), (3, 5)), ())
    (tagged,) = p.tag_by([one], lambda sentence: [f"{word}/{len(sentence)}" for word in sentence])
    assert tagged.tags == ("Ada/3", "left/3", "./3", "So/2", "?/2")
    with pytest.raises(UserError, match="sentence 2 of the document 'd' has 2 words and got 3 tags"):
        p.tag_by([one], lambda sentence: ["X"] * 3)


CORPUS = [
    AnnotatedDocument("d", ("Ada", "left", ".", "So", "?"), ((0, 3), (3, 5)), ()),
    AnnotatedDocument("é", ("Été",), ((0, 1),), ()),
]


def interpreter(tmp_path, body):
    """A command that stands for Python of another environment and answers as it likes."""
    path = tmp_path / "python"
    path.write_text(f"#!{sys.executable}\nimport json, sys\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_another_environment_tags_sentences(tmp_path):
    body = """print(json.dumps({"tagger": "1.0"}))
for line in sys.stdin:
    print(json.dumps([word[0] for word in json.loads(line)]))"""
    tagged, facts = p.tag(CORPUS, interpreter(tmp_path, body))
    assert facts == {"tagger": "1.0"}
    assert [document.tags for document in tagged] == [("A", "l", ".", "S", "?"), ("É",)]
    assert [document.words for document in tagged] == [document.words for document in CORPUS]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit('first\\nno module named spacy')", r"ended with status 1 \(no module named spacy\)"),
        ("", r"the tagger ended with status 0 \(it said nothing\)"),
        ("print('{}')", r"the tagger ended with status 0 \(it said nothing\)"),
        ("print('{}', flush=True); import os; os.kill(os.getpid(), 9)", "ended with status -9"),
        ("print('{}'); [print('[]') for _ in range(3)]", "sentence 1 of the document 'd' has 3 words and got 0 tags"),
    ],
)
def test_an_environment_that_does_not_tag_is_named(tmp_path, body, message):
    with pytest.raises(UserError, match=message):
        p.tag(CORPUS, interpreter(tmp_path, body))


def test_an_environment_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UserError, match="nowhere/python cannot be started"):
        p.tag(CORPUS, str(tmp_path / "nowhere/python"))
    stated = tmp_path / "environment.json"
    stated.write_text(json.dumps({"python": "/usr/bin/python3"}), encoding="utf-8")
    assert process.interpreter(stated) == "/usr/bin/python3"
    stated.write_text("[]", encoding="utf-8")
    with pytest.raises(UserError, match=r"environment\.json: names no interpreter"):
        process.interpreter(stated)


def test_tags_are_read_as_they_were_written(tmp_path):
    tagged = p.tag_by(CORPUS, lambda sentence: ["X"] * len(sentence))
    p.write(tmp_path / "tags.jsonl", tagged)
    assert p.read(tmp_path / "tags.jsonl", CORPUS) == tagged


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"name": "d", "tags": ["X", "X", "X", "X", "X"]}'], "has tags of 1 document, not of 2"),
        (["{", "{"], "row 1: the tags of a document were expected"),
        (['{"name": "d", "tags": ["X"]}'] * 2, "row 1: 1 tag of 'd' where 'd' has 5 words"),
        (['{"name": "e", "tags": ["X"]}'] * 2, "row 1: 1 tag of 'e' where 'd' has 5 words"),
    ],
)
def test_tags_of_other_documents_are_refused(tmp_path, lines, message):
    (tmp_path / "tags.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(UserError, match=message):
        p.read(tmp_path / "tags.jsonl", CORPUS)


def test_spacy_tags_pronouns_and_names():
    """Where the pipeline is installed beside this Python; the environment of the coreference systems has it."""
    pytest.importorskip("spacy", reason="spaCy is not installed: it lives in the environment of envs/coreference.in")
    pytest.importorskip(p.PIPELINE)
    sentence = ("Ada", "gave", "him", "her", "book", ".")
    (tagged,), facts = p.tag([AnnotatedDocument("d", sentence, ((0, 6),), ())], sys.executable)
    assert tagged.tags == ("NNP", "VBD", "PRP", "PRP$", "NN", ".")
    assert facts.keys() == {"spacy", p.PIPELINE}
