"""Token distributions: what a model expects at the mask of a text, or at each step of its continuation of a prompt.

A texts file (Parquet) has the columns ``text_id`` (unique), ``instance_id``, ``prompt``, ``text`` and ``method``: with
``mask`` the text holds exactly one ``[MASK]``, with ``generate`` it is a prompt. A distributions file has one row for
each text, step and rank: ``text_id``, ``step`` (0 at a mask), ``rank`` (from 0), ``token`` (as decoded alone, a leading
space kept), ``probability``, ``chosen`` (rank 0, unless a server chose otherwise). Beside it lies the mass of
groups of words, over the full vocabulary: ``text_id``, ``step``, ``group``, ``probability``.

What fills a mask:

* Encoders: the tokenizer's own mask; the distribution at its position.
* BART's kind: the same, at that position of the decoder, which reads the masked text shifted by one, as it does
  without other input.
* T5's kind (T5, UL2): the sentinel ``<extra_id_0>``; the distribution of the token after the decoder's own
  ``<extra_id_0>``, which is given to it. UL2 wants to be told how to read: a registry entry's ``prefixes`` stand before
  the text (Underspecification: ``[NLU]`` for masks, ``[S2S]`` for prompts).

A word of a group is found as a single token, stripped and lower-cased; words that are split into pieces have no mass of
their own. ``##he`` is a piece and no word. The end token of a continuation has a step. Texts are never truncated.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import torch

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.generation.generate import Answer
from scripts.core.generation.ranking import most_probable
from scripts.core.generation.servers import Step
from scripts.core.scoring.masked import MaskedScorer
from scripts.core.scoring.reader import SPAN, Text, single_token
from scripts.core.scoring.seq2seq import Seq2SeqScorer
from scripts.core.workflow.parts import Batch

MASK = "[MASK]"
METHODS = ("mask", "generate")
PROBES = 4
"""Texts of one length by which a way of reading masks is checked, besides the longest."""

TOKENS = pa.schema(
    {
        "text_id": pa.string(), "step": pa.int32(), "rank": pa.int32(), "token": pa.string(),
        "probability": pa.float64(), "chosen": pa.bool_(),
    }
)  # fmt: skip
MASSES = pa.schema({"text_id": pa.string(), "step": pa.int32(), "group": pa.string(), "probability": pa.float64()})


def read_texts(path: str | Path, methods: Sequence[str]) -> pd.DataFrame:
    """Return ``text_id``, ``text`` and ``method`` of the rows of a texts file that are for ``methods``.

    Raises:
        UserError: If the file cannot be read or lacks a column, two texts have the same id, a method is unknown, or
            none fits.
    """
    table = files.read_parquet(path, ["text_id", "text", "method"])
    for wrong, problem in (
        (table.text_id.duplicated(), "text_id {0.text_id} occurs twice; make the ids unique"),
        (~table.method.isin(METHODS), f"method is {{0.method!r}}; expected one of {', '.join(METHODS)}"),
    ):
        if wrong.any():
            row = int(wrong.argmax())
            raise UserError(f"{path}: row {row + 1}: {problem.format(table.iloc[row])}")
    chosen = table[table.method.isin(methods)].reset_index(drop=True)
    if chosen.empty:
        raise UserError(f"{path}: no text is for {' or '.join(methods)}; leave this model out or add such texts")
    return chosen


def vocabulary_size(network: Any) -> int:
    """Return how many tokens the output layer has a logit for."""
    layer = network.get_output_embeddings()
    if layer is None:
        raise UserError(
            f"{type(network).__name__} has no output layer over a vocabulary that can be found; leave this model out"
        )
    return layer.weight.shape[0]


def token_texts(tokenizer: Any, size: int) -> list[str]:
    """Return each token of a vocabulary of ``size`` as decoded alone, with its leading space.

    Ids that the tokenizer does not know, where the output layer is larger than the vocabulary, are empty.
    """
    pieces = tokenizer.convert_ids_to_tokens(list(range(min(size, len(tokenizer)))))
    texts = []
    for number, piece in enumerate(pieces):
        # Decoders of SentencePiece's kind drop the space that begins a text.
        if piece is not None and "▁" in piece:
            texts.append(piece.replace("▁", " "))
        else:
            texts.append("" if piece is None else tokenizer.decode([number], clean_up_tokenization_spaces=False))
    return texts + [""] * (size - len(texts))


def find_group_tokens(texts: Sequence[str], groups: dict[str, Sequence[str]]) -> torch.Tensor:
    """Return which tokens (:func:`token_texts`) are words of which group, bool of shape (vocabulary, groups)."""
    words = pd.Series(texts).str.strip().str.lower()
    found = np.array([words.isin(list(group)) for group in groups.values()], dtype=bool)
    return torch.from_numpy(found.reshape(len(groups), len(words)).T)


def read_masks(
    tokenizer: Any, architecture: str, rows: pd.DataFrame, limit: int | None, prefix: str = ""
) -> list[Text]:
    """Return what a model reads of texts with a mask; the mask is the one token whose prediction is asked for.

    Args:
        rows: Of :func:`read_texts`.
        limit: The context in tokens (None: no limit).
        prefix: What stands before every text, with a space behind it.

    Raises:
        UserError: If a text does not hold exactly one mask or is too long, or the model fills none.
    """
    blank: str = tokenizer.mask_token or SPAN[0]
    blank_id = single_token(tokenizer, blank)
    if blank_id is None or architecture == "decoder" or (architecture == "encoder" and blank == SPAN[0]):
        raise UserError(
            f"{type(tokenizer).__name__} has neither a mask nor {SPAN[0]} as one token: this model cannot fill blanks; "
            "leave it out, or correct its architecture in config/models.yaml"
        )
    for name, text in zip(rows.text_id, rows.text, strict=True):
        if text.count(MASK) != 1:
            raise UserError(
                f"text {name}: it holds {MASK} {text.count(MASK)} times; correct the text so that it holds it once "
                f"(it starts {text[:40]!r})"
            )
    before = f"{prefix} " if prefix else ""
    encoded = tokenizer([before + text.replace(MASK, blank) for text in rows.text])["input_ids"]
    nothing, read = np.zeros(0, dtype=np.int64), []
    for name, ids in zip(rows.text_id, map(np.array, encoded), strict=True):
        masked = ids == blank_id
        if masked.sum() != 1:
            raise UserError(f"text {name}: the tokenizer turns its one mask into {masked.sum()}; correct the text")
        if limit and len(ids) > limit:
            raise UserError(
                f"text {name}: it has {len(ids)} tokens and the model takes {limit}; texts are never truncated: leave "
                "this model or this text out"
            )
        source = nothing if architecture == "encoder" else ids
        if blank == SPAN[0]:
            # The second label is asked for, behind the first; which it is changes nothing.
            read.append(Text(np.array([blank_id, blank_id]), np.array([False, True]), nothing, source))
        else:
            read.append(Text(ids, masked, np.arange(len(ids)), source))
    return read


def choose_probes(texts: Sequence[Text]) -> list[Text]:
    """Return what a way of reading masks is checked with: the longest text, and some that can share a batch."""
    ((length, _),) = Counter(map(len, texts)).most_common(1)
    return [max(texts, key=len), *[text for text in texts if len(text) == length][:PROBES]]


@dataclass(frozen=True)
class Selection:
    """What is kept of a distribution over a vocabulary.

    A text's distributions are one array with a row for each step: the ids of the most probable tokens, their
    probabilities, and the masses of groups. Shape (steps, 2 x top_k + groups), of float64.

    Attributes:
        top_k: How many of the most probable tokens.
        vocabulary: As of :func:`token_texts`.
        groups: Names of groups of words.
        members: Which tokens are words of which group, bool of shape (vocabulary, groups).
    """

    top_k: int
    vocabulary: list[str]
    groups: list[str]
    members: torch.Tensor

    @classmethod
    def for_model(cls, network: Any, tokenizer: Any, top_k: int | str, groups: dict[str, Sequence[str]]) -> Self:
        """Return what is kept of a model's distributions; ``top_k`` may be ``all``, ``groups`` are words by name."""
        vocabulary = token_texts(tokenizer, vocabulary_size(network))
        most = len(vocabulary) if isinstance(top_k, str) else min(top_k, len(vocabulary))
        return cls(most, vocabulary, list(groups), find_group_tokens(vocabulary, groups))

    def of_logits(self, logits: torch.Tensor) -> list[np.ndarray]:
        """Return distributions of one step, one for each row of logits."""
        return list(np.hstack(most_probable(logits, self.top_k, self.members))[:, None])

    def of_masks(self, scorer: MaskedScorer | Seq2SeqScorer, batch: Batch) -> list[np.ndarray]:
        """Return the distributions at the masks of a batch of the scorer's plan, one for each text."""
        if isinstance(scorer, Seq2SeqScorer):
            return scorer.halving.run(lambda texts: self.of_logits(scorer.logits(texts)), batch.work, batch.tokens)
        # Equal texts are one copy.
        copies, places, _ = batch.work
        found = scorer.halving.run(lambda some: self.of_logits(scorer.logits(some)), copies, batch.tokens)
        return [found[place] for (place,) in places]

    def of_answer(self, answer: Answer) -> np.ndarray:
        """Return the distributions at the steps of a continuation."""
        assert answer.masses is not None, "the generator is told which groups there are"
        ids, probabilities = (np.stack(parts) for parts in zip(*answer.top, strict=True))
        return np.hstack([ids, probabilities, answer.masses])

    def tabulate(self, text_ids: Sequence[str], found: Sequence[np.ndarray]) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """Return rows of a distributions file and of the file of masses; ``found`` are the distributions of texts."""
        sizes = [len(steps) for steps in found]
        text, step = np.repeat(np.arange(len(found)), sizes), np.concatenate([np.arange(size) for size in sizes])
        ids, probabilities, masses = np.split(np.concatenate(found), [self.top_k, 2 * self.top_k], axis=1)
        rank, group = np.tile(np.arange(self.top_k), len(text)), np.tile(np.arange(len(self.groups)), len(text))

        def places(count: int) -> list[Any]:
            return [_take(text_ids, np.repeat(text, count)), np.repeat(step, count)]

        tokens = [*places(self.top_k), rank, _take(self.vocabulary, ids.ravel()), probabilities.ravel(), rank == 0]
        return (
            pa.record_batch(tokens, schema=TOKENS),
            pa.record_batch([*places(len(self.groups)), _take(self.groups, group), masses.ravel()], schema=MASSES),
        )


def _take(values: Sequence[str], numbers: np.ndarray) -> pa.Array:
    return pa.array(values, pa.string()).take(pa.array(numbers.astype(np.int64)))


def tabulate_steps(text_ids: Sequence[str], steps: Sequence[Sequence[Step]]) -> pa.Table:
    """Return a distributions file of what a server answered, the steps of each text."""
    rows = [
        {
            "text_id": name, "step": number, "rank": rank, "token": token, "probability": probability,
            "chosen": rank == step.chosen,
        }
        for name, listed in zip(text_ids, steps, strict=True)
        for number, step in enumerate(listed)
        for rank, (token, probability) in enumerate(zip(step.tokens, step.probabilities, strict=True))
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=TOKENS)
