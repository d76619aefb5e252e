"""The reference engine: minicons' scorers (Misra 2022), called with explicit settings."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.core.engines import structure
from scripts.core.engines.batches import BATCH_TOKENS, PLL_METRIC, Batch, TextReader, context_length
from scripts.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class MiniconsEngine(TextReader):
    """Score with minicons; batches hold texts of equal length.

    Without padding every kernel runs as it would for one text, which keeps the scores within rounding of a plain loop:
    padded batches of a 135M decoder differ by up to 1e-3 nats. Besides, logits are turned into float32 before minicons
    normalises them, which it would do in the precision of the weights.

    Args:
        model, tokenizer, architecture, device, tokens_per_batch, instances: As for
            :func:`scripts.core.engines.scoring.make_engine`.

    Raises:
        UserError: If the architecture is not one that minicons can score here; as
            :class:`scripts.core.engines.batches.TextReader` and :func:`scripts.core.engines.structure.check`.
    """

    name = "minicons"
    window, sharing = None, False

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: "PreTrainedTokenizerBase",
        architecture: str,
        device: str,
        tokens_per_batch: int | str,
        instances: "pd.DataFrame",
    ):
        from minicons import scorer

        if architecture not in ("encoder", "decoder"):
            raise UserError(
                f"engine 'minicons' scores encoders and decoders, not models of architecture '{architecture}'; "
                "set scoring.engine to packed"
            )
        kind = {"encoder": scorer.MaskedLMScorer, "decoder": scorer.IncrementalLMScorer}[architecture]
        self.description = {
            "batching": "equal length",
            "output_layer": "all positions",
            "last_layer": "all positions",
        }
        super().__init__(tokenizer, architecture)
        self.network = model
        auto = BATCH_TOKENS["cpu" if device == "cpu" else "cuda"]
        self.budget: Any = auto if tokens_per_batch == "auto" else tokens_per_batch
        self.scorer = kind(model.eval(), device=device, tokenizer=with_batch_encoding(tokenizer))
        self.scorer.model = self._run
        structure.check(self, instances, context_length(model))

    def _run(self, input_ids: "torch.Tensor", attention_mask: "torch.Tensor"):
        return SimpleNamespace(logits=self.network(**structure.text_inputs(self.network, input_ids)).logits.float())

    def ways(self) -> Iterator[None]:
        """Yield once: minicons runs a model in one way."""
        yield

    def score_probes(self, probes: structure.Probes) -> dict[int, np.ndarray]:
        """Return the scores of probes by their rows, of float64; see :class:`structure.Probes`."""
        scores = {
            int(row): values
            for batch in self.plan(probes.rows)
            for row, values in zip(batch.rows, self.score(batch), strict=True)
        }
        return {row: values[probes.picks[row]] if probes.picks else values for row, values in scores.items()}

    def plan(self, rows: "pd.DataFrame") -> list[Batch]:
        """Divide rows into batches of equal length, the longest first; see :mod:`scripts.core.engines.scoring`."""
        lengths = self.lengths(rows)
        # A pseudo-log-likelihood masks one token at a time: a text takes as many rows as it has tokens.
        costs = lengths if self.architecture == "encoder" else np.ones_like(lengths)
        texts = rows.text.tolist()
        return [
            Batch(np.array(group), int((costs[group] * lengths[group]).sum()), [texts[i] for i in group])
            for group in equal_lengths(costs.tolist(), lengths.tolist(), self.budget)
        ]

    def score(self, batch: Batch) -> list[np.ndarray]:
        """Return the token log-probabilities of each row of a batch, of float64."""
        if self.architecture == "encoder":
            prepared = self.scorer.prepare_text(batch.payload, PLL_metric=PLL_METRIC)
        else:
            prepared = self.scorer.prepare_text(batch.payload, bos_token=False, eos_token=False)
        return [scores.double().cpu().numpy() for scores in self.scorer.compute_stats(prepared, return_tensors=True)]


def with_batch_encoding(tokenizer: "PreTrainedTokenizerBase") -> "PreTrainedTokenizerBase":
    """Return a tokenizer with ``batch_encode_plus``, which minicons 0.3.39 calls and transformers 5 has as a call."""
    if not hasattr(tokenizer, "batch_encode_plus"):
        tokenizer.batch_encode_plus = tokenizer.__call__
    return tokenizer


def equal_lengths(costs: Sequence[int], lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Group texts of equal length into batches, the longest first.

    Args:
        costs: Rows that each text adds to a forward pass (1 for a decoder, one per token for an encoder).
        lengths: Tokens of each text.
        budget: Upper bound of rows times length in a batch; a single text may exceed it.

    Yields:
        Indices into ``lengths``. Ties in length keep their order, so the grouping is deterministic.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    batch, rows = [], 0
    for index in order:
        length = lengths[index]
        if batch and (length != lengths[batch[0]] or (rows + costs[index]) * length > budget):
            yield batch
            batch, rows = [], 0
        batch.append(index)
        rows += costs[index]
    if batch:
        yield batch
