"""What a model reads of a filled instance: token ids, which of them are scored, and what each of them is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.data.options import SLOT
from scripts.core.errors import UserError

CONTEXT, OPTION, SENTINEL, END = range(4)
"""What a scored token is. A token that holds the end of the option and what follows is the option's."""

SPAN = ("<extra_id_0>", "<extra_id_1>")


@dataclass(frozen=True)
class Text:
    """One filled instance.

    Attributes:
        ids: Tokens whose log-probabilities are the score: of the text, or an encoder-decoder's labels. Of int64.
        scored: Which of ``ids`` have a log-probability. Of bool.
        words: The word of each token, -1 for special tokens; an encoder masks the rest of a word. Of int64.
        source: What an encoder-decoder's encoder reads; empty otherwise. Of int64.
        kinds: CONTEXT, OPTION, SENTINEL or END for each of ``ids``; None unless asked for. Of int8.
        text: What was tokenised.
    """

    ids: np.ndarray
    scored: np.ndarray
    words: np.ndarray
    source: np.ndarray
    kinds: np.ndarray | None = None
    text: str = ""

    def __len__(self) -> int:
        return max(len(self.ids), len(self.source))

    def scored_kinds(self) -> np.ndarray:
        """Return what each scored token is."""
        assert self.kinds is not None
        return self.kinds[self.scored]


class Reader:
    """Tokenises instances for one model, untruncated, with the tokenizer's special tokens and the registry's.

    Args:
        architecture: "encoder", "decoder" or "encoder-decoder".
        with_kinds: Whether :attr:`Text.kinds` are wanted.

    Raises:
        UserError: If the tokenizer lacks what the architecture needs.
    """

    def __init__(self, tokenizer: Any, architecture: str, with_kinds: bool = False):
        self.tokenizer, self.architecture, self.with_kinds = tokenizer, architecture, with_kinds
        name = type(tokenizer).__name__
        if (architecture == "encoder" or with_kinds) and not tokenizer.is_fast:
            raise UserError(f"{name} does not say where its tokens stand; use a checkpoint with a fast tokenizer")
        if architecture == "encoder" and not tokenizer.mask_token:
            raise UserError(f"{name} has no mask: this model has no pseudo-log-likelihood; leave it out")
        self.spans = architecture == "encoder-decoder" and not tokenizer.mask_token
        sentinels = [single_token(tokenizer, text) for text in SPAN] if self.spans else []
        self.sentinels = [token for token in sentinels if token is not None]
        if None in sentinels:
            raise UserError(f"{name} has neither a mask nor {SPAN[0]} as one token; leave this model out")
        self.specials = np.array(sorted(set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}), dtype=np.int64)
        # To Gemma's kind all of a text is one word.
        words = tokenizer("Two words", add_special_tokens=False).word_ids() if architecture == "encoder" else []
        self.splits_words = len(set(words)) > 1

    def read(self, rows: pd.DataFrame) -> list[Text]:
        """Return the texts of rows of :func:`scripts.core.data.options.option_texts`."""
        texts = [f"{SPAN[0]} {filled} {SPAN[1]}" for filled in rows.filled] if self.spans else rows.text.tolist()
        if not texts:
            return []
        offsets = {"return_offsets_mapping": True} if self.tokenizer.is_fast else {}
        encoding = self.tokenizer(texts, **offsets)
        masked = rows.masked.tolist() if self.architecture == "encoder-decoder" else []
        sources = {text: self._ids(text.replace(SLOT, self.tokenizer.mask_token or SPAN[0])) for text in set(masked)}
        read = []
        for number, ids in enumerate(encoding["input_ids"]):
            ids = np.array(ids, dtype=np.int64)
            words, kinds = np.zeros(0, dtype=np.int64), None
            if self.architecture == "encoder":
                words = self._words(texts[number], encoding, number)
            if self.with_kinds:
                kinds = self._kinds(rows.iloc[number], texts[number], ids, np.array(encoding["offset_mapping"][number]))
            source = sources[masked[number]] if masked else np.zeros(0, dtype=np.int64)
            read.append(Text(ids, self._scored(ids, words), words, source, kinds, texts[number]))
        return read

    def _ids(self, text: str) -> np.ndarray:
        return np.array(self.tokenizer(text)["input_ids"], dtype=np.int64)

    def _scored(self, ids: np.ndarray, words: np.ndarray) -> np.ndarray:
        if self.architecture == "encoder":
            return (words >= 0) & ~np.isin(ids, self.specials)
        # Nothing predicts a decoder's first token.
        return np.arange(len(ids)) >= (self.architecture == "decoder")

    def _words(self, text: str, encoding: Any, number: int) -> np.ndarray:
        """Return words as the tokenizer cuts them (BERT's leave punctuation apart); without such cuts, by spaces."""
        words = encoding.word_ids(number)
        if not self.splits_words:
            # A space at its beginning makes a token part of the word that follows.
            starts = [
                start + len(text[start:]) - len(text[start:].lstrip())
                for start, _ in encoding["offset_mapping"][number]
            ]
            words = [
                None if word is None else len(text[: at + 1].split()) for word, at in zip(words, starts, strict=True)
            ]
        return np.array([-1 if word is None else word for word in words], dtype=np.int64)

    def _kinds(self, row: Any, text: str, ids: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        start = len(SPAN[0]) + 1 if self.spans else row.masked.index(SLOT)
        stop = start + len(row.filled)
        space = start - text[:start].endswith(" ")
        begins, ends = offsets.T
        # A tokenizer that leaves spaces out of its offsets has an empty place for one that is a token by itself.
        inside = np.where(ends > begins, ends > space, begins > space) & (begins < stop)
        kinds = np.where(inside, OPTION, CONTEXT).astype(np.int8)
        if self.architecture == "encoder-decoder":
            kinds[np.isin(ids, self.sentinels)] = SENTINEL
            if ids[-1] == self.tokenizer.eos_token_id:
                kinds[-1] = END
        if not ((begins < stop) & (ends > start)).any():
            raise UserError(
                f"instance {row.instance_id}, option {row.option!r}: {type(self.tokenizer).__name__} has no token for "
                "it; leave this model or this pronoun set out"
            )
        return kinds


def single_token(tokenizer: Any, text: str) -> int | None:
    """Return the id of the one token that ``text`` is, or None; SentencePiece's lone space does not count."""
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    pieces = [token for token in ids if tokenizer.convert_ids_to_tokens(token) != "▁"]
    return pieces[0] if len(pieces) == 1 and pieces[0] != tokenizer.unk_token_id else None


def check_lengths(rows: pd.DataFrame, texts: list[Text], limit: int | None) -> None:
    """Refuse texts that are longer than the model's context (None: no limit): they are never truncated."""
    longest = max(range(len(texts)), key=lambda number: len(texts[number]), default=0)
    if limit and texts and len(texts[longest]) > limit:
        raise UserError(
            f"instance {rows.instance_id.iloc[longest]}: a text has {len(texts[longest])} tokens and the model takes "
            f"{limit}; texts are never truncated: leave this model or these instances out"
        )
