"""Score the options of instances with a language model.

This module knows instances, options and a model, and no study. A decoder's score of a text is
the sum of the log-probabilities of its tokens but the first; an encoder's is the
pseudo-log-likelihood of Salazar et al. (2020) in the within-word left-to-right variant of
Kauf and Ivanova (2023). Both are what the RUFF paper uses (section 4.2). Values are in nats.

Special cases, decided once:

* The tokenizer's own special tokens are kept and nothing is added. A decoder's first token
  (the tokenizer's own beginning-of-sequence token where it adds one) has no left context and is not scored; an
  encoder's classification and separator tokens are never scored.
* A text longer than the model's context is an error, never truncated.
* The log-softmax runs in float32 whatever the precision of the weights, as logits minus their
  log-sum-exp: PyTorch's ``log_softmax`` on a CPU is off by up to 3e-5 nats a token over a vocabulary of 49,152,
  always in the same direction, which adds up to 1e-3 nats over a text.
"""

import logging
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from scripts.core.errors import UserError
from scripts.core.options import option_texts

log = logging.getLogger("pronouns")

PLL_METRIC = "within_word_l2r"


def context_length(model):
    """Return the longest input, in tokens, that ``model`` can take, or None when it states no limit."""
    config = model.config
    limit = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    # RoBERTa's position table starts behind the padding index (positions pad+1 .. max-1).
    if limit and config.model_type in ("roberta", "xlm-roberta", "camembert"):
        limit -= config.pad_token_id + 1
    return limit


def batches(costs, lengths, budget):
    """Group texts of equal length into batches, the longest first.

    Without padding every kernel runs as it would for one text, which keeps the scores within
    rounding of a plain loop: padded batches of a 135M decoder differ by up to 1e-3 nats.

    Parameters
    ----------
    costs : sequence of int
        Rows that each text adds to a forward pass (1 for a decoder, one per scored token for an encoder).
    lengths : sequence of int
        Tokens of each text.
    budget : int
        Upper bound of rows times length in a batch; a single text may exceed it.

    Yields
    ------
    list of int
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


class MiniconsEngine:
    """The reference engine: minicons' scorers, called with explicit settings.

    Parameters
    ----------
    model : transformers.PreTrainedModel
    tokenizer : transformers.PreTrainedTokenizerBase
    architecture : {"encoder", "decoder"}
    device : str
        A torch device, or ``"auto"`` for a model spread over several GPUs.
    tokens_per_batch : int
        Upper bound of the tokens of one forward pass.
    """

    name = "minicons"

    def __init__(self, model, tokenizer, architecture, device, tokens_per_batch):
        from minicons import scorer

        if architecture not in ("encoder", "decoder"):
            raise UserError(
                f"engine 'minicons' scores encoders and decoders, not models of architecture '{architecture}'"
            )
        kind = {"encoder": scorer.MaskedLMScorer, "decoder": scorer.IncrementalLMScorer}[architecture]
        self.architecture = architecture
        self.tokenizer = tokenizer
        self.tokens_per_batch = tokens_per_batch
        self.limit = context_length(model)
        self.scorer = kind(model.eval(), device=device, tokenizer=tokenizer)
        self.scorer.model = _Float32(model, OUTPUT_LAYERS.get(model.config.model_type))

    def score(self, texts, progress=""):
        """Score every text.

        Parameters
        ----------
        texts : list of str
        progress : str
            Label of the progress bar; empty for none.

        Returns
        -------
        tuple of numpy.ndarray
            Summed log-probabilities (float64, nats) and numbers of scored tokens (int32), both of shape
            ``(len(texts),)``.

        Raises
        ------
        UserError
            If a text is longer than the model's context.
        """
        if not texts:
            return np.zeros(0), np.zeros(0, dtype=np.int32)
        lengths = [len(ids) for ids in self.tokenizer(texts)["input_ids"]]
        longest = max(range(len(texts)), key=lengths.__getitem__)
        if self.limit and lengths[longest] > self.limit:
            raise UserError(
                f"a text has {lengths[longest]} tokens and the model takes {self.limit}; texts are never truncated: "
                f"leave this model or these instances out (text starts {texts[longest][:40]!r})"
            )
        costs = lengths if self.architecture == "encoder" else [1] * len(texts)
        totals = np.zeros(len(texts))
        counts = np.zeros(len(texts), dtype=np.int32)
        work = sum(c * n for c, n in zip(costs, lengths, strict=True))
        with tqdm(
            total=work,
            desc=progress,
            unit="tok",
            unit_scale=True,
            disable=not progress,
            file=sys.stderr,
            mininterval=0.5 if sys.stderr.isatty() else 15,
            maxinterval=30,
            smoothing=0.05,
        ) as bar:
            for batch in batches(costs, lengths, self.tokens_per_batch):
                for index, scores in zip(batch, self._token_scores([texts[i] for i in batch]), strict=True):
                    totals[index] = scores.double().sum().item()
                    counts[index] = len(scores)
                bar.update(sum(costs[i] * lengths[i] for i in batch))
        return totals, counts

    def _token_scores(self, texts):
        if self.architecture == "encoder":
            prepared = self.scorer.prepare_text(texts, PLL_metric=PLL_METRIC)
        else:
            prepared = self.scorer.prepare_text(texts, bos_token=False, eos_token=False)
        return self.scorer.compute_stats(prepared, return_tensors=True)


# The attribute that maps an encoder's hidden states to logits, for the architectures whose output
# layer works on any selection of positions.
OUTPUT_LAYERS = {"bert": "cls", "roberta": "lm_head", "albert": "predictions"}


class _Float32:
    """Stands between minicons and the model: logits in float32, and an encoder's only where they are read.

    minicons normalises in the dtype of the logits, so half-precision weights would give a
    half-precision softmax. It also reads one position of each masked copy; computing the
    vocabulary at all the others costs half the time and most of the memory of a small encoder.
    """

    def __init__(self, model, output_layer):
        self.model = model
        self.output_layer = output_layer

    def __call__(self, input_ids, attention_mask):
        if self.output_layer is None:
            return SimpleNamespace(logits=self.model(input_ids=input_ids, attention_mask=attention_mask).logits.float())
        hidden = self.model.base_model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return SimpleNamespace(logits=_LogitsOnDemand(hidden, getattr(self.model, self.output_layer)))


class _LogitsOnDemand:
    """A tensor of logits of shape (rows, positions, vocabulary) that computes what is indexed and nothing else."""

    def __init__(self, hidden, output_layer):
        self.hidden = hidden
        self.output_layer = output_layer

    @property
    def shape(self):
        return self.hidden.shape

    def detach(self):
        return self

    def __getitem__(self, index):
        return self.output_layer(self.hidden[index]).float()


ENGINES = {MiniconsEngine.name: MiniconsEngine}


def score_instances(engine, instances, progress=""):
    """Score all options of all distinct instances.

    Parameters
    ----------
    engine : MiniconsEngine
        Or any object with the same ``score``.
    instances : DataFrame
        As for :func:`scripts.core.options.option_texts`.
    progress : str
        Label of the progress bar.

    Returns
    -------
    DataFrame
        Columns ``instance_id`` (str), ``option`` (str), ``option_index`` (int8), ``log_probability`` (float64, nats,
        sum over scored tokens), ``scored_tokens`` (int32).
    """
    rows = option_texts(instances)
    totals, counts = engine.score(rows.text.tolist(), progress)
    if not np.isfinite(totals).all():
        bad = rows.iloc[int(np.flatnonzero(~np.isfinite(totals))[0])]
        raise UserError(
            f"instance {bad.instance_id}, option {bad.option!r}: the score is not finite; "
            "use a wider precision for this model in config/models.yaml"
        )
    return pd.DataFrame(
        {
            "instance_id": rows.instance_id,
            "option": rows.option,
            "option_index": rows.option_index.astype("int8"),
            "log_probability": totals,
            "scored_tokens": counts,
        }
    )


def pick_device(requested):
    """Return the torch device for ``requested``: ``auto`` is the first GPU when there is one, otherwise the CPU."""
    if requested != "auto":
        return requested
    return "cuda" if torch.cuda.is_available() else "cpu"
