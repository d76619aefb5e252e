"""Folders and repositories with a model's weights: which of their files loading reads, and one digest of them all."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
"""Names of the weights that are loaded, best first; with ``.index.json`` they are the list of several files. Flax,
TensorFlow and ONNX copies, weights in subfolders and other files of weights (``consolidated.safetensors``) are not."""
HEADS = {name for single in WEIGHTS for name in (single, f"{single}.index.json")}
"""Of these a checkpoint has one: its weights or the list of their files."""
OTHER_FILES = ("*.json", "*.txt", "*.model", "*.py", "*.jinja", "*.tiktoken", "vocab.bpe", "bpe.codes")
SUBFOLDERS = ("additional_chat_templates/*.jinja", "encoder/*.json", "encoder/*.txt")
"""What is read of subfolders: chat templates, and the encoder's configuration and tokenizer of a c2f system."""
ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", ("adapter_model.safetensors", "adapter_model.bin")
"""What ``peft`` writes of an adapter."""
UNUSED_WEIGHTS = re.compile(
    r"(^|\.)(pooler|seq_relationship|sop_classifier|mtp\w*|vision\w*|visual\w*|image\w*|audio\w*|speech\w*|mm_\w*"
    r"|multi_modal\w*|rotary_emb|inv_freq|position_ids|token_type_ids|masked_bias)(\.|$)|(attn|attention)\.bias$"
)
"""Weights that scoring does not need: poolers, heads for other ends, further modalities, stored buffers."""
SIZE_TOLERANCE = 0.05
"""Share of a model's parameters by which its entry's number may differ: heads are counted in more than one way."""
CLASS_ENDINGS = {
    "encoder": ("ForMaskedLM", "ForPreTraining"),
    "decoder": ("ForCausalLM", "LMHeadModel", "DoubleHeadsModel"),
    "encoder-decoder": ("ForConditionalGeneration", "ForSeq2SeqLM"),
}
"""How the names of transformers' classes end that predict words."""
MULTIMODAL_ENDINGS = ("ForConditionalGeneration", "ForImageTextToText", "ForVisionText2Text")
"""And of those that read pictures or sound as well, whose ``text_config`` is that of a decoder."""
ZERO_3 = "as training with ZeRO-3 leaves it; write the whole weights with zero_to_fp32.py"
"""What is wrong with an empty tensor."""
READERS = 4
"""Files of a checkpoint that are read side by side for their digests: those of large models are many."""


def select_weights(members: Collection[str], read: Callable[[str], str]) -> list[str]:
    """Return the files of a checkpoint that hold its weights, chosen as transformers does; empty if there are none.

    Args:
        members: Names of all files.
        read: Name of a file to its text.
    """
    for single in WEIGHTS:
        if single in members:
            return [single]
        index = f"{single}.index.json"
        if index in members:
            return [index, *sorted(set(json.loads(read(index))["weight_map"].values()))]
    return []


def select_adapter(members: Collection[str]) -> list[str]:
    """Return the files of an adapter in the format of ``peft``; empty if there is none."""
    weights = next((name for name in ADAPTER_WEIGHTS if name in members), None)
    return [ADAPTER, weights] if weights and ADAPTER in members else []


def select_files(members: Collection[str], read: Callable[[str], str], weights: bool = True) -> list[str]:
    """Return the files of a checkpoint that loading reads, sorted by name.

    Args:
        members, read: As for :func:`select_weights`.
        weights: Whether the weights are among them.
    """
    others = {
        name
        for name in members
        if any(fnmatchcase(name, pattern) for pattern in (SUBFOLDERS if "/" in name else OTHER_FILES))
    }
    chosen = [*select_weights(members, read), *select_adapter(members)] if weights else []
    return sorted((others - HEADS) | set(chosen))


def find_files(folder: Path) -> list[str]:
    """Return the files of a checkpoint in a folder that loading reads.

    Raises:
        UserError: If there are no weights, or the index names a file that is not there.
    """
    paths = [path for pattern in ("*", *SUBFOLDERS) for path in folder.glob(pattern) if path.is_file()]
    members = {path.relative_to(folder).as_posix() for path in paths}
    chosen = select_files(members, lambda name: (folder / name).read_text(encoding="utf-8"))
    if not set(chosen) & HEADS:
        raise UserError(f"{folder}: no weights ({' or '.join(WEIGHTS)}); fetch the model again")
    missing = [name for name in chosen if name not in members]
    if missing:
        raise UserError(f"{folder}: {missing[0]} is missing, which its index of weights names; fetch the model again")
    return chosen


def read_keys(path: Path) -> dict:
    """Return what a JSON file of a checkpoint says, such as ``config.json``.

    Raises:
        UserError: If it cannot be read or holds no keys.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error}); fetch it again") from error
    if not isinstance(value, dict):
        raise UserError(f"{path} holds no keys; fetch it again")
    return value


def architecture_of(configuration: dict) -> str | None:
    """Return ``encoder``, ``decoder`` or ``encoder-decoder`` by the class that a checkpoint was saved from, or None.

    Args:
        configuration: Its ``config.json``.
    """
    two_parts = bool(configuration.get("is_encoder_decoder"))
    for name in configuration.get("architectures") or ():
        if "text_config" in configuration and name.endswith(MULTIMODAL_ENDINGS) and not two_parts:
            return "decoder"
        for architecture, endings in CLASS_ENDINGS.items():
            if name.endswith(endings) and (architecture == "encoder-decoder") == two_parts:
                return architecture
    return None


def count_parameters(folder: Path) -> int | None:
    """Return the parameters of a checkpoint by the heads of its weights; None for formats that have no head.

    Weights that scoring does not use are not counted; those that a configuration ties are as often as they are stored.
    """
    names = [name for name in find_files(folder) if name.endswith(".safetensors") and name not in ADAPTER_WEIGHTS]
    if not names or "quantization_config" in read_keys(folder / "config.json"):
        return None
    count = 0
    for name in names:
        with (folder / name).open("rb") as file:
            head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        shapes = {key: tensor["shape"] for key, tensor in head.items() if key != "__metadata__"}
        count += sum(math.prod(shape) for key, shape in shapes.items() if not UNUSED_WEIGHTS.search(key))
    return count


def sizes_differ(stated: int, found: int) -> bool:
    """Return whether two counts of parameters are those of different models (:data:`SIZE_TOLERANCE`)."""
    return abs(stated - found) > SIZE_TOLERANCE * found


def adapter_remedy(what: str, where: str) -> str:
    """Return what to write where an adapter stands in place of a whole model."""
    return f"an adapter without its base model; name the base model as source, and {what} as adapter: {where}"


def has_weights(folder: Path) -> bool:
    """Return whether a folder holds weights in one of the formats that are loaded."""
    return any((folder / name).is_file() for name in HEADS)


def digest_checkpoint(
    folder: Path, names: Sequence[str] | None = None, of_file: Callable[[Path], str] = files.sha256
) -> str:
    """Return the SHA-256 over files of a checkpoint, names included.

    Args:
        names: The files; by default those that loading reads.
        of_file: Path of a file to its SHA-256.
    """
    names = find_files(folder) if names is None else names
    with ThreadPoolExecutor(READERS) as pool:
        digests = pool.map(of_file, (folder / name for name in names))
        lines = [f"{name}\0{value}\n" for name, value in zip(names, digests, strict=True)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def explain_failure(error: Exception) -> str:
    """Return why files of a checkpoint could not be loaded, in one line that closes a bracket, and what to do."""
    text = str(error).strip()
    if isinstance(error, ImportError):
        package = re.search(r"pip install (?:-\S+ )*[`'\"]?([\w-]+)", text)
        wanted = package[1] if package else getattr(error, "name", None) or "the package that it names"
        return f"{text.splitlines()[0]}); install {wanted}"
    if "torch.Size([0])" in text:
        return f"a tensor is empty, {ZERO_3.replace(';', ');', 1)}"
    return f"{next(iter(text.splitlines()), type(error).__name__)}); fetch it again"
