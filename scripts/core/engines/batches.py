"""What every engine shares: batches, what a model reads of a text, and how long a text it takes."""

import functools
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from tqdm import tqdm

from scripts.core.data.options import SLOT
from scripts.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

PLL_METRIC = "within_word_l2r"
METRICS = {
    "encoder": PLL_METRIC,
    "decoder": "log_likelihood",
    "encoder-decoder": "label_log_likelihood",
}

BATCH_TOKENS = {"cpu": 1024, "cuda": 32768}
"""Tokens of a forward pass when the configuration says ``auto``."""

SENTINEL, SECOND_SENTINEL = "<extra_id_0>", "<extra_id_1>"

TWO_WORDS = "Two words"

KINDS = ("context", "option", "sentinel", "end")
"""What a scored token is: of the option, a sentinel, the end of the sequence, or something else."""

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

    Attributes:
        rows: Which rows. Of int.
        tokens: Tokens that forward passes see for them.
        payload: What the engine computes; its business alone.
    """

    rows: np.ndarray
    tokens: int
    payload: object


def context_length(model: "PreTrainedModel") -> int | None:
    """Return the longest input, in tokens, that ``model`` can take, or None when it states no limit.

    It is the least of what the configuration says under any of the names in use (:data:`LIMITS`) and of the lengths of
    the model's position tables, less the rows that stand before a text's first position.
    """
    config = model.config.get_text_config()
    # T5's relative positions have no end; its n_positions says how long texts were in training.
    endless = hasattr(config, "relative_attention_num_buckets")
    limits = [getattr(config, name, None) for name in LIMITS if not (endless and name == "n_positions")]
    limits += [
        # RoBERTa's kind counts from behind the padding index, OPT's from an offset.
        module.num_embeddings - (getattr(module, "offset", 0) if module.padding_idx is None else module.padding_idx + 1)
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Embedding) and _POSITION_TABLE.search(name.rpartition(".")[2])
    ]
    return min((limit for limit in limits if isinstance(limit, int) and limit > 0), default=None)


def single_token(tokenizer: "PreTrainedTokenizerBase", text: str) -> int | None:
    """Return the id of the one token that ``text`` is, or None if the tokenizer makes several or an unknown one."""
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    # Tokenizers of SentencePiece's kind may put the space that begins every text into a token of its own.
    pieces = [token for token in ids if tokenizer.convert_ids_to_tokens(token) != "▁"]
    return pieces[0] if len(pieces) == 1 and pieces[0] != tokenizer.unk_token_id else None


def blank_token(tokenizer: "PreTrainedTokenizerBase") -> tuple[str, int]:
    """Return what stands for a blank in a text, and its token id: the tokenizer's mask or else T5's first sentinel.

    Raises:
        UserError: If the tokenizer has neither, as one token; or the first sentinel and not the second, which ends the
            span.
    """
    text: Any = tokenizer.mask_token or SENTINEL
    token = single_token(tokenizer, text)
    if token is None or (text == SENTINEL and single_token(tokenizer, SECOND_SENTINEL) is None):
        raise UserError(
            f"{type(tokenizer).__name__} has neither a mask nor {SENTINEL} as one token: this model cannot fill "
            "blanks; leave it out, or correct its architecture in config/models.yaml"
        )
    return text, token


def check_lengths(engine: Any, rows: "pd.DataFrame", limit: int | None) -> None:
    """Refuse rows that are longer than ``limit`` tokens (None: no limit).

    Args:
        engine: As returned by :func:`scripts.core.engines.scoring.make_engine`, or a :class:`TextReader`.
        rows: As returned by :func:`scripts.core.data.options.option_texts`.

    Raises:
        UserError: Naming the instance: texts are never truncated.
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


class TextReader:
    """What a model reads for each row: the part of an engine that needs a tokenizer alone.

    Args:
        tokenizer: A ``transformers.PreTrainedTokenizerBase``.
        architecture: One of "encoder", "decoder", "encoder-decoder".

    Raises:
        UserError: If the architecture needs a mask or sentinels and the tokenizer has none, or if an encoder's
            tokenizer does not tell which tokens make a word.
    """

    def __init__(self, tokenizer: Any, architecture: str):
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
            self.blank, _ = blank_token(tokenizer)
        self.special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}

    @functools.cached_property
    def splits_words(self) -> bool:
        """Whether the tokenizer splits texts at spaces; to Gemma's kind all of a text is one word."""
        return len(set(self.tokenizer(TWO_WORDS, add_special_tokens=False).word_ids())) > 1

    @property
    def unknown_token(self) -> int | None:
        """The id that stands for what the tokenizer does not know; None if it knows every byte.

        Tokenizers of bytes name the token that ends or begins texts as unknown, and never use it so.
        """
        tokenizer = self.tokenizer
        roles = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id)
        return None if tokenizer.unk_token_id in roles else tokenizer.unk_token_id

    def scored_ids(self, rows: "pd.DataFrame") -> list[list[int]]:
        """Return the token ids that each row's score is of: its text's, or its labels'."""
        if self.architecture != "encoder-decoder":
            return self.tokenizer(rows.text.tolist())["input_ids"]
        return [self.labels(*row) for row in zip(rows.filled, rows.text, strict=True)]

    def lengths(self, rows: "pd.DataFrame") -> np.ndarray:
        """Return the number of tokens that the model must take for each row, an array of int."""
        scored = [len(ids) for ids in self.scored_ids(rows)]
        if self.architecture != "encoder-decoder":
            return np.array(scored)
        return np.maximum([len(self.source(masked)) for masked in rows.masked], scored)

    def label_kinds(self, rows: "pd.DataFrame") -> tuple:
        """Return what each scored token of each row is, of :data:`KINDS`, and the tokens of its option.

        Args:
            rows: As returned by :func:`scripts.core.data.options.option_texts`.

        Returns:
            A list of ndarray of int8, one for each row: 0 context, 1 the option with the space before it, 2 a sentinel,
            3 end of sequence. And an ndarray of int: tokens of the option, scored or not (a decoder's first token is
            not).

        Raises:
            UserError: If the tokenizer does not tell where its tokens stand, or if no token is the option's.
        """
        if not self.tokenizer.is_fast:
            raise UserError(
                f"{type(self.tokenizer).__name__} does not give the offsets of its tokens, so the option's tokens "
                "cannot be identified; use a checkpoint with a fast tokenizer"
            )
        spanned = self.architecture == "encoder-decoder" and not self.tokenizer.mask_token
        texts = [self.spanned(filled) for filled in rows.filled] if spanned else rows.text.tolist()
        encoding = self.tokenizer(texts, return_offsets_mapping=True)
        sentinels: list[Any] = (
            [single_token(self.tokenizer, text) for text in (SENTINEL, SECOND_SENTINEL)] if spanned else []
        )
        kinds, counts = [], []
        row: Any
        for row, text, ids, offsets in zip(
            rows.itertuples(), texts, encoding["input_ids"], encoding["offset_mapping"], strict=True
        ):
            start = len(SENTINEL) + 1 if spanned else row.masked.index(SLOT)
            stop = start + len(row.filled)
            first = start - text[:start].endswith(" ")
            begins, ends = np.array(offsets).T
            # A tokenizer that leaves spaces out of its offsets has an empty place for one that is a token by itself.
            inside = np.where(ends > begins, ends > first, begins > first)
            found = (inside & (begins < stop)).astype(np.int8)
            if self.architecture == "encoder-decoder":
                found[np.isin(ids, sentinels)] = KINDS.index("sentinel")
                if ids[-1] == self.tokenizer.eos_token_id:
                    found[-1] = KINDS.index("end")
            if not ((begins < stop) & (ends > start)).any():
                raise UserError(
                    f"instance {row.instance_id}, option {row.option!r}: {type(self.tokenizer).__name__} has no token "
                    "for it; leave this model or this pronoun set out"
                )
            counts.append(int((found == KINDS.index("option")).sum()))
            kinds.append(found[self._scored(ids, self.word_ids(encoding, len(kinds), text))])
        return kinds, np.array(counts, dtype=np.int64)

    def read_words(self, texts: list[str]) -> tuple[list[list[int]], list[list[int | None]]]:
        """Return the token ids of each text and, as :meth:`word_ids`, their words."""
        encoding = self.tokenizer(texts, return_offsets_mapping=True)
        return encoding["input_ids"], [self.word_ids(encoding, row, text) for row, text in enumerate(texts)]

    def word_ids(self, encoding: "BatchEncoding", row: int, text: str) -> list[int | None]:
        """Return the word of each token of a text, None for special tokens.

        Words are those of the tokenizer (BERT's leave punctuation apart); where it makes none, they end at spaces.

        Args:
            encoding: Of several texts, with the offsets of their tokens.
            row: Which of them ``text`` is.
        """
        words = encoding.word_ids(row)
        if self.architecture != "encoder" or self.splits_words:
            return words
        # A space at its beginning makes a token part of the word behind it.
        starts = [
            start + len(text[start:]) - len(text[start:].lstrip()) for start, _ in encoding["offset_mapping"][row]
        ]
        return [None if word is None else len(text[: at + 1].split()) for word, at in zip(words, starts, strict=True)]

    def _scored(self, ids: Sequence[int], words: Sequence[int | None]):
        """Return which tokens of what a model reads have a score, an array of bool."""
        if self.architecture == "encoder":
            return np.array([w is not None and int(i) not in self.special for w, i in zip(words, ids, strict=True)])
        # Of a decoder's text the first token has no score.
        return np.arange(len(ids)) >= (self.architecture == "decoder")

    def masked_copies(
        self, ids: Sequence[int] | np.ndarray, words: Sequence[int | None]
    ) -> Iterator[tuple[np.ndarray, int, np.integer]]:
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

    def source(self, masked: str) -> list[int]:
        """Return the token ids of an instance with its slot masked, for an encoder-decoder."""
        return self.tokenizer(masked.replace(SLOT, self.blank))["input_ids"]

    def labels(self, filled: str, text: str) -> list[int]:
        """Return the token ids whose loss is the score: the span for T5's kind, the whole text for BART's.

        MISGENDERED's released code scores both so (see the section on scoring of the paper).
        """
        return self.tokenizer(text if self.tokenizer.mask_token else self.spanned(filled))["input_ids"]

    @staticmethod
    def spanned(filled: str) -> str:
        """Return an option between sentinels, what T5's kind is to predict."""
        return f"{SENTINEL} {filled} {SECOND_SENTINEL}"


def progress_bar(label: str, total: int | None, initial: int = 0) -> tqdm:
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
