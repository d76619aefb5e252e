"""The systems that ship: their files, and what they make of a few texts of this project's own."""

import hashlib
import json
import re

import pytest
import torch

from scripts.core.config import load_yaml
from scripts.core.coreference_systems import trained_systems
from scripts.core.coreference_systems.c2f.resolve import Resolver
from scripts.core.models.weights import read_tensors
from scripts.core.workflow.job import ROOT
from tests.core.coreference_systems import tiny

NAME = "c2f-minilm-litbank"
# By the ending of the name: epochs, and the best score on the development part.
SCORES = {"": (20, 0.6605), "-acda": (10, 0.6566), "-ncda": (10, 0.6471)}


def path_of(suffix):
    return ROOT / f"config/weights/{NAME}{suffix}.safetensors"


@pytest.fixture(scope="module")
def resolver():
    return Resolver.load(path_of(""))


@pytest.mark.parametrize("suffix", trained_systems.SUFFIXES)
def test_the_file_is_the_one_that_is_described(suffix):
    text = (ROOT / "config/weights/README.md").read_text(encoding="utf-8")
    section = text[text.index(f"`{NAME}{suffix}.safetensors`") :]
    content = path_of(suffix).read_bytes()
    assert re.search(r"`([0-9a-f]{64})`", section)[1] == hashlib.sha256(content).hexdigest()
    assert f"{len(content):,} bytes" in section
    assert len(content) < 4_000_000


@pytest.mark.parametrize("suffix", trained_systems.SUFFIXES)
def test_the_registry_names_the_package_that_the_file_is_added_to(suffix):
    source = load_yaml(ROOT / "config/models.yaml")["systems"][NAME + suffix]["source"]
    _, metadata = read_tensors(path_of(suffix))
    assert source == json.loads(metadata["encoder"]) | {"delta": f"config/weights/{NAME}{suffix}.safetensors"}


@pytest.mark.parametrize("suffix", trained_systems.SUFFIXES)
def test_the_epoch_was_chosen_by_the_development_documents(suffix):
    tensors, _ = read_tensors(path_of(suffix))
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
    scores = [entry["development"]["conll"] for entry in tiny.recipe(path_of(suffix))["history"]]
    epochs, best = SCORES[suffix]
    assert len(scores) == epochs
    assert max(scores) == pytest.approx(best, abs=5e-4)


@pytest.mark.parametrize(
    ("text", "clusters"),
    [
        (
            "Margaret opened the window and called to George. He waved back at her, and she laughed.",
            [["Margaret", "her", "she"], ["George", "He"]],
        ),
        (
            "Robin lost their umbrella on the train. They went back for it in the evening.",
            [["Robin", "their", "They"]],
        ),
        (
            "When Alice met Tom at the station, he carried her bag. Alice thanked him, and Tom smiled at her.",
            [["Alice", "her", "Alice", "her"], ["Tom", "he", "him", "Tom"]],
        ),
    ],
)
def test_simple_texts(resolver, text, clusters):
    (document,) = resolver.resolve([("text", text)])
    found = [
        [text[document.tokens[first][0] : document.tokens[last][1]] for first, last in cluster]
        for cluster in document.clusters
        if len(cluster) > 1
    ]
    assert found == clusters
