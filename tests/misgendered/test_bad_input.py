"""Broken corpora through the workflow: they are named, what was counted is kept, and a mended run goes on from it."""

import json

import pytest

from scripts.core import files
from tests.misgendered.test_corpora import json_lines
from tests.workflow.conftest import Workflow

COUNTS = "results/misgendered/corpus_counts.csv"


@pytest.mark.workflow
@pytest.mark.nightly
def test_broken_corpus_files_are_named_and_the_counts_of_the_others_kept(tmp_path):
    workflow = Workflow(tmp_path)
    corpus = {"name": "mine", "label": "Mine", "layout": "jsonl", "files": ["corpus/*.jsonl"]}
    settings = {"studies": ["misgendered"], "misgendered": {"corpora": {"local": [corpus]}}}
    (workflow.folder / "small.yaml").write_text(json.dumps(settings))
    good, latin = (workflow.folder / f"corpus/{name}.jsonl" for name in "ac")
    good.parent.mkdir()
    good.write_bytes(json_lines(["She came.", "Xe left."]))
    latin.write_bytes('{"text": "René"}\n'.encode("latin-1"))

    def run():
        return workflow.snakemake(COUNTS, overlay="small.yaml", environment={"PYTEST_CURRENT_TEST": ""})

    done = run()
    assert done.returncode and "Traceback" not in done.stdout
    assert "corpus/c.jsonl, line 1: not UTF-8 (" in done.stdout
    parts = workflow.folder / "results/misgendered/corpora/mine/parts"
    assert [path.name for path in parts.iterdir()] == ["a.jsonl.json"]
    latin.write_bytes(json_lines(["René said: they."]))
    done = run()
    assert done.returncode == 0, done.stdout[-3000:]
    counts = files.read_csv(workflow.folder / COUNTS).drop_duplicates("word").set_index("word")
    assert counts["count"][["she", "xe", "they", "he"]].tolist() == [1, 1, 1, 0]
    # What no rule makes is no part of a finished run.
    assert not parts.exists()
