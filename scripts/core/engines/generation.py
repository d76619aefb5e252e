"""Continue prompts, greedily, in batches, with decoders and encoder-decoders.

Special cases, decided once:

* The most probable token is taken at every step; whatever the checkpoint's own settings ask for (sampling, penalties,
  forced tokens) is left out. Equal logits go to the lower token id.
* Prompts are tokenised as the tokenizer does, special tokens included. A prompt that begins with the tokenizer's
  beginning-of-sequence token already, as chat templates write it, gets no second one.
* The end tokens are those of the checkpoint's generation settings (chat models may have several), otherwise the
  tokenizer's. The end token is no part of what is returned.
* Decoders are padded on the left under an attention mask, so that every text ends where its continuation starts;
  position ids count real tokens alone. Encoder-decoders are padded on the right. Prompts of similar length share a
  batch, or prompts that begin alike where that saves more: a decoder reads what a batch's prompts begin with once, and
  padding follows it.
* A prompt that leaves no room for the new tokens in the model's context is an error, never truncated.
* Probabilities are as :mod:`scripts.core.engines.ranking` says.
* Before the first batch, a few of the job's prompts are continued together, in float32, and what is most probable after
  each is compared with single passes over the same tokens without a cache (:meth:`Generator.choose`). The fastest way
  that agrees is taken; a model for which none does is refused.

What is in a batch changes logits by floating-point rounding only; where two tokens are within that rounding of each
other the choice can flip. ``tests/core/engines/test_generation.py`` counts how often it does.
"""

import contextlib
import copy
import functools
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from scripts.core.engines import decoding, memory, structure
from scripts.core.engines.ranking import most_probable
from scripts.core.errors import UserError, count_noun
from scripts.core.models import costs
from scripts.core.models.contexts import context_length
from scripts.core.scoring.parts import progress_bar

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

log = logging.getLogger("pronouns")

BATCH_TOKENS = {"cpu": 8192, "cuda": 65536}
"""Tokens of a batch (prompts with padding, and new tokens) when the configuration says ``auto``: on a CPU, and on a GPU
with models whose memory of a text is not known (:func:`batch_tokens`)."""


BATCHING_MODES = ("shared", "batched", "alone")
"""How prompts are continued: in batches that read what prompts share once, in transformers' own loop, or in that one
prompt at a time."""

PROBE_TOKENS, PROBED_RANKS = 3, 10
"""New tokens of a probe, and how many of the most probable are compared after each."""

LEAST_PROBABILITY = 1e-6
"""Less probable tokens are not compared: their log-probabilities are rounding."""


@dataclass(frozen=True)
class Generation:
    """What a model wrote after one prompt.

    Attributes:
        text: The continuation, special tokens removed; ends before a stop string.
        tokens: Token ids of the whole continuation, without the end token.
        finished: Whether the model's own end token came.
        steps: For each generated token, the end token included, the ids of the ``top_k`` most probable tokens, best
            first, and their probabilities. Empty when ``top_k`` is 0. Of int64, of float64.
        masses: Probability of each group of tokens at each step, over the full vocabulary; no columns without groups.
            Shape (steps, groups), of float64.
    """

    text: str
    tokens: tuple
    finished: bool
    steps: tuple = field(default=(), compare=False)
    masses: np.ndarray | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Batch:
    """Prompts that are continued together.

    Attributes:
        rows: Which prompts, in the order of the plan.
        tokens: Tokens that the model reads for the batch at most: what its prompts share, the padded rest, and new
            tokens.
    """

    rows: list
    tokens: int


def generate(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    prompts: Sequence[str],
    *,
    max_new_tokens: int,
    tokens_per_batch: int | str,
    stop: Sequence[str] | None = None,
    top_k: int = 0,
    groups: torch.Tensor | None = None,
    progress: str = "",
) -> list[Generation]:
    """Continue every prompt.

    Args:
        model: A decoder or an encoder-decoder, in evaluation mode, on its device.
        max_new_tokens: Tokens to generate at most, the end token included.
        tokens_per_batch: Upper bound of a batch's tokens (:class:`Batch`), or ``auto``; halved when memory runs out.
        stop: Strings before which a continuation ends.
        top_k: How many of the most probable tokens to keep for each step.
        groups: Groups of tokens whose probability mass to keep for each step. Shape (vocabulary, groups), of bool.
        progress: Label of a progress bar; empty for none.

    Returns:
        One for each prompt, in their order.

    Raises:
        UserError: If a prompt is empty or too long for the model, or memory runs out with a single prompt.
    """
    generator: Any = Generator(
        model, tokenizer, max_new_tokens=max_new_tokens, tokens_per_batch=tokens_per_batch, stop=stop, top_k=top_k,
        groups=groups,
    )  # fmt: skip
    batches = generator.plan(prompts)
    results: list[Any] = [None] * len(prompts)
    with progress_bar(progress, sum(batch.tokens for batch in batches)) as bar:
        for batch in batches:
            for row, result in zip(batch.rows, generator.run([prompts[row] for row in batch.rows]), strict=True):
                results[row] = result
            bar.update(batch.tokens)
    return results


class Generator:
    """Continues prompts in batches; for callers that keep finished batches. Parameters as for :func:`generate`."""

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: "PreTrainedTokenizerBase",
        *,
        max_new_tokens: int,
        tokens_per_batch: int | str,
        stop: Sequence[str] | None = None,
        top_k: int = 0,
        groups: torch.Tensor | None = None,
    ):
        self.model: Any = model
        self.tokenizer: Any = tokenizer
        self.max_new_tokens = max_new_tokens
        self.budget = batch_tokens(model, tokens_per_batch)
        self.stop = tuple(stop or ())
        self.top_k = top_k
        self.groups = groups
        self.two_parts = model.config.is_encoder_decoder
        # Models with a memory of another kind (recurrent layers, windows, code of their own) read every prompt whole.
        self.way = "shared" if decoding.can_continue(model) else "batched"
        self.chosen = False
        self.ends = end_tokens(model, tokenizer)
        padding: Any = tokenizer.pad_token_id
        # Llama has no padding token; masked positions are never looked at, so any will do.
        self.padding = padding if padding is not None else (self.ends or [0])[0]
        self.has_run = False

    @property
    def shares(self) -> bool:
        """Whether what prompts begin with is read once."""
        return self.way == "shared" and not self.two_parts

    def choose(self, prompts: Sequence[str]) -> str:
        """Choose the way of continuing prompts, one of :data:`BATCHING_MODES`, and return it.

        The shortest and the longest prompt and the one most like the longest are continued by :data:`PROBE_TOKENS`
        tokens together, in float32. A single pass over each prompt and its new tokens says what should have been most
        probable at every step; that costs three such passes and a batch of three. Where long RoPE scales positions
        differently beyond a length that an answer may cross, the prompt that comes closest to it is continued beyond
        it as well, and each step has a pass of its own.

        Args:
            prompts: Those of the job; the probes are drawn from them.

        Raises:
            UserError: If no way agrees with the single passes.
        """
        ids = self.check(prompts)
        longest = max(range(len(ids)), key=lambda row: len(ids[row]))
        alike = max(
            (row for row in range(len(ids)) if ids[row] != ids[longest]),
            key=lambda row: decoding.common_tokens(ids[row], ids[longest]),
            default=longest,
        )
        shortest = min(range(len(ids)), key=lambda row: len(ids[row]))
        probes = [ids[row] for row in sorted({shortest, alike, longest})]
        limit = position_switch(self.model.config)
        below = [row for row in ids if len(row) <= limit < len(row) + self.max_new_tokens]
        crossing = max(below, key=len, default=None)
        probe = copy.copy(self)
        probe.top_k, probe.groups, probe.stop, probe.ends = PROBED_RANKS, None, (), []
        name = type(self.model).__name__
        with structure.in_float32(self.model), structure.exact_kernels():
            for way in BATCHING_MODES[BATCHING_MODES.index(self.way) :]:
                self.way = probe.way = way
                probe.max_new_tokens = min(PROBE_TOKENS, self.max_new_tokens)
                right = probe._is_right(probes, name)
                if right and crossing:
                    probe.max_new_tokens = min(limit - len(crossing) + PROBE_TOKENS, self.max_new_tokens)
                    right = probe._is_right([*probes, crossing], name)
                if right:
                    self.chosen = True
                    log.info("%s: prompts are continued in the way '%s'", name, way)
                    return way
        raise UserError(
            f"{name}: prompts are not continued as by single passes over the same tokens, together or alone; leave the "
            "model out of what is prompted"
        )

    def _is_right(self, probes: Sequence[list[int]], name: str):
        """Return whether prompts (token ids) are continued as by single passes; the last way must not fail."""
        try:
            parts = memory.run_in_halves(lambda some: list(self._carry_on(some)), probes, "prompt")
            continued = [row for part in parts for row in part]
        except Exception as error:
            if memory.ran_out(error) or self.way == BATCHING_MODES[-1]:
                structure.run_or_refuse(functools.partial(_raise, error), name, "a few prompts")
            return False
        return all(self._agrees(ids, raw, steps) for ids, (raw, steps, _) in zip(probes, continued, strict=True))

    def _agrees(self, tokens: Sequence[int], raw: Sequence[int], steps: Sequence[tuple[np.ndarray, np.ndarray]]):
        """Return whether the probabilities of ``steps`` are those of a single pass over a prompt and its new tokens."""
        crosses = len(tokens) <= position_switch(self.model.config) < len(tokens) + len(raw)
        with torch.inference_mode():
            if crosses:
                texts = [[*tokens, *raw[:step]] for step in range(len(raw))]
                passes = [self.model(**structure.text_inputs(self.model, [text])).logits[0, -1] for text in texts]
                logits = torch.stack(passes)
            elif self.two_parts:
                written = torch.tensor([[decoding.start_token(self.model), *raw[:-1]]], device=self.model.device)
                logits = self.model(**structure.text_inputs(self.model, [tokens]), decoder_input_ids=written).logits[0]
            else:
                whole: dict[str, Any] = structure.text_inputs(self.model, [[*tokens, *raw[:-1]]])
                if structure.accepts(self.model, "logits_to_keep"):
                    whole["logits_to_keep"] = len(raw)
                logits = self.model(**whole).logits[0, -len(raw) :]
        expected = logits.float().log_softmax(-1).double().cpu().numpy()
        tolerance = structure.TOLERANCE + structure.TOLERANCE_PER_TOKEN * (len(tokens) + len(raw))
        return len(steps) == len(expected) and all(
            (np.abs(np.log(values) - row[ids])[values > LEAST_PROBABILITY] <= tolerance).all()
            for row, (ids, values) in zip(expected, steps, strict=True)
        )

    def tokenize(self, prompts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each prompt, shape (tokens,), special tokens included."""
        start = self.tokenizer.bos_token
        plain = [bool(start) and prompt.startswith(start) for prompt in prompts]
        sequences: list[Any] = [None] * len(prompts)
        for add_special in (True, False):
            rows = [row for row, written in enumerate(plain) if written != add_special]
            if rows:
                texts = [prompts[row] for row in rows]
                for row, ids in zip(
                    rows, self.tokenizer(texts, add_special_tokens=add_special)["input_ids"], strict=True
                ):
                    sequences[row] = ids
        return sequences

    def check(self, prompts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each prompt; errors as in :meth:`plan`."""
        ids = self.tokenize(prompts)
        limit = context_length(self.model)
        for prompt, tokens in zip(prompts, ids, strict=True):
            if not tokens:
                raise UserError("a prompt is empty: there is nothing to continue; leave it out")
            if limit and len(tokens) + (0 if self.two_parts else self.max_new_tokens) > limit:
                raise UserError(
                    f"a prompt has {count_noun(len(tokens), 'token')}, {self.max_new_tokens} more are to be generated, "
                    f"and the model takes {limit}; prompts are never truncated: leave it out "
                    f"(it starts {prompt[:40]!r})"
                )
        return ids

    def plan(self, prompts: Sequence[str]) -> list[Batch]:
        """Return the batches for ``prompts``, the longest first; the same batches for the same prompts.

        Raises:
            UserError: If a prompt is empty, or with its continuation longer than the model's context.
        """
        ids = self.check(prompts)
        if prompts and not self.chosen:
            self.choose(prompts)
        rows = range(len(prompts))
        plans = [self._cut(sorted(rows, key=lambda row: (-len(ids[row]), prompts[row])), ids)]
        if self.shares:
            plans.append(self._cut(sorted(rows, key=lambda row: (ids[row], prompts[row])), ids))
        best = min(plans, key=lambda batches: sum(batch.tokens for batch in batches))
        return sorted(best, key=lambda batch: -max(len(ids[row]) for row in batch.rows))

    def _cut(self, order: Iterable[int], ids: Sequence[list[int]]):
        """Cut rows into batches whose padded prompts and new tokens stay within the budget."""
        row: Any
        batches, rows, width = [], [], 0
        for row in [*order, None]:
            wider = width if row is None else max(width, len(ids[row]) + self.max_new_tokens)
            full = wider * (len(rows) + 1) > self.budget or len(rows) == costs.MOST_PROMPTS
            if rows and (row is None or full):
                read = (width - self.max_new_tokens) * len(rows)
                if self.shares:
                    read = decoding.layout([ids[member] for member in rows]).tokens(len(rows))
                batches.append(Batch(rows, read + self.max_new_tokens * len(rows)))
                rows, wider = [], 0 if row is None else len(ids[row]) + self.max_new_tokens
            rows, width = [*rows, row], wider
        return batches

    def run(self, prompts: Sequence[str]) -> list[Generation]:
        """Return a :class:`Generation` for each prompt of a batch; a batch that does not fit is halved.

        Raises:
            UserError: If memory runs out with a single prompt; or, with the first batch, whatever the model raises.
        """

        def halved():
            return [result for part in memory.run_in_halves(self._run, prompts, "prompt") for result in part]

        if self.has_run:
            return halved()
        results = structure.run_or_refuse(halved, type(self.model).__name__, "a first batch of prompts")
        self.has_run = True
        return results

    def read(self, tokens: Sequence[int]) -> Generation:
        """Return the :class:`Generation`, without steps, for the raw token ids of a continuation, end token included.

        Together with :meth:`raw` it lets a caller keep token ids alone.
        """
        return self._result(list(tokens), (), np.zeros((len(tokens), 0)))

    def raw(self, generation: Generation) -> list[int]:
        """Return the token ids of a continuation; an end token follows if it came."""
        return [*generation.tokens, *self.ends[:1]] if generation.finished else list(generation.tokens)

    def _run(self, prompts: Sequence[str]):
        return [self._result(*row) for row in self._carry_on(self.tokenize(prompts))]

    def _carry_on(self, ids: Sequence[list[int]]):
        """Yield (raw tokens up to the end token, steps, masses) for each row of token ids, in the way chosen."""
        if self.way == "shared":
            yield from self._continue(ids)
        elif self.way == "batched":
            yield from self._continue_whole(ids)
        else:
            for tokens in ids:
                yield from self._continue_whole([tokens])

    def _continue(self, ids: Sequence[list[int]]):
        """Return (raw tokens up to the end token, steps, masses) for each row of token ids."""
        keeper = _Keeper(self.top_k, self.groups)
        raw = [[] for _ in ids]
        # Rows of the batch by prompt; those that have ended are None until they leave.
        rows: list[int | None] = list(range(len(ids)))
        kept = [[] for _ in ids]
        with torch.inference_mode():
            batch = decoding.Batch(self.model, ids, self.padding)
            for step in range(self.max_new_tokens):
                logits = batch.logits
                if keeper.wanted:
                    keeper(None, logits)
                tokens = logits.argmax(-1)
                for place, (row, token) in enumerate(zip(rows, tokens.tolist(), strict=True)):
                    if row is None:
                        continue
                    raw[row].append(token)
                    if keeper.wanted:
                        kept[row].append(keeper.kept[-1].at(place))
                    if token in self.ends or (self.stop and self._stopped(raw[row])):
                        rows[place] = None
                left = [place for place, row in enumerate(rows) if row is not None]
                if not left or step + 1 == self.max_new_tokens:
                    break
                if len(rows) - len(left) >= decoding.ENDED_SHARE * len(rows):
                    batch.keep(left)
                    rows, tokens = [rows[place] for place in left], tokens[left]
                batch.step(tokens)
        for tokens, steps in zip(raw, kept, strict=True):
            yield tokens, *keeper.kept_steps(steps, len(tokens))

    def _continue_whole(self, ids: Sequence[list[int]]):
        """Return the same, from the model's own loop: for models that :mod:`decoding` cannot run."""
        from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

        width = max(map(len, ids))
        if self.model.config.model_type in ("mamba", "falcon_mamba"):
            # Their memory of a prompt that is shorter than the convolution is filled in the wrong places.
            width = max(width, self.model.config.conv_kernel)
        shape = (len(ids), width)
        inputs = torch.full(shape, self.padding, dtype=torch.long)
        mask = torch.zeros(shape, dtype=torch.long)
        for row, tokens in enumerate(ids):
            places = slice(0, len(tokens)) if self.two_parts else slice(width - len(tokens), width)
            inputs[row, places] = torch.tensor(tokens)
            mask[row, places] = 1
        settings = GenerationConfig(
            max_new_tokens=self.max_new_tokens,
            do_sample=False,
            num_beams=1,
            eos_token_id=self.ends or None,
            pad_token_id=self.padding,
            decoder_start_token_id=decoding.start_token(self.model) if self.two_parts else None,
        )
        keeper = _Keeper(self.top_k, self.groups)
        prefix = 1 if self.two_parts else width
        processors: list[Callable] = [keeper] if keeper.wanted else []
        with torch.inference_mode(), _without_defaults(self.model):
            output = self.model.generate(
                inputs.to(self.model.device),
                attention_mask=mask.to(self.model.device),
                generation_config=settings,
                logits_processor=LogitsProcessorList(processors),
                stopping_criteria=StoppingCriteriaList([_Stop(self, prefix)] if self.stop else []),
            )
        for row, tokens in enumerate(output[:, prefix:].tolist()):
            end = next((i for i, token in enumerate(tokens) if token in self.ends), len(tokens) - 1)
            raw = tokens[: end + 1]
            if self.stop:
                # Rows that met a stop string wait for the others as padding.
                raw = next((raw[:n] for n in range(1, len(raw)) if self._stopped(raw[:n])), raw)
            yield raw, *keeper.kept_steps([step.at(row) for step in keeper.kept[: len(raw)]], len(raw))

    def _result(self, raw: Sequence[int], steps: tuple, masses: np.ndarray):
        finished = bool(raw) and raw[-1] in self.ends
        tokens = raw[:-1] if finished else raw
        text = self._decode(tokens)
        for word in self.stop:
            text = text.partition(word)[0]
        return Generation(text, tuple(tokens), finished, steps, masses)

    def _decode(self, tokens: Sequence[int]):
        return self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)

    def _stopped(self, tokens: Sequence[int]):
        text = self._decode(tokens)
        return any(word in text for word in self.stop)


def _raise(error: Exception):
    raise error


def position_switch(config: "PreTrainedConfig") -> int:
    """Return the length beyond which long RoPE scales a decoder's positions differently; 0 for other positions."""
    config = config.get_text_config(decoder=True)
    rope = getattr(config, "rope_parameters", None) or {}
    kinds = [rope, *(part for part in rope.values() if isinstance(part, dict))]
    own = getattr(config, "original_max_position_embeddings", None)
    lengths = [
        kind.get("original_max_position_embeddings", own) for kind in kinds if kind.get("rope_type") == "longrope"
    ]
    return next(filter(None, lengths), 0)


@contextlib.contextmanager
def _without_defaults(model: "PreTrainedModel"):
    """Keep a checkpoint's settings (samples, penalties, lengths) from filling what was left open."""
    own, model.generation_config = model.generation_config, type(model.generation_config)()
    try:
        yield
    finally:
        model.generation_config = own


def batch_tokens(model: "PreTrainedModel", tokens_per_batch: int | str) -> int:
    """Return the tokens of a batch at most: as configured, or with ``auto`` as many as memory holds.

    On GPUs those are as many as their memory has room for, beside the weights and logits, when each leaves its keys and
    values and needs as much for activations as a plan assumes (:mod:`scripts.core.models.costs`). The number
    follows from the model and the devices alone, so that a job that was killed finds the same batches.
    """
    if not isinstance(tokens_per_batch, str):
        return tokens_per_batch
    kind = model.device.type
    if kind == "cpu" or not decoding.can_continue(model):
        return BATCH_TOKENS[kind]
    devices = {parameter.device for parameter in model.parameters()}
    memory = sum(torch.cuda.get_device_properties(device).total_memory for device in devices)
    return _tokens_within(memory, model)


def _tokens_within(memory: int, model: "PreTrainedModel"):
    """Return how many tokens of a batch fit into ``memory`` (bytes of all devices together) beside the model."""
    weights = sum(parameter.nbytes for parameter in model.parameters())
    room = costs.USABLE_MEMORY * memory - 1.1 * weights - costs.LOGITS_BYTES
    return max(1, int(room / (decoding.cached_bytes(model, 0) + costs.ACTIVATION_BYTES)))


def end_tokens(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> list[int]:
    """Return the ids of the tokens that end a text: those of the generation settings, otherwise the tokenizer's.

    Raises:
        UserError: If one of them is not a token of the model: texts would never end.
    """
    configured: Any = model.generation_config.eos_token_id
    if configured is None:
        configured = tokenizer.eos_token_id
    if configured is None:
        return []
    ends = list(configured) if isinstance(configured, (list, tuple)) else [configured]
    size = model.config.get_text_config().vocab_size
    for end in ends:
        if not isinstance(end, int) or not 0 <= end < size:
            raise UserError(
                f"{type(model).__name__}: eos_token_id {end!r} is not a token of the model, whose vocabulary has "
                f"{size}; correct it in the checkpoint's generation_config.json, or leave this model out"
            )
    return ends


class _Kept(NamedTuple):
    """What is kept of one step, of all rows or of one: token ids, probabilities, masses of groups."""

    ids: np.ndarray
    values: np.ndarray
    masses: np.ndarray

    def at(self, row: int) -> "_Kept":
        return _Kept(self.ids[row], self.values[row], self.masses[row])


class _Keeper:
    """Keeps the most probable tokens and the masses of groups at each step; changes no logits."""

    def __init__(self, top_k: int, groups: torch.Tensor | None):
        self.top_k = top_k
        self.groups = groups
        self.kept = []
        self.wanted = bool(top_k) or groups is not None

    def __call__(self, input_ids: torch.Tensor | None, scores: torch.Tensor) -> torch.Tensor:
        self.kept.append(_Kept(*most_probable(scores, self.top_k, self.groups)))
        return scores

    def kept_steps(self, kept: Sequence[_Kept], length: int) -> tuple[tuple, np.ndarray]:
        """Return steps and masses of a text of ``length`` tokens from what was kept of it."""
        steps = tuple((step.ids, step.values) for step in kept) if self.top_k else ()
        return steps, np.array([step.masses for step in kept]) if kept else np.zeros((length, 0))


class _Stop:
    """Tells for each row whether a stop string has come."""

    def __init__(self, generator: Generator, prefix: int):
        self.generator = generator
        self.prefix = prefix

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **options: Any) -> torch.Tensor:
        rows = [self.generator._stopped(tokens) for tokens in input_ids[:, self.prefix :].tolist()]
        return torch.tensor(rows, device=input_ids.device)
