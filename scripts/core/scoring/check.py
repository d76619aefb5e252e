"""Whether a way of scoring gives each text what it gets by itself, asked of every job before it starts.

Windows that are counted along a pack, positions that are scaled by the longest text of a batch, linear biases and
recurrent layers break that without a word; and a log-likelihood is one only if no prediction depends on later tokens.
A job therefore compares the longest text of its file of instances and a few others, in packs and batches as its own,
with plain passes over single texts, and goes from fast ways to plain ones until one agrees. These are questions of
structure, not of rounding, so they are asked in float32; in the run's own precision only rounding may come in.
"""

import contextlib
import itertools
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from scripts.core.errors import UserError, describe_error
from scripts.core.scoring import network as net
from scripts.core.scoring import tree
from scripts.core.scoring.decoder import DecoderScorer
from scripts.core.scoring.masked import MaskedScorer, masked_copies
from scripts.core.scoring.minicons import MiniconsScorer
from scripts.core.scoring.reader import Text
from scripts.core.scoring.seq2seq import Seq2SeqScorer
from scripts.core.workflow.parts import Batch

log = logging.getLogger("pronouns")

PACKABLE = {
    "biogpt", "codegen", "cohere", "deepseek_v3", "gemma", "gemma2", "gemma3_text", "gemma3n_text", "gemma4_text",
    "glm4_moe", "gpt2", "gpt_bigcode", "gpt_neox", "gpt_oss", "gptj", "granite", "llama", "ministral3", "mistral",
    "mixtral", "nemotron", "olmo", "olmo2", "olmo3", "olmoe", "opt", "phi", "phi3", "qwen2", "qwen3", "qwen3_moe",
    "smollm3", "stablelm", "starcoder2", "xglm",
}  # fmt: skip
"""Decoders that take explicit positions and a mask of their own, and whose only window is ``sliding_window``. Tests
prove that they are scored right and that they are packed (``make architectures``)."""

TOLERANCE, TOLERANCE_PER_TOKEN = 1e-3, 1e-4
"""How far two ways may differ in float32, in nats over a text: by rounding, which grows with a model. Small models stay
below 1e-5 a token, Llama-2-7B's shape reaches 2.6e-5 on an H100, packed, and 1.8e-5 in batches of two."""
HALF_PRECISION_PER_TOKEN = 0.1
BRANCH = 8
"""Tokens in which the texts of a full pack differ."""
COPIES = 4
"""Tokens of a text at which an encoder is compared: it needs a pass for each."""

Scorer = DecoderScorer | MaskedScorer | Seq2SeqScorer | MiniconsScorer


def make_scorer(
    engine: str, network: Any, tokenizer: Any, architecture: str, tokens_per_batch: int | str, limit: int | None
) -> Scorer:
    """Return an engine's scorer of an architecture."""
    if engine == "minicons":
        return MiniconsScorer(network, tokenizer, architecture, tokens_per_batch)
    if architecture == "encoder":
        return MaskedScorer(network, tokenizer.mask_token_id, tokens_per_batch)
    if architecture == "decoder":
        return DecoderScorer(network, tokens_per_batch, limit)
    return Seq2SeqScorer(network, tokens_per_batch)


def choose_way(scorer: Scorer, texts: Sequence[Text]) -> dict[str, Any]:
    """Set the fastest way of scoring that agrees with plain passes and return what the record says of it.

    Args:
        texts: The longest of the file of instances and some others, such as other options of the longest.

    Raises:
        UserError: If a text cannot be run by itself, a score is not finite, a prediction depends on later tokens, or no
            way agrees.
    """
    network, name = scorer.network, type(scorer.network).__name__
    ways = [way for way in scorer.ways if way != "packed" or network.config.model_type in PACKABLE]
    longest = max(map(len, texts))
    probes = _probes(scorer, texts)
    half = network.dtype != torch.float32
    rounded = _plain_scores(scorer, probes, half_precision_bound) if half else []
    if isinstance(scorer, DecoderScorer):
        # What is longer than every probe is not packed: a full pack of it has not been compared.
        scorer.longest = min(scorer.longest, longest)
    scorer.way = ways[0]
    try:
        with in_float32(network):
            expected = _plain_scores(scorer, probes, rounding_bound)
        for scorer.way in ways:
            reason = _disagreement(scorer, probes, expected, rounded)
            if reason is None:
                log.info("self-check passed with texts of up to %d tokens, run %s", longest, scorer.way)
                return {"way": scorer.way, "checked": True}
            # A listed architecture that falls back is scored right, but several times as slowly.
            level = logging.WARNING if scorer.way == "packed" else logging.INFO
            log.log(level, "self-check: %s's texts are not run %s: %s", name, scorer.way, reason)
    except (RuntimeError, UserError) as error:
        if not half or not net.ran_out_of_memory(error):
            raise
        # The way that was being asked: those before it have been found unfit.
        log.warning("%s is too large to be checked in float32; its texts are run %s", name, scorer.way)
        return {"way": scorer.way, "checked": False}
    raise UserError(
        f"{name}: texts run {scorer.way} do not get what they get by themselves ({reason}): a score would depend on "
        "more than its text; leave this model out"
    )


def _disagreement(
    scorer: Scorer, probes: Sequence[Text], expected: Sequence[np.ndarray], rounded: Sequence[np.ndarray]
) -> str | None:
    """Return why a way is unfit, or None; ``rounded`` are the plain scores in half precision, if that is the run's."""
    batches, branches = plan_probes(scorer, probes)
    try:
        with in_float32(scorer.network):
            difference = largest_difference(scorer, batches, branches, expected, rounding_bound)
        if difference <= 1 and rounded:
            difference = largest_difference(scorer, batches, branches, rounded, half_precision_bound)
    except UserError:
        raise
    except Exception as error:  # An architecture's code refuses a fast way with whatever it stumbles over.
        if net.ran_out_of_memory(error):
            raise
        return describe_error(error)
    return None if difference <= 1 else f"scores differ by {difference:.2g} times as much as rounding may do"


def rounding_bound(tokens: int) -> float:
    """Return by how many nats two float32 scores of a text with this many tokens may differ: by rounding."""
    return TOLERANCE + TOLERANCE_PER_TOKEN * tokens


def half_precision_bound(tokens: int) -> float:
    """Return by how many nats two scores in half precision of a text with this many tokens may differ."""
    return TOLERANCE + HALF_PRECISION_PER_TOKEN * tokens


def _probes(scorer: Scorer, texts: Sequence[Text]) -> list[Text]:
    """Return the texts, the longest first, and before it the same with another token near its end.

    Equally long, the two share a batch; and what comes before that token must not change.
    """
    texts = sorted(texts, key=len, reverse=True)
    if isinstance(scorer, MaskedScorer):
        return [_thin(text) for text in texts]
    ids = texts[0].ids.copy()
    if scorer.architecture == "encoder" or len(ids) < 3:
        return texts
    ids[-2] = ids[0] if ids[0] != ids[-2] else ids[1]
    return [replace(texts[0], ids=ids, text=""), *texts]


def _thin(text: Text) -> Text:
    """Return a text of which a few tokens are scored."""
    places = np.flatnonzero(text.scored)
    few = places[np.unique(np.linspace(0, len(places) - 1, min(COPIES, len(places))).round().astype(int))]
    return replace(text, scored=np.isin(np.arange(len(text.ids)), few))


def _plain_scores(scorer: Scorer, probes: Sequence[Text], bound: Callable[[int], float]) -> list[np.ndarray]:
    """Return the values of :func:`_probes` by plain passes, or refuse a model that has none."""
    network, name = scorer.network, type(scorer.network).__name__
    longest = max(map(len, probes))
    try:
        values = [plain_values(scorer, text) for text in probes]
    except Exception as error:  # An architecture's code raises whatever it stumbles over.
        if net.ran_out_of_memory(error):
            raise UserError(
                f"{name}: memory runs out with texts of up to {longest} tokens; give the model more GPUs or memory"
            ) from error
        reason = describe_error(error)
        raise UserError(f"{name}: cannot be run on texts of up to {longest} tokens ({reason}); leave it out") from error
    if not all(np.isfinite(value).all() for value in values):
        net.refuse_nonfinite(f"{name}: scores in {network.dtype} are not finite", network)
    if scorer.architecture != "encoder" and len(probes[0].ids) >= 3:
        earlier = int(probes[0].scored[:-2].sum())
        change = abs(values[0] - values[1])[:earlier].sum()
        if change > bound(earlier):
            raise UserError(
                f"{name}: a later token changes the score of an earlier one (by {change:.2g} nats): this model has no "
                "log-likelihood to score; leave it out, or correct its architecture in config/models.yaml"
            )
    return values


def plan_probes(scorer: Scorer, probes: Sequence[Text]) -> tuple[list[Batch], dict[int, Text]]:
    """Return batches of probes, in one of them a full pack, and the texts of that, numbered behind the probes."""
    if isinstance(scorer, MiniconsScorer):
        # It tokenises by itself; a probe whose tokens were changed is no text.
        batches = scorer.plan([text for text in probes if text.text])
        offset = sum(not text.text for text in probes)
        return [replace(batch, members=[n + offset for n in batch.members]) for batch in batches], {}
    batches = scorer.plan(probes)
    if not isinstance(scorer, DecoderScorer) or scorer.way != "packed":
        return batches, {}
    packed = [text for text in probes if 1 < len(text) <= scorer.longest]
    if not packed:
        return batches, {}
    texts, pack = fill_pack(scorer, max(packed, key=len))
    branches = dict(enumerate(texts, len(probes)))
    members = [*batches[-1].members, *branches]
    return [*batches[:-1], Batch(members, batches[-1].tokens + pack.tokens, [*batches[-1].work, *pack.work])], branches


def largest_difference(
    scorer: Scorer,
    batches: Sequence[Batch],
    branches: dict[int, Text],
    expected: Sequence[np.ndarray],
    bound: Callable[[int], float],
) -> float:
    """Return the largest difference between a way and plain passes, as a share of what may be."""
    found = {n: values for batch in batches for n, values in zip(batch.members, scorer.run(batch), strict=True)}
    known = dict(enumerate(expected))
    if branches:
        # The last is the furthest from the beginning that all share.
        first, last = min(branches), max(branches)
        known |= {n: plain_values(scorer, branches[n]) for n in (first, (first + last) // 2, last)}
    pairs = [(values, known[n]) for n, values in found.items() if n in known]
    if any(len(values) != len(plain) for values, plain in pairs):
        return np.inf
    # Not max(), which passes over NaN.
    return float(np.max([abs(values - plain).sum() / bound(len(plain)) for values, plain in pairs]))


def fill_pack(scorer: DecoderScorer, text: Text) -> tuple[list[Text], Batch]:
    """Return texts that branch off one at its end, and one pack of them of the largest size that a job can have."""
    left = tree.largest_pack(len(text) - 1, scorer.pack_tokens, scorer.limit) - (len(text) - 1)
    at, generator = max(1, len(text) - BRANCH), np.random.default_rng(0)
    sequences = [text.ids]
    known = min(400, scorer.network.get_input_embeddings().num_embeddings)
    starts = [token for token in np.unique(np.r_[text.ids, np.arange(known // 4, known)]) if token != text.ids[at]]
    for start in generator.permutation(starts):
        if left <= 0:
            break
        tail = np.r_[start, generator.choice(text.ids, len(text) - at - 1)][: left + 1]
        sequences.append(np.r_[text.ids[:at], tail])
        left -= len(tail) - 1
    (pack,) = tree.pack_sequences([ids[:-1] for ids in sequences], sys.maxsize)
    branches = [replace(text, ids=ids, scored=text.scored[: len(ids)]) for ids in sequences]
    order = list(pack.paths)
    return [branches[n] for n in order], Batch(order, len(pack), [(pack, {n: sequences[n][1:] for n in order})])


@torch.inference_mode()
def plain_values(scorer: Scorer, text: Text) -> np.ndarray:
    """Return the log-probabilities of a text's scored tokens: nothing shared, no position left out."""
    network = scorer.network
    if isinstance(scorer, Seq2SeqScorer):
        labels = torch.as_tensor(text.ids)[None].to(network.device)
        logits = network(**net.text_arguments(network, text.source[None]), labels=labels).logits[0]
        logits = logits[torch.from_numpy(text.scored).to(logits.device)]
    elif isinstance(scorer, DecoderScorer) or scorer.architecture == "decoder":
        logits = network(**net.text_arguments(network, text.ids[None])).logits[0, :-1]
    else:
        copies = masked_copies(text, scorer.mask_token)
        logits = torch.stack([network(**net.text_arguments(network, c[None])).logits[0, at] for c, at in copies])
    targets = torch.from_numpy(text.ids[text.scored]).to(logits.device)
    logits = logits.float()
    return (logits.gather(1, targets[:, None])[:, 0] - logits.logsumexp(1)).double().cpu().numpy()


@contextlib.contextmanager
def exact_kernels() -> Iterator[None]:
    """Let GPUs compute float32 as float32, not in a shorter format, inside the block."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.backends.cudnn.flags(enabled=torch.backends.cudnn.enabled, allow_tf32=False):
            yield
    finally:
        torch.set_float32_matmul_precision(before)


@contextlib.contextmanager
def in_float32(network: torch.nn.Module) -> Iterator[None]:
    """Let a network in half precision compute in float32 inside the block; afterwards its weights are what they were.

    Widening is exact, and GPUs do not shorten float32 meanwhile. A layer (an item of a ``ModuleList``) is widened while
    it runs, and whatever is in none at once, so that little more memory is needed.
    """
    layers = list(_layers(network))
    inside = {id(tensor) for layer in layers for tensor in _narrow_tensors(layer)}
    hooks = []
    for layer in layers:
        held = contextlib.ExitStack()

        def widen(module: torch.nn.Module, _arguments: tuple, held: Any = held) -> None:
            held.enter_context(_widened(_narrow_tensors(module)))

        def restore(
            _module: torch.nn.Module, _arguments: tuple, _output: Any, held: contextlib.ExitStack = held
        ) -> None:
            held.close()

        hooks += [layer.register_forward_pre_hook(widen), layer.register_forward_hook(restore, always_call=True)]
    try:
        with exact_kernels(), _widened(tensor for tensor in _narrow_tensors(network) if id(tensor) not in inside):
            yield
    finally:
        for hook in hooks:
            hook.remove()


def _layers(network: torch.nn.Module) -> Iterator[torch.nn.Module]:
    """Yield the items of each ``ModuleList`` that is in no other."""
    for module in network.children():
        yield from module if isinstance(module, torch.nn.ModuleList) else _layers(module)


def _narrow_tensors(module: torch.nn.Module) -> Iterator[torch.Tensor]:
    for tensor in itertools.chain(module.parameters(), module.buffers()):
        if tensor.dtype in (torch.bfloat16, torch.float16):
            yield tensor


@contextlib.contextmanager
def _widened(tensors: Iterable[torch.Tensor]) -> Iterator[None]:
    kept = [(tensor, tensor.data) for tensor in tensors]
    try:
        for tensor, narrow in kept:
            tensor.data = narrow.float()
        yield
    finally:
        for tensor, narrow in kept:
            tensor.data = narrow
