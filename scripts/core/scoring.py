"""Score the options of instances with a language model.

This module and the engines behind it know instances, options and a model, and no study. In nats:

* A decoder's score of a text is the sum of the log-probabilities of its tokens but the first.
* An encoder's is the pseudo-log-likelihood of Salazar et al. (2020) in the within-word left-to-right variant of Kauf
  and Ivanova (2023). Both are what the RUFF paper uses (section 4.2).
* An encoder-decoder reads the instance with its slot masked. T5's kind is scored on the span
  ``<extra_id_0> option <extra_id_1>``, BART's on the whole text (MISGENDERED, section on models). MISGENDERED takes
  the mean over tokens, RUFF the sum: score files hold both.

Special cases, decided once:

* The tokenizer's own special tokens are kept and nothing is added. A decoder's first token (the tokenizer's own
  beginning-of-sequence token where it adds one) has no left context and is not scored; an encoder's classification and
  separator tokens are never scored; an encoder-decoder's end-of-sequence label is, as in its training loss.
* An unknown token is scored like any other.
* A text longer than the model's context is an error, never truncated.
* Equal scores go to the option that comes first (:mod:`scripts.core.options`).
* The log-softmax runs in float32 whatever the precision of the weights, as logits minus their log-sum-exp: PyTorch's
  ``log_softmax`` on a CPU is off by up to 3e-5 nats a token over a vocabulary of 49,152, always in the same direction,
  which adds up to 1e-3 nats over a text.

An engine has ``plan(rows)``, which divides the rows of :func:`scripts.core.options.option_texts` into batches, the same
batches for the same rows; ``score(batch)``, which returns an array of token log-probabilities for each of the batch's
rows; ``lengths(rows)``; ``name`` and ``description``. When it is made it checks that its scores of the job's instances
will depend on nothing but their own texts (:mod:`scripts.core.structure`).
"""

import re
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from scripts.core.errors import UserError
from scripts.core.options import SLOT, option_texts

PLL_METRIC = "within_word_l2r"
METRICS = {
    "encoder": PLL_METRIC,
    "decoder": "log_likelihood",
    "encoder-decoder": "label_log_likelihood",
}
ENGINE_NAMES = ("packed", "minicons")

BATCH_TOKENS = {"cpu": 1024, "cuda": 32768}
"""Tokens of a forward pass when the configuration says ``auto``."""

SENTINEL, SECOND_SENTINEL = "<extra_id_0>", "<extra_id_1>"

LIMITS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "context_length", "n_ctx",
    "max_encoder_position_embeddings", "max_decoder_position_embeddings", "max_source_positions",
    "max_target_positions",
)  # fmt: skip
"""Names under which configurations say how many tokens a model takes."""

_POSITION_TABLE = re.compile(r"(^|_)(pos|positions?|wpe)(_|$)")


@dataclass(frozen=True)
class Batch:
    """Rows that are scored together.

    Attributes
    ----------
    rows : ndarray of int
        Which rows.
    tokens : int
        Tokens that forward passes see for them.
    payload : object
        What the engine computes; its business alone.
    """

    rows: np.ndarray
    tokens: int
    payload: object


def make_engine(name, model, tokenizer, architecture, device, tokens_per_batch, instances):
    """Return the engine called ``name``, one of :data:`ENGINE_NAMES`.

    Parameters
    ----------
    name : str
    model : transformers.PreTrainedModel
    tokenizer : transformers.PreTrainedTokenizerBase
    architecture : {"encoder", "decoder", "encoder-decoder"}
    device : str
        A torch device, or ``"auto"`` for a model spread over several GPUs.
    tokens_per_batch : int or "auto"
        Upper bound of the tokens of one forward pass.
    instances : DataFrame
        Those of the job with the longest texts, or all: what the engine is checked with.

    Raises
    ------
    UserError
        If the engine cannot score this model, or would score it wrongly.
    """
    if name == "minicons":
        from scripts.core.scoring_minicons import MiniconsEngine as engine
    else:
        from scripts.core.scoring_packed import PackedEngine as engine
    return engine(model, tokenizer, architecture, device, tokens_per_batch, instances)


def context_length(model):
    """Return the longest input, in tokens, that ``model`` can take, or None when it states no limit.

    It is the least of what the configuration says under any of the names in use (:data:`LIMITS`) and of the lengths of
    the model's position tables, less the rows that stand before a text's first position.
    """
    config = model.config.get_text_config()
    # T5's relative positions have no end; its n_positions says how long texts were in training.
    endless = hasattr(config, "relative_attention_num_buckets")
    found = [getattr(config, name, None) for name in LIMITS if not (endless and name == "n_positions")]
    found += [
        # RoBERTa's kind counts from behind the padding index, OPT's from an offset.
        module.num_embeddings - (getattr(module, "offset", 0) if module.padding_idx is None else module.padding_idx + 1)
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Embedding) and _POSITION_TABLE.search(name.rpartition(".")[2])
    ]
    return min((limit for limit in found if isinstance(limit, int) and limit > 0), default=None)


def single_token(tokenizer, text):
    """Return the id of the one token that ``text`` is, or None if the tokenizer makes several or an unknown one."""
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    # Tokenizers of SentencePiece's kind may put the space that begins every text into a token of its own.
    found = [token for token in ids if tokenizer.convert_ids_to_tokens(token) != "▁"]
    return found[0] if len(found) == 1 and found[0] != tokenizer.unk_token_id else None


def blank(tokenizer):
    """Return what stands for a blank in a text, and its token id: the tokenizer's mask or else T5's first sentinel.

    Raises
    ------
    UserError
        If the tokenizer has neither, as one token; or the first sentinel and not the second, which ends the span.
    """
    text = tokenizer.mask_token or SENTINEL
    found = single_token(tokenizer, text)
    if found is None or (text == SENTINEL and single_token(tokenizer, SECOND_SENTINEL) is None):
        raise UserError(
            f"{type(tokenizer).__name__} has neither a mask nor {SENTINEL} as one token: this model cannot fill "
            "blanks; leave it out, or correct its architecture in config/models.yaml"
        )
    return text, found


def check_lengths(engine, rows, limit):
    """Refuse rows that are longer than ``limit`` tokens (None: no limit).

    Parameters
    ----------
    engine : object
        As returned by :func:`make_engine`, or a :class:`Texts`.
    rows : DataFrame
        As returned by :func:`scripts.core.options.option_texts`.
    limit : int or None

    Raises
    ------
    UserError
        Naming the instance: texts are never truncated.
    """
    if not limit or not len(rows):
        return
    lengths = np.asarray(engine.lengths(rows))
    longest = int(lengths.argmax())
    if lengths[longest] > limit:
        row = rows.iloc[longest]
        raise UserError(
            f"instance {row.instance_id}: a text has {lengths[longest]} tokens and the model takes {limit}; texts are "
            f"never truncated: leave this model or these instances out (text starts {row.text[:40]!r})"
        )


class Texts:
    """What a model reads for each row: the part of an engine that needs a tokenizer alone.

    Parameters
    ----------
    tokenizer : transformers.PreTrainedTokenizerBase
    architecture : {"encoder", "decoder", "encoder-decoder"}

    Raises
    ------
    UserError
        If the architecture needs a mask or sentinels and the tokenizer has none, or if an encoder's tokenizer does not
        tell which tokens make a word.
    """

    def __init__(self, tokenizer, architecture):
        self.tokenizer = tokenizer
        self.architecture = architecture
        if architecture == "encoder" and not tokenizer.is_fast:
            raise UserError(
                f"{type(tokenizer).__name__} does not tell which tokens make a word; "
                "use a checkpoint with a fast tokenizer"
            )
        if architecture == "encoder" and not tokenizer.mask_token:
            raise UserError(
                f"{type(tokenizer).__name__} has no mask: this model has no pseudo-log-likelihood; leave it out, or "
                "correct its architecture in config/models.yaml"
            )
        if architecture != "decoder":
            self.blank, _ = blank(tokenizer)
        self.special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}

    def lengths(self, rows):
        """Return the number of tokens that the model must take for each row, an array of int."""
        if self.architecture != "encoder-decoder":
            return np.array([len(ids) for ids in self.tokenizer(rows.text.tolist())["input_ids"]])
        sources = [len(self.source(masked)) for masked in rows.masked]
        labels = [len(self.labels(*row)) for row in zip(rows.filled, rows.text, strict=True)]
        return np.maximum(sources, labels)

    def masked_copies(self, ids, words):
        """Yield the masked inputs of a text, as (ids, masked position, target), one for each scored token.

        A token is masked together with the rest of its word to the right (Kauf and Ivanova 2023, section 4).
        """
        ids = np.array(ids)
        ends = {}
        for position, word in enumerate(words):
            if word is not None:
                ends[word] = position
        for position, word in enumerate(words):
            if word is None or int(ids[position]) in self.special:
                continue
            copy = ids.copy()
            rest = np.arange(position, ends[word] + 1)
            copy[[p for p in rest if words[p] == word]] = self.tokenizer.mask_token_id
            yield copy, position, ids[position]

    def source(self, masked):
        """Return the token ids of an instance with its slot masked, for an encoder-decoder."""
        return self.tokenizer(masked.replace(SLOT, self.blank))["input_ids"]

    def labels(self, filled, text):
        """Return the token ids whose loss is the score: the span for T5's kind, the whole text for BART's.

        MISGENDERED's released code scores both so (see the section on scoring of the paper).
        """
        spanned = f"{SENTINEL} {filled} {SECOND_SENTINEL}"
        return self.tokenizer(text if self.tokenizer.mask_token else spanned)["input_ids"]


def check_finite(row, values):
    """Refuse log-probabilities that are not finite; ``row`` is the row of ``option_texts`` that they belong to."""
    if not np.isfinite(values).all():
        raise UserError(
            f"instance {row.instance_id}, option {row.option!r}: the score is not finite; "
            "use a wider precision for this model in config/models.yaml"
        )


def score_instances(engine, instances, limit=None, progress=""):
    """Score all options of all distinct instances, in memory.

    Parameters
    ----------
    engine : object
        As returned by :func:`make_engine`.
    instances : DataFrame
        As for :func:`scripts.core.options.option_texts`.
    limit : int, optional
        The model's context length in tokens.
    progress : str
        Label of a progress bar; empty for none.

    Returns
    -------
    DataFrame
        One row for each instance and option, in the order of the instances: see :func:`result_table`.
    """
    rows = option_texts(instances)
    check_lengths(engine, rows, limit)
    values = [None] * len(rows)
    plan = engine.plan(rows)
    with progress_bar(progress, sum(batch.tokens for batch in plan)) as bar:
        for batch in plan:
            for row, scores in zip(batch.rows, engine.score(batch), strict=True):
                check_finite(rows.iloc[row], scores)
                values[row] = scores
            bar.update(batch.tokens)
    return result_table(rows, values)


def result_table(rows, values):
    """Return scores as a table.

    Parameters
    ----------
    rows : DataFrame
        As returned by :func:`scripts.core.options.option_texts`.
    values : list of ndarray
        Token log-probabilities of each row, in nats.

    Returns
    -------
    DataFrame
        Columns ``instance_id`` (str), ``option`` (str), ``option_index`` (int8), ``log_probability`` (float64, nats,
        sum over scored tokens), ``mean_log_probability`` (float64, nats per token), ``scored_tokens`` (int32),
        ``token_log_probabilities`` (lists of float32).
    """
    totals = np.array([scores.sum() for scores in values])
    counts = np.array([len(scores) for scores in values], dtype=np.int32)
    return pd.DataFrame(
        {
            "instance_id": rows.instance_id.to_numpy(),
            "option": rows.option.to_numpy(),
            "option_index": rows.option_index.to_numpy(dtype="int8"),
            "log_probability": totals,
            "mean_log_probability": totals / np.maximum(counts, 1),
            "scored_tokens": counts,
            "token_log_probabilities": [np.asarray(scores, dtype=np.float32) for scores in values],
        }
    )


def progress_bar(label, total, initial=0):
    """Return a bar of forward-pass tokens on standard error with tokens per second and the time left."""
    return tqdm(
        total=total,
        initial=initial,
        desc=label,
        unit="tok",
        unit_scale=True,
        disable=not label,
        file=sys.stderr,
        mininterval=0.5 if sys.stderr.isatty() else 15,
        maxinterval=30,
        smoothing=0.05,
    )


def pick_device(requested):
    """Return the torch device for ``requested``: ``auto`` is the first GPU when there is one, otherwise the CPU."""
    if requested != "auto":
        return requested
    return "cuda" if torch.cuda.is_available() else "cpu"
