"""The documents of a text corpus, read as a stream.

Layouts, and what a document is:

- ``c4``, ``pile``, ``jsonl``: a line of JSON Lines, its key ``text``. C4 comes as ``.json.gz``, the Pile as
  ``.jsonl.zst``.
- ``openwebtext``: a text file in a tar archive, as its ``*_data.xz`` are.
- ``text``: a file.
- ``paragraphs``: what stands between empty lines of a text file.

Files may end in ``.gz``, ``.zst`` or ``.xz``, whatever the layout.
"""

import contextlib
import gzip
import io
import json
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core.errors import UserError, count_noun

if TYPE_CHECKING:
    import pyarrow

JSON_LINES = ("c4", "pile", "jsonl")


def read_documents(path: str | Path, layout: str) -> Iterator[str]:
    """Yield the documents of a file of one of the layouts.

    Raises:
        UserError: If the file is missing, damaged, not UTF-8, or not of the layout, naming the line or member.
    """
    path = Path(path)
    if layout == "openwebtext":
        yield from _members(path)
        return
    number = 0
    try:
        with _opened(path) as stream:
            if layout == "text":
                yield _decoded(stream.read(), f"{path}")
                return
            paragraph = []
            for number, line in enumerate(stream, start=1):
                where = f"{path}, line {number}"
                text = _decoded(line, where)
                if layout in JSON_LINES:
                    if text.strip():
                        yield _json_text(text, where)
                elif text.strip():
                    paragraph.append(text)
                elif paragraph:
                    yield "".join(paragraph)
                    paragraph = []
            if paragraph:
                yield "".join(paragraph)
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; correct misgendered.corpora.local") from error
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].strip()
        raise UserError(
            f"{path}: damaged or not what its name says, behind line {number} ({reason}); get an unbroken copy"
        ) from error


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Yield a binary file whose lines can be read, decompressed as its suffix says."""
    if path.suffix == ".gz":
        with gzip.open(path, "rb") as file:
            yield file
    elif path.suffix == ".xz":
        with lzma.open(path, "rb") as file:
            yield file
    elif path.suffix == ".zst":
        import pyarrow as pa

        with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
            yield io.BufferedReader(_Raw(stream), 1 << 20)
    else:
        with path.open("rb") as file:
            yield file


class _Raw(io.RawIOBase):
    """An Arrow stream as a raw Python file, because Arrow's own has no lines."""

    def __init__(self, stream: "pyarrow.NativeFile"):
        self.stream = stream

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:
        """Fill the buffer; return the number of bytes, 0 at the end."""
        block = self.stream.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)


def _decoded(raw: bytes, where: str):
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: not UTF-8 ({error.reason} at byte {error.start}); convert the file") from error


def _json_text(line: str, where: str):
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: not JSON ({error}); correct the line or the layout of the corpus") from error
    text = row.get("text") if isinstance(row, dict) else None
    if not isinstance(text, str):
        raise UserError(f"{where}: has no key 'text' with a text; correct the line or the layout of the corpus")
    return text


def _members(path: Path):
    """Yield the text files of a tar archive, which may be compressed; directories are passed over."""
    read = 0
    try:
        with _opened(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                if member.isfile():
                    file = archive.extractfile(member)
                    assert file is not None, "a regular file has content"
                    yield _decoded(file.read(), f"{path}, {member.name}")
                    read += 1
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; correct misgendered.corpora.local") from error
    except (OSError, EOFError, tarfile.TarError, zlib.error, lzma.LZMAError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].strip()
        place = f"behind {count_noun(read, 'document')}"
        raise UserError(f"{path}: damaged or no archive of texts, {place} ({reason}); get an unbroken copy") from error
