"""The head of a GGUF file: of which architecture a model is, and how many numbers its tensors hold.

``gguf.GGUFReader`` takes seconds for a vocabulary, which is skipped here, and every start of Snakemake reads the head.
Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from scripts.core.errors import UserError

WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of a value by its type; other types are text and lists."""
TEXT, LIST = 8, 9
OUTPUT = "output.weight"
"""The output layer, which is not stored if it is that of the embeddings."""
OTHER_ARCHITECTURES = {"bert": "encoder", "nomic-bert": "encoder", "t5": "encoder-decoder", "t5encoder": "encoder"}
"""Of ``general.architecture``; all others that transformers reads are decoders."""


@dataclass(frozen=True)
class Head:
    """What the head of a file says: its ``general.architecture``, and the size of each tensor by name."""

    kind: str
    sizes: dict[str, int]

    @property
    def architecture(self) -> str:
        """The architecture as the registry calls it."""
        return OTHER_ARCHITECTURES.get(self.kind, "decoder")


def read_head(path: Path) -> Head:
    """Read the head of a GGUF file of version 2 or 3.

    Raises:
        UserError: If the file is of another kind, or ends early.
    """
    try:
        with path.open("rb") as file:
            magic, version, tensors, facts = struct.unpack("<4sIQQ", file.read(24))
            if magic != b"GGUF" or version not in (2, 3):
                raise UserError(f"{path} is not a GGUF file of version 2 or 3; install its package again")
            kind = ""
            for _ in range(facts):
                key, (of_type,) = _text(file), struct.unpack("<I", file.read(4))
                if key == "general.architecture" and of_type == TEXT:
                    kind = _text(file)
                else:
                    _skip(file, of_type)
            return Head(kind, dict(_tensor(file) for _ in range(tensors)))
    except (struct.error, KeyError, UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise UserError(f"{path}: the head cannot be read ({error}); install its package again") from error


def _number(file: BinaryIO) -> int:
    return struct.unpack("<Q", file.read(8))[0]


def _text(file: BinaryIO) -> str:
    return file.read(_number(file)).decode()


def _skip(file: BinaryIO, of_type: int) -> None:
    if of_type == TEXT:
        file.seek(_number(file), 1)
    elif of_type == LIST:
        of_items, items = struct.unpack("<IQ", file.read(12))
        if of_items in WIDTHS:
            file.seek(items * WIDTHS[of_items], 1)
        else:
            for _ in range(items):
                _skip(file, of_items)
    else:
        file.seek(WIDTHS[of_type], 1)


def _tensor(file: BinaryIO) -> tuple[str, int]:
    name, (dimensions,) = _text(file), struct.unpack("<I", file.read(4))
    size = math.prod(struct.unpack(f"<{dimensions}Q", file.read(8 * dimensions)))
    file.seek(12, 1)  # how it is stored, and where
    return name, size
