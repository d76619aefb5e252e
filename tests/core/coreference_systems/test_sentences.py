"""Sentences by spaCy: paragraphs and their places, the parse in the other environment, and what is refused."""

import json
import sys

import pytest

from scripts.core import files
from scripts.core.coreference_systems import sentences
from tests.refusals import refused

TEXT = "Mr. Tom Hale met Ann.  She left\n\nHe saw Vienna.\n\n\f\n\nThey ate.\n"


def test_paragraphs_know_their_section_and_place():
    found = list(sentences.split_paragraphs(f"{line}\n" for line in TEXT.split("\n")))
    assert [(section, paragraph) for section, _, paragraph in found] == [
        (0, "Mr. Tom Hale met Ann.  She left"), (0, "He saw Vienna."), (1, "They ate.")
    ]  # fmt: skip
    assert all(TEXT[start : start + len(paragraph)] == paragraph for _, start, paragraph in found)


@pytest.fixture
def text(tmp_path):
    (tmp_path / "book.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path / "book.txt"


def environment(folder, python):
    path = folder / "environment.json"
    path.write_text(json.dumps({"python": str(python)}), encoding="utf-8")
    return path


@pytest.mark.workflow  # Making the environment takes minutes where it is not there.
def test_a_text_is_parsed_paragraph_by_paragraph(text, tmp_path, coreference_python):
    path = tmp_path / "sentences.parquet"
    facts, count = sentences.parse_text(text, environment(tmp_path, coreference_python), path)
    rows = files.read_parquet(path).to_dict("records")
    # The second sentence has no stop; the paragraph ends it.
    assert [TEXT[row["start"] : row["end"]] for row in rows] == [
        "Mr. Tom Hale met Ann.", "She left", "He saw Vienna.", "They ate."
    ]  # fmt: skip
    assert count == 4 and [row["section"] for row in rows] == [0, 0, 0, 1]
    for row in rows:
        words = [TEXT[start:end] for start, end in zip(row["starts"], row["ends"], strict=True)]
        assert all(word.strip() == word for word in words)
        assert len(words) == len(row["tags"]) == len(row["dependencies"]) == len(row["heads"]) == len(row["entities"])
        assert [row["heads"][i] == i for i in range(len(words))] == [d == "ROOT" for d in row["dependencies"]]
    assert [rows[2]["tags"][0], rows[2]["entities"][2]] == ["PRP", "B-GPE"]
    assert files.parquet_metadata(path)["parser"] == facts and facts["spacy"].startswith("3.")


@pytest.mark.parametrize(
    ("python", "named"), [("/nowhere/python", "cannot be started"), (sys.executable, "No module named 'spacy'")]
)
def test_an_environment_that_cannot_parse_is_refused(text, tmp_path, python, named):
    path = tmp_path / "sentences.parquet"
    with refused(named, "make the environment"):
        sentences.parse_text(text, environment(tmp_path, python), path)
    assert not path.exists()


# One word, in the order of sentences.COLUMNS.
SENTENCE = [0, 0, 3, [0], [3], ["NNP"], ["ROOT"], [0], [""]]
# What stands for Python of the other environment says, and how it ends.
KILLED = "import os; os.kill(os.getpid(), 9)"
ENDED = {
    "said why": ("sys.exit('first\\nno module named spacy')", ["status 1", "(no module named spacy)"]),
    "said nothing": ("", ["status 0", "nothing"]),
    "killed between sentences": (
        f"print('{{}}'); print({json.dumps(SENTENCE)!r}, flush=True); {KILLED}",
        ["status -9"],
    ),
    "killed within a sentence": (f"print('{{}}'); print('[0, 0', end='', flush=True); {KILLED}", ["status -9"]),
}


@pytest.mark.parametrize(("body", "named"), ENDED.values(), ids=ENDED)
def test_a_parser_that_ends_too_early_leaves_no_sentences(text, tmp_path, body, named):
    python = tmp_path / "python"
    python.write_text(f"#!{sys.executable}\nimport sys\n{body}\n", encoding="utf-8")
    python.chmod(0o755)
    with refused("the parser of", *named, "make the environment"):
        sentences.parse_text(text, environment(tmp_path, python), tmp_path / "sentences.parquet")
    assert not (tmp_path / "sentences.parquet").exists()


def test_a_record_of_the_environment_without_an_interpreter_is_refused(text, tmp_path):
    (tmp_path / "environment.json").write_text("[]", encoding="utf-8")
    with refused("environment.json", "interpreter", "make the environment"):
        sentences.parse_text(text, tmp_path / "environment.json", tmp_path / "sentences.parquet")
