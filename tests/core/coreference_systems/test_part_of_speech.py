"""Parts of speech by a process in another environment."""

import json
import sys
from dataclasses import replace

import pytest

from scripts.core.coreference_systems import part_of_speech as p
from scripts.core.coreference_systems.documents import AnnotatedDocument
from scripts.core.coreference_systems.packages import process
from scripts.core.coreference_systems.packages.words import PACKAGE
from tests.refusals import refused

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
    words = json.loads(line)
    print(json.dumps([f"{word[0]}{len(words)}" for word in words]))"""
    tagged, facts = p.tag_documents(CORPUS, interpreter(tmp_path, body))
    assert facts == {"tagger": "1.0"}
    assert [document.tags for document in tagged] == [("A3", "l3", ".3", "S2", "?2"), ("É1",)]
    assert [replace(document, tags=None) for document in tagged] == CORPUS


SILENT = {
    "said why": ("sys.exit('first\\nno module named spacy')", ["status 1", "(no module named spacy)"]),
    "said nothing": ("", ["status 0", "nothing"]),
    "tagged nothing": ("print('{}')", ["status 0", "nothing"]),
    "killed": ("print('{}', flush=True); import os; os.kill(os.getpid(), 9)", ["status -9"]),
    "no tags": ("print('{}'); [print('[]') for _ in range(3)]", ["sentence 1", "'d'", "3 words", "0 tags"]),
    "fewer": ("print('{}'); print('[1, 2, 3]'); [print('[1]') for _ in range(2)]", ["sentence 2", "'d'", "1 tag;"]),
}


@pytest.mark.parametrize(("body", "named"), SILENT.values(), ids=SILENT)
def test_an_environment_that_does_not_tag_is_named(tmp_path, body, named):
    with refused(*named):
        p.tag_documents(CORPUS, interpreter(tmp_path, body))


def test_an_environment_that_is_not_there_is_named(tmp_path):
    with refused("nowhere/python", "cannot be started"):
        p.tag_documents(CORPUS, str(tmp_path / "nowhere/python"))
    stated = tmp_path / "environment.json"
    stated.write_text(json.dumps({"python": "/usr/bin/python3"}), encoding="utf-8")
    assert process.read_interpreter(stated) == "/usr/bin/python3"
    stated.write_text("[]", encoding="utf-8")
    with refused("environment.json", "interpreter"):
        process.read_interpreter(stated)


@pytest.mark.workflow  # Making the environment takes minutes where it is not there.
def test_spacy_tags_pronouns_and_names(coreference_python):
    sentence = ("Ada", "gave", "him", "her", "book", ".")
    (tagged,), facts = p.tag_documents([AnnotatedDocument("d", sentence, ((0, 6),), ())], str(coreference_python))
    assert tagged.tags == ("NNP", "VBD", "PRP", "PRP$", "NN", ".")
    assert facts.keys() == {"spacy", PACKAGE}
