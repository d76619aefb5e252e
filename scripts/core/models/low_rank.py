"""Low-rank updates of an encoder's linear layers (LoRA; Hu et al. 2022)."""

import math

import torch
from torch import nn
from torch.nn import functional

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
