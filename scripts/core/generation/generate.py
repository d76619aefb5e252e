"""Continue prompts greedily with ``model.generate``, in batches, with decoders and encoder-decoders.

Special cases, decided once:

* Whatever the checkpoint's own settings ask for (sampling, penalties, forced tokens) is left out but for its end tokens
  (chat models may have several), otherwise the tokenizer's. The end token is no part of an answer.
* Prompts are tokenised with special tokens, and never truncated. One that begins with the tokenizer's
  beginning-of-sequence token already, as chat templates write it, gets no second one.
* Decoders are padded on the left, behind what prompts share; encoder-decoders on the right.
* What is in a batch changes logits by rounding only; two tokens that are closer than that can change places.
"""

import contextlib
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import torch
from transformers import DynamicCache, GenerationConfig
from transformers.cache_utils import DynamicLayer

from scripts.core.errors import UserError, count_noun
from scripts.core.generation.beginnings import Layout, lay_out, single_part
from scripts.core.generation.ranking import most_probable
from scripts.core.models.contexts import context_length
from scripts.core.models.costs import PROMPT_TOKENS
from scripts.core.scoring import network as net
from scripts.core.workflow.parts import Batch

BATCH_TOKENS = {"cpu": 8192, "cuda": PROMPT_TOKENS}
"""Tokens of a batch (prompts with padding, and new tokens) when the configuration says ``auto``."""
BATCHING_MODES = ("shared", "padded", "equal", "single")
"""In batches that read once what their prompts begin with, in padded ones, in ones of equal length; one by one, without
a cache."""
PADDING = {"cpu": 0.125, "cuda": 0.9}
"""The share of a prompt that may be padding: a GPU takes as long for a step of few prompts as for one of many."""
WINDOWS = ("sliding_window", "attention_chunk_size", "attention_window", "window_size")
"""Names under which configurations say how far a token sees: padding between tokens would count."""
SCALED_ROPE = ("longrope", "dynamic")
"""Positions that change with the length of a text."""


@dataclass(frozen=True)
class Answer:
    """What a model wrote after one prompt.

    Attributes:
        text: Special tokens removed.
        tokens: Token ids without the end token.
        finished: Whether one of the model's end tokens came.
        top: For each generated token, the end token included, the ids and probabilities of the most probable.
        masses: Probability of each group of tokens at each step, over the vocabulary. Shape (steps, groups).
    """

    text: str
    tokens: tuple[int, ...]
    finished: bool
    top: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list, compare=False)
    masses: np.ndarray | None = field(default=None, compare=False)


class Generator:
    """Continues prompts.

    Args:
        network: A decoder or an encoder-decoder in evaluation mode.
        max_new_tokens: Tokens to generate at most, the end token included.
        top_k: How many of the most probable tokens to keep of each step.
        groups: Groups of tokens whose probability to keep of each step. Bool of shape (vocabulary, groups).
        tokens_per_batch: Tokens of a batch at most (prompts with padding, and new tokens), or ``auto``.

    Attributes:
        way: One of :data:`BATCHING_MODES`: see :mod:`scripts.core.generation.check`.

    Raises:
        UserError: If an end token is none of the model's tokens.
    """

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        max_new_tokens: int,
        top_k: int = 0,
        groups: torch.Tensor | None = None,
        tokens_per_batch: int | str = "auto",
    ):
        self.network, self.tokenizer, self.max_new_tokens = network, tokenizer, max_new_tokens
        self.top_k, self.groups = top_k, groups
        automatic = isinstance(tokens_per_batch, str)
        self.batch_tokens = BATCH_TOKENS[net.kind_of_device(network)] if automatic else tokens_per_batch
        self.two_parts = network.config.is_encoder_decoder
        self.way = possible_ways(network)[0]
        self.ends = end_tokens(network, tokenizer)
        # Llama has no padding token; masked positions are never looked at, so any will do.
        self.padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else (self.ends or [0])[0]
        start = getattr(network.config, "decoder_start_token_id", None)
        self.start = network.generation_config.decoder_start_token_id if start is None else start
        self.halving = net.Halving()
        self.scaled_beyond = min(net.rescaled_lengths(network, SCALED_ROPE), default=np.inf)

    def limited(self, max_new_tokens: int) -> Self:
        """Return a generator of answers of another length at most."""
        other = copy.copy(self)
        other.max_new_tokens = max_new_tokens
        return other

    def tokenize(self, prompts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each prompt.

        Raises:
            UserError: If a prompt is empty, or with its answer longer than the model's context.
        """
        start, limit, ids = self.tokenizer.bos_token, context_length(self.network), []
        for prompt in prompts:
            begun = bool(start) and prompt.startswith(start)
            tokens = self.tokenizer(prompt, add_special_tokens=not begun)["input_ids"]
            if not tokens:
                raise UserError("a prompt is empty: there is nothing to continue; leave it out")
            if limit and len(tokens) + (0 if self.two_parts else self.max_new_tokens) > limit:
                raise UserError(
                    f"a prompt has {count_noun(len(tokens), 'token')}, {self.max_new_tokens} more are to be generated, "
                    f"and the model takes {limit}; prompts are never truncated: leave it out "
                    f"(it starts {prompt[:40]!r})"
                )
            ids.append(tokens)
        return ids

    def plan(self, ids: Sequence[list[int]]) -> list[Batch]:
        """Divide prompts into batches, the longest first, the same for the same prompts."""
        sizes = [len(tokens) + self.max_new_tokens for tokens in ids]
        order = sorted(range(len(ids)), key=lambda row: (-sizes[row], ids[row]))
        alone = {row for row in order if self.way == "single" or self.is_scaled(ids[row])}
        order = [row for row in order if row not in alone]
        padding = 0 if self.way == "equal" else PADDING[net.kind_of_device(self.network)]
        batches = net.cut_passes(order, sizes, self.batch_tokens, padding)
        if self.way == "shared":
            alike = net.cut_passes(sorted(order, key=lambda row: ids[row]), sizes, self.batch_tokens, 1)
            batches = min(batches, alike, key=lambda some: sum(self._lay_out(ids, batch).tokens for batch in some))
        made = [
            Batch(
                batch,
                self._lay_out(ids, batch).tokens + self.max_new_tokens * len(batch),
                [ids[row] for row in batch],
            )
            for batch in [*([row] for row in alone), *batches]
        ]
        return sorted(made, key=lambda batch: (-max(map(len, batch.work)), batch.work))

    def _lay_out(self, ids: Sequence[list[int]], rows: Sequence[int]) -> Layout:
        some = [ids[row] for row in rows]
        return lay_out(some) if self.way == "shared" else single_part(some)

    def is_scaled(self, tokens: Sequence[int]) -> bool:
        """Return whether positions change for a prompt or within its answer: every step is then a pass of its own."""
        return self.scaled_beyond < len(tokens) + self.max_new_tokens

    def answer(self, prompts: Sequence[str]) -> list[Answer]:
        """Return an answer to each prompt, in their order."""
        answers: dict[int, Answer] = {}
        for batch in self.plan(self.tokenize(prompts)):
            answers.update(zip(batch.members, self.run(batch), strict=True))
        return [answers[row] for row in range(len(prompts))]

    def run(self, batch: Batch) -> list[Answer]:
        """Continue the prompts of a batch."""
        return self.continue_all(batch.work)

    def continue_all(self, ids: Sequence[list[int]]) -> list[Answer]:
        """Continue prompts together; where memory runs out, halves of them."""
        return self.halving.run(self._continue, ids, len(ids) * (max(map(len, ids)) + self.max_new_tokens))

    def _continue(self, ids: Sequence[list[int]]) -> list[Answer]:
        layout = self._lay_out(ids, range(len(ids)))
        tokens, mask = self._place(ids, layout)
        keeper = StepKeeper(self.top_k, self.groups)
        cache = {"cache": self._read_beginnings(tokens, mask, layout)} if sum(layout.widths[:2]) else {}
        settings = GenerationConfig(
            max_new_tokens=self.max_new_tokens,
            do_sample=False,
            num_beams=1,
            use_cache=self.way != "single" and not any(map(self.is_scaled, ids)),
            eos_token_id=self.ends or None,
            pad_token_id=self.padding,
            decoder_start_token_id=self.start if self.two_parts else None,
        )
        with without_settings(self.network):
            output = self.network.generate(
                tokens.to(self.network.device),
                attention_mask=mask.to(self.network.device),
                generation_config=settings,
                logits_processor=[keeper],
                **cache,
            )
        if keeper.broken:
            net.refuse_nonfinite(
                f"{type(self.network).__name__}: what follows a prompt has no finite probability", self.network
            )
        written = output[:, 1 if self.two_parts else tokens.shape[1] :].tolist()
        return [self.read(row, keeper, place) for place, row in enumerate(written)]

    def _place(self, ids: Sequence[list[int]], layout: Layout) -> tuple[torch.Tensor, torch.Tensor]:
        """Return token ids and attention mask, shape (prompts, tokens): each part padded on the left."""
        width = sum(layout.widths)
        tokens = torch.full((len(ids), width), self.padding)
        mask = torch.zeros((len(ids), width), dtype=torch.long)
        for group, prefix in zip(layout.groups, layout.prefixes, strict=True):
            for row in group:
                stops = [layout.shared, layout.shared + layout.widths[1], width]
                cuts = [0, layout.shared, prefix, len(ids[row])]
                if self.two_parts:
                    stops[-1] = len(ids[row])
                for start, end, stop in zip(cuts[:-1], cuts[1:], stops, strict=True):
                    tokens[row, stop - (end - start) : stop] = torch.tensor(ids[row][start:end])
                    mask[row, stop - (end - start) : stop] = 1
        return tokens, mask

    def _read_beginnings(self, tokens: torch.Tensor, mask: torch.Tensor, layout: Layout) -> DynamicCache:
        """Return the keys and values of what prompts begin with, for each prompt."""
        body, cache = self.network.base_model, DynamicCache(config=self.network.config)
        firsts = [group[0] for group in layout.groups]
        start = 0
        for width, rows in zip(layout.widths[:2], ([0], firsts), strict=True):
            if width:
                seen = mask[rows, : start + width].to(body.device)
                given = {"position_ids": (seen.cumsum(1) - 1).clamp(min=0)[:, start:]}
                body(
                    input_ids=tokens[rows, start : start + width].to(body.device),
                    attention_mask=seen,
                    cache=cache,
                    use_cache=True,
                    **(given if net.accepts_argument(body, "position_ids") else {}),
                )
            start += width
            if rows == [0]:
                cache.batch_repeat_interleave(len(firsts))
        group_of = {row: number for number, group in enumerate(layout.groups) for row in group}
        # On the CPU: layers may lie on several devices.
        cache.batch_select_indices(torch.tensor([group_of[row] for row in range(len(tokens))]))
        return cache

    def read(self, written: Sequence[int], keeper: "StepKeeper | None" = None, row: int = 0) -> Answer:
        """Return the answer in the tokens that were written, of which those behind an end token are none."""
        end = next((place for place, token in enumerate(written) if token in self.ends), None)
        tokens = list(written[:end])
        text = self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        if keeper is None or not keeper.steps:
            return Answer(text, tuple(tokens), end is not None)
        steps = keeper.steps[: len(tokens) + (end is not None)]
        top = [(ids[row], values[row]) for ids, values, _ in steps]
        return Answer(text, tuple(tokens), end is not None, top, np.array([masses[row] for *_, masses in steps]))

    def raw(self, answer: Answer) -> list[int]:
        """Return the tokens that :meth:`read` makes an answer of."""
        return [*answer.tokens, *self.ends[:1]] if answer.finished else list(answer.tokens)


class StepKeeper:
    """Keeps token ids and probabilities of the most probable tokens, and masses, of each step; changes no logits.

    ``output_logits`` would hold the vocabulary of every step until the end.
    """

    def __init__(self, top_k: int, groups: torch.Tensor | None):
        self.top_k, self.groups = top_k, groups
        self.steps: list[tuple[np.ndarray, ...]] = []
        self.broken: torch.Tensor | bool = False

    def __call__(self, _ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        # Tokens may be ruled out, but not all of them; generation would go on with token 0.
        self.broken = self.broken | ~logits.amax(1).isfinite().all()
        if self.top_k or self.groups is not None:
            self.steps.append(most_probable(logits, self.top_k, self.groups))
        return logits


def possible_ways(network: Any) -> tuple[str, ...]:
    """Return the ways that a network may be run in, the fastest first."""
    config = network.config.get_text_config()
    if network.config.is_encoder_decoder or any(getattr(config, name, None) for name in WINDOWS):
        return BATCHING_MODES[1:]
    # States of recurrent layers take in the padding, and windows are cut where keys and values are kept.
    plain = all(type(layer) is DynamicLayer for layer in DynamicCache(config=network.config).layers)
    return BATCHING_MODES if plain else BATCHING_MODES[1:]


def end_tokens(network: Any, tokenizer: Any) -> list[int]:
    """Return the ids of the tokens that end a text: those of the generation settings, otherwise the tokenizer's."""
    configured = network.generation_config.eos_token_id
    configured = tokenizer.eos_token_id if configured is None else configured
    ends = configured if isinstance(configured, list) else [] if configured is None else [configured]
    size = network.config.get_text_config().vocab_size
    for end in ends:
        if not isinstance(end, int) or not 0 <= end < size:
            raise UserError(
                f"{type(network).__name__}: eos_token_id {end!r} is not a token of the model, whose vocabulary has "
                f"{size}; correct it in the checkpoint's generation_config.json, or leave this model out"
            )
    return ends


@contextlib.contextmanager
def without_settings(network: Any) -> Iterator[None]:
    """Keep a checkpoint's settings (samples, penalties, lengths) from filling what was left open."""
    own, network.generation_config = network.generation_config, GenerationConfig()
    try:
        yield
    finally:
        network.generation_config = own
