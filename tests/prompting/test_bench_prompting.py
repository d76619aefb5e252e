"""Measurements of prompting: every engine answers alike; the peer is a stand-in, so that nothing is installed."""

import json
import os
import sys

import pytest

from scripts.core import config, files
from scripts.core.engines import generation, harness, models
from scripts.core.errors import UserError
from scripts.prompting import bench_prompting
from tests import zoo as builder
from tests.prompting.test_prompt import write_prompts

HFLM = """
class HFLM:
    def __init__(self, pretrained, device, dtype, batch_size):
        assert device == "cpu" and dtype == "float32"

    def loglikelihood(self, requests, disable_tqdm):
        return [(-float(len(request.args[1])), False) for request in requests]

    def generate_until(self, requests, disable_tqdm):
        return [request.args[0][:3] for request in requests]
"""
INSTANCE = """
class Instance:
    def __init__(self, request_type, doc, arguments, idx):
        self.args = arguments
"""


@pytest.fixture
def python(tmp_path):
    """An interpreter that finds a stand-in for lm-evaluation-harness."""
    for name, text in {"__init__": "", "api/__init__": "", "models/__init__": "", "api/instance": INSTANCE,
                       "models/huggingface": HFLM}.items():  # fmt: skip
        path = tmp_path / f"stand_in/lm_eval/{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = tmp_path / "python"
    found.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}/stand_in:$PYTHONPATH exec {sys.executable} "$@"\n')
    found.chmod(0o755)
    return found


def test_the_table_has_every_engine_at_every_size(python, tmp_path):
    entry = config.load_yaml(builder.build(tmp_path, ["tiny-llama"]))["models"]["tiny-llama"]
    rows = write_prompts(tmp_path / "prompts.parquet", 9)
    files.write_parquet(tmp_path / "prompts.parquet", rows.assign(instance_id=rows.text_id))
    (tmp_path / "peers.json").write_text(json.dumps({"python": str(python)}))
    bench_prompting.main(
        prompts=str(tmp_path / "prompts.parquet"), peers=str(tmp_path / "peers.json"),
        table=str(tmp_path / "table.csv"), model="tiny-llama", entry=entry, instances=4, new_tokens=5, sizes=[1, 3],
        rounds=2,
    )  # fmt: skip
    table = files.read_csv(tmp_path / "table.csv")
    assert sorted(zip(table.engine, table.batch, strict=True)) == [
        (engine, size) for engine in ("lm-evaluation-harness", "this project", "transformers generate")
        for size in (1, 3)
    ]  # fmt: skip
    assert (table.prompts == 4).all() and (table.tokens_per_second > 0).all()
    written = table[table.engine != "lm-evaluation-harness"].new_tokens
    assert written.nunique() == 1


@pytest.mark.parametrize("size", [1, 2, 3])
def test_transformers_answers_as_this_project_does(tmp_path, size):
    entry = config.load_yaml(builder.build(tmp_path, ["tiny-llama"]))["models"]["tiny-llama"]
    network, tokenizer = models.load("tiny-llama", entry, models.locate("tiny-llama", entry), "cpu")
    texts = write_prompts(tmp_path / "prompts.parquet", 9).text.tolist()
    ids = generation.Generator(network, tokenizer, max_new_tokens=5, tokens_per_batch=1).check(texts)
    first = bench_prompting.batched_tokens(network, tokenizer, texts, 5, size * 60)
    assert list(map(list, first)) == bench_prompting.reference_tokens(network, tokenizer, ids, 5, size)


def test_the_peer_answers_and_says_when_it_ended(python, tmp_path):
    peer = harness.Peer(python, tmp_path, 1, 2)
    assert peer.ask({"score": [["The baker", " was"], ["A", "n"]]})["results"] == [-4, -1]
    assert peer.ask({"generate": ["The baker"], "new_tokens": 3})["results"] == ["The"]
    with pytest.raises(UserError, match="ended with status 1; make its environment again: make bench"):
        peer.ask({"sing": []})


def test_the_peers_interpreter_is_found_from_the_folder_of_a_run(python, tmp_path, monkeypatch):
    folder = tmp_path / "runs/bench"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    peer = harness.Peer(os.path.relpath(python), tmp_path, 1, 2)
    assert peer.ask({"generate": ["The baker"], "new_tokens": 3})["results"] == ["The"]
