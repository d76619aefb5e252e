"""Whether prompts in batches are continued as by single passes, asked of every job before its first batch."""

import logging
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from scripts.core.errors import UserError, describe_error
from scripts.core.generation.generate import Answer, Generator, possible_ways
from scripts.core.scoring import network as net
from scripts.core.scoring.check import PACKABLE, in_float32
from scripts.core.scoring.tree import common_prefix

log = logging.getLogger("pronouns")

TOLERANCE, TOLERANCE_PER_TOKEN = 1e-3, 1e-5
"""How far the log-probability of a token may differ in float32, in nats, behind a text of so many tokens."""
CHECKED_TOKENS, CHECKED_RANKS, LEAST_PROBABILITY = 3, 10, 1e-6
"""New tokens of a check, how many of the most probable are compared after each; less probable ones are rounding."""


def choose_probes(generator: Generator, ids: Sequence[list[int]]) -> list[list[int]]:
    """Return the shortest of some prompts, the two with the longest common beginning, and the longest.

    A prompt whose positions change is left out: it is continued by single passes as it is.
    """
    order = sorted({tuple(tokens) for tokens in ids if not generator.is_scaled(tokens)})
    if not order:
        return []
    pairs = list(pairwise(order)) or [(order[0], order[0])]
    alike = max(pairs, key=lambda pair: common_prefix(*map(np.array, pair)))
    return [list(tokens) for tokens in (min(order, key=len), *alike, max(order, key=len))]


def choose_way(generator: Generator, ids: Sequence[list[int]]) -> dict[str, Any]:
    """Set the fastest way of continuing prompts that agrees with single passes, and return it and whether it was asked.

    Four prompts (:func:`choose_probes`) are continued together, in float32, and the most probable tokens after each
    are compared with a pass over the same tokens without a cache.

    Args:
        ids: The job's prompts.

    Raises:
        UserError: If no way agrees.
    """
    network, name = generator.network, type(generator.network).__name__
    ways, probes = possible_ways(network), choose_probes(generator, ids)
    if not probes:
        generator.way = ways[-1]
        return {"way": generator.way, "checked": True}
    probe = generator.limited(min(CHECKED_TOKENS, generator.max_new_tokens))
    probe.top_k, probe.groups, probe.ends = CHECKED_RANKS, None, []
    for way in ways:
        problem = "their probabilities differ"
        generator.way = probe.way = way
        tried = {"shared": [probes[1:3], probes], "padded": [probes], "equal": [[prompt, prompt] for prompt in probes]}
        batches = tried.get(way, [[prompt] for prompt in probes])
        try:
            with in_float32(network):
                pairs = [pair for part in batches for pair in zip(part, probe.continue_all(part), strict=True)]
                right = all(answer_agrees(generator, prompt, answer) for prompt, answer in pairs)
        except Exception as error:  # An architecture's code raises whatever it stumbles over.
            if net.ran_out_of_memory(error):
                # Those before this way have been found unfit.
                generator.way = way if network.config.model_type in PACKABLE else ways[-1]
                log.warning("%s is too large to be checked in float32; prompts are continued %s", name, generator.way)
                return {"way": generator.way, "checked": False}
            right, problem = False, describe_error(error)
        if right:
            log.info("%s: prompts are continued in the way '%s'", name, way)
            return {"way": way, "checked": True}
        log.info("%s: prompts are not continued in the way '%s' (%s)", name, way, problem)
    raise UserError(
        f"{name}: prompts are not continued as by single passes over the same tokens, together or alone ({problem}); "
        "leave the model out of what is prompted"
    )


@torch.inference_mode()
def answer_agrees(generator: Generator, prompt: list[int], answer: Answer) -> bool:
    """Return whether the probabilities of an answer are those of one pass without a cache."""
    network, written = generator.network, list(answer.tokens)
    if generator.two_parts:
        read = torch.tensor([[generator.start, *written[:-1]]], device=network.device)
        logits = network(**net.text_arguments(network, np.array([prompt])), decoder_input_ids=read).logits[0]
    else:
        whole = np.array([[*prompt, *written[:-1]]])
        keeps = {"logits_to_keep": len(written)} if net.accepts_argument(network, "logits_to_keep") else {}
        logits = network(**net.text_arguments(network, whole), **keeps).logits[0, -len(written) :]
    expected = logits.float().log_softmax(-1).double().cpu().numpy()
    bound = TOLERANCE + TOLERANCE_PER_TOKEN * (len(prompt) + len(written))
    return len(answer.top) == len(expected) and all(
        (abs(np.log(values) - row[ids])[values > LEAST_PROBABILITY] <= bound).all()
        for row, (ids, values) in zip(expected, answer.top, strict=True)
    )
