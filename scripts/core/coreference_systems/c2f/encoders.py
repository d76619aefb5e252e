"""What training changes of an encoder: low-rank updates of its layers, attention and dropout that are fast on a CPU."""

from typing import Any

import torch
from torch import nn

from scripts.core.models.weights import add_low_rank


class SharedDropout(nn.Module):
    """Dropout with one mask for all rows of the last but one dimension: much faster on a CPU."""

    def __init__(self, share: float):
        super().__init__()
        self.p = share

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return ``values`` with entries of the last dimension set to zero, others scaled up; in training alone."""
        if not self.training or not self.p:
            return values
        shape = (*values.shape[:-2], 1, values.shape[-1])
        kept = torch.rand(shape, device=values.device) >= self.p
        return values * (kept.to(values.dtype) / (1 - self.p))


def update_encoder(encoder: Any, rank: int) -> None:
    """Replace the linear layers of an encoder's layers by frozen ones with low-rank updates; freeze all but norms."""
    for parameter in encoder.parameters():
        parameter.requires_grad_(False)
    add_low_rank(encoder.encoder, rank)
    for name, parameter in encoder.encoder.named_parameters():
        if "LayerNorm" in name:
            parameter.requires_grad_(True)


class PlainAttention(nn.Module):
    """BERT's attention in the precision of its products throughout, without dropout of the weights.

    Equal to the library's but for rounding. The library's adds the mask and takes the softmax in float32, which takes a
    CPU about twice as long.
    """

    def __init__(self, base: Any):
        super().__init__()
        self.query, self.key, self.value = base.query, base.key, base.value
        self.heads = base.num_attention_heads

    def forward(
        self, hidden_states: torch.Tensor, attention_mask: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, None]:
        """Return what each piece attends to, shape ``(segments, pieces, size)``, and None for the weights."""
        segments, pieces, size = hidden_states.shape
        width = size // self.heads

        def divided(layer: nn.Module) -> torch.Tensor:
            values = layer(hidden_states).view(segments, pieces, self.heads, width)
            return values.transpose(1, 2).reshape(segments * self.heads, pieces, width)

        query, key, value = divided(self.query), divided(self.key), divided(self.value)
        # The library's mask, (segments, 1, pieces, pieces) with one row for all, has the least number there is, which
        # lower precisions lack.
        bias = attention_mask[:, 0, :1].clamp(min=-1e4).to(query.dtype)
        bias = bias.repeat_interleave(self.heads, 0)
        weights = torch.softmax(torch.baddbmm(bias, query, key.transpose(1, 2), alpha=width**-0.5), -1)
        attended = torch.bmm(weights, value).view(segments, self.heads, pieces, width)
        return attended.transpose(1, 2).reshape(segments, pieces, size), None


def simplify_encoder(encoder: nn.Module, dropout: float) -> None:
    """Make the training of an encoder fast on a CPU: plain attention, and dropout with one mask for a segment.

    Args:
        encoder: Of the library, loaded with ``attention="eager"``.
        dropout: Of the layers' outputs.
    """
    for module in list(encoder.modules()):
        for name, child in list(module.named_children()):
            if type(child).__name__ == "BertSelfAttention":
                setattr(module, name, PlainAttention(child))
            elif isinstance(child, nn.Dropout):
                setattr(module, name, SharedDropout(dropout))
