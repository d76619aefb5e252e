"""Whether what the registry states of a model is what the model's own configuration says.

The registry's context is what a study refuses texts by before anything is fetched or loaded; scoring itself goes by
the loaded model (:func:`scripts.core.engines.batches.context_length`).
"""

from pathlib import Path
from typing import Any

import torch

from scripts.core.engines.batches import context_length
from scripts.core.errors import UserError
from scripts.core.models import checkpoints


def check(name: str, entry: dict, folder: str | Path) -> None:
    """Refuse a registry entry whose architecture, context or parameters are others than those of a model in a folder.

    Args:
        name: The model's name in the registry, for the message.
        entry: ``architecture``, ``context``, ``parameters`` and, for code of its own, ``remote_code``. What it does not
            state is not checked.
        folder: Where the model's configuration is. Its weights are not read: the model is built without any memory.

    Raises:
        UserError: If the two differ, or the configuration cannot be read.
    """
    checkpoints.check_architecture(name, entry, folder)
    if entry.get("context") is None and entry.get("parameters") is None:
        return
    built = _of_entry(name, entry, folder)
    stated = context_length(built)
    if entry.get("context") is not None and stated != entry["context"]:
        remedy = f"write context: {stated}" if stated else "remove context"
        raise UserError(
            f"config/models.yaml: models.{name}.context is {entry['context']}, and the model's own configuration says "
            f"{stated or 'that there is no limit'}; {remedy}"
        )
    # Quantised weights are stored several in one number.
    quantised = getattr(built.config, "quantization_config", None)
    said, found = entry.get("parameters"), built.num_parameters()
    if said is not None and not quantised and checkpoints.sizes_differ(said, found):
        raise UserError(
            f"config/models.yaml: models.{name}.parameters is {said}, and the model's own configuration makes {found}; "
            f"write parameters: {found}, or leave the key out"
        )


def configured_length(name: str, entry: dict[str, Any], folder: str | Path, **options: Any) -> int | None:
    """Return the longest input that the configuration in a folder allows, in tokens, or None without a limit.

    Args:
        name, entry, folder: As for :func:`check`.
        **options: For ``AutoConfig.from_pretrained``, such as ``gguf_file``.

    Raises:
        UserError: If the configuration cannot be read or is of no known architecture.
    """
    return context_length(_of_entry(name, entry, folder, **options))


def _of_entry(name: str, entry: dict[str, Any], folder: str | Path, **options: Any):
    trusted = {"trust_remote_code": entry.get("remote_code", False)}
    return _built(f"model {name}", entry["architecture"], folder, trusted, options)


def measure_checkpoint(called: str, architecture: str, folder: str | Path) -> tuple[int, int | None]:
    """Return how many parameters a checkpoint has and the longest input that it takes, by its configuration alone.

    Args:
        called: What it is called in a message.
        folder: Where its configuration is.

    Raises:
        UserError: As :func:`configured_length`.
    """
    built = _built(called, architecture, folder, {"trust_remote_code": False}, {})
    return sum(parameter.numel() for parameter in built.parameters()), context_length(built)


def _built(called: str, architecture: str, folder: str | Path, trusted: dict[str, Any], options: dict[str, Any]):
    """Return a model built from the configuration in a folder, without any memory."""
    import transformers

    classes = {
        "encoder": transformers.AutoModelForMaskedLM,
        "decoder": transformers.AutoModelForCausalLM,
        "encoder-decoder": transformers.AutoModelForSeq2SeqLM,
    }
    try:
        config = transformers.AutoConfig.from_pretrained(folder, **trusted, **options)
        with torch.device("meta"):
            return classes[architecture].from_config(config, **trusted)
    # Configurations that do not fit raise whatever the code of an architecture happens to stumble over.
    except Exception as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise UserError(f"{called}: the configuration in {folder} cannot be read ({reason}); fetch it again") from error
