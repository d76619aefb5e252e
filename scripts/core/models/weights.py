"""Weights that this project trained: files of tensors, and deltas with low-rank updates (LoRA; Hu et al. 2022)."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from torch import nn

from scripts.core.errors import UserError, count_noun

LORA_SCALE = 2.0


def apply_delta(
    variables: Mapping[str, torch.Tensor],
    layers: nn.Module,
    prefix: str,
    rank: int,
    tensors: dict[str, torch.Tensor],
    where: str | Path,
) -> None:
    """Copy a delta's tensors into variables, and add its low-rank updates to linear layers: ``W + 2 up down``.

    Args:
        variables: What the delta holds whole, by name.
        layers: The module whose linear layers are updated; in the delta their names begin with ``prefix``.
        where: How messages begin.

    Raises:
        UserError: As :func:`copy_tensors`.
    """
    linear = {f"{prefix}.{name}": layer for name, layer in layers.named_modules() if isinstance(layer, nn.Linear)}
    downs = {f"{name}.down": torch.empty(rank, layer.in_features) for name, layer in linear.items()}
    ups = {f"{name}.up": torch.empty(layer.out_features, rank) for name, layer in linear.items()}
    copy_tensors({**variables, **downs, **ups}, tensors, where)
    with torch.no_grad():
        for name, layer in linear.items():
            layer.weight += LORA_SCALE * ups[f"{name}.up"] @ downs[f"{name}.down"]


def read_tensors(path: str | Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Return the tensors and the metadata of a safetensors file.

    Raises:
        UserError: If there is no such file, or it is damaged.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; name another, or restore this one") from error
    except (OSError, SafetensorError) as error:
        raise UserError(f"{path}: cannot be read as safetensors ({error}); restore it, or get it again") from error


def copy_tensors(variables: Mapping[str, torch.Tensor], tensors: dict[str, torch.Tensor], where: str | Path) -> None:
    """Copy tensors into variables of the same names and shapes.

    Args:
        where: How messages begin.

    Raises:
        UserError: Naming a variable that is missing, one that the model does not have, or one whose shape, or kind,
            differs.
    """
    for words, names in (
        ("lacks the variable", variables.keys() - tensors.keys()),
        ("has a variable that the model lacks,", tensors.keys() - variables.keys()),
    ):
        if names:
            others = f" and {count_noun(len(names) - 1, 'other')}" if len(names) > 1 else ""
            raise UserError(f"{where}: {words} {min(names)}{others}; name weights of this model")
    for name, variable in variables.items():
        tensor = tensors[name]
        if tensor.shape != variable.shape:
            raise UserError(
                f"{where}: {name} has the shape {tuple(tensor.shape)}, the model's {tuple(variable.shape)}; "
                "name weights for this encoder and configuration"
            )
        if not tensor.is_floating_point() or not torch.isfinite(tensor).all():
            raise UserError(f"{where}: {name} holds values that are not finite numbers; get the file again")
    with torch.no_grad():
        for name, variable in variables.items():
            variable.copy_(tensors[name])


@contextlib.contextmanager
def replace_folder(target: str | Path) -> Iterator[Path]:
    """Give a new folder that takes a folder's place at the end."""
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as temporary:
        made = Path(temporary) / target.name
        made.mkdir()
        yield made
        if target.exists():
            shutil.rmtree(target)
        made.rename(target)
