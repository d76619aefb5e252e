"""Logits at chosen positions only, for any transformers model.

The output layer of a small model costs as much as the rest of it, and most of its memory; scores read few positions.
Rather than to know each architecture's output layer (projections, biases, scalings, soft caps), the model is called as
it is while its trunk, the part that ends in hidden states, returns the chosen positions alone.

Where each row of a batch is read at one position, as a masked text is, the last layer of BERT's kind can leave out the
others too: they are keys and values there, and nothing else.
"""

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from scripts.core.errors import UserError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Logits held at once. On a CPU 24 MiB: matrices are large enough to be fast, and the C library keeps so much for the
# next ones. It gives more (from 32 MiB on) back to the system, which clears every page of it again; that takes as long
# as the product.
CPU_ELEMENTS, GPU_ELEMENTS = 6 << 20, 1 << 28

# Logits whose exponentials are summed at once on a CPU: what stays in a core's cache.
CACHED_ELEMENTS = 1 << 19


def vocabulary_size(model: "PreTrainedModel") -> int:
    """Return how many tokens the model's output layer has a logit for.

    Raises:
        UserError: If transformers names no such layer (Perceiver decodes bytes another way).
    """
    layer: Any = model.get_output_embeddings()
    if layer is None:
        raise UserError(
            f"{type(model).__name__} has no output layer over a vocabulary that can be found, so it cannot be scored "
            "here; leave this model out"
        )
    return layer.weight.shape[0]


class SelectiveModel:
    """A model that computes logits where they are asked for.

    Args:
        model: In evaluation mode.

    Attributes:
        whole (bool): Set it to compute all logits and choose afterwards, for a model whose trunk cannot be told apart.
        narrow (bool): Whether the last layer is restricted to the positions that are read; clear it for a model that
            differs then.
    """

    def __init__(self, model: "PreTrainedModel"):
        self.model = model
        self.vocabulary = vocabulary_size(model)
        self.whole = False
        self.narrow = self._last_layer() is not None
        base = model.base_model
        decoder = model.get_decoder() if hasattr(model, "get_decoder") else None
        # OPT's head calls the decoder inside its base model; T5 has no base model but itself.
        modules = [base, getattr(base, "decoder", None), getattr(model, "decoder", None), decoder]
        self.candidates = [module for module in modules if isinstance(module, torch.nn.Module) and module is not model]
        # The outermost candidate that the model calls, once it was called.
        self.trunk: Any = None

    def logits(self, inputs: dict[str, torch.Tensor], positions: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
        """Run the model and yield logits in slices.

        Args:
            inputs: Keyword arguments of the model.
            positions: Positions of the batch, flattened: row x length + position. Shape (m,), of int64, on the CPU.

        Yields:
            The index of the slice's first position and its logits, shape (k, vocabulary), of float32; the slices cover
            ``positions`` in order.
        """
        if self.whole:
            output, source = None, self._all_logits(inputs)
        else:
            one_each = self._one_each(inputs, positions) if self.narrow else None
            output = self._run_trunk(inputs, one_each)
            source = output[0]
            if one_each is not None:
                positions = torch.arange(len(positions))
        size = max(1, (CPU_ELEMENTS if source.device.type == "cpu" else GPU_ELEMENTS) // self.vocabulary)
        for start in range(0, len(positions), size):
            chosen = source.flatten(0, 1)[positions[start : start + size].to(source.device)]
            yield start, chosen.float() if self.whole else self._head(inputs, output, chosen)

    @torch.inference_mode()
    def _all_logits(self, inputs: dict[str, torch.Tensor]):
        return self.model(**inputs).logits

    @torch.inference_mode()
    def _run_trunk(self, inputs: dict[str, torch.Tensor], one_each: Any = None):
        """Run everything up to the hidden states; the output layer sees one position and its result is dropped.

        With ``one_each``, the position read in each row, the hidden states have shape (rows, 1, width).

        Raises:
            LookupError: If the model calls no module that is known as a trunk.
        """
        kept = []

        def find(module: torch.nn.Module, _arguments: tuple):
            # The outermost is called first.
            if self.trunk is None:
                self.trunk = module

        def keep(module: torch.nn.Module, _arguments: tuple, output: Any):
            if module is not self.trunk:
                return output
            kept.append(output)
            return _with_hidden(output, output[0][:1, :1])

        def last(hidden: torch.Tensor, *_arguments: Any, **_keywords: Any):
            rows = torch.arange(len(hidden), device=hidden.device)
            read = hidden[rows, one_each.to(hidden.device)][:, None]
            mixing = layer.attention.self
            shape = (len(hidden), -1, mixing.num_attention_heads, mixing.attention_head_size)
            projected = mixing.query(read), mixing.key(hidden), mixing.value(hidden)
            heads = [part.view(shape).transpose(1, 2) for part in projected]
            mixed = scaled_dot_product_attention(*heads, scale=mixing.scaling).transpose(1, 2).reshape(read.shape)
            return layer.feed_forward_chunk(layer.attention.output(mixed, read))

        candidates = self.candidates if self.trunk is None else [self.trunk]
        hooks = [candidate.register_forward_pre_hook(find) for candidate in candidates]
        hooks += [candidate.register_forward_hook(keep) for candidate in candidates]
        layer: Any = self._last_layer() if one_each is not None else None
        if layer is not None:
            forward, layer.forward = layer.forward, last
        try:
            self.model(**inputs)
        finally:
            for hook in hooks:
                hook.remove()
            if layer is not None:
                layer.forward = forward
        if not kept:
            raise LookupError("the model calls none of its known trunks")
        return kept[0]

    def _last_layer(self) -> Any:
        """Return the last layer of BERT's kind, whose attention takes queries apart from keys and values, or None."""
        layers = getattr(getattr(self.model.base_model, "encoder", None), "layer", None)
        if not isinstance(layers, torch.nn.ModuleList) or getattr(self.model.config, "is_decoder", False):
            return None
        mixing = getattr(getattr(layers[-1], "attention", None), "self", None)
        fits = hasattr(mixing, "scaling") and hasattr(layers[-1], "feed_forward_chunk")
        return layers[-1] if fits else None

    @staticmethod
    def _one_each(inputs: dict[str, torch.Tensor], positions: torch.Tensor):
        """Return the position read in each row if it is exactly one and nothing is padded, otherwise None."""
        rows, length = inputs["input_ids"].shape
        if len(positions) != rows or not torch.equal(positions // length, torch.arange(rows)):
            return None
        mask = inputs.get("attention_mask")
        return positions % length if mask is None or bool(mask.all()) else None

    @torch.inference_mode()
    def _head(self, inputs: dict[str, torch.Tensor], output: Any, hidden: torch.Tensor):
        """Run what comes behind the trunk on ``hidden`` of shape (k, width)."""
        forward = self.trunk.forward
        self.trunk.forward = lambda *_, **__: _with_hidden(output, hidden[None])
        try:
            return self.model(**inputs).logits[0].float()
        finally:
            self.trunk.forward = forward


@torch.inference_mode()
def log_sum_exp_(logits: torch.Tensor) -> torch.Tensor:
    """Return the log-sum-exp of each row and overwrite the rows.

    The arithmetic is that of ``logsumexp``, without copies of all rows: on a CPU these take three times as long as the
    arithmetic.

    Args:
        logits: Shape (k, vocabulary), of float32.

    Returns:
        Shape (k,), of float32.
    """
    if logits.device.type != "cpu":
        return logits.logsumexp(1)
    sums = torch.empty(len(logits))
    rows = max(1, CACHED_ELEMENTS // logits.shape[1])
    for part, found in zip(logits.split(rows), sums.split(rows), strict=True):
        largest = part.amax(1, keepdim=True)
        torch.log(part.sub_(largest).exp_().sum(1), out=found)
        found += largest[:, 0]
    return sums


def _with_hidden(output: Any, hidden: torch.Tensor):
    if isinstance(output, tuple):
        return (hidden, *output[1:])
    changed = copy.copy(output)
    changed["last_hidden_state"] = hidden
    return changed
