"""Folders with a model's weights: which of their files loading reads, and one digest of them all."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError

# What a checkpoint folder must offer, best first; Flax, TensorFlow and ONNX copies are never fetched.
WEIGHT_FILES = ("*.safetensors", "pytorch_model*.bin")
OTHER_FILES = (
    "*.json", "*.txt", "*.model", "*.py", "*.jinja", "*.tiktoken", "vocab.bpe", "bpe.codes",
    "additional_chat_templates/*.jinja",
)  # fmt: skip
READERS = 4
"""Files of a checkpoint that are read side by side for their digests: those of large models are many."""


def has_weights(folder: Path) -> bool:
    """Return whether a folder holds weights in one of the formats that are loaded."""
    return any(any(folder.glob(pattern)) for pattern in WEIGHT_FILES)


def digest(folder: Path, of_file: Callable = files.sha256) -> str:
    """Return the SHA-256 over the files of a checkpoint that loading may read, names included.

    Args:
        of_file: Path of a file to its SHA-256.

    Raises:
        UserError: If there are no weights.
    """
    present = [pattern for pattern in WEIGHT_FILES if any(folder.glob(pattern))]
    if not present:
        raise UserError(f"{folder}: no weights ({' or '.join(WEIGHT_FILES)}); fetch the model again")
    paths = {path for pattern in (present[0], *OTHER_FILES) for path in folder.glob(pattern) if path.is_file()}
    with ThreadPoolExecutor(READERS) as pool:
        digests = dict(zip(paths, pool.map(of_file, paths), strict=True))
    lines = [f"{path.relative_to(folder).as_posix()}\0{digests[path]}\n" for path in sorted(paths)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
