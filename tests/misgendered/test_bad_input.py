"""Bad input through the workflow: one line that names file, row and remedy, no half-written output, nothing lost."""

import json

import pytest

from scripts.core import files
from tests.misgendered.test_corpora import damaged, json_lines
from tests.workflow.conftest import Workflow

pytestmark = pytest.mark.workflow

SAMPLE = "results/misgendered/instances/replica/selected.parquet"
COUNTS = "results/misgendered/corpus_counts.csv"
SMALL = """
studies: [misgendered]
misgendered:
  sample: {instances: 22}
"""


@pytest.fixture
def workflow(tmp_path):
    copy = Workflow(tmp_path / "copy")
    (copy.folder / "small.yaml").write_text(SMALL)
    return copy


@pytest.fixture(autouse=True)
def folder(tmp_path):
    (tmp_path / "copy").mkdir()


def run(workflow, *targets):
    return workflow.snakemake(*targets, overlay="small.yaml", environment={"PYTEST_CURRENT_TEST": ""})


def change(workflow, name, old, new):
    path = workflow.folder / "templates/misgendered" / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def refused(workflow, done, *expected):
    """One line of the message has all that is expected, and nothing half-written is left."""
    assert done.returncode != 0
    lines = [line for line in done.stdout.splitlines() if all(part in line for part in expected)]
    assert lines, done.stdout[-3000:]
    assert "Traceback" not in done.stdout
    assert not [
        path for path in (workflow.folder / "results").rglob(".*.*") if path.is_file() and "snake" not in str(path)
    ]


def test_a_template_with_two_slots_is_refused(workflow):
    change(workflow, "templates.tsv", "{pronoun} played", "{pronoun} and {pronoun} played")
    refused(workflow, run(workflow, SAMPLE), "templates.tsv, row 3: ", "exactly once, this one 2 times")
    assert not (workflow.folder / SAMPLE).exists()


def test_names_with_quotes_and_accents_are_no_bad_input_but_other_characters_are(workflow):
    change(workflow, "names.tsv", "\nRiley\t", "\nD'André\t")
    assert run(workflow, SAMPLE).returncode == 0
    change(workflow, "names.tsv", "\nCasey\t", '\nCas"ey\t')
    refused(workflow, run(workflow, SAMPLE), "names.tsv, row 6: ", "holds the character '\"'")


def test_broken_corpus_files_are_named_and_the_counts_of_the_others_kept(workflow, tmp_path):
    (workflow.folder / "corpus").mkdir()
    truncated = damaged(tmp_path, ".zst")
    truncated.rename(workflow.folder / "corpus/b.jsonl.zst")
    (workflow.folder / "corpus/a.jsonl").write_bytes(json_lines(["She came.", "Xe left."]))
    latin = workflow.folder / "corpus/c.jsonl"
    latin.write_bytes('{"text": "René"}\n'.encode("latin-1"))
    corpus = {"name": "mine", "label": "Mine", "layout": "jsonl", "files": ["corpus/*.jsonl*"]}
    local = json.dumps([corpus])
    (workflow.folder / "small.yaml").write_text(f"{SMALL}  corpora: {{local: {local}}}\n")
    done = run(workflow, COUNTS)
    refused(workflow, done, "corpus/b.jsonl.zst: damaged", "(and 1 more file); the counts of 1 other file are kept")
    parts = workflow.folder / "results/misgendered/corpora/mine/parts"
    assert [path.name for path in parts.iterdir()] == ["a.jsonl.json"]
    (workflow.folder / "corpus/b.jsonl.zst").unlink()
    refused(workflow, run(workflow, COUNTS), "corpus/c.jsonl, line 1: not UTF-8 (")
    latin.write_bytes(json_lines(["René said: they."]))
    done = run(workflow, COUNTS)
    assert done.returncode == 0, done.stdout[-3000:]
    log = (workflow.folder / "results/logs/misgendered_corpus/mine.log").read_text(encoding="utf-8")
    assert "1 of 2 files were counted before" in log
    # What no rule makes is no part of a finished run.
    assert not parts.exists()
    counts = files.read_csv(workflow.folder / COUNTS).drop_duplicates("word").set_index("word")
    assert counts["count"][["she", "xe", "they", "he"]].tolist() == [1, 1, 1, 0]
    assert set(counts.total) == {3}
