"""Continue token ids in a batch: what prompts share is read once, and rows that have ended leave the batch.

A decoder reads its prompts in up to three passes: what all begin with, once; what the prompts of a group begin with,
once for each group; and the rest of each prompt. Every pass is padded on the left, between what was read before and its
own tokens, under an attention mask; position ids count real tokens alone. An encoder-decoder encodes each prompt once,
padded on the right.
"""

import inspect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from transformers import DynamicCache, EncoderDecoderCache
from transformers.cache_utils import DynamicLayer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Shorter beginnings are not worth the copies of their keys and values.
SHORTEST_SHARED = 8

ROOM = 32
"""Tokens for which keys and values get room at once: a step writes its own and copies no others."""

# Rows that have ended leave when they are so many of a batch: to leave means to copy what stays.
ENDED_SHARE = 1 / 8


@dataclass(frozen=True)
class Layout:
    """How the prompts of a batch are read.

    Attributes:
        shared: Tokens that all begin with.
        groups: Rows by the group whose beginning they have; empty if every row is read by itself.
        prefixes: How many tokens each group begins with, ``shared`` included.
        widths: Padded widths of the two later passes: of groups, of rows.
    """

    shared: int
    groups: tuple
    prefixes: tuple
    widths: tuple

    def tokens(self, rows: int) -> int:
        """Return how many tokens the passes read, padding included."""
        return self.shared + len(self.groups) * self.widths[0] + rows * self.widths[1]

    @property
    def width(self) -> int:
        """Tokens that a row's attention sees before its first new token, padding included."""
        return self.shared + sum(self.widths)


def layout(ids: Sequence[list[int]]) -> Layout:
    """Return the :class:`Layout` that reads the fewest tokens.

    Args:
        ids: Token ids of each prompt.
    """
    order = sorted(range(len(ids)), key=lambda row: ids[row])
    common = [common_tokens(ids[a], ids[b]) for a, b in itertools.pairwise(order)]
    longest = max(map(len, ids))
    shared = min([*common, *(len(tokens) - 1 for tokens in ids)]) if common else 0
    shared = shared if shared >= SHORTEST_SHARED else 0
    best = Layout(shared, (), (), (0, longest - shared))
    for least in sorted({c for c in common if c >= shared + SHORTEST_SHARED}):
        groups, prefixes = [[order[0]]], []
        ends = [c < least for c in common]
        for row, new in zip(order[1:], ends, strict=True):
            if new:
                groups.append([row])
            else:
                groups[-1].append(row)
        start = 0
        for group in groups:
            inner = common[start : start + len(group) - 1]
            # Every prompt keeps a token of its own, whose logits say what comes next.
            prefixes.append(min([*inner, *(len(ids[row]) - 1 for row in group)]) if inner else None)
            start += len(group)
        rest = max(
            len(ids[row]) - prefix
            for group, prefix in zip(groups, prefixes, strict=True)
            if prefix is not None
            for row in group
        )
        prefixes = [
            max(shared, len(ids[group[0]]) - rest) if prefix is None else prefix
            for group, prefix in zip(groups, prefixes, strict=True)
        ]
        candidate = Layout(
            shared, tuple(map(tuple, groups)), tuple(prefixes), (max(prefixes) - shared, rest)
        )  # fmt: skip
        if candidate.tokens(len(ids)) < best.tokens(len(ids)):
            best = candidate
    return best


def common_tokens(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many tokens two sequences begin with alike."""
    pairs = zip(first, second, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


class _RoomyLayer(DynamicLayer):
    """A layer of a cache that has room for tokens to come.

    Transformers' own joins old and new keys at every step: it copies all of them, and on a GPU each tensor is a little
    larger than the last, so that memory that was given back does not fit it and more and more is reserved.
    """

    def __init__(self) -> None:
        super().__init__()
        self.roomy: list[torch.Tensor] = []

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_args: Any, **_options: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Add keys and values of new tokens, and return all of them."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start = self.get_seq_length()
        end = start + key_states.shape[-2]
        if not self.roomy or self.roomy[0].shape[-2] < end:
            olds: Any = (self.keys, self.values)
            states = (key_states, value_states)
            self.roomy = [new.new_empty((*new.shape[:-2], end + ROOM, new.shape[-1])) for new in states]
            for roomy, old in zip(self.roomy, olds, strict=True):
                if start:
                    roomy[..., :start, :] = old
        for roomy, new in zip(self.roomy, (key_states, value_states), strict=True):
            roomy[..., start:end, :] = new
        self.keys, self.values = (roomy[..., :end, :] for roomy in self.roomy)
        return self.keys, self.values

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep rows, in their order and as often as they come; their next tokens get room anew."""
        super().batch_select_indices(indices)
        self.roomy = []


def _roomy_cache():
    cache = DynamicCache()
    cache.layer_class_to_replicate = _RoomyLayer
    return cache


def _select(cache: DynamicCache, rows: torch.Tensor):
    """Keep rows of a cache, in their order and as often as they come."""
    layer: Any
    for layer in cache.layers:
        # Layers may lie on several devices.
        layer.batch_select_indices(rows.to(layer.keys.device))


def can_continue(model: Any) -> bool:
    """Return whether a model can be run here: transformers' own code, with keys and values of the usual kind."""
    if not (type(model).__module__.startswith("transformers.") and model._supports_default_dynamic_cache()):
        return False
    # States of recurrent layers take in the padding, and windows are cut where keys and values are kept.
    if any(type(layer) is not DynamicLayer for layer in DynamicCache(config=model.config).layers):
        return False
    config = model.config.get_text_config()
    # A window counts padding: models with one read every prompt whole.
    windows = [getattr(config, name, None) for name in ("sliding_window", "attention_chunk_size", "attention_window")]
    return not any(windows) or getattr(config, "use_sliding_window", True) is False


def start_token(model: "PreTrainedModel") -> int:
    """Return the id of the token that every answer of an encoder-decoder begins with."""
    start = getattr(model.config, "decoder_start_token_id", None)
    return model.generation_config.decoder_start_token_id if start is None else start


def cached_bytes(model: "PreTrainedModel", padding: int) -> int:
    """Return the bytes of the keys and values that one token leaves: those of a prompt of one token."""
    with torch.inference_mode():
        cache: Any = Batch(model, [[padding]], padding).cache
    parts = [cache.self_attention_cache, cache.cross_attention_cache] if model.config.is_encoder_decoder else [cache]
    return max(sum(layer.keys.nbytes + layer.values.nbytes for layer in part.layers) for part in parts)


class Batch:
    """Prompts that a model continues together.

    Args:
        model: For which :func:`can_continue`.
    """

    def __init__(self, model: "PreTrainedModel", ids: Sequence[list[int]], padding: int):
        self.model = model
        self.padding = padding
        takes = inspect.signature(model.forward).parameters
        self.last = {"logits_to_keep": 1} if "logits_to_keep" in takes else {}
        self.counts = "position_ids" in takes
        self.inputs = {}
        self.cache: Any = None
        self._read(ids) if model.config.is_encoder_decoder else self._read_decoder(ids)

    def _read(self, ids: Sequence[Sequence[int]]):
        """Encode the prompts, and read what every answer begins with."""
        tokens, mask = self._padded(ids, left=False)
        encoded = self.model.get_encoder()(input_ids=tokens, attention_mask=mask)
        self.cache = EncoderDecoderCache(_roomy_cache(), DynamicCache())
        self.inputs = {"attention_mask": mask, "encoder_outputs": encoded}
        self._forward(decoder_input_ids=torch.full((len(ids), 1), start_token(self.model), device=tokens.device))

    def _read_decoder(self, ids: Sequence[list[int]]):
        plan = layout(ids)
        device = self.model.device
        self.cache = _roomy_cache()
        self.mask = torch.zeros((1, 0), dtype=torch.long, device=device)
        self.positions = torch.zeros(1, dtype=torch.long, device=device)
        if plan.shared:
            self._pass([ids[0][: plan.shared]])
        if plan.groups:
            self._spread([0] * len(plan.groups))
            beginnings = zip(plan.groups, plan.prefixes, strict=True)
            self._pass([ids[group[0]][plan.shared : prefix] for group, prefix in beginnings])
        of_row = {row: (number, plan.prefixes[number]) for number, group in enumerate(plan.groups) for row in group}
        groups, prefixes = zip(*(of_row.get(row, (0, plan.shared)) for row in range(len(ids))), strict=True)
        self._spread(groups)
        self._pass([tokens[prefix:] for tokens, prefix in zip(ids, prefixes, strict=True)])

    def _spread(self, rows: Sequence[int] | torch.Tensor):
        rows = torch.tensor(rows, device=self.mask.device)
        self.mask, self.positions = self.mask[rows], self.positions[rows]
        _select(self.cache, rows)

    def _pass(self, ids: Sequence[Sequence[int]]):
        """Read ``ids``, padded on the left, behind what was read before."""
        tokens, mask = self._padded(ids, left=True)
        self.mask = torch.cat([self.mask, mask], dim=1)
        positions = (self.positions[:, None] + mask.cumsum(1) - 1).clamp(min=0)
        self.positions = self.positions + mask.sum(1)
        self._forward(
            input_ids=tokens, attention_mask=self.mask, **({"position_ids": positions} if self.counts else {})
        )

    def _padded(self, ids: Sequence[Sequence[int]], left: bool):
        device = self.model.device
        width = max(map(len, ids))
        tokens = torch.full((len(ids), width), self.padding, dtype=torch.long)
        mask = torch.zeros((len(ids), width), dtype=torch.long)
        for row, some in enumerate(ids):
            places = slice(width - len(some), width) if left else slice(0, len(some))
            tokens[row, places] = torch.tensor(some, dtype=torch.long)
            mask[row, places] = 1
        return tokens.to(device), mask.to(device)

    def _forward(self, **given: Any):
        given |= {"past_key_values": self.cache, "use_cache": True}
        output = self.model(**given, **self.inputs, **self.last)
        self.logits = output.logits[:, -1].float()

    def step(self, tokens: torch.Tensor) -> None:
        """Read one more token of each row (int, shape (rows,)); ``logits`` are what follows then."""
        if self.model.config.is_encoder_decoder:
            self._forward(decoder_input_ids=tokens[:, None])
        else:
            self.mask = torch.cat([self.mask, self.mask.new_ones(len(tokens), 1)], dim=1)
            positions, self.positions = self.positions[:, None], self.positions + 1
            given = {"position_ids": positions} if self.counts else {}
            self._forward(input_ids=tokens[:, None], attention_mask=self.mask, **given)

    def keep(self, rows: Sequence[int] | torch.Tensor) -> None:
        """Keep the rows at these places and forget the others."""
        if not self.model.config.is_encoder_decoder:
            self._spread(rows)
            return
        rows = torch.tensor(rows, device=self.model.device)
        _select(self.cache.self_attention_cache, rows)
        _select(self.cache.cross_attention_cache, rows)
        encoded = self.inputs["encoder_outputs"]
        encoded.last_hidden_state = encoded.last_hidden_state[rows]
        self.inputs["attention_mask"] = self.inputs["attention_mask"][rows]
