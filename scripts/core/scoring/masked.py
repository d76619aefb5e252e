"""Masked encoders: within-word left-to-right pseudo-log-likelihood (Salazar et al. 2020; Kauf and Ivanova 2023).

Each scored token is masked together with the rest of its word. Copies that are equal, as of options that share words,
are computed once, in batches of equal length. Ways: the ``head`` at the masked positions alone, ``all`` positions,
``single`` copies.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import torch

from scripts.core.scoring import network as net
from scripts.core.scoring.network import Batch
from scripts.core.scoring.reader import Text

HEADS: dict[str, Callable[[Any, torch.Tensor], torch.Tensor]] = {
    "bert": lambda network, hidden: network.cls(hidden),
    "albert": lambda network, hidden: network.predictions(hidden),
    "roberta": lambda network, hidden: network.lm_head(hidden),
    "xlm-roberta": lambda network, hidden: network.lm_head(hidden),
    "modernbert": lambda network, hidden: network.decoder(network.head(hidden)),
}
"""What stands between hidden states and logits, by ``model_type``; of all others every position is computed."""


class MaskedScorer:
    """Scores the texts of an encoder. Parameters as of :class:`scripts.core.scoring.packed.PackedScorer`."""

    def __init__(self, network: Any, mask_token: int, pass_tokens: int | None = None):
        self.network, self.mask_token = network, mask_token
        self.pass_tokens = pass_tokens or net.PASS_TOKENS[network.device.type]
        self.head = HEADS.get(network.config.model_type)
        self.ways = (("head",) if self.head else ()) + ("all", "single")
        self.way = self.ways[0]

    def plan(self, texts: Sequence[Text]) -> list[Batch]:
        """Divide texts into batches of equal length, whole texts each, the same for the same texts."""
        order = sorted(range(len(texts)), key=lambda n: -len(texts[n]))
        batches = []
        for length, group in groupby(order, key=lambda n: len(texts[n])):
            members, copies = [], 0
            for number in group:
                count = int(texts[number].scored.sum())
                if members and (copies + count) * length > self.pass_tokens:
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
            wanted = self.masked_copies(texts[number])
            places.append([copies.setdefault((at, copy.tobytes()), len(copies)) for copy, at in wanted])
            targets.append(texts[number].ids[texts[number].scored])
        return Batch(members, len(copies) * length, (list(copies), places, targets))

    def masked_copies(self, text: Text) -> list[tuple[np.ndarray, int]]:
        """Return, for each scored token, the ids with it and the rest of its word masked, and its position."""
        places = np.arange(len(text.ids))
        return [
            (np.where((text.words == text.words[at]) & (places >= at), self.mask_token, text.ids), int(at))
            for at in np.flatnonzero(text.scored)
        ]

    def run(self, batch: Batch) -> list[np.ndarray]:
        """Return the log-probabilities of the scored tokens of each member, float64."""
        copies, places, targets = batch.work
        wanted: list[dict[int, float]] = [{} for _ in copies]
        for copy, target in zip(np.concatenate(places), np.concatenate(targets), strict=True):
            wanted[int(copy)][int(target)] = 0.0
        if copies:
            size = 1 if self.way == "single" else max(1, self.pass_tokens // (len(copies[0][1]) // 8))
            for start in range(0, len(copies), size):
                net.run_halving(self._run_copies, list(zip(copies, wanted, strict=True))[start : start + size])
        return [
            np.array([wanted[copy][int(target)] for copy, target in zip(*pair, strict=True)])
            for pair in zip(places, targets, strict=True)
        ]

    def _run_copies(self, items: Sequence[tuple[tuple[int, bytes], dict[int, float]]]) -> list[None]:
        """Fill in the log-probabilities of the tokens that are wanted of each copy."""
        ids = np.stack([np.frombuffer(copy, dtype=np.int64) for (_, copy), _ in items])
        rows, at = np.arange(len(ids)), np.array([position for (position, _), _ in items])
        arguments = net.text_arguments(self.network, ids)
        if self.way == "head":
            hidden = self.network.base_model(**arguments).last_hidden_state
            logits = self.head(self.network, hidden[torch.from_numpy(rows), torch.from_numpy(at)]).float()
        else:
            logits = self.network(**arguments).logits[torch.from_numpy(rows), torch.from_numpy(at)].float()
        pairs = [(row, target) for row, (_, wanted) in enumerate(items) for target in wanted]
        values = net.token_values(logits, *np.array(pairs, dtype=np.int64).T)
        for (row, target), value in zip(pairs, values, strict=True):
            items[row][1][target] = float(value)
        return [None] * len(items)
