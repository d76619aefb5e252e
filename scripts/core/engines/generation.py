"""Continue prompts greedily, in batches, with decoders and encoder-decoders.

Special cases, decided once:

* The most probable token is taken at every step; whatever else the checkpoint's own settings ask for (sampling,
  penalties, forced tokens) is left out. Equal logits go to the lower token id.
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

What is in a batch changes logits by floating-point rounding only; where two tokens are within that rounding of each
other the choice can flip. ``tests/core/engines/test_generation.py`` counts how often it does.
"""

import logging
from dataclasses import dataclass, field

import numpy as np
import torch

from scripts.core.engines import memory, structure
from scripts.core.engines.batches import context_length, progress_bar
from scripts.core.engines.ranking import most_probable
from scripts.core.errors import UserError, counted

log = logging.getLogger("pronouns")

# Shorter beginnings are not worth the copies of their keys and values.
SHORTEST_SHARED = 8

BATCH_TOKENS = {"cpu": 8192, "cuda": 65536}
"""Tokens of a batch (prompts with padding, and new tokens) when the configuration says ``auto``."""


@dataclass(frozen=True)
class Generation:
    """What a model wrote after one prompt.

    Attributes
    ----------
    text : str
        The continuation, special tokens removed; ends before a stop string.
    tokens : tuple of int
        Token ids of the whole continuation, without the end token.
    finished : bool
        Whether the model's own end token came.
    steps : tuple of (ndarray of int64, ndarray of float64)
        For each generated token, the end token included, the ids of the ``top_k`` most probable tokens, best first,
        and their probabilities. Empty when ``top_k`` is 0.
    masses : ndarray of float64, shape (steps, groups)
        Probability of each group of tokens at each step, over the full vocabulary; no columns without groups.
    """

    text: str
    tokens: tuple
    finished: bool
    steps: tuple = field(default=(), compare=False)
    masses: np.ndarray = field(default=None, compare=False)


@dataclass(frozen=True)
class Batch:
    """Prompts that are continued together.

    Attributes
    ----------
    rows : list of int
        Which prompts, in the order of the plan.
    tokens : int
        Tokens that the model reads for the batch at most: what its prompts share, the padded rest, and new tokens.
    """

    rows: list
    tokens: int


def generate(
    model, tokenizer, prompts, *, max_new_tokens, tokens_per_batch, stop=None, top_k=0, groups=None, progress=""
):
    """Continue every prompt greedily.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A decoder or an encoder-decoder, in evaluation mode, on its device.
    tokenizer : transformers.PreTrainedTokenizerBase
    prompts : sequence of str
    max_new_tokens : int
        Tokens to generate at most, the end token included.
    tokens_per_batch : int or "auto"
        Upper bound of a batch's tokens (:class:`Batch`); halved when memory runs out.
    stop : sequence of str, optional
        Strings before which a continuation ends.
    top_k : int
        How many of the most probable tokens to keep for each step.
    groups : Tensor of bool, shape (vocabulary, groups), optional
        Groups of tokens whose probability mass to keep for each step.
    progress : str
        Label of a progress bar; empty for none.

    Returns
    -------
    list of Generation
        One for each prompt, in their order.

    Raises
    ------
    UserError
        If a prompt is empty or too long for the model, or memory runs out with a single prompt.
    """
    generator = Generator(
        model, tokenizer, max_new_tokens=max_new_tokens, tokens_per_batch=tokens_per_batch, stop=stop, top_k=top_k,
        groups=groups,
    )  # fmt: skip
    batches = generator.plan(prompts)
    results = [None] * len(prompts)
    with progress_bar(progress, sum(batch.tokens for batch in batches)) as bar:
        for batch in batches:
            for row, result in zip(batch.rows, generator.run([prompts[row] for row in batch.rows]), strict=True):
                results[row] = result
            bar.update(batch.tokens)
    return results


class Generator:
    """Continues prompts in batches; for callers that keep finished batches. Parameters as for :func:`generate`."""

    def __init__(self, model, tokenizer, *, max_new_tokens, tokens_per_batch, stop=None, top_k=0, groups=None):
        self.model = model
        self.tokenizer = tokenizer
        self.max_new_tokens = max_new_tokens
        self.budget = BATCH_TOKENS[model.device.type] if tokens_per_batch == "auto" else tokens_per_batch
        self.stop = tuple(stop or ())
        self.top_k = top_k
        self.groups = groups
        self.two_parts = model.config.is_encoder_decoder
        # Models with a memory of another kind (recurrent layers, code of their own) read every prompt whole.
        from_transformers = type(model).__module__.startswith("transformers.")
        self.shares = from_transformers and not self.two_parts and model._supports_default_dynamic_cache()
        self.ends = end_tokens(model, tokenizer)
        padding = tokenizer.pad_token_id
        # Llama has no padding token; masked positions are never looked at, so any will do.
        self.padding = padding if padding is not None else (self.ends or [0])[0]
        self.has_run = False

    def tokenize(self, prompts):
        """Return the token ids of each prompt, shape (tokens,), special tokens included."""
        start = self.tokenizer.bos_token
        plain = [bool(start) and prompt.startswith(start) for prompt in prompts]
        sequences = [None] * len(prompts)
        for add_special in (True, False):
            rows = [row for row, written in enumerate(plain) if written != add_special]
            if rows:
                texts = [prompts[row] for row in rows]
                for row, ids in zip(
                    rows, self.tokenizer(texts, add_special_tokens=add_special)["input_ids"], strict=True
                ):
                    sequences[row] = ids
        return sequences

    def check(self, prompts):
        """Return the token ids of each prompt; errors as in :meth:`plan`."""
        ids = self.tokenize(prompts)
        limit = context_length(self.model)
        for prompt, tokens in zip(prompts, ids, strict=True):
            if not tokens:
                raise UserError("a prompt is empty: there is nothing to continue; leave it out")
            if limit and len(tokens) + (0 if self.two_parts else self.max_new_tokens) > limit:
                raise UserError(
                    f"a prompt has {counted(len(tokens), 'token')}, {self.max_new_tokens} more are to be generated, "
                    f"and the model takes {limit}; prompts are never truncated: leave it out "
                    f"(it starts {prompt[:40]!r})"
                )
        return ids

    def plan(self, prompts):
        """Return the batches for ``prompts``, the longest first; the same batches for the same prompts.

        Raises
        ------
        UserError
            If a prompt is empty, or with its continuation longer than the model's context.
        """
        ids = self.check(prompts)
        rows = range(len(prompts))
        plans = [self._cut(sorted(rows, key=lambda row: (-len(ids[row]), prompts[row])), ids)]
        if self.shares:
            plans.append(self._cut(sorted(rows, key=lambda row: (ids[row], prompts[row])), ids))
        best = min(plans, key=lambda batches: sum(batch.tokens for batch in batches))
        return sorted(best, key=lambda batch: -max(len(ids[row]) for row in batch.rows))

    def _cut(self, order, ids):
        """Cut rows into batches whose padded prompts and new tokens stay within the budget."""
        batches, rows, width = [], [], 0
        for row in [*order, None]:
            wider = width if row is None else max(width, len(ids[row]) + self.max_new_tokens)
            if rows and (row is None or wider * (len(rows) + 1) > self.budget):
                shared = self._shared([ids[member] for member in rows])
                batches.append(Batch(rows, shared + (width - shared) * len(rows)))
                rows, wider = [], 0 if row is None else len(ids[row]) + self.max_new_tokens
            rows, width = [*rows, row], wider
        return batches

    def _shared(self, ids):
        """Return how many tokens all of a batch begin with and read once; every prompt keeps one of its own."""
        if not self.shares or len(ids) < 2:
            return 0
        first, last = min(ids), max(ids)
        most = min(map(len, ids)) - 1
        count = next((i for i in range(most) if first[i] != last[i]), most)
        return count if count >= SHORTEST_SHARED else 0

    def run(self, prompts):
        """Return a :class:`Generation` for each prompt of a batch; a batch that does not fit is halved.

        Raises
        ------
        UserError
            If memory runs out with a single prompt; or, with the first batch, whatever the model raises.
        """

        def halved():
            return [result for part in memory.halved(self._run, prompts, "prompt") for result in part]

        if self.has_run:
            return halved()
        results = structure.run_or_refuse(halved, type(self.model).__name__, "a first batch of prompts")
        self.has_run = True
        return results

    def read(self, tokens):
        """Return the :class:`Generation`, without steps, for the raw token ids of a continuation, end token included.

        Together with :meth:`raw` it lets a caller keep token ids alone.
        """
        return self._result(list(tokens), (), np.zeros((len(tokens), 0)))

    def raw(self, generation):
        """Return the token ids of a continuation; an end token follows if it came."""
        return [*generation.tokens, *self.ends[:1]] if generation.finished else list(generation.tokens)

    def _run(self, prompts):
        return [self._result(*row) for row in self._continue(self.tokenize(prompts))]

    def _continue(self, ids):
        """Return (raw tokens up to the end token, steps, masses) for each row of token ids."""
        from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

        width, shared = max(map(len, ids)), self._shared(ids)
        shape = (len(ids), width)
        inputs = torch.full(shape, self.padding, dtype=torch.long)
        mask = torch.zeros(shape, dtype=torch.long)
        for row, tokens in enumerate(ids):
            # Right of the tokens, or between what all share and the rest.
            places = np.arange(len(tokens))
            if not self.two_parts:
                places[shared:] += width - len(tokens)
            inputs[row, places] = torch.tensor(tokens)
            mask[row, places] = 1
        settings = GenerationConfig(
            max_new_tokens=self.max_new_tokens,
            do_sample=False,
            num_beams=1,
            eos_token_id=self.ends or None,
            pad_token_id=self.padding,
        )
        keeper = _Keeper(self.top_k, self.groups)
        prefix = 1 if self.two_parts else width
        with torch.inference_mode():
            output = self.model.generate(
                inputs.to(self.model.device),
                attention_mask=mask.to(self.model.device),
                generation_config=settings,
                use_model_defaults=False,
                logits_processor=LogitsProcessorList([keeper] if keeper.wanted else []),
                stopping_criteria=StoppingCriteriaList([_Stop(self, prefix)] if self.stop else []),
                **({"past_key_values": self._read_once(ids[0][:shared], len(ids))} if shared else {}),
            )
        for row, tokens in enumerate(output[:, prefix:].tolist()):
            end = next((i for i, token in enumerate(tokens) if token in self.ends), len(tokens) - 1)
            raw = tokens[: end + 1]
            if self.stop:
                # Rows that met a stop string wait for the others as padding.
                raw = next((raw[:n] for n in range(1, len(raw)) if self._stopped(raw[:n])), raw)
            yield raw, *keeper.row(row, len(raw))

    def _read_once(self, tokens, rows):
        """Return the keys and values of ``tokens`` for a batch of ``rows``."""
        inputs = torch.tensor([tokens]).to(self.model.device)
        memory = self.model(input_ids=inputs, attention_mask=torch.ones_like(inputs), use_cache=True).past_key_values
        memory.batch_repeat_interleave(rows)
        return memory

    def _result(self, raw, steps, masses):
        finished = bool(raw) and raw[-1] in self.ends
        tokens = raw[:-1] if finished else raw
        text = self._decode(tokens)
        for word in self.stop:
            text = text.partition(word)[0]
        return Generation(text, tuple(tokens), finished, steps, masses)

    def _decode(self, tokens):
        return self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)

    def _stopped(self, tokens):
        text = self._decode(tokens)
        return any(word in text for word in self.stop)


def end_tokens(model, tokenizer):
    """Return the ids of the tokens that end a text: those of the generation settings, otherwise the tokenizer's.

    Raises
    ------
    UserError
        If one of them is not a token of the model: texts would never end.
    """
    configured = model.generation_config.eos_token_id
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


class _Keeper:
    """Keeps the most probable tokens and the masses of groups at each step; changes no logits."""

    def __init__(self, top_k, groups):
        self.top_k = top_k
        self.groups = groups
        self.kept = []
        self.wanted = bool(top_k) or groups is not None

    def __call__(self, input_ids, scores):
        self.kept.append(most_probable(scores, self.top_k, self.groups))
        return scores

    def row(self, row, length):
        """Return steps and masses of a row, for its first ``length`` tokens."""
        kept = self.kept[:length]
        steps = tuple((ids[row], values[row]) for ids, values, _ in kept) if self.top_k else ()
        return steps, np.array([masses[row] for _, _, masses in kept]) if kept else np.zeros((length, 0))


class _Stop:
    """Tells for each row whether a stop string has come."""

    def __init__(self, generator, prefix):
        self.generator = generator
        self.prefix = prefix

    def __call__(self, input_ids, scores, **options):
        rows = [self.generator._stopped(tokens) for tokens in input_ids[:, self.prefix :].tolist()]
        return torch.tensor(rows, device=input_ids.device)
