"""The documents of a text corpus, read as a stream.

Layouts, and what a document is:

- ``c4``, ``pile``, ``jsonl``: a line of JSON Lines, its key ``text``. C4 comes as ``.json.gz``, the Pile as
  ``.jsonl.zst``.
- ``openwebtext``: a text file in a tar archive, as its ``*_data.xz`` are.
- ``text``: a file.
- ``paragraphs``: what stands between empty lines of a text file.

Files may end in ``.gz``, ``.zst`` or ``.xz``, whatever the layout.
"""

import gzip
import io
import json
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from scripts.core.errors import UserError, count_noun


def read_documents(path: str | Path, layout: str) -> Iterator[str]:
    """Yield the documents of a file of one of the layouts.

    Raises:
        UserError: If the file is missing, damaged, not UTF-8, or not of the layout, naming the line or member.
    """
    path, count = Path(path), 0
    parse = {"openwebtext": _members, "text": _whole, "paragraphs": _paragraphs}.get(layout, _json_lines)
    opened = {".gz": gzip.open, ".xz": lzma.open, ".zst": _open_zstd}.get(path.suffix, open)
    try:
        with opened(path, "rb") as stream:
            for text in parse(stream, path):
                yield text
                count += 1
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; correct misgendered.corpora.local") from error
    except (OSError, EOFError, tarfile.TarError, zlib.error, lzma.LZMAError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].strip()
        raise UserError(
            f"{path}: damaged or not of the layout {layout}, behind {count_noun(count, 'document')} ({reason}); get an "
            "unbroken copy or correct the layout"
        ) from error


def _open_zstd(path: Path, _: str) -> io.BufferedReader:
    import pyarrow as pa

    return io.BufferedReader(pa.CompressedInputStream(pa.OSFile(str(path)), "zstd"))


def _whole(stream: IO[bytes], path: Path) -> Iterator[str]:
    yield _decoded(stream.read(), f"{path}")


def _paragraphs(stream: IO[bytes], path: Path) -> Iterator[str]:
    lines: list[str] = []
    for number, line in enumerate(stream, start=1):
        lines.append(_decoded(line, f"{path}, line {number}"))
        if not lines[-1].strip():
            if len(lines) > 1:
                yield "".join(lines[:-1])
            lines = []
    if lines:
        yield "".join(lines)


def _json_lines(stream: IO[bytes], path: Path) -> Iterator[str]:
    for number, line in enumerate(stream, start=1):
        where = f"{path}, line {number}"
        if not (text := _decoded(line, where)).strip():
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{where}: not JSON ({error}); correct the line or the layout of the corpus") from error
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            raise UserError(f"{where}: has no key 'text' with a text; correct the line or the layout of the corpus")
        yield row["text"]


def _members(stream: IO[bytes], path: Path) -> Iterator[str]:
    """Yield the text files of a tar archive; directories are passed over."""
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            if member.isfile():
                file = archive.extractfile(member)
                assert file is not None, "a regular file has content"
                yield _decoded(file.read(), f"{path}, {member.name}")


def _decoded(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: not UTF-8 ({error.reason} at byte {error.start}); convert the file") from error
