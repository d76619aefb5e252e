"""A masked-language-model head for an encoder that ships without one.

``all-MiniLM-L6-v2`` is a BERT encoder trained for sentence embeddings; its package holds no output layer. The delta
that ships holds a head, low-rank updates of the encoder's linear layers (LoRA; Hu et al. 2022) and its layer norms.
Merging puts it into a plain ``BertForMaskedLM``.
"""

import math
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from scripts.core.errors import UserError

if TYPE_CHECKING:
    from transformers import BertForMaskedLM

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


def add_low_rank(model: "BertForMaskedLM", rank: int) -> None:
    """Replace every linear layer of the encoder by a :class:`LowRank` one."""
    for layer in model.bert.encoder.layer:
        for module in list(layer.modules()):
            for name, child in list(module.named_children()):
                if isinstance(child, nn.Linear):
                    setattr(module, name, LowRank(child, rank))


def merge_low_rank(model: nn.Module) -> None:
    """Put every low-rank update into its layer's weights; the inverse of :func:`add_low_rank` in structure."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, LowRank):
                setattr(module, name, child.merged())


def delta_names(model: nn.Module) -> set[str]:
    """Return the names of the parameters that a delta holds: head, low-rank updates and layer norms."""
    return {
        name
        for name, _ in model.named_parameters()
        if (name.startswith("cls.") and "decoder" not in name) or name.endswith((".down", ".up")) or "LayerNorm" in name
    }


def apply_delta(model: "BertForMaskedLM", tensors: dict) -> None:
    """Put a delta into a plain model and merge its low-rank updates.

    Args:
        model: The encoder as its package ships it, with an untrained head.
        tensors: By the names of :func:`delta_names`, in any precision.

    Raises:
        UserError: If a tensor is missing, unknown or of another shape: the delta belongs to another encoder.
    """
    ranks = {len(value) for name, value in tensors.items() if name.endswith(".down")}
    if len(ranks) != 1:
        raise UserError("the delta holds no low-rank updates of one rank; restore config/weights from the repository")
    add_low_rank(model, ranks.pop())
    model.cls.predictions.decoder.bias = model.cls.predictions.bias
    expected = delta_names(model)
    state = model.state_dict()
    for name in sorted(expected ^ set(tensors)):
        what = "lacks" if name in expected else "has an unknown tensor"
        raise UserError(f"the delta {what} {name}; restore config/weights from the repository")
    for name, value in tensors.items():
        if value.shape != state[name].shape:
            raise UserError(
                f"the delta's {name} has shape {tuple(value.shape)}, the encoder's {tuple(state[name].shape)}; "
                "install the package version that config/models.yaml names"
            )
    with torch.no_grad():
        for name, value in tensors.items():
            state[name].copy_(value.float())
    merge_low_rank(model)
