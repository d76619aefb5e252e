"""Draw tokens at random so that a draw belongs to a prompt, not to what else is in the batch.

Of logits divided by the temperature, each minus the logarithm of an exponential variate, the largest is a draw from
their softmax (Gumbel 1954; Maddison, Tarlow and Minka 2014). The variates of a step follow from the seed, the prompt's
key and the step alone (Philox, Salmon et al. 2011), so that a prompt is answered alike in every batch and in every
order; and a rounding error of the logits changes a draw only where two tokens come that close, as it does for the most
probable one.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import torch

from scripts.core.errors import UserError


class Sampler:
    """Draws the next tokens of prompts.

    Args:
        temperature: Above 0; 1 draws from the model's own distribution.
        keys: What identifies each prompt, row by row. Two prompts of one key have the same variates.

    Raises:
        UserError: If the temperature is not a positive number.
    """

    def __init__(self, temperature: float, seed: int, keys: Sequence[str]):
        check_temperature(temperature)
        self.temperature = temperature
        self.keys = [
            np.frombuffer(hashlib.sha256(f"{seed}\0{key}".encode()).digest()[:16], dtype=np.uint64) for key in keys
        ]

    def __call__(self, logits: torch.Tensor, step: int, rows: Sequence[int] | None = None) -> torch.Tensor:
        """Return values whose largest is the token drawn, shape as ``logits``.

        Args:
            logits: Shape (rows, vocabulary).
            step: Which new token it is, counted from 0.
            rows: Which of the keys the rows have; all of them, in their order, by default.
        """
        rows = range(len(self.keys)) if rows is None else rows
        variates = np.stack([self._variates(row, step, logits.shape[1]) for row in rows])
        return logits.float() / self.temperature - torch.from_numpy(variates).to(logits.device).log()

    def _variates(self, row: int, step: int, count: int):
        stream = np.random.Generator(np.random.Philox(key=self.keys[row], counter=[0, 0, 0, step]))
        # 0 has no logarithm.
        return stream.standard_exponential(count, dtype=np.float32).clip(np.finfo(np.float32).tiny)


def check_temperature(temperature: float) -> None:
    """Refuse a temperature that is not a finite number of at least 0, which is greedy."""
    if not (isinstance(temperature, (int, float)) and np.isfinite(temperature) and temperature >= 0):
        raise UserError(f"temperature is {temperature!r}; it must be 0 (greedy) or a positive number")
