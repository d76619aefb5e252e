"""What to do when memory runs out: go on with less at a time."""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from scripts.core.errors import UserError

if TYPE_CHECKING:
    import numpy as np

log = logging.getLogger("pronouns")


MESSAGES = ("can't allocate memory", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED")
"""What other exceptions say when memory ran out: on a CPU, and of CUDA's libraries, which allocate by themselves."""


def ran_out(error: BaseException) -> bool:
    """Return whether an exception says that memory ran out, on a GPU or a CPU."""
    return isinstance(error, torch.OutOfMemoryError) or any(message in str(error) for message in MESSAGES)


def run_in_halves(run: Callable, items: "Sequence | np.ndarray", what: str) -> list:
    """Run a function on ``items``, or on halves of them where memory runs out.

    Args:
        run: Takes a slice of ``items``.
        items: Whatever can be sliced; at least one.
        what: What an item is, for messages.

    Returns:
        What ``run`` returned for each slice, in their order; one if memory sufficed.

    Raises:
        UserError: If memory runs out with a single item.
    """
    try:
        return [run(items)]
    except (torch.OutOfMemoryError, RuntimeError) as error:
        if not ran_out(error):
            raise
        if len(items) == 1:
            raise UserError(
                f"memory runs out with a single {what}; give the model more GPUs or a narrower precision in "
                "config/models.yaml"
            ) from error
    half = len(items) // 2
    log.info("out of memory; going on with at most %d %ss at a time", len(items) - half, what)
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return run_in_halves(run, items[:half], what) + run_in_halves(run, items[half:], what)
