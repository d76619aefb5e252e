"""Weights of c2f systems written and read: what does not fit is refused by name."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.resolve import Resolver
from scripts.core.errors import UserError
from tests.core.coreference_systems import tiny

TEXT = "Anna saw the old captain. She gave him the letter, and he smiled."
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
    model, tokenizer = checkpoints.build(encoder, tiny.configuration(**changes))
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
    again, tokenizer = checkpoints.load(tmp_path / "system")
    for ours, theirs in zip(before, grid(again, tokenizer), strict=True):
        assert torch.equal(ours, theirs)
    assert checkpoints.recipe(tmp_path / "system") == {"seed": 3}
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
    again, tokenizer = checkpoints.load(path)
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


def delta(encoder, tmp_path, change=None, metadata=None, **changes):
    """Write a delta, changed by hand, and return its path."""
    model, _ = build(encoder, lora_rank=2, **changes)
    path = tmp_path / "d.safetensors"
    checkpoints.write_delta(path, model, PACKAGE, {})
    tensors, known = checkpoints.read(path)
    if change:
        change(tensors)
    save_file(tensors, path, metadata=known | (metadata or {}))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: tensors.pop("coarse.weight"), "lacks the variable coarse.weight;"),
        (
            lambda tensors: [tensors.pop(name) for name in ("gate.bias", "gate.weight")],
            "lacks the variable gate.bias and 1 other",
        ),
        (lambda tensors: tensors.update(extra=torch.zeros(2)), "has a variable that the model lacks, extra;"),
        (
            lambda tensors: tensors.update({"gate.bias": torch.zeros(7)}),
            r"gate.bias has the shape \(7,\), the model's \(101,\)",
        ),
        (
            lambda tensors: tensors.update({"gate.bias": torch.full((101,), float("nan"))}),
            "gate.bias holds values that are not finite",
        ),
        (
            lambda tensors: tensors.update({"gate.bias": torch.zeros(101, dtype=torch.int32)}),
            "gate.bias holds values that are not finite numbers",
        ),
    ],
)
def test_variables_that_do_not_fit_are_named(encoder, tmp_path, change, message):
    with pytest.raises(UserError, match=f"d.safetensors: {message}"):
        checkpoints.load(delta(encoder, tmp_path, change))


def test_an_encoder_of_another_size_is_refused(encoder, tmp_path):
    path = delta(encoder, tmp_path)
    tiny.encoder(encoder, hidden=48)
    with pytest.raises(UserError, match=r"has the shape \(.*\), the model's \(.*\); name weights for this encoder"):
        checkpoints.load(path)


def test_an_encoder_with_fewer_positions_than_a_segment_is_refused(encoder):
    with pytest.raises(UserError, match="has 128 positions, fewer than max_segment_pieces, 129"):
        checkpoints.build(encoder, tiny.configuration(max_segment_pieces=129))


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"c2f": "{"}, "no readable 'c2f'"),
        ({"c2f": "[]"}, "'c2f' is no mapping"),
        ({"c2f": json.dumps({"unit": "word", "units": 1})}, "the setting 'units' is unknown"),
        ({"c2f": json.dumps({"unit": "letter"})}, "unit is 'letter'; choose one of piece, word"),
        ({"c2f": json.dumps({"ffnn_size": 1.5})}, "ffnn_size is 1.5, which is not a whole number"),
        ({"c2f": json.dumps({"dropout": 1.0})}, "dropout is 1.0"),
        ({"c2f": json.dumps({"max_span_width": 0})}, "max_span_width is 0; at least 1"),
        ({"c2f": json.dumps({"genre": "xx"})}, "genre is 'xx'"),
        ({"encoder": json.dumps({"package": "tiny"})}, "is no delta of a package's encoder"),
    ],
)
def test_metadata_that_cannot_be_used_are_refused(encoder, tmp_path, metadata, message):
    with pytest.raises(UserError, match=f"d.safetensors: .*{message}"):
        checkpoints.load(delta(encoder, tmp_path, metadata=metadata))


def test_files_that_are_no_weights_are_refused(encoder, tmp_path):
    with pytest.raises(UserError, match="no such file; name the weights of a c2f system"):
        checkpoints.load(tmp_path / "nothing.safetensors")
    (tmp_path / "text.safetensors").write_text("no weights", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be read as safetensors"):
        checkpoints.load(tmp_path / "text.safetensors")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match=r"model.safetensors: no such file"):
        checkpoints.load(tmp_path / "folder")
    with pytest.raises(UserError, match="holds no encoder that can be read"):
        checkpoints.build(tmp_path / "folder", tiny.configuration())
