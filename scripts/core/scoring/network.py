"""One forward pass: the arguments of a network, its logits where they are read, and the values of tokens there."""

import inspect
import logging
import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np
import torch

from scripts.core.errors import UserError
from scripts.core.models.costs import BATCH_TOKENS, LOGITS_BYTES

log = logging.getLogger("pronouns")

PASS_TOKENS = {"cpu": 1024, "cuda": BATCH_TOKENS}
"""Tokens of a forward pass when the configuration says ``auto``."""
OUT_OF_MEMORY = ("can't allocate memory", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED")
SUMMED_LOGITS = {"cpu": 1 << 19, "cuda": 1 << 28}
"""Logits whose exponentials are summed at once: what stays in a CPU core's cache, a GiB of a GPU's memory."""

Item = TypeVar("Item")


def kind_of_device(network: Any) -> str:
    """Return the key of the tables of sizes, of a network or a tensor."""
    return "cpu" if network.device.type == "cpu" else "cuda"


def pass_tokens(network: Any, tokens_per_batch: int | str = "auto") -> int:
    """Return the tokens of a forward pass, as configured and as memory has it; one text by itself may exceed it."""
    most = max(1, LOGITS_BYTES // (network.config.get_text_config().vocab_size * network.dtype.itemsize))
    wanted = PASS_TOKENS[kind_of_device(network)] if isinstance(tokens_per_batch, str) else tokens_per_batch
    return min(wanted, most)


def rescaled_lengths(network: Any, kinds: Collection[str]) -> list[int]:
    """Return the lengths of texts beyond which rotary positions of some kinds (``rope_type``) change."""
    config = network.config.get_text_config(decoder=True)
    rope = getattr(config, "rope_parameters", None) or {}
    own = getattr(config, "original_max_position_embeddings", None)
    # Layers of several kinds have a part each.
    parts = [rope, *(part for part in rope.values() if isinstance(part, dict))]
    lengths = [part.get("original_max_position_embeddings", own) for part in parts if part.get("rope_type") in kinds]
    return [length for length in lengths if length]


def accepts_argument(network: Any, name: str) -> bool:
    """Return whether the network's ``forward`` names this argument."""
    return name in inspect.signature(network.forward).parameters


def text_arguments(network: Any, ids: np.ndarray | torch.Tensor) -> dict[str, Any]:
    """Return the arguments for unpadded texts, token ids of shape (texts, tokens)."""
    tokens = torch.as_tensor(ids).to(network.device)
    mask = {"attention_mask": torch.ones_like(tokens)} if accepts_argument(network, "attention_mask") else {}
    return {"input_ids": tokens} | mask


def logits_at(network: Any, arguments: dict[str, Any], chosen: np.ndarray) -> torch.Tensor:
    """Return the logits at the chosen positions in order, of shape (positions, vocabulary), in the model's precision.

    Args:
        chosen: Shape (texts, tokens), of bool.
    """
    columns, selects = np.flatnonzero(chosen.any(axis=0)), {}
    if len(columns) < chosen.shape[1] and accepts_argument(network, "logits_to_keep"):
        selects["logits_to_keep"] = torch.from_numpy(columns).to(network.device)
    logits = network(**arguments, **selects).logits
    # Code may ignore what is to be kept and return every position.
    if logits.shape[1] < chosen.shape[1]:
        chosen = chosen[:, columns]
    # Without a copy where it can be.
    return logits.flatten(0, 1) if chosen.all() else logits[torch.from_numpy(chosen).to(logits.device)]


def token_values(logits: torch.Tensor, places: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return log P(target) in nats, float64; overwrites the logits.

    The arithmetic is float32's logits minus their log-sum-exp: ``log_softmax`` on a CPU is off by up to 3e-5 nats a
    token over 49,152 tokens, always in the same direction.

    Args:
        places: The row of ``logits`` that predicts each target; rows may repeat.
    """
    rows = torch.from_numpy(places).to(logits.device)
    chosen = logits[rows, torch.from_numpy(targets).to(logits.device)].float()
    return (chosen - log_sum_exp_(logits)[rows]).double().cpu().numpy()


def log_sum_exp_(logits: torch.Tensor) -> torch.Tensor:
    """Return the log-sum-exp of each row, float32, and overwrite the rows.

    On a CPU copies of the rows take three times as long as the arithmetic.
    """
    sums = torch.empty(len(logits), device=logits.device)
    size = max(1, SUMMED_LOGITS[kind_of_device(logits)] // logits.shape[1])
    for part, total in zip(logits.split(size), sums.split(size), strict=True):
        part = part.float()
        if logits.device.type != "cpu":
            torch.logsumexp(part, 1, out=total)
            continue
        largest = part.amax(1, keepdim=True)
        torch.log(part.sub_(largest).exp_().sum(1), out=total)
        total += largest[:, 0]
    return sums


def refuse_nonfinite(what: str, network: Any) -> NoReturn:
    """Refuse numbers of a model that are not finite, and say what to do; its weights may be the reason."""
    broken = next((name for name, weights in network.named_parameters() if not torch.isfinite(weights).all()), None)
    if broken:
        remedy = f"the weights {broken} of its checkpoint are not finite: fetch it again, or leave this model out"
    elif network.dtype == torch.float32:
        remedy = "leave this model out"
    else:
        remedy = "use a wider precision for this model in config/models.yaml"
    raise UserError(f"{what}; {remedy}")


def ran_out_of_memory(error: BaseException) -> bool:
    """Return whether an exception, or what it was raised from, says that memory ran out, on a GPU or a CPU."""
    said = isinstance(error, torch.OutOfMemoryError) or any(message in str(error) for message in OUT_OF_MEMORY)
    return said or (error.__cause__ is not None and ran_out_of_memory(error.__cause__))


class Halving:
    """Runs items together; where memory runs out, halves of them, and from then on nothing that is as large.

    What is planned stays as it is: finished parts are known by their batches.
    """

    def __init__(self) -> None:
        self.too_large = math.inf

    def run(self, run: Callable[[Sequence[Item]], list], items: Sequence[Item], tokens: int) -> list:
        """Return what ``run`` returns for the items, one result each; ``tokens`` are those of all of them."""
        half = len(items) // 2
        if tokens < self.too_large or not half:
            try:
                with torch.inference_mode():
                    return run(items)
            except RuntimeError as error:
                if not ran_out_of_memory(error):
                    raise
                if not half:
                    raise UserError(
                        "memory runs out with a single text; give the model more GPUs or a narrower precision in "
                        "config/models.yaml"
                    ) from error
            self.too_large = tokens
            log.info("out of memory; going on with less than %d tokens in a forward pass", tokens)
            torch.cuda.empty_cache()
        share = tokens * half // len(items)
        return self.run(run, items[:half], share) + self.run(run, items[half:], tokens - share)


def cut_passes(order: Sequence[int], sizes: Sequence[int], tokens: int, padding: float = 0.125) -> list[list[int]]:
    """Cut items in their order into passes of so many tokens at most, in which this share of an item may be padding."""
    passes: list[list[int]] = []
    for item in order:
        longest = max(sizes[other] for other in [*passes[-1], item]) if passes else 0
        if passes and sizes[item] >= (1 - padding) * longest and (len(passes[-1]) + 1) * longest <= tokens:
            passes[-1].append(item)
        else:
            passes.append([item])
    return passes
