"""Token distributions of models: at the mask of a text, or at each step of a greedy continuation.

A texts file (Parquet) has the columns ``text_id`` (unique), ``instance_id``, ``prompt``, ``text`` and ``method``: with
``mask`` the text holds exactly one ``[MASK]``, with ``generate`` it is a prompt. A distributions file has one row for
each text, step and rank: ``text_id``, ``step`` (0 at a mask), ``rank`` (from 0), ``token`` (as decoded alone, a leading
space kept), ``probability``, ``chosen`` (the token that was generated; rank 0 at a mask). Beside it lies the mass of
groups of words, over the full vocabulary: ``text_id``, ``step``, ``group``, ``probability``.

What fills a mask:

* Encoders: the tokenizer's own mask; the distribution at its position.
* BART's kind: the same, at that position of the decoder, which reads the masked text shifted by one, as it does
  without other input.
* T5's kind (T5, UL2): the sentinel ``<extra_id_0>``; the distribution of the token after the decoder's own
  ``<extra_id_0>``, which is given to it. UL2 wants to be told how to read: a registry entry's ``prefixes`` stand before
  the text (Underspecification: ``[NLU]`` for masks, ``[S2S]`` for prompts).

Special cases, decided once:

* Probabilities, and the order of equals, are as :mod:`scripts.core.engines.ranking` says.
* A word of a group is found as a single token, stripped and lower-cased; words that are split into pieces have no mass
  of their own. ``##he`` is a piece and no word.
* Texts that fill a mask run in batches of equal length, without padding. Texts are never truncated.
* Prompts are continued by :mod:`scripts.core.engines.generation`; a continuation that ended has a step for its end
  token.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from scripts.core import files
from scripts.core.engines import decoding, memory, structure
from scripts.core.engines.batches import BATCH_TOKENS, SENTINEL, Batch, blank_token
from scripts.core.engines.output_layer import SelectiveModel
from scripts.core.engines.ranking import most_probable
from scripts.core.errors import UserError
from scripts.core.models.contexts import context_length

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

log = logging.getLogger("pronouns")

MASK = "[MASK]"
METHODS = ("mask", "generate")

# How far a probability may be from that of the plain way: in float32, in which it is asked whether a way is right for a
# model, and in the weights' precision, where only rounding comes in.
TOLERANCE, HALF_PRECISION_TOLERANCE = 1e-4, 0.05

_PROBES = (f"In spring, {MASK} was late.", f"The clerk said that {MASK} would come back.")


def schemas() -> "tuple[pa.Schema, pa.Schema]":
    """Return the Arrow schemas of a distributions file and of the file of masses beside it."""
    import pyarrow as pa

    word = pa.dictionary(pa.int32(), pa.string())
    place = [("text_id", word), ("step", pa.int32())]
    tokens = pa.schema(
        [*place, ("rank", pa.int32()), ("token", word), ("probability", pa.float64()), ("chosen", pa.bool_())]
    )
    return tokens, pa.schema([*place, ("group", word), ("probability", pa.float64())])


def token_texts(tokenizer: "PreTrainedTokenizerBase", size: int) -> list[str]:
    """Return each token of a vocabulary of ``size`` as decoded alone, with its leading space.

    Ids that the tokenizer does not know, where the output layer is larger than the vocabulary, are empty.
    """
    pieces = tokenizer.convert_ids_to_tokens(list(range(min(size, len(tokenizer)))))
    texts: list[Any] = []
    for number, piece in enumerate(pieces):
        # Decoders of SentencePiece's kind drop the space that begins a text.
        if piece is not None and "▁" in piece:
            texts.append(piece.replace("▁", " "))
        else:
            texts.append("" if piece is None else tokenizer.decode([number], clean_up_tokenization_spaces=False))
    return texts + [""] * (size - len(texts))


def group_tokens(texts: Sequence[str], groups: dict[str, Sequence[str]]) -> torch.Tensor:
    """Return which tokens are words of which group.

    Args:
        texts: As returned by :func:`token_texts`.
        groups: Group to its words, in lower case.

    Returns:
        Shape (vocabulary, groups), of bool.
    """
    words = [text.strip().lower() for text in texts]
    lists = [set(group) for group in groups.values()]
    return torch.tensor([[word in group for group in lists] for word in words]).reshape(len(words), len(lists))


def windows(path: str | Path, methods: Sequence[str], size: int) -> "Iterator[pd.DataFrame]":
    """Yield the texts of a file that are for one of ``methods``, in its order, a few at a time.

    Args:
        path: A texts file: see the module's docstring.
        size: Texts to hold at once.

    Yields:
        Columns ``text_id``, ``text``, ``method``; at most ``size`` rows, numbered from 0.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    with files.open_parquet(path, ["text_id", "text", "method"]) as file:
        for batch in file.iter_batches(batch_size=size, columns=["text_id", "text", "method"]):
            chosen = batch.filter(pc.is_in(batch["method"], pa.array(list(methods), pa.string())))
            if len(chosen):
                yield chosen.to_pandas()


def count(path: str | Path, methods: Sequence[str]) -> int:
    """Return how many texts of a file are for one of ``methods``.

    Raises:
        UserError: If the file cannot be read or lacks a column, two texts have the same id, a method is unknown, or
            none fits.
    """
    table = files.read_parquet(path, ["text_id", "method"])
    files.read_arrow(path, ["text"])
    repeated = table.text_id[table.text_id.duplicated()]
    if len(repeated):
        raise UserError(
            f"{path}: row {repeated.index[0] + 1}: text_id {repeated.iloc[0]} occurs twice; make the ids unique"
        )
    unknown = table.method[~table.method.isin(METHODS)]
    if len(unknown):
        raise UserError(
            f"{path}: row {unknown.index[0] + 1}: method is {unknown.iloc[0]!r}; expected one of {', '.join(METHODS)}"
        )
    total = int(table.method.isin(list(methods)).sum())
    if not total:
        raise UserError(f"{path}: no text is for {' or '.join(methods)}; leave this model out or add such texts")
    return total


class MaskFiller:
    """Distributions at the mask of texts.

    Args:
        model: An encoder or an encoder-decoder, in evaluation mode, on its device.
        tokens_per_batch: Upper bound of the tokens of one forward pass, or ``auto``; a single text may exceed it.
            Halved when memory runs out.
        top_k: How many of the most probable tokens to keep.
        groups: Shape (vocabulary, groups), of bool.
        prefix: What stands before every text, with a space behind it.

    Raises:
        UserError: If the tokenizer has neither a mask nor T5's sentinels, the model cannot be run, or its probabilities
            of a text depend on what is in a batch with it.
    """

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: "PreTrainedTokenizerBase",
        *,
        tokens_per_batch: int | str,
        top_k: int,
        groups: torch.Tensor | None = None,
        prefix: str = "",
    ):
        self.model = SelectiveModel(model)
        self.tokenizer = tokenizer
        self.device = model.device
        self.budget: Any = BATCH_TOKENS[model.device.type] if tokens_per_batch == "auto" else tokens_per_batch
        self.top_k = top_k
        self.groups = groups
        self.prefix = f"{prefix} " if prefix else ""
        self.blank, self.blank_id = blank_token(tokenizer)
        # T5's kind writes what the sentinel stands for; the others predict at the place of the mask.
        self.writes = self.blank == SENTINEL
        self.limit = context_length(model)
        self._check()

    def tokenize(self, texts: Sequence[str], names: Sequence[str] | None = None) -> list[np.ndarray]:
        """Return the token ids of each text with its mask.

        Args:
            names: Their ids, for messages.

        Raises:
            UserError: If a text does not hold exactly one mask, or is too long for the model.
        """
        names = names if names is not None else texts
        for name, text in zip(names, texts, strict=True):
            if text.count(MASK) != 1:
                raise UserError(
                    f"text {name}: it holds {MASK} {text.count(MASK)} times; correct the text so that it holds it once "
                    f"(it starts {text[:40]!r})"
                )
        sequences = self.tokenizer([self.prefix + text.replace(MASK, self.blank) for text in texts])["input_ids"]
        for name, ids in zip(names, sequences, strict=True):
            if ids.count(self.blank_id) != 1:
                raise UserError(
                    f"text {name}: the tokenizer turns its one mask into {ids.count(self.blank_id)}; correct the text"
                )
            if self.limit and len(ids) > self.limit:
                raise UserError(
                    f"text {name}: it has {len(ids)} tokens and the model takes {self.limit}; texts are never "
                    "truncated: leave this model or this text out"
                )
        return [np.array(ids) for ids in sequences]

    def plan(self, texts: Sequence[str], names: Sequence[str] | None = None) -> list[Batch]:
        """Return the batches for ``texts``, texts of one length each, the longest first.

        The same texts give the same batches; ``payload`` is an array of token ids, shape (rows, length).
        """
        ids = self.tokenize(texts, names)
        order = sorted(range(len(ids)), key=lambda row: (-len(ids[row]), texts[row]))
        batches, start = [], 0
        while start < len(order):
            length = len(ids[order[start]])
            rows = order[start : start + max(1, self.budget // length)]
            rows = [row for row in rows if len(ids[row]) == length]
            batches.append(Batch(np.array(rows), length * len(rows), np.stack([ids[row] for row in rows])))
            start += len(rows)
        return batches

    def run(self, ids: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return token ids, probabilities and masses for a batch's ``payload``: see
        :func:`~scripts.core.engines.ranking.most_probable`."""
        return tuple(np.concatenate(parts) for parts in zip(*memory.run_in_halves(self._run, ids, "text"), strict=True))

    def _run(self, ids: np.ndarray):
        parts = []
        inputs, positions = self._inputs(ids)
        for _, logits in self.model.logits(inputs, positions):
            with torch.inference_mode():
                parts.append(most_probable(logits, self.top_k, self.groups))
        return tuple(np.concatenate(values) for values in zip(*parts, strict=True))

    def _inputs(self, ids: np.ndarray):
        """Return the model's arguments and where in its output the masks are, flattened."""
        inputs = structure.text_inputs(self.model.model, ids)
        if not self.writes:
            return inputs, torch.from_numpy(np.flatnonzero(ids == self.blank_id))
        begun = torch.tensor([[decoding.start_token(self.model.model), self.blank_id]]).repeat(len(ids), 1)
        return {**inputs, "decoder_input_ids": begun.to(self.device)}, torch.arange(len(ids)) * 2 + 1

    def _check(self):
        """Choose how to run the model: the fastest way whose probabilities agree with those of the plain one."""
        network = self.model.model
        name = type(network).__name__
        batches: list[Any] = self.plan(_PROBES)
        rounded = structure.run_or_refuse(
            lambda: [self._plain(batch.payload) for batch in batches], name, "a short text"
        )
        with structure.in_float32(network), structure.exact_kernels():
            expected = structure.run_or_refuse(
                lambda: [self._plain(batch.payload) for batch in batches], name, "a short text"
            )
        ways = [(False, True)] * self.model.narrow + [(False, False), (True, False)]
        for self.model.whole, self.model.narrow in ways:
            with structure.in_float32(network), structure.exact_kernels():
                agrees = self._agrees(batches, expected, TOLERANCE)
            if agrees and (network.dtype == torch.float32 or self._agrees(batches, rounded, HALF_PRECISION_TOLERANCE)):
                return
        raise UserError(
            f"{name}: its probabilities in batches do not agree with those of single texts; this model cannot be used"
        )

    def _agrees(self, batches: Iterable[Any], expected: Iterable[torch.Tensor], tolerance: float):
        try:
            probabilities = [self._probabilities(batch.payload) for batch in batches]
            largest = max((a - b).abs().max().item() for a, b in zip(probabilities, expected, strict=True))
        # Whatever a model's code raises, it says that the model cannot be run like this.
        except Exception as error:
            log.info("self-check: %s: %s: %s", self.description, type(error).__name__, error)
            return False
        log.info("self-check: %s: largest difference %.1e", self.description, largest)
        return largest <= tolerance

    @property
    def description(self) -> dict[str, str]:
        """How this class runs the model: facts for the metadata of a file."""
        return {
            "batching": "equal length",
            "output_layer": "all positions" if self.model.whole else "chosen positions",
            "last_layer": "chosen positions" if self.model.narrow and not self.model.whole else "all positions",
        }

    @torch.inference_mode()
    def _probabilities(self, ids: np.ndarray):
        inputs, positions = self._inputs(ids)
        return torch.cat([logits.softmax(-1).cpu() for _, logits in self.model.logits(inputs, positions)])

    @torch.inference_mode()
    def _plain(self, ids: np.ndarray):
        """Return the probabilities at the masks, each text alone, in the plainest way: for the self-check."""
        rows = []
        for row in ids:
            inputs, position = self._inputs(row[None])
            rows.append(self.model.model(**inputs).logits[0, position[0]].float().softmax(-1).cpu())
        return torch.stack(rows)


def of_generation(generation: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ids, probabilities and masses, each of shape (steps, ...), of a continuation with its steps.

    Args:
        generation: A :class:`scripts.core.engines.generation.Generation`.
    """
    ids, values = (np.stack(parts) for parts in zip(*generation.steps, strict=True))
    return ids, values, generation.masses


def check_finite(name: str, result: Iterable[np.ndarray], network: "PreTrainedModel") -> None:
    """Refuse probabilities of the text called ``name`` that are not finite."""
    if not all(np.isfinite(values).all() for values in result):
        raise UserError(f"text {name}: a probability is not finite; {structure.nonfinite_remedy(network)}")


def pack(ids: np.ndarray, probabilities: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Return the distributions of one text as one array of float64, for :mod:`scripts.core.engines.chunks`.

    Args:
        ids, probabilities: Shape (steps, top_k).
        masses: Shape (steps, groups).
    """
    sizes = [*np.shape(ids), np.shape(masses)[1]]
    return np.concatenate([sizes, np.ravel(ids), np.ravel(probabilities), np.ravel(masses)]).astype(np.float64)


def unpack(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what :func:`pack` was given."""
    steps, count, groups = values[:3].astype(int)
    ids, probabilities, masses = np.split(values[3:], [steps * count, 2 * steps * count])
    return (
        ids.astype(np.int64).reshape(steps, count),
        probabilities.reshape(steps, count),
        masses.reshape(steps, groups),
    )


def token_batch(
    text_ids: Collection[str], results: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], texts: Sequence[str]
) -> "pa.RecordBatch":
    """Return rows of a distributions file.

    Args:
        results: For each text: token ids, probabilities, masses.
        texts: Each token of the vocabulary, as of :func:`token_texts`.
    """
    shapes = [ids.shape for ids, _, _ in results]
    rows = np.repeat(np.arange(len(text_ids)), [steps * count for steps, count in shapes])
    step = _joined([np.repeat(np.arange(steps), count) for steps, count in shapes])
    rank = _joined([np.tile(np.arange(count), steps) for steps, count in shapes])
    numbers = _joined([ids.ravel() for ids, _, _ in results])
    used, codes = np.unique(numbers, return_inverse=True)
    columns = [
        _dictionary(rows, text_ids),
        step.astype(np.int32),
        rank.astype(np.int32),
        _dictionary(codes, [texts[number] for number in used]),
        _joined([values.ravel() for _, values, _ in results], np.float64),
        rank == 0,
    ]
    return _batch(columns, schemas()[0])


def mass_batch(
    text_ids: Collection[str], results: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], groups: Sequence[str]
) -> "pa.RecordBatch":
    """Return rows of a file of masses; parameters as for :func:`token_batch`, ``groups`` by name."""
    steps = [len(masses) for _, _, masses in results]
    columns = [
        _dictionary(np.repeat(np.arange(len(text_ids)), np.array(steps, dtype=int) * len(groups)), text_ids),
        _joined([np.repeat(np.arange(count), len(groups)) for count in steps]).astype(np.int32),
        _dictionary(np.tile(np.arange(len(groups)), sum(steps)), groups),
        _joined([masses.ravel() for _, _, masses in results], np.float64),
    ]
    return _batch(columns, schemas()[1])


def step_batch(text_ids: Collection[str], steps: Sequence[Sequence[Any]]) -> "pa.RecordBatch":
    """Return rows of a distributions file from a server's steps.

    Args:
        steps: For each text, its steps: each a :class:`scripts.core.generation.servers.Step`.
    """
    rows = [
        (name, number, rank, token, probability, rank == step.chosen)
        for name, listed in zip(text_ids, steps, strict=True)
        for number, step in enumerate(listed)
        for rank, (token, probability) in enumerate(zip(step.tokens, step.probabilities, strict=True))
    ]
    import pyarrow as pa

    schema = schemas()[0]
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(column, field.type.value_type).dictionary_encode()
            if pa.types.is_dictionary(field.type)
            else pa.array(column, field.type)
            for column, field in zip(columns, schema, strict=True)
        ],
        schema=schema,
    )


def _joined(parts: Iterable[np.ndarray], kind: type[np.generic] = np.int64) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype=kind), *parts])


def _dictionary(codes: np.ndarray, values: Iterable[Any]):
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(list(values), pa.string()))


def _batch(columns: "Sequence[pa.Array | np.ndarray]", schema: "pa.Schema"):
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(
        [c if isinstance(c, pa.Array) else pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)],
        schema=schema,
    )
