"""Folders and repositories with a model's weights: which of their files loading reads, and one digest of them all."""

import hashlib
import json
from collections.abc import Callable, Collection
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


def select_files(members: Collection[str], read: Callable[[str], str]) -> list[str]:
    """Return the files of a checkpoint that loading reads, sorted by name; arguments as for :func:`select_weights`."""
    others = {
        name
        for name in members
        if any(fnmatchcase(name, pattern) for pattern in (SUBFOLDERS if "/" in name else OTHER_FILES))
    }
    return sorted((others - HEADS) | {*select_weights(members, read), *select_adapter(members)})


def find_files(folder: Path) -> list[str]:
    """Return the files of a checkpoint in a folder that loading reads.

    Raises:
        UserError: If there are no weights, or the index names a file that is not there.
    """
    paths = [path for pattern in ("*", *SUBFOLDERS) for path in folder.glob(pattern) if path.is_file()]
    members = {path.relative_to(folder).as_posix() for path in paths}
    if ADAPTER in members and not has_weights(folder):
        raise UserError(f"{folder}: {adapter_remedy('the folder', '{path: ...}')}")
    chosen = select_files(members, lambda name: (folder / name).read_text(encoding="utf-8"))
    if not set(chosen) & HEADS:
        raise UserError(f"{folder}: no weights ({' or '.join(WEIGHTS)}); fetch the model again")
    missing = [name for name in chosen if name not in members]
    if missing:
        raise UserError(f"{folder}: {missing[0]} is missing, which its index of weights names; fetch the model again")
    return chosen


def digest_adapter(folder: Path) -> str:
    """Return the SHA-256 over an adapter's files, names included."""
    lines = [f"{name}\0{files.sha256(folder / name)}\n" for name in select_adapter([p.name for p in folder.glob("*")])]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def adapter_remedy(what: str, where: str) -> str:
    """Return what to write where an adapter stands in place of a whole model."""
    return f"an adapter without its base model; name the base model as source, and {what} as adapter: {where}"


def has_weights(folder: Path) -> bool:
    """Return whether a folder holds weights in one of the formats that are loaded."""
    return any((folder / name).is_file() for name in HEADS)


def digest(folder: Path, of_file: Callable[[Path], str] = files.sha256) -> str:
    """Return the SHA-256 over the files of a checkpoint that loading reads, names included.

    Args:
        of_file: Path of a file to its SHA-256.

    Raises:
        UserError: As :func:`find_files`.
    """
    names = find_files(folder)
    with ThreadPoolExecutor(READERS) as pool:
        digests = pool.map(of_file, (folder / name for name in names))
        lines = [f"{name}\0{value}\n" for name, value in zip(names, digests, strict=True)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
