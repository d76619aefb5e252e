"""Weights of c2f systems written and read: what does not fit is refused by name."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.resolve import Resolver
from scripts.core.models.weights import read_tensors
from tests.core.coreference_systems import tiny
from tests.refusals import refused

PACKAGE = {"package": "tiny-encoder", "version": "1.0", "folder": "tiny_encoder/model"}


@pytest.fixture
def encoder(tmp_path, monkeypatch):
    """A tiny encoder that stands in for a package's."""
    folder = tiny.encoder(tmp_path / "encoder")

    def package_file(name, source, member):
        assert (source, member) == (PACKAGE, PACKAGE["folder"])
        return folder

    monkeypatch.setattr(checkpoints, "package_file", package_file)
    return folder


def perturbed(model):
    """Return the model with updates that are not zero."""
    with torch.no_grad():
        for parameter in checkpoints.trained_parameters(model).values():
            parameter += 0.05 * torch.randn_like(parameter)
    return model.eval()


def build(encoder, **changes):
    torch.manual_seed(3)
    model, tokenizer = checkpoints.build_model(encoder, tiny.configuration(**changes))
    return perturbed(model), tokenizer


def grid(model, tokenizer):
    resolver = Resolver(model, tokenizer)
    window = resolver.splitter.window(tiny.documents()[1])
    with torch.no_grad():
        scores = resolver.model(window)
    return scores.candidate_scores, scores.scores


def test_a_folder_gives_back_the_model(encoder, tmp_path):
    model, tokenizer = build(encoder)
    before = grid(model, tokenizer)
    checkpoints.write_folder(tmp_path / "system", model, tokenizer, {"seed": 3})
    again, tokenizer = checkpoints.load_system(tmp_path / "system")
    for ours, theirs in zip(before, grid(again, tokenizer), strict=True):
        assert torch.equal(ours, theirs)
    assert tiny.recipe(tmp_path / "system") == {"seed": 3}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("as_folder", [True, False])
def test_low_rank_updates_become_part_of_the_encoder(encoder, tmp_path, as_folder):
    model, tokenizer = build(encoder, lora_rank=2, **tiny.DEPARTURES)
    before = grid(model, tokenizer)
    path = tmp_path / ("system" if as_folder else "system.safetensors")
    if as_folder:
        checkpoints.write_folder(path, model, tokenizer, {})
    else:
        checkpoints.write_delta(path, model, PACKAGE, {})
    again, tokenizer = checkpoints.load_system(path)
    assert again.configuration.lora_rank == 0
    assert not any(name.endswith((".up", ".down")) for name in again.state_dict())
    for ours, theirs in zip(before, grid(again, tokenizer), strict=True):
        # A delta has half precision.
        torch.testing.assert_close(ours, theirs, atol=1e-4 if as_folder else 3e-2, rtol=1e-3)


def test_a_delta_holds_what_was_trained_alone(encoder, tmp_path):
    model, _ = build(encoder, lora_rank=2)
    checkpoints.write_delta(tmp_path / "d.safetensors", model, PACKAGE, {})
    tensors = load_file(tmp_path / "d.safetensors")
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
    inside = [name for name in tensors if name.startswith("encoder.")]
    assert inside
    assert all(name.endswith((".up", ".down")) or "LayerNorm" in name for name in inside)
    assert not any("embeddings" in name for name in inside)


def delta(encoder, tmp_path, lacking=(), metadata=None):
    """Write a delta, changed by hand, and return its path."""
    model, _ = build(encoder, lora_rank=2)
    path = tmp_path / "d.safetensors"
    checkpoints.write_delta(path, model, PACKAGE, {})
    tensors, known = read_tensors(path)
    save_file(
        {name: value for name, value in tensors.items() if name not in lacking}, path, metadata=known | (metadata or {})
    )
    return path


METADATA = {
    "no JSON": ({"c2f": "{"}, ["'c2f'", "readable"]),
    "no mapping": ({"c2f": "[]"}, ["'c2f'", "no mapping"]),
    "a setting": ({"c2f": '{"units": 1}'}, ["'units'", "remove"]),
    "another encoder": ({"encoder": '{"package": "tiny"}'}, ["no delta", "name another file"]),
}


@pytest.mark.parametrize(("metadata", "named"), METADATA.values(), ids=METADATA)
def test_metadata_that_cannot_be_used_are_refused(encoder, tmp_path, metadata, named):
    with refused("d.safetensors", *named):
        checkpoints.load_system(delta(encoder, tmp_path, metadata=metadata))


def test_files_and_encoders_that_do_not_fit_are_refused(encoder, tmp_path):
    (tmp_path / "folder").mkdir()
    for name, named in {
        "nothing.safetensors": ["nothing.safetensors", "no such file"],
        "folder": ["model.safetensors", "no such file"],
    }.items():
        with refused(*named):
            checkpoints.load_system(tmp_path / name)
    with refused("folder", "no encoder"):
        checkpoints.build_model(tmp_path / "folder", tiny.configuration())
    with refused("128 positions", "max_segment_pieces", "129"):
        checkpoints.build_model(encoder, tiny.configuration(max_segment_pieces=129))
    with refused("d.safetensors", "lacks the variable coarse.weight"):
        checkpoints.load_system(delta(encoder, tmp_path, lacking=["coarse.weight"]))
    path = delta(encoder, tmp_path)
    tiny.encoder(encoder, hidden=48)
    with refused(path, "shape", "32)", "48)", "this encoder"):
        checkpoints.load_system(path)
