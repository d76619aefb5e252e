"""Weights that this project trained: files of tensors, and low-rank updates of linear layers (LoRA; Hu et al. 2022)."""

import contextlib
import math
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from scripts.core.errors import UserError, count_noun

LORA_SCALE = 2.0


class LowRank(nn.Module):
    """A frozen linear layer plus a trainable update of low rank: ``y = W x + b + 2 up(down(x))``."""

    def __init__(self, base: nn.Linear, rank: int):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + LORA_SCALE * functional.linear(functional.linear(x, self.down), self.up)

    def merged(self) -> nn.Linear:
        """Return the plain linear layer with the update added to its weights."""
        with torch.no_grad():
            self.base.weight += LORA_SCALE * self.up @ self.down
        return self.base


def add_low_rank(model: nn.Module, rank: int) -> None:
    """Replace every linear layer inside a model by a :class:`LowRank` one."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear):
                setattr(module, name, LowRank(child, rank))


def merge_low_rank(model: nn.Module) -> None:
    """Put every low-rank update into its layer's weights; the inverse of :func:`add_low_rank` in structure."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, LowRank):
                setattr(module, name, child.merged())


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
