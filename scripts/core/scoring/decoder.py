"""Decoders: the log-likelihood of every token but the first, texts that begin alike computed once.

Ways, from fast to plain: ``packed`` prefix trees under a mask and positions of their own, batches of ``equal`` length,
and ``single`` texts.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from scripts.core.scoring import network as net
from scripts.core.scoring import tree
from scripts.core.scoring.reader import Text
from scripts.core.workflow.parts import Batch

PACK_TOKENS = {"cpu": 256, "cuda": 1024}
"""Tokens of a packed sequence: longer ones share more and attend to more."""
LEAST_PACK = 64


class DecoderScorer:
    """Scores the texts of a decoder.

    Args:
        network: A ``transformers.PreTrainedModel`` in evaluation mode, on its device.
        tokens_per_batch: Tokens of a forward pass, or ``auto``; one pack or text may exceed it.
        limit: The context in tokens; masks of some models end there, also for a pack of shorter texts.

    Attributes:
        longest: Tokens of a text that is packed, at most.
    """

    architecture = "decoder"
    ways = ("packed", "equal", "single")

    def __init__(self, network: Any, tokens_per_batch: int | str = "auto", limit: int | None = None):
        self.network, self.way, self.limit = network, "packed", limit
        self.pass_tokens, self.halving = net.pass_tokens(network, tokens_per_batch), net.Halving()
        size = min(PACK_TOKENS[net.kind_of_device(network)], max(self.pass_tokens, LEAST_PACK))
        self.pack_tokens = min(size, limit or size)
        self.longest = packed_length(network)

    def plan(self, texts: Sequence[Text]) -> list[Batch]:
        """Divide texts into batches, the same for the same texts."""
        packed = [n for n, text in enumerate(texts) if self.way == "packed" and len(text) <= self.longest]
        alone = sorted(set(range(len(texts))) - set(packed), key=lambda n: (-len(texts[n]), texts[n].ids.tolist()))
        together = net.cut_passes(alone, list(map(len, texts)), 1 if self.way == "single" else self.pass_tokens, 0)
        batches = [Batch(part, sum(len(texts[n]) for n in part), [texts[n].ids for n in part]) for part in together]
        # A text's last token is predicted and not read.
        packs = tree.pack_sequences(
            [texts[n].ids[: max(1, len(texts[n]) - 1)] for n in packed], self.pack_tokens, self.limit
        )
        packs.sort(key=len, reverse=True)
        for members in net.cut_passes(range(len(packs)), [len(pack) for pack in packs], self.pass_tokens):
            work = [(packs[i], {n: texts[packed[n]].ids[1:] for n in packs[i].paths}) for i in members]
            numbers = [packed[n] for pack, _ in work for n in pack.paths]
            batches.append(Batch(numbers, sum(len(pack) for pack, _ in work), work))
        return batches

    def run(self, batch: Batch) -> list[np.ndarray]:
        """Return the log-probabilities of the scored tokens of each member, float64."""
        if isinstance(batch.work[0], tuple):
            return [values for pack in self.halving.run(self._run_packs, batch.work, batch.tokens) for values in pack]
        return self.halving.run(self._run_texts, batch.work, batch.tokens)

    def _run_texts(self, sequences: Sequence[np.ndarray]) -> list[np.ndarray]:
        ids = np.stack(sequences)
        chosen = np.ones(ids.shape, dtype=bool)
        # The last token is read as well: some models scale positions by the length of what they read.
        chosen[:, -1] = False
        if not chosen.any():
            return list(np.zeros((len(ids), 0)))
        logits = net.logits_at(self.network, net.text_arguments(self.network, ids), chosen)
        return list(net.token_values(logits, np.arange(len(logits)), ids[:, 1:].reshape(-1)).reshape(len(ids), -1))

    def _run_packs(self, work: Sequence[tuple[tree.Pack, dict[int, np.ndarray]]]) -> list[list[np.ndarray]]:
        packs = [pack for pack, _ in work]
        longest = max(map(len, packs))
        shape = (len(packs), longest)
        ids, depths = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        # A padded position sees itself: a row that sees nothing would turn into NaN.
        visible = np.broadcast_to(np.eye(longest, dtype=bool), (len(packs), longest, longest)).copy()
        chosen = np.zeros(shape, dtype=bool)
        places, targets, first = [], [], 0
        for row, (pack, wanted) in enumerate(work):
            size = len(pack)
            ids[row, :size], depths[row, :size], visible[row, :size, :size] = pack.tokens, pack.depths, pack.visible()
            chosen[row, :size] = True
            places += [first + pack.paths[n][: len(labels)] for n, labels in wanted.items()]
            targets += wanted.values()
            first += size
        hidden = ~torch.from_numpy(visible)[:, None].to(self.network.device)
        dtype = self.network.get_input_embeddings().weight.dtype
        mask = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device).masked_fill_(hidden, torch.finfo(dtype).min)
        arguments = {
            "input_ids": torch.from_numpy(ids).to(hidden.device),
            "position_ids": torch.from_numpy(depths).to(hidden.device),
            "attention_mask": mask,
            "use_cache": False,
        }
        logits = net.logits_at(self.network, arguments, chosen)
        values = net.token_values(logits, np.concatenate(places), np.concatenate(targets))
        values = iter(np.split(values, np.cumsum([len(labels) for labels in targets])[:-1]))
        return [[next(values) for _ in wanted] for _, wanted in work]


def packed_length(network: Any) -> float:
    """Return how long a text may be packed: a window is counted along a pack, and long RoPE changes with its length."""
    window = getattr(network.config.get_text_config(), "sliding_window", None)
    return min(filter(None, [window, *net.rescaled_lengths(network, ["longrope"])]), default=np.inf)
