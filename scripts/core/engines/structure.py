"""What the engines of generation and distributions ask of a model before a job; goes when they do."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from scripts.core.engines import memory
from scripts.core.errors import UserError, describe_error
from scripts.core.scoring.check import TOLERANCE, TOLERANCE_PER_TOKEN, exact_kernels, in_float32, nonfinite_remedy
from scripts.core.scoring.network import accepts, text_arguments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from transformers import PreTrainedModel

__all__ = (
    "TOLERANCE",
    "TOLERANCE_PER_TOKEN",
    "accepts",
    "exact_kernels",
    "in_float32",
    "nonfinite_remedy",
    "run_or_refuse",
    "text_inputs",
)


def text_inputs(model: "PreTrainedModel", ids: "ArrayLike | torch.Tensor") -> dict[str, torch.Tensor]:
    """Return the model's arguments for unpadded texts: token ids of shape (texts, tokens)."""
    return text_arguments(model, ids)


def run_or_refuse(run: Callable, name: str, what: str) -> Any:
    """Return what ``run`` returns; whatever it raises says that a model cannot be run.

    Args:
        run: Without arguments.
        name, what: The model and what it is run on, for the message.

    Raises:
        UserError: In one line.
    """
    try:
        return run()
    except UserError:
        raise
    except Exception as error:
        if memory.ran_out(error):
            raise UserError(f"{name}: memory runs out with {what}; give the model more GPUs or memory") from error
        raise UserError(f"{name}: the model cannot be run on {what} ({describe_error(error)}); leave it out") from error
