"""Whether a way of scoring gives each text what it gets by itself, asked of every job before it starts.

An architecture is packed if it stands in :data:`PACKABLE`, which tests prove. Besides, a job compares, in float32, its
longest texts, a few random ones and one pack of exactly the largest size that it can have with plain passes over single
texts, and goes from fast ways to plain ones until one agrees. Windows counted along a pack, positions scaled by the
longest text of a batch, linear biases and recurrent layers come out there.
"""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from scripts.core.errors import UserError, describe_error
from scripts.core.scoring import network as net
from scripts.core.scoring import tree
from scripts.core.scoring.masked import MaskedScorer
from scripts.core.scoring.network import Batch
from scripts.core.scoring.packed import PackedScorer
from scripts.core.scoring.reader import Text
from scripts.core.scoring.seq2seq import Seq2SeqScorer

log = logging.getLogger("pronouns")

PACKABLE = {
    "gemma", "gemma3_text", "gpt2", "gpt_neox", "gptj", "llama", "mistral", "mixtral", "olmo2", "olmo3", "opt", "phi3",
    "qwen2", "qwen3", "smollm3",
}  # fmt: skip
"""Decoders that take explicit positions and a mask of their own."""
SCALED_ROPE = ("longrope", "dynamic")
"""Positions that change with the longest text of a pass."""

TOLERANCE, TOLERANCE_PER_TOKEN = 1e-3, 1e-5
"""How far two ways may differ in float32, in nats over a text: by rounding."""
BRANCH = 8
"""Tokens in which the texts of a full pack differ."""

Scorer = PackedScorer | MaskedScorer | Seq2SeqScorer


def choose_way(scorer: Scorer, texts: Sequence[Text]) -> dict[str, Any]:
    """Set the fastest way of scoring that agrees with plain passes and return what the record says of it.

    Args:
        texts: The job's longest and some random ones.

    Raises:
        UserError: If no way agrees, or a token's prediction depends on later tokens.
    """
    network, name = scorer.network, type(scorer.network).__name__
    ways = [way for way in scorer.ways if way != "packed" or packable(network)]
    texts = [_thin(text) if isinstance(scorer, MaskedScorer) else text for text in texts]
    with in_float32(network) as widened:
        if not widened:
            scorer.way = ways[0]
            log.warning("%s is too large to be checked in float32; its texts are run %s", name, scorer.way)
            return {"way": scorer.way, "checked": False}
        try:
            check_causality(scorer, max(texts, key=len))
            expected = [plain_values(scorer, text) for text in texts]
        except (AttributeError, LookupError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
            raise UserError(f"{name} cannot be run on a single text ({describe_error(error)}); leave it out") from error
        for scorer.way in ways:
            difference = compare(scorer, texts, expected)
            if difference <= 1:
                return {"way": scorer.way, "checked": True, "share_of_tolerance": round(difference, 4)}
            log.warning("%s: texts run %s are scored differently from single ones", name, scorer.way)
    raise UserError(f"{name} scores the same text in different ways, however it is run; leave this model out")


def packable(network: Any) -> bool:
    """Return whether tests prove that texts of this architecture can be packed."""
    rope = getattr(network.config.get_text_config(), "rope_parameters", None) or {}
    kinds = {rope.get("rope_type"), *(part.get("rope_type") for part in rope.values() if isinstance(part, dict))}
    return network.config.model_type in PACKABLE and not kinds & set(SCALED_ROPE)


def compare(scorer: Scorer, texts: Sequence[Text], expected: Sequence[np.ndarray]) -> float:
    """Return the largest difference between a way and plain passes, as a share of what rounding may do."""
    pairs = []
    try:
        for batch in scorer.plan(texts):
            pairs += [(values, expected[n]) for n, values in zip(batch.members, scorer.run(batch), strict=True)]
        packed = [text for text in texts if scorer.way == "packed" and len(text) <= scorer.window]
        if packed:
            branches, batch = fill_pack(scorer, max(packed, key=len))
            values = scorer.run(batch)
            pairs += [
                (values[n], plain_values(scorer, branches[n])) for n in {0, len(branches) // 2, len(branches) - 1}
            ]
    except UserError:
        raise
    except Exception as error:  # An architecture refuses a fast way with whatever its code stumbles over.
        log.warning("%s cannot be run %s: %s", type(scorer.network).__name__, scorer.way, error)
        return np.inf
    # Not max(), which passes over NaN.
    return float(np.max([abs(a - b).sum() / (TOLERANCE + TOLERANCE_PER_TOKEN * len(b)) for a, b in pairs]))


def fill_pack(scorer: PackedScorer, text: Text) -> tuple[list[Text], Batch]:
    """Return texts that branch off one at its end, and one pack of them of the largest size that a job can have."""
    size = tree.largest_pack(len(text) - 1, scorer.pack_tokens, scorer.limit)
    at, generator = max(1, len(text) - BRANCH), np.random.default_rng(0)
    sequences, left = [text.ids], size - (len(text) - 1)
    starts = [token for token in np.unique(np.r_[text.ids, np.arange(100, 400)]) if token != text.ids[at]]
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
    if isinstance(scorer, MaskedScorer):
        logits = [network(**net.text_arguments(network, c[None])).logits[0, at] for c, at in scorer.masked_copies(text)]
        logits = torch.stack(logits)
    elif isinstance(scorer, Seq2SeqScorer):
        labels = torch.as_tensor(text.ids)[None].to(network.device)
        logits = network(**net.text_arguments(network, text.source[None]), labels=labels).logits[0]
    else:
        logits = network(**net.text_arguments(network, text.ids[None])).logits[0, :-1]
    targets = torch.from_numpy(text.ids[text.scored]).to(logits.device)
    logits = logits.float()
    return (logits.gather(1, targets[:, None])[:, 0] - logits.logsumexp(1)).double().cpu().numpy()


def check_causality(scorer: Scorer, text: Text) -> None:
    """Refuse a decoder whose predictions change with later tokens: the sum of its values is no log-likelihood."""
    if isinstance(scorer, MaskedScorer) or len(text.ids) < 3:
        return
    changed, at = text.ids.copy(), len(text.ids) - 2
    changed[at] = text.ids[0] if text.ids[0] != text.ids[at] else text.ids[1]
    scored = int(text.scored[:at].sum())
    before, after = (plain_values(scorer, replace(text, ids=ids))[:scored] for ids in (text.ids, changed))
    if abs(before - after).sum() > TOLERANCE + TOLERANCE_PER_TOKEN * scored:
        raise UserError(f"{type(scorer.network).__name__} sees later tokens: it has no log-likelihood; leave it out")


@contextlib.contextmanager
def in_float32(network: Any) -> Iterator[bool]:
    """Widen the weights inside the block and put them back; yield False where memory does not hold them."""
    narrow = [p for p in network.parameters() if p.is_floating_point() and p.dtype != torch.float32]
    dtypes = [p.dtype for p in narrow]
    if sum(4 * p.numel() for p in narrow) > _free_bytes(network.device):
        yield False
        return
    for parameter in narrow:
        parameter.data = parameter.data.float()
    try:
        yield True
    finally:
        for parameter, dtype in zip(narrow, dtypes, strict=True):
            parameter.data = parameter.data.to(dtype)


def _free_bytes(device: torch.device) -> float:
    if device.type == "cuda":
        return 0.8 * torch.cuda.mem_get_info(device)[0]
    return 0.5 * os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _thin(text: Text) -> Text:
    """Return a text of which four tokens are scored: an encoder needs a pass for each."""
    places = np.flatnonzero(text.scored)
    few = places[np.unique(np.linspace(0, len(places) - 1, min(4, len(places))).round().astype(int))]
    return replace(text, scored=np.isin(np.arange(len(text.ids)), few))
