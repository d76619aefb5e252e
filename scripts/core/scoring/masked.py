"""Masked encoders: within-word left-to-right pseudo-log-likelihood (Salazar et al. 2020; Kauf and Ivanova 2023).

Each scored token is masked together with the rest of its word. Copies that are equal, as of options that share words,
are computed once, in batches of equal length.

Ways, from fast to plain: the ``last`` layer and the head at the masked positions alone, the ``head`` there alone,
``all`` positions, ``single`` copies.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from scripts.core.scoring import network as net
from scripts.core.scoring.reader import Text
from scripts.core.workflow.parts import Batch

HEADS: dict[str, Callable[[Any, torch.Tensor], torch.Tensor]] = {
    "bert": lambda network, hidden: network.cls(hidden),
    "albert": lambda network, hidden: network.predictions(hidden),
    "roberta": lambda network, hidden: network.lm_head(hidden),
    "xlm-roberta": lambda network, hidden: network.lm_head(hidden),
    "modernbert": lambda network, hidden: network.decoder(network.head(hidden)),
}
"""What stands between hidden states and logits, by ``model_type``; of all others every position is computed."""
BERT_LIKE = ("bert", "roberta", "xlm-roberta")
"""Those whose layers :func:`last_states` knows; it calls their parts, which a check in float32 cannot widen."""


class MaskedScorer:
    """Scores the texts of an encoder; See :class:`scripts.core.scoring.decoder.DecoderScorer`."""

    architecture = "encoder"

    def __init__(self, network: Any, mask_token: int, tokens_per_batch: int | str = "auto"):
        self.network, self.mask_token = network, mask_token
        self.pass_tokens, self.halving = net.pass_tokens(network, tokens_per_batch), net.Halving()
        kind = network.config.model_type
        self.head = HEADS.get(kind)
        last = kind in BERT_LIKE and network.dtype == torch.float32
        self.ways = (*["last"] * last, *["head"] * bool(self.head), "all", "single")
        self.way = self.ways[0]

    def plan(self, texts: Sequence[Text]) -> list[Batch]:
        """Divide texts into batches of equal length, whole texts each, the same for the same texts."""
        order = sorted(range(len(texts)), key=lambda n: -len(texts[n]))
        batches = []
        for length, group in groupby(order, key=lambda n: len(texts[n])):
            members, copies = [], 0
            for number in group:
                count = int(texts[number].scored.sum())
                if members and (self.way == "single" or (copies + count) * length > self.pass_tokens):
                    batches.append(self._batch(texts, members, length))
                    members, copies = [], 0
                members.append(number)
                copies += count
            batches.append(self._batch(texts, members, length))
        return batches

    def _batch(self, texts: Sequence[Text], members: list[int], length: int) -> Batch:
        copies: dict[tuple[int, bytes], int] = {}
        places, targets = [], []
        for number in members:
            wanted = masked_copies(texts[number], self.mask_token)
            places.append([copies.setdefault((at, copy.tobytes()), len(copies)) for copy, at in wanted])
            targets.append(texts[number].ids[texts[number].scored])
        return Batch(members, len(copies) * length, (list(copies), places, targets))

    def run(self, batch: Batch) -> list[np.ndarray]:
        """Return the log-probabilities of the scored tokens of each member, float64."""
        copies, places, targets = batch.work
        wanted: list[dict[int, float]] = [{} for _ in copies]
        for copy, target in zip(np.concatenate(places), np.concatenate(targets), strict=True):
            wanted[int(copy)][int(target)] = 0.0
        if copies:
            length = batch.tokens // len(copies)
            size = 1 if self.way == "single" else max(1, self.pass_tokens // length)
            items = list(zip(copies, wanted, strict=True))
            for part in (items[start : start + size] for start in range(0, len(items), size)):
                self.halving.run(self._run_copies, part, length * len(part))
        return [
            np.array([wanted[copy][int(target)] for copy, target in zip(*pair, strict=True)])
            for pair in zip(places, targets, strict=True)
        ]

    def _run_copies(self, items: Sequence[tuple[tuple[int, bytes], dict[int, float]]]) -> list[None]:
        """Fill in the log-probabilities of the tokens that are wanted of each copy."""
        logits = self.logits([copy for copy, _ in items])
        pairs = [(row, target) for row, (_, wanted) in enumerate(items) for target in wanted]
        values = net.token_values(logits, *np.array(pairs, dtype=np.int64).T)
        for (row, target), value in zip(pairs, values, strict=True):
            items[row][1][target] = float(value)
        return [None] * len(items)

    def logits(self, copies: Sequence[tuple[int, bytes]]) -> torch.Tensor:
        """Return the logits at the masked position of copies of one length, of shape (copies, vocabulary)."""
        ids = np.stack([np.frombuffer(copy, dtype=np.int64) for _, copy in copies])
        rows, at = torch.arange(len(ids)), torch.tensor([position for position, _ in copies])
        arguments = net.text_arguments(self.network, ids)
        if self.head is None or self.way in ("all", "single"):
            return self.network(**arguments).logits[rows, at]
        if self.way == "head":
            return self.head(self.network, self.network.base_model(**arguments).last_hidden_state[rows, at])
        return self.head(self.network, last_states(self.network, arguments["input_ids"], rows, at))


def masked_copies(text: Text, mask_token: int) -> list[tuple[np.ndarray, int]]:
    """Return, for each scored token, the ids with it and the rest of its word masked, and its position."""
    places = np.arange(len(text.ids))
    return [
        (np.where((text.words == text.words[at]) & (places >= at), mask_token, text.ids), int(at))
        for at in np.flatnonzero(text.scored)
    ]


def last_states(network: Any, ids: torch.Tensor, rows: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    """Return BERT's last hidden states at one position of each text, all texts of one length.

    In the last layer the other positions are keys and values and nothing else: of six layers this saves a tenth.
    """
    base = network.base_model
    hidden = base.embeddings(input_ids=ids)
    *layers, last = base.encoder.layer
    for layer in layers:
        hidden = layer(hidden)
    read, mixing = hidden[rows, at][:, None], last.attention.self
    shape = (len(ids), -1, mixing.num_attention_heads, mixing.attention_head_size)
    heads = [
        part.view(shape).transpose(1, 2) for part in (mixing.query(read), mixing.key(hidden), mixing.value(hidden))
    ]
    mixed = scaled_dot_product_attention(*heads).transpose(1, 2).reshape(read.shape)
    return last.feed_forward_chunk(last.attention.output(mixed, read))[:, 0]
