"""minicons (Misra 2022), the reference: its scorers, called with explicit settings on batches of equal length.

Without padding every kernel runs as it would for one text: padded batches of a 135M decoder differ by up to 1e-3 nats.
Logits are turned into float32 before minicons normalises them, which it would do in the precision of the weights.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from scripts.core.errors import UserError
from scripts.core.scoring import network as net
from scripts.core.scoring.reader import Text
from scripts.core.workflow.parts import Batch

METRIC = "within_word_l2r"


class MiniconsScorer:
    """Scores decoders and encoders as minicons does.

    Args:
        network, tokenizer: The model.
        architecture: "decoder" or "encoder".
        tokens_per_batch: Of a forward pass, or ``auto``.
    """

    ways = ("minicons",)

    def __init__(self, network: Any, tokenizer: Any, architecture: str, tokens_per_batch: int | str = "auto"):
        from minicons import scorer

        kinds = {"encoder": scorer.MaskedLMScorer, "decoder": scorer.IncrementalLMScorer}
        if architecture not in kinds:
            raise UserError(
                f"engine 'minicons' scores encoders and decoders, not models of architecture '{architecture}'; "
                "set scoring.engine to packed"
            )
        self.network, self.architecture, self.way = network, architecture, "minicons"
        self.pass_tokens, self.mask_token = net.pass_tokens(network, tokens_per_batch), tokenizer.mask_token_id
        device = "auto" if hasattr(network, "hf_device_map") else str(network.device)
        self.scorer = kinds[architecture](network, device, tokenizer=with_batch_encoding(tokenizer))
        self.scorer.model = self._run

    def _run(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> SimpleNamespace:
        return SimpleNamespace(logits=self.network(**net.text_arguments(self.network, input_ids)).logits.float())

    def plan(self, texts: Sequence[Text]) -> list[Batch]:
        """Divide texts into batches of equal length, the same for the same texts."""
        order = sorted(range(len(texts)), key=lambda n: -len(texts[n]))
        # An encoder reads a copy of a text for each of its tokens.
        costs = [len(text) ** (2 if self.architecture == "encoder" else 1) for text in texts]
        together = net.cut_passes(order, costs, self.pass_tokens, 0)
        return [Batch(part, sum(costs[n] for n in part), [texts[n].text for n in part]) for part in together]

    def run(self, batch: Batch) -> list[np.ndarray]:
        """Return the log-probabilities of the scored tokens of each member, float64."""
        if self.architecture == "encoder":
            prepared = self.scorer.prepare_text(batch.work, PLL_metric=METRIC)
        else:
            prepared = self.scorer.prepare_text(batch.work, bos_token=False, eos_token=False)
        return [scores.double().cpu().numpy() for scores in self.scorer.compute_stats(prepared, return_tensors=True)]


def with_batch_encoding(tokenizer: Any) -> Any:
    """Return a tokenizer with ``batch_encode_plus``, which minicons 0.3.39 calls and transformers 5 has as a call."""
    if not hasattr(tokenizer, "batch_encode_plus"):
        tokenizer.batch_encode_plus = tokenizer.__call__
    return tokenizer
