"""Continue prompts greedily with ``model.generate``, in batches of similar length, padded on the left.

The checkpoint's own generation settings (samples, penalties, forced tokens) are left out but for its end tokens. The
end token is no part of an answer. Prompts are never truncated.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache, GenerationConfig

from scripts.core.engines.batches import context_length
from scripts.core.errors import UserError
from scripts.core.scoring import network as net
from scripts.core.scoring.check import TOLERANCE, TOLERANCE_PER_TOKEN, in_float32
from scripts.core.scoring.tree import common_prefix

log = logging.getLogger("pronouns")

BATCH_TOKENS = {"cpu": 8192, "cuda": 65536}
"""Tokens of a batch: prompts with padding, and new tokens."""
WAYS = ("shared", "padded", "equal", "single")
"""In batches that read once what their prompts begin with, padded on the left, of equal length, one by one."""
LEAST_SHARED = 8
PADDING = 0.125
"""The share of a batch that may be padding."""
CHECKED_TOKENS, LEAST_PROBABILITY = 3, 1e-6
"""New tokens that a check compares; less probable tokens are rounding."""


@dataclass(frozen=True)
class Answer:
    """What a model wrote after one prompt.

    Attributes:
        text: Special tokens removed; ends before a stop string.
        tokens: Token ids without the end token.
        finished: Whether the model's own end token came.
        top: For each generated token, the end token included, the ids and probabilities of the most probable.
        masses: Probability of each group of tokens at each step, over the vocabulary. Shape (steps, groups).
    """

    text: str
    tokens: tuple[int, ...]
    finished: bool
    top: list[tuple[np.ndarray, np.ndarray]]
    masses: np.ndarray


class Generator:
    """Continues prompts.

    Args:
        network: A decoder or an encoder-decoder in evaluation mode. Its generation settings are replaced.
        stop: Strings before which an answer ends.
        top_k: How many of the most probable tokens to keep for each step.
        groups: Groups of tokens whose probability to keep for each step. Bool of shape (vocabulary, groups).
    """

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        max_new_tokens: int,
        stop: Sequence[str] = (),
        top_k: int = 0,
        groups: torch.Tensor | None = None,
        batch_tokens: int | None = None,
    ):
        self.network, self.tokenizer = network, tokenizer
        self.way = "padded" if network.config.is_encoder_decoder else "shared"
        self.max_new_tokens, self.stop, self.top_k, self.groups = max_new_tokens, tuple(stop), top_k, groups
        self.batch_tokens = batch_tokens or BATCH_TOKENS[network.device.type]
        own = network.generation_config.eos_token_id
        own = tokenizer.eos_token_id if own is None else own
        self.ends = [] if own is None else list(np.atleast_1d(own).tolist())
        vocabulary = network.config.get_text_config().vocab_size
        if not all(0 <= end < vocabulary for end in self.ends):
            raise UserError(f"{type(network).__name__}: the end tokens {self.ends} are none of its {vocabulary} tokens")
        self.padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else (self.ends or [0])[0]
        self.two_parts = network.config.is_encoder_decoder
        start = getattr(network.config, "decoder_start_token_id", None)
        network.generation_config = GenerationConfig(
            eos_token_id=self.ends or None, pad_token_id=self.padding, decoder_start_token_id=start
        )

    def tokenize(self, prompts: Sequence[str]) -> list[list[int]]:
        """Return token ids; a chat template that wrote the beginning itself gets no second one."""
        ids, start = [], self.tokenizer.bos_token
        limit = context_length(self.network)
        for prompt in prompts:
            ids.append(self.tokenizer(prompt, add_special_tokens=not (start and prompt.startswith(start)))["input_ids"])
            size = len(ids[-1]) + (0 if self.two_parts else self.max_new_tokens)
            if not ids[-1] or (limit and size > limit):
                raise UserError(
                    f"a prompt with its answer has {size} tokens and the model takes {limit}; prompts are never "
                    f"truncated or empty: leave it out (it starts {prompt[:40]!r})"
                )
        return ids

    def plan(self, ids: Sequence[list[int]]) -> list[list[int]]:
        """Divide prompts into batches, the longest first, the same for the same prompts."""
        order = sorted(range(len(ids)), key=lambda n: (-len(ids[n]), ids[n]))
        if self.way == "single":
            return [[number] for number in order]
        sizes = [len(tokens) + self.max_new_tokens for tokens in ids]
        padded = net.cut_passes(order, sizes, self.batch_tokens, 0 if self.way == "equal" else PADDING)
        if self.way != "shared":
            return padded
        together, most = [], self.batch_tokens // max(sizes, default=1)
        for number in sorted(order, key=lambda n: ids[n]):
            if together and len(together[-1]) < most:
                together[-1].append(number)
            else:
                together.append([number])
        return min(padded, together, key=lambda batches: sum(_tokens_read([ids[n] for n in b]) for b in batches))

    def answer(self, prompts: Sequence[str]) -> list[Answer]:
        """Return an answer to each prompt, in their order."""
        ids = self.tokenize(prompts)
        answers: dict[int, Answer] = {}
        for batch in self.plan(ids):
            answers.update(zip(batch, self.run([ids[n] for n in batch]), strict=True))
        return [answers[n] for n in range(len(prompts))]

    def run(self, ids: Sequence[list[int]]) -> list[Answer]:
        """Continue a batch; where memory runs out, halves of it."""
        return net.run_halving(self._run, ids)

    def _run(self, ids: Sequence[list[int]]) -> list[Answer]:
        width, shared = max(map(len, ids)), _shared_prefix(ids) if self.way == "shared" else 0
        inputs, mask = np.full((len(ids), width), self.padding), np.zeros((len(ids), width), dtype=np.int64)
        for row, tokens in enumerate(ids):
            # Padding stands behind what the prompts share; an encoder's stands at the end.
            cut = len(tokens) if self.two_parts else shared
            for place, part in ((slice(cut), tokens[:cut]), (slice(width - len(tokens) + cut, width), tokens[cut:])):
                inputs[row, place], mask[row, place] = part, 1
        cache = {"past_key_values": self._read_prefix(ids[0][:shared], len(ids))} if shared else {}
        keeper = StepKeeper(self.top_k, self.groups)
        output = self.network.generate(
            torch.from_numpy(inputs).to(self.network.device),
            attention_mask=torch.from_numpy(mask).to(self.network.device),
            max_new_tokens=self.max_new_tokens,
            do_sample=False,
            **cache,
            logits_processor=[keeper] if self.top_k or self.groups is not None else [],
            **({"stop_strings": list(self.stop), "tokenizer": self.tokenizer} if self.stop else {}),
        )
        written = output[:, 1 if self.two_parts else width :].tolist()
        return [self._read(tokens, row, keeper) for row, tokens in enumerate(written)]

    def _read_prefix(self, prefix: list[int], rows: int) -> DynamicCache:
        """Return the keys and values of what all prompts of a batch begin with, once for each."""
        cache = DynamicCache(config=self.network.config)
        self.network.base_model(**net.text_arguments(self.network, np.array([prefix])), past_key_values=cache)
        cache.batch_repeat_interleave(rows)
        return cache

    def _read(self, written: list[int], row: int, keeper: "StepKeeper") -> Answer:
        end = next((i for i, token in enumerate(written) if token in self.ends), None)
        tokens = written[:end]
        text = self._decode(tokens)
        if any(word in text for word in self.stop):
            # A row that met a stop string waits for the others as padding.
            length = next(n for n in range(1, len(tokens) + 1) if any(w in self._decode(tokens[:n]) for w in self.stop))
            tokens, end = tokens[:length], None
            text = min((text.partition(word)[0] for word in self.stop), key=len)
        steps = len(tokens) + (end is not None)
        top = [(ids[row], values[row]) for ids, values in keeper.top[:steps]]
        masses = [values[row] for values in keeper.masses[:steps]]
        return Answer(text, tuple(tokens), end is not None, top, np.array(masses))

    def _decode(self, tokens: list[int]) -> str:
        return self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)

    def choose_way(self, prompts: Sequence[str]) -> str:
        """Set the fastest way that agrees with single passes, on the shortest, the longest and the one most like it."""
        ids = sorted(self.tokenize(prompts), key=len)
        *others, longest = ids
        alike = max(others, key=lambda tokens: common_prefix(np.array(tokens), np.array(longest)), default=longest)
        probes = [ids[0], alike, longest]
        # Together whatever their lengths: batches of the job are padded less.
        tried = {
            "shared": [probes[1:], probes],
            "padded": [probes],
            "equal": [[p, p] for p in probes],
            "single": [[p] for p in probes],
        }
        own = self.max_new_tokens, self.top_k, self.groups, self.stop, self.ends
        settings = self.network.generation_config.eos_token_id
        with in_float32(self.network) as widened:
            self.max_new_tokens, self.top_k, self.groups, self.stop = min(CHECKED_TOKENS, own[0]), 10, None, ()
            self.network.generation_config.eos_token_id, self.ends = None, []
            try:
                for way in WAYS[self.two_parts :] if widened else ():
                    self.way = way
                    try:
                        pairs = [pair for batch in tried[way] for pair in zip(batch, self.run(batch), strict=True)]
                    except (AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
                        log.info("prompts cannot be continued %s: %s", self.way, error)
                        continue
                    if all(self._agrees(prompt, answer) for prompt, answer in pairs):
                        return self.way
                    log.warning("prompts continued %s differ from single passes", self.way)
            finally:
                self.max_new_tokens, self.top_k, self.groups, self.stop, self.ends = own
                self.network.generation_config.eos_token_id = settings
        if not widened:
            log.warning("too large to be checked in float32; prompts are continued one by one")
            self.way = "single"
            return self.way
        raise UserError(f"{type(self.network).__name__} does not continue prompts as by single passes; leave it out")

    @torch.inference_mode()
    def _agrees(self, prompt: list[int], answer: Answer) -> bool:
        """Return whether the probabilities of an answer are those of one pass without a cache."""
        written = list(answer.tokens)
        if self.two_parts:
            start = self.network.generation_config.decoder_start_token_id
            read = torch.tensor([[start, *written[:-1]]], device=self.network.device)
            logits = self.network(
                **net.text_arguments(self.network, np.array([prompt])), decoder_input_ids=read
            ).logits[0]
        else:
            whole = np.array([[*prompt, *written[:-1]]])
            logits = self.network(**net.text_arguments(self.network, whole)).logits[0, -len(written) :]
        expected = logits.float().log_softmax(-1).double().cpu().numpy()
        bound = TOLERANCE + TOLERANCE_PER_TOKEN * (len(prompt) + len(written))
        return all(
            (abs(np.log(values) - row[ids])[values > LEAST_PROBABILITY] <= bound).all()
            for row, (ids, values) in zip(expected, answer.top, strict=True)
        )


def _shared_prefix(ids: Sequence[list[int]]) -> int:
    """Return how many tokens all prompts of a batch begin with; each has one more."""
    first = np.array(ids[0])
    shared = min([common_prefix(first, np.array(tokens)) for tokens in ids] + [len(tokens) - 1 for tokens in ids])
    return shared if len(ids) > 1 and shared >= LEAST_SHARED else 0


def _tokens_read(ids: Sequence[list[int]]) -> int:
    shared = _shared_prefix(ids)
    return shared + len(ids) * (max(map(len, ids)) - shared)


class StepKeeper:
    """Keeps the most probable tokens and the masses of groups at each step; changes no logits.

    ``output_logits`` would hold the vocabulary of every step until the end.
    """

    def __init__(self, top_k: int, groups: torch.Tensor | None):
        self.top_k, self.groups = top_k, groups
        self.top: list[tuple[np.ndarray, np.ndarray]] = []
        self.masses: list[np.ndarray] = []

    def __call__(self, _ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        values = logits.float()
        total = values.logsumexp(-1, keepdim=True)
        best = values.topk(self.top_k).indices
        self.top.append((best.cpu().numpy(), (values.gather(1, best) - total).exp().double().cpu().numpy()))
        if self.groups is not None:
            members = self.groups.any(1).nonzero()[:, 0]
            masses = (values[:, members] - total).exp().double() @ self.groups[members].double()
            self.masses.append(masses.cpu().numpy())
        return logits
