"""The script that trains a coreference system: what it writes, goes on from, and refuses."""

import json
from pathlib import Path

import pytest
import torch

from scripts.core.config import load_yaml
from scripts.core.coreference_systems import augmentation, documents, trained_systems
from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.configuration import Configuration
from scripts.core.coreference_systems.c2f.resolve import Resolver
from scripts.core.coreference_systems.training import Settings
from scripts.core.models.entries import System, read_entry
from scripts.core.models.weights import read_tensors
from scripts.core.workflow.job import ROOT
from scripts.coreference_training import train_coreference
from tests import jobs
from tests.core.coreference_systems import tiny
from tests.refusals import refused

MODEL = {
    "max_segment_pieces": 24, "max_span_width": 4, "ffnn_size": 16, "feature_size": 5, "segment_distances": 3,
}  # fmt: skip
TRAINING = {
    "epochs": 2, "encoder_learning_rate": 1e-5, "task_learning_rate": 1e-3, "max_training_segments": 11,
}  # fmt: skip


@pytest.fixture
def job(tmp_path):
    """The arguments of a job on tiny documents."""
    threads = torch.get_num_threads()
    paths = {part: str(tmp_path / f"{part}.jsonl") for part in documents.PARTS}
    for path in paths.values():
        documents.write_documents(path, tiny.documents())
    yield {
        **paths,
        "weights": str(tmp_path / "system"),
        "name": "tiny",
        "encoder": {"path": str(tiny.encoder(tmp_path / "encoder"))},
        "model": MODEL,
        "training_settings": TRAINING,
        "state": str(tmp_path / "state.pt"),
    }
    torch.set_num_threads(threads)


def test_a_folder_with_the_weights_and_their_recipe(job, tmp_path):
    train_coreference.main(**job)
    recipe = tiny.recipe(job["weights"])
    assert recipe["name"] == "tiny"
    assert recipe["training"] == TRAINING
    assert set(recipe["documents_sha256"]) == {f"{part}.jsonl" for part in documents.PARTS}
    assert [entry["epoch"] for entry in recipe["history"]] == [1, 2]
    assert all(0 <= entry["development"]["conll"] <= 1 for entry in recipe["history"])
    assert not (tmp_path / "state.pt").exists()
    assert Resolver.load(job["weights"]).resolve([("text", "Anna saw Carl.")])


def test_after_sigkill_a_job_goes_on_to_the_same_weights(job, tmp_path):
    job["training_settings"] = TRAINING | {"epochs": 30}
    state = Path(job["state"])
    jobs.kill_once(state.exists, "scripts.coreference_training.train_coreference", job)
    assert not Path(job["weights"]).exists()
    step = torch.load(state, weights_only=True)["step"]
    assert 0 < step < 90
    train_coreference.main(**job)
    whole = {**job, "weights": str(tmp_path / "whole"), "state": str(tmp_path / "other.pt")}
    train_coreference.main(**whole)
    first, second = (read_tensors(f"{made['weights']}/{checkpoints.WEIGHTS}")[0] for made in (job, whole))
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        assert torch.equal(tensor, second[name]), name


def test_table_8_is_what_the_study_prints():
    """Xie et al. (2023), Table 8 and Appendix A."""
    listed = trained_systems.read_entries(ROOT / "config/coreference_training.yaml")
    printed = {
        "BERT-base": (1e-5, 2e-4, 128, 11),
        "BERT-large": (1e-5, 2e-4, 384, 3),
        "SpanBERT-base": (2e-5, 1e-4, 384, 3),
        "SpanBERT-large": (1e-5, 3e-4, 512, 3),
    }
    found = {}
    for entry in listed.values():
        model, made = Configuration(**entry["model"]), Settings(**entry["training"])
        found[entry["label"]] = (
            made.encoder_learning_rate,
            made.task_learning_rate,
            model.max_segment_pieces,
            made.max_training_segments,
        )
        assert (made.epochs, model.dropout) == (20, 0.3)
        assert model.segment_distances == made.max_training_segments
    assert found == printed


def test_the_studys_training_part_is_augmented_as_in_its_code():
    """With the published lists, context would still decide how words are swapped; Counter-GAP's code knows none."""
    overlay = load_yaml(ROOT / "config/counter_gap_training.yaml")
    stated = {"words": "published", "names": "published", "column": "faithful"}
    assert overlay["corpora"]["augmentation"] == stated


def test_an_encoder_of_the_hub_is_the_commit_that_was_fetched(job, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        train_coreference.loading.hub,
        "find_snapshot",
        lambda *given: asked.append(given) or Path(job["encoder"]["path"]),
    )
    fetched = tmp_path / "fetched.json"
    commit = {"hub": "owner/name", "revision": "a" * 40, "files": ["config.json"]}
    fetched.write_text(json.dumps({"source": commit}), encoding="utf-8")
    train_coreference.main(**{**job, "encoder": {"hub": "owner/name"}, "fetched": str(fetched)})
    assert [given[1] for given in asked] == [commit]
    assert tiny.recipe(job["weights"])["encoder"]["revision"] == "a" * 40


def test_the_endings_of_names_are_the_methods_of_augmentation():
    assert tuple(trained_systems.SUFFIXES) == ("", *(f"-{method}" for method in augmentation.METHODS))


def test_what_training_reads():
    """By hand: 2,802 documents of at most 2 x 100 pieces; twice as many after augmentation."""
    entry = {"model": {"max_segment_pieces": 100}, "training": {"epochs": 20, "max_training_segments": 2}}
    plain, augmented = trained_systems.training_tokens(entry, ""), trained_systems.training_tokens(entry, "-acda")
    assert (plain["trained"], augmented["trained"]) == (56_040, 112_080)
    assert (plain["trained_tokens"], augmented["trained_tokens"]) == (11_208_000, 22_416_000)
    assert plain["resolved"] == augmented["resolved"] == 6860
    # 163,104 words in twenty epochs.
    assert plain["resolved_tokens"] == 163_104 * 1.25 * 20
    whole = trained_systems.training_tokens({**entry, "model": {"max_segment_pieces": 512}}, "")
    assert whole["trained_tokens"] == 1_299_312 * 1.25 * 20


TRAINED = {
    "misspelt": ({"source": {"trained": "c2f-bert-bas"}}, ["'c2f-bert-bas'", "trained here", "mean"]),
    "another method": ({"source": {"trained": "c2f-bert-base-acda"}}, ["debiasing", "a-CDA", "c2f-bert-base-acda"]),
    "no method": ({"source": {"trained": "c2f-bert-base"}, "debiasing": "n-CDA"}, ["debiasing", "none"]),
}


@pytest.mark.parametrize(("entry", "named"), TRAINED.values(), ids=TRAINED)
def test_a_registry_names_what_can_be_trained(entry, named):
    listed = trained_systems.read_entries(ROOT / "config/coreference_training.yaml")
    stated = {"label": "x", "licence": "none", "architecture": "c2f", "precision": "float32", "environment": "main"}
    given = {
        "one": {"source": {"trained": "c2f-bert-base-ncda"}, "debiasing": "n-CDA"},
        "two": {"source": {"path": "x"}},
        "mine": entry,
    }
    systems = {name: read_entry(System, name, stated | {"gpus": 1} | one) for name, one in given.items()}
    wrong = {"mine": systems.pop("mine")}
    trained_systems.check_sources(systems, listed, "models.yaml")
    with refused("models.yaml: systems.mine", *named):
        trained_systems.check_sources(systems | wrong, listed, "models.yaml")
