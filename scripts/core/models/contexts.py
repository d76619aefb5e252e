"""Whether what the registry states of a model is what the model's own configuration says.

The registry's context is what a study refuses texts by before anything is fetched or loaded; scoring itself goes by
the loaded model (:func:`context_length`).
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core.errors import UserError
from scripts.core.models import checkpoints
from scripts.core.models.entries import ScoredModel

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Torch takes seconds, and every start of Snakemake imports this module: functions import it.

LIMITS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "context_length", "n_ctx",
    "max_encoder_position_embeddings", "max_decoder_position_embeddings", "max_source_positions",
    "max_target_positions",
)  # fmt: skip
"""Names under which configurations say how many tokens a model takes."""

_POSITION_TABLE = re.compile(r"(^|_)(pos|positions?|wpe)(_|$)")


def context_length(model: "PreTrainedModel") -> int | None:
    """Return the longest input, in tokens, that ``model`` can take, or None when it states no limit.

    It is the least of what the configuration says under any of the names in use (:data:`LIMITS`) and of the lengths of
    the model's position tables, less the rows that stand before a text's first position.
    """
    import torch

    config = model.config.get_text_config()
    # T5's relative positions have no end; its n_positions says how long texts were in training.
    endless = hasattr(config, "relative_attention_num_buckets")
    limits = [getattr(config, name, None) for name in LIMITS if not (endless and name == "n_positions")]
    limits += [
        # RoBERTa's kind counts from behind the padding index, OPT's from an offset.
        module.num_embeddings - (getattr(module, "offset", 0) if module.padding_idx is None else module.padding_idx + 1)
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Embedding) and _POSITION_TABLE.search(name.rpartition(".")[2])
    ]
    return min((limit for limit in limits if isinstance(limit, int) and limit > 0), default=None)


def check_stated_facts(
    name: str, wanted: ScoredModel, folder: str | Path, *, context: int | None = None, parameters: int | None = None
) -> None:
    """Refuse a registry entry whose architecture, context or parameters are others than those of a model in a folder.

    Parameters are counted by the heads of the weights. Only where these are away or say something else, and for the
    context, is the model built, without any memory.

    Args:
        name: The model's name in the registry, for the message.
        wanted: What its entry says.
        context, parameters: What it says of these; what it does not state is not checked.

    Raises:
        UserError: If the two differ, or the configuration cannot be read.
    """
    configuration = Path(folder) / "config.json"
    if configuration.is_file():
        _check_architecture(name, wanted.architecture, checkpoints.read_keys(configuration))
    if parameters is not None:
        counted = checkpoints.count_parameters(Path(folder))
        parameters = None if counted and not checkpoints.sizes_differ(parameters, counted) else parameters
    if context is None and parameters is None:
        return
    built = build_without_weights(f"model {name}", wanted.architecture, folder, bool(wanted.remote_code))
    stated, found = context_length(built), built.num_parameters()
    if context not in (None, stated):
        remedy = f"write context: {stated}" if stated else "remove context"
        raise UserError(
            f"config/models.yaml: models.{name}.context is {context}, and the model's own configuration says "
            f"{stated or 'that there is no limit'}; {remedy}"
        )
    # Quantised weights are stored several in one number.
    quantised = getattr(built.config, "quantization_config", None)
    if parameters is not None and not quantised and checkpoints.sizes_differ(parameters, found):
        raise UserError(
            f"config/models.yaml: models.{name}.parameters is {parameters}, and the model's own configuration makes "
            f"{found}; write parameters: {found}, or leave the key out"
        )


def _check_architecture(name: str, stated: str, configuration: dict[str, Any]) -> None:
    """Refuse another architecture than the checkpoint's; one that was saved from a class without a head has any."""
    found = checkpoints.architecture_of(configuration)
    if found not in (None, stated):
        article = "a" if found == "decoder" else "an"
        raise UserError(
            f"models.{name}.architecture is {stated}, and its config.json names {configuration['architectures'][0]}, "
            f"{article} {found}; write architecture: {found}, or leave the key out"
        )


def build_without_weights(
    called: str, architecture: str, folder: str | Path, remote_code: bool = False
) -> "PreTrainedModel":
    """Return a model built from the configuration in a folder, without any memory.

    Args:
        called: What it is called in a message.
        remote_code: Whether code that lies in the folder may run.

    Raises:
        UserError: If the configuration cannot be read or is of no known architecture.
    """
    import torch
    import transformers

    try:
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=remote_code)
        with torch.device("meta"):
            built = choose_class(architecture, config).from_config(config, trust_remote_code=remote_code)
    # Configurations that do not fit raise whatever the code of an architecture happens to stumble over.
    except Exception as error:
        reason = checkpoints.explain_failure(error)
        raise UserError(f"{called}: the configuration in {folder} cannot be read ({reason}") from error
    return text_part(built)


def choose_class(architecture: str, config: Any) -> Any:
    """Return the class of transformers that loads a checkpoint with all its parts."""
    import transformers

    multimodal, text = transformers.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING, transformers.MODEL_FOR_CAUSAL_LM_MAPPING
    if architecture == "decoder" and type(config) in multimodal and type(config) not in text:
        return transformers.AutoModelForImageTextToText
    return {
        "encoder": transformers.AutoModelForMaskedLM,
        "decoder": transformers.AutoModelForCausalLM,
        "encoder-decoder": transformers.AutoModelForSeq2SeqLM,
    }[architecture]


def text_part(model: Any) -> Any:
    """Return the decoder of a multimodal model as a model of its own, where transformers has one; others as they are.

    It shares trunk and output layer with the model that it is part of.
    """
    import torch
    import transformers

    config = model.config if model.config.is_encoder_decoder else model.config.get_text_config()
    if config is model.config or type(config) not in transformers.MODEL_FOR_CAUSAL_LM_MAPPING:
        return model
    with torch.device("meta"):
        part = transformers.AutoModelForCausalLM.from_config(config, dtype=model.dtype)
    if type(part.base_model) is not type(model.get_decoder()):
        return model
    setattr(part, part.base_model_prefix, model.get_decoder())
    part.set_output_embeddings(model.get_output_embeddings())
    part.generation_config = model.generation_config
    return part
