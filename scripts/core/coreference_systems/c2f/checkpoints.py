"""Weights of c2f systems: a folder that holds all of them, or a delta: what differs from a package's encoder.

A folder has ``model.safetensors`` with every variable, and the encoder's configuration and tokenizer as transformers
writes them in ``encoder/``. A delta is one safetensors file: the head, low-rank updates of the encoder's linear layers
and its layer norms. The configuration is in the file's metadata. The name and shape of every variable are compared.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from scripts.core.coreference_systems.c2f.configuration import Configuration
from scripts.core.coreference_systems.c2f.model import C2F
from scripts.core.errors import UserError
from scripts.core.models import weights
from scripts.core.models.loading import package_file

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

WEIGHTS = "model.safetensors"
ENCODER = "encoder"
CONFIGURATION, PACKAGE, RECIPE = "c2f", "encoder", "recipe"
PACKAGE_KEYS = ("package", "version", "folder")


def build_model(
    folder: str | Path, configuration: Configuration, pretrained: bool = True
) -> "tuple[C2F, PreTrainedTokenizerBase]":
    """Return a model on the encoder in a folder, with a new head, and the encoder's tokenizer.

    Args:
        folder: Configuration, tokenizer and, if ``pretrained``, weights of an encoder as transformers stores them.
        pretrained: Whether the encoder's weights are read; else they are drawn at random.

    Raises:
        UserError: If the folder holds no encoder, its tokenizer lacks the marks that enclose a segment, or its
            positions are fewer than a segment's pieces.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer, logging

    # Encoders made for other ends have layers that are not needed here, of which the library would warn.
    logging.set_verbosity_error()
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, model_max_length=10**9)
        if pretrained:
            encoder = AutoModel.from_pretrained(folder, dtype=torch.float32)
        else:
            encoder = AutoModel.from_config(AutoConfig.from_pretrained(folder), dtype=torch.float32)
    except (OSError, ValueError, KeyError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{folder}: holds no encoder that can be read ({reason}); name another folder") from error
    if tokenizer.cls_token_id is None or tokenizer.sep_token_id is None:
        raise UserError(f"{folder}: its tokenizer has no marks of a segment's beginning and end; name a BERT encoder")
    positions = getattr(encoder.config, "max_position_embeddings", configuration.max_segment_pieces)
    if configuration.max_segment_pieces > positions:
        raise UserError(
            f"{folder}: has {positions} positions, fewer than max_segment_pieces, {configuration.max_segment_pieces}"
        )
    if hasattr(encoder, "pooler"):
        encoder.pooler = None
    return C2F(encoder, configuration), tokenizer


def write_folder(folder: str | Path, model: C2F, tokenizer: "PreTrainedTokenizerBase", recipe: dict[str, Any]) -> None:
    """Write all of a model's weights to a new folder.

    Args:
        recipe: How the weights were made.
    """
    from safetensors.torch import save_file

    metadata = {
        CONFIGURATION: json.dumps(vars(model.configuration), sort_keys=True),
        RECIPE: json.dumps(recipe, sort_keys=True),
    }
    with weights.replace_folder(folder) as made:
        model.encoder.config.save_pretrained(made / ENCODER)
        tokenizer.save_pretrained(made / ENCODER)
        state = {name: value.contiguous() for name, value in model.state_dict().items()}
        save_file(state, made / WEIGHTS, metadata=metadata)


def load_system(source: str | Path) -> "tuple[C2F, PreTrainedTokenizerBase]":
    """Read a system.

    Args:
        source: A folder as of :func:`write_folder`, or a delta.

    Returns:
        The model in evaluation mode, and the encoder's tokenizer.

    Raises:
        UserError: If there is no such file, it is damaged or not such weights, its package is not installed, or as
            :func:`scripts.core.models.weights.copy_tensors`.
    """
    source = Path(source)
    is_folder = source.is_dir()
    path = source / WEIGHTS if is_folder else source
    tensors, metadata = weights.read_tensors(path)
    configuration = Configuration.parse(_mapping(metadata, CONFIGURATION, path), path)
    if is_folder:
        model, tokenizer = build_model(source / ENCODER, configuration, pretrained=False)
        weights.copy_tensors(dict(model.state_dict()), tensors, path)
    else:
        package = _mapping(metadata, PACKAGE, path)
        if set(package) != set(PACKAGE_KEYS) or not configuration.lora_rank:
            raise UserError(f"{path}: is no delta of a package's encoder; name another file")
        folder = package_file(path.stem, package, package["folder"])
        model, tokenizer = build_model(folder, configuration)
        whole = {
            name: parameter
            for name, parameter in model.named_parameters()
            if not name.startswith("encoder.") or (name.startswith("encoder.encoder.") and "LayerNorm" in name)
        }
        layers: Any = model.encoder.encoder
        weights.apply_delta(whole, layers, "encoder.encoder", configuration.lora_rank, tensors, path)
    return model.eval(), tokenizer


def _mapping(metadata: Mapping[str, str], key: str, path: str | Path) -> dict[str, Any]:
    try:
        value = json.loads(metadata[key])
    except (KeyError, ValueError) as error:
        raise UserError(
            f"{path}: its metadata have no readable '{key}'; name weights that this project wrote"
        ) from error
    if not isinstance(value, dict):
        raise UserError(f"{path}: its metadata '{key}' is no mapping; name weights that this project wrote")
    return value
