"""Weights of c2f systems written and read: what does not fit is refused by name."""

import json

import pytest
import torch
from safetensors.torch import save_file

from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.resolve import Resolver
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


def build(encoder, **changes):
    """Return a model whose variables are not those that it starts with, and its tokenizer."""
    torch.manual_seed(3)
    model, tokenizer = checkpoints.build_model(encoder, tiny.configuration(**changes))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    return model.eval(), tokenizer


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


def delta(encoder, tmp_path, lacking=(), metadata=None, **changes):
    """Write a delta of a model and return its path, the model, and the tensors."""
    model, _ = build(encoder, lora_rank=2, **changes)
    tensors = {
        name: value.detach().half()
        for name, value in model.named_parameters()
        if not name.startswith("encoder.") or (".layer." in name and "LayerNorm" in name)
    }
    for name, layer in model.encoder.encoder.named_modules():
        if isinstance(layer, torch.nn.Linear):
            tensors[f"encoder.encoder.{name}.up"] = 0.1 * torch.randn(layer.out_features, 2).half()
            tensors[f"encoder.encoder.{name}.down"] = 0.1 * torch.randn(2, layer.in_features).half()
    stated = {"c2f": json.dumps(vars(model.configuration)), "encoder": json.dumps(PACKAGE)} | (metadata or {})
    path = tmp_path / "d.safetensors"
    save_file({name: value for name, value in tensors.items() if name not in lacking}, path, metadata=stated)
    return path, model, tensors


def test_a_delta_is_added_to_the_packages_encoder(encoder, tmp_path):
    path, model, tensors = delta(encoder, tmp_path, **tiny.DEPARTURES)
    plain, _ = checkpoints.build_model(encoder, model.configuration)
    found, started = checkpoints.load_system(path)[0].state_dict(), plain.state_dict()
    assert found.keys() == started.keys()
    for name, value in found.items():
        layer = name.removesuffix(".weight")
        if f"{layer}.up" in tensors:
            update = 2 * tensors[f"{layer}.up"].float() @ tensors[f"{layer}.down"].float()
            torch.testing.assert_close(value, started[name] + update)
        else:
            assert torch.equal(value, tensors[name].float() if name in tensors else started[name]), name


METADATA = {
    "no JSON": ({"c2f": "{"}, ["'c2f'", "readable"]),
    "no mapping": ({"c2f": "[]"}, ["'c2f'", "no mapping"]),
    "an unknown setting": ({"c2f": '{"units": 1}'}, ["'units'", "unknown"]),
    "an unknown setting without a value": ({"c2f": '{"units": null}'}, ["'units'", "None", "unknown"]),
    "another value": ({"c2f": '{"ffnn_depth": 2}'}, ["'ffnn_depth'", "2", "unknown"]),
    "another unit": ({"c2f": '{"unit": "letter"}'}, ["'letter'", "piece", "word"]),
    "another encoder": ({"encoder": '{"package": "tiny"}'}, ["no delta", "name another file"]),
}


@pytest.mark.parametrize(("metadata", "named"), METADATA.values(), ids=METADATA)
def test_metadata_that_cannot_be_used_are_refused(encoder, tmp_path, metadata, named):
    with refused("d.safetensors", *named):
        checkpoints.load_system(delta(encoder, tmp_path, metadata=metadata)[0])


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
        checkpoints.load_system(delta(encoder, tmp_path, lacking=["coarse.weight"])[0])
    path, *_ = delta(encoder, tmp_path)
    tiny.encoder(encoder, hidden=48)
    with refused(path, "shape", "32", "48", "this encoder"):
        checkpoints.load_system(path)
