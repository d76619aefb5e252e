"""Load a model's tokenizer as its file says, with the beginning that its entry names."""

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core.errors import UserError
from scripts.core.models import checkpoints
from scripts.core.models.entries import ScoredModel

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

log = logging.getLogger("pronouns")

CUT_TEXT = "Nevertheless the pharmacist remembered that they had apologised to the photographer yesterday afternoon."
STORED_TEXTS = (
    CUT_TEXT,
    "  Xe said: “It's Müller's €5.”\n\nThey/them, e.g. 1,234  (thon) ...",
    "THE END",
    "\u00a0ze/hir \u2026   nai\u0308ve,\tfae's  3.14",
)
"""Texts that a tokenizer and its file must cut alike: quotation marks, capitals, accents apart, all kinds of space."""
CUTS = 20
"""A tokenizer that leaves out one merge in ten cuts this text in two ways in 20 tries, all but surely."""


def load_tokenizer(name: str, wanted: ScoredModel, folder: Path, gguf: str | None = None) -> "PreTrainedTokenizerBase":
    """Load a model's tokenizer as its file says.

    Args:
        name, wanted: The model in the registry.
        folder, gguf: Where the tokenizer is, and the file in the folder if that is GGUF.

    Raises:
        UserError: If it cannot be loaded.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import transformers

    options: dict[str, Any] = {"gguf_file": gguf} if gguf else {}
    options["trust_remote_code"] = bool(wanted.remote_code)
    try:
        tokenizer = _as_stored(name, transformers.AutoTokenizer.from_pretrained(folder, **options), folder)
        tokenizer = _begin_texts(tokenizer, wanted.bos_token)
    except Exception as error:
        reason = checkpoints.explain_failure(error)
        raise UserError(f"model {name}: no tokenizer can be loaded from {folder} ({reason}") from error
    return _repeatable(name, tokenizer)


def _as_stored(name: str, tokenizer: Any, folder: Path) -> Any:
    """Return a tokenizer that cuts texts as ``tokenizer.json`` says, where its class would do otherwise.

    A class of transformers may build it anew from the vocabulary: BERT's lower-cases a cased file, GPT-NeoX's loses a
    token at the beginning.
    """
    path = folder / "tokenizer.json"
    if not path.is_file() or not tokenizer.is_fast:
        return tokenizer
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    stored: Any = tokenizers.Tokenizer.from_file(str(path))
    stored.no_truncation()
    stored.no_padding()
    different = next((text for text in STORED_TEXTS if tokenizer(text)["input_ids"] != stored.encode(text).ids), None)
    if different is None:
        return tokenizer
    log.warning(
        "model %s: %s would cut %r into other tokens than tokenizer.json does; tokenizer.json is followed",
        name, type(tokenizer).__name__, different,
    )  # fmt: skip
    return PreTrainedTokenizerFast(
        tokenizer_object=stored, chat_template=tokenizer.chat_template, **tokenizer.special_tokens_map
    )


def _repeatable(name: str, tokenizer: "PreTrainedTokenizerBase"):
    """Return a tokenizer that cuts a text into the same tokens every time; BPE dropout draws them anew.

    Raises:
        UserError: If a text is cut in two ways.
    """
    cuts = {tuple(tokenizer(CUT_TEXT)["input_ids"]) for _ in range(CUTS)}
    if len(cuts) > 1:
        raise UserError(
            f"model {name}: its tokenizer cuts a text into other tokens each time, so no score can be repeated; set "
            "model.dropout in its tokenizer.json to null"
        )
    return tokenizer


def _begin_texts(tokenizer: Any, token: str | None):
    """Return a tokenizer that puts a token before every text; without one, as it was stored."""
    if token is None:
        return tokenizer
    if token not in tokenizer.get_vocab():
        raise ValueError(f"bos_token {token!r} is not in the vocabulary")
    from tokenizers.processors import TemplateProcessing

    tokenizer.bos_token = token
    # Not add_bos_token, with which transformers 5.23 and 5.24 read every text twice for GPT-NeoX's tokenizer.
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=[token, "$A"], special_tokens=[(token, tokenizer.convert_tokens_to_ids(token))]
    )
    return tokenizer
