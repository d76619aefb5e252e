"""Encoder-decoders: the loss on labels, an instance encoded once for all its options.

Ways: ``padded`` labels (what is added behind a label, it does not see), batches of ``equal`` length, ``single`` texts.
"""

import sys
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import torch

from scripts.core.errors import UserError
from scripts.core.scoring import network as net
from scripts.core.scoring.reader import Text
from scripts.core.workflow.parts import Batch


class Seq2SeqScorer:
    """Scores the labels of an encoder-decoder. See :class:`scripts.core.scoring.decoder.DecoderScorer`."""

    architecture = "encoder-decoder"
    ways = ("padded", "equal", "single")

    def __init__(self, network: Any, tokens_per_batch: int | str = "auto"):
        self.network, self.way = network, "padded"
        self.pass_tokens, self.halving = net.pass_tokens(network, tokens_per_batch), net.Halving()

    def plan(self, texts: Sequence[Text]) -> list[Batch]:
        """Divide texts into batches with sources of equal length, the same for the same texts."""

        def shape(number: int) -> tuple[int, int]:
            return len(texts[number].source), 0 if self.way == "padded" else len(texts[number].ids)

        order = sorted(range(len(texts)), key=lambda n: (*(-size for size in shape(n)), texts[n].source.tolist(), n))
        batches = []
        for (length, _), group in groupby(order, key=shape):
            members = list(group)
            width = length + max(len(texts[n].ids) for n in members)
            size = 1 if self.way == "single" else max(1, self.pass_tokens // width)
            for start in range(0, len(members), size):
                part = members[start : start + size]
                batches.append(Batch(part, width * len(part), [texts[n] for n in part]))
        return batches

    def run(self, batch: Batch) -> list[np.ndarray]:
        """Return the log-probabilities of the labels of each member, float64."""
        return self.halving.run(self._run_texts, batch.work, batch.tokens)

    def _run_texts(self, texts: Sequence[Text]) -> list[np.ndarray]:
        logits = self.logits(texts)
        targets = [text.ids[text.scored] for text in texts]
        values = net.token_values(logits, np.arange(len(logits)), np.concatenate(targets))
        return np.split(values, np.cumsum([len(target) for target in targets])[:-1])

    def logits(self, texts: Sequence[Text]) -> torch.Tensor:
        """Return the logits of the scored labels of all texts, in order, of shape (labels, vocabulary)."""
        sources, which = np.unique(np.stack([text.source for text in texts]), axis=0, return_inverse=True)
        arguments = net.text_arguments(self.network, sources)
        rows = torch.from_numpy(which.reshape(-1)).to(self.network.device)
        encoded = self.network.get_encoder()(**arguments, return_dict=True)
        encoded["last_hidden_state"] = encoded.last_hidden_state[rows.to(encoded.last_hidden_state.device)]
        labels = np.full((len(texts), max(len(text.ids) for text in texts)), self.network.config.pad_token_id or 0)
        chosen = np.zeros(labels.shape, dtype=bool)
        for row, text in enumerate(texts):
            labels[row, : len(text.ids)], chosen[row, : len(text.ids)] = text.ids, text.scored
        logits = self.network(
            encoder_outputs=encoded,
            attention_mask=arguments["attention_mask"][rows],
            decoder_input_ids=shift_right(self.network, torch.from_numpy(labels).to(rows.device)),
            use_cache=False,
        ).logits
        return logits[torch.from_numpy(chosen).to(logits.device)]


def shift_right(network: Any, labels: torch.Tensor) -> torch.Tensor:
    """Return what the decoder reads where ``labels`` are to be predicted, as the network makes it of them itself."""
    if hasattr(network, "prepare_decoder_input_ids_from_labels"):
        return network.prepare_decoder_input_ids_from_labels(labels)
    # BART's later kin have it as a function of their module.
    shift = getattr(sys.modules[type(network).__module__], "shift_tokens_right", None)
    if shift is None:
        raise UserError(f"{type(network).__name__} does not say how it shifts labels; leave this model out")
    return shift(labels, network.config.pad_token_id, network.config.decoder_start_token_id)
