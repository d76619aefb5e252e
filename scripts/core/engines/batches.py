"""What the engines of generation and distributions share: batches, and what stands for a blank."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.core.errors import UserError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

BATCH_TOKENS = {"cpu": 1024, "cuda": 32768}
"""Tokens of a forward pass when the configuration says ``auto``."""

SENTINEL, SECOND_SENTINEL = "<extra_id_0>", "<extra_id_1>"


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
