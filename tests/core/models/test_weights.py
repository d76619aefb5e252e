"""Weights that this project trained: low-rank updates, and tensors that are read and copied or refused by name."""

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from scripts.core.models import weights
from tests.refusals import refused


def test_a_delta_updates_linear_layers_and_replaces_other_variables():
    torch.manual_seed(0)
    layers, norm = nn.Sequential(nn.Linear(6, 5)), torch.zeros(5)
    before, bias = layers[0].weight.clone(), layers[0].bias.clone()
    tensors = {"in.0.up": torch.randn(5, 3), "in.0.down": torch.randn(3, 6), "norm": torch.randn(5)}
    weights.apply_delta({"norm": norm}, layers, "in", 3, tensors, "here")
    assert torch.allclose(layers[0].weight, before + 2 * tensors["in.0.up"] @ tensors["in.0.down"])
    assert torch.equal(layers[0].bias, bias) and torch.equal(norm, tensors["norm"])


VARIABLES = {"a": torch.zeros(2, 3), "b": torch.zeros(4), "c": torch.zeros(1)}
TENSORS = {name: torch.ones_like(value) for name, value in VARIABLES.items()}
MISFITS = {
    "one missing": ({"a": None}, ["lacks the variable a;"]),
    "two missing": ({"b": None, "c": None}, ["lacks the variable b and 1 other;"]),
    "unknown": ({"more": torch.ones(2)}, ["model lacks", "more"]),
    "another shape": ({"b": torch.ones(7)}, ["b", "(7,)", "(4,)"]),
    "not a number": ({"b": torch.full((4,), torch.nan)}, ["b", "finite"]),
    "whole numbers": ({"b": torch.ones(4, dtype=torch.int32)}, ["b", "finite"]),
}


@pytest.mark.parametrize(("changed", "named"), MISFITS.values(), ids=MISFITS)
def test_tensors_that_do_not_fit_are_named_and_nothing_is_copied(changed, named):
    variables = {name: value.clone() for name, value in VARIABLES.items()}
    tensors = {name: value for name, value in (TENSORS | changed).items() if value is not None}
    with refused("here: ", *named):
        weights.copy_tensors(variables, tensors, "here")
    assert not any(value.any() for value in variables.values())
    weights.copy_tensors(variables, {name: value.half() for name, value in TENSORS.items()}, "here")
    assert all(torch.equal(variables[name], value) for name, value in TENSORS.items())


def test_files_that_hold_no_tensors_are_refused(tmp_path):
    path = tmp_path / "m.safetensors"
    save_file(TENSORS, path, metadata={"made": "here"})
    tensors, metadata = weights.read_tensors(path)
    assert tensors.keys() == TENSORS.keys() and metadata == {"made": "here"}
    content = path.read_bytes()
    for damaged in (content[:-4], b"a pointer, not weights\n"):
        path.write_bytes(damaged)
        with refused(path, "cannot be read", "restore"):
            weights.read_tensors(path)
    path.unlink()
    with refused(path, "no such file", "restore"):
        weights.read_tensors(path)


def test_a_folder_is_replaced_as_a_whole_or_not_at_all(tmp_path):
    for text in ("first", "second"):
        with weights.replace_folder(tmp_path / "made/folder") as folder:
            (folder / text).write_text(text)
    assert [path.name for path in (tmp_path / "made").rglob("*")] == ["folder", "second"]
    with pytest.raises(ZeroDivisionError), weights.replace_folder(tmp_path / "made/folder") as folder:
        (folder / "third").write_text("third")
        1 / 0  # noqa: B018
    assert [path.name for path in (tmp_path / "made").rglob("*")] == ["folder", "second"]
