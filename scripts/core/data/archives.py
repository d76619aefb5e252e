"""Reading archives within limits, in memory: nothing is unpacked to disk, and no archive can fill the memory.

The limits are several times what the authors' archives have. A member whose name leads out of the archive's folder, a
link or a device is refused even though nothing would be written: an archive that has one is not the authors'.
"""

import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from scripts.core.errors import UserError

MEMBER_BYTES = 16 << 20
ALL_BYTES = 128 << 20
MEMBERS = 100_000
# What unpacking .xz may take; the highest preset takes a quarter of it.
MEMORY_BYTES = 256 << 20


@dataclass(frozen=True)
class Source:
    """Where an archive comes from, for messages: what it is when it is whole, and what helps.

    Attributes:
        remedy: For one that is damaged.
        missing: For one that is not there.
        locked: What is wrong with one that does not open.
    """

    name: str
    remedy: str
    missing: str
    locked: str


UPSTREAM = Source(
    "the authors' archive", "delete it and fetch it again", "run the rule fetch_upstream to get it",
    "does not open with the password of the authors' README",
)  # fmt: skip
BOOK = Source(
    "a whole EPUB", "get another copy", "correct its path", "its text is encrypted, as that of protected books is"
)


def zip_members(
    archive: str | Path | bytes,
    names: Sequence[str],
    password: bytes | None = None,
    label: str | None = None,
    source: Source = UPSTREAM,
) -> list[bytes]:
    """Return the contents of some members of a zip archive.

    Args:
        label: What messages call the archive; by default its path.

    Raises:
        UserError: If the archive is missing or damaged, lacks one of ``names`` or does not open with the password, if
            it has too many members, one of ``names`` is too large or occurs twice, or if any member is outside the
            archive's folder.
    """
    label = label or str(archive)
    try:
        with zipfile.ZipFile(io.BytesIO(archive) if isinstance(archive, bytes) else Path(archive)) as file:
            infos = file.infolist()
            if len(infos) > MEMBERS:
                raise UserError(f"{label}: has {len(infos)} members, more than {MEMBERS}; {source.remedy}")
            for info in infos:
                _check_inside(info.filename, label, source)
            return [_zip_member(file, infos, name, password, label, source) for name in names]
    except FileNotFoundError as error:
        raise UserError(f"{label}: no such file; {source.missing}") from error
    except NotImplementedError as error:
        raise UserError(f"{label}: damaged or not a zip archive that can be read here; {source.remedy}") from error
    except RuntimeError as error:
        raise UserError(f"{label}: {source.locked}; {source.remedy}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        raise UserError(f"{label}: damaged or not a zip archive; {source.remedy}") from error


def _zip_member(
    file: zipfile.ZipFile,
    infos: Sequence[zipfile.ZipInfo],
    name: str,
    password: bytes | None,
    label: str,
    source: Source,
) -> bytes:
    matches = [info for info in infos if info.filename == name]
    if not matches:
        raise UserError(f"{label}: is not {source.name}: it lacks {name}; {source.remedy}")
    if len(matches) > 1:
        raise UserError(f"{label}: {name} occurs twice; {source.remedy}")
    _check_size(name, max(matches[0].file_size, matches[0].compress_size), label, source)
    if matches[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotImplementedError
    with file.open(matches[0], pwd=password) as member:
        # Asked for so much, it unpacks no more; the check sum then tells whether that was all.
        return member.read(matches[0].file_size)


def tar_members(path: str | Path) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files in a .tar.xz or .tar.gz archive.

    Raises:
        UserError: If the archive is missing or damaged, unpacks to too much, needs too much memory to unpack, has too
            many members, or one that is too large, occurs twice, is neither a file nor a folder, or is outside the
            archive's folder.
    """
    content = _unpacked(path)
    seen = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for member in archive:
                name = member.name
                _check_inside(name, path, UPSTREAM)
                if not member.isfile() and not member.isdir():
                    raise UserError(f"{path}: the member '{name}' is neither a file nor a folder; {UPSTREAM.remedy}")
                if name in seen:
                    raise UserError(f"{path}: {name} occurs twice; {UPSTREAM.remedy}")
                seen.add(name)
                if len(seen) > MEMBERS:
                    raise UserError(f"{path}: has more than {MEMBERS} members; {UPSTREAM.remedy}")
                if member.isfile():
                    _check_size(name, member.size, path, UPSTREAM)
                    file = archive.extractfile(member)
                    assert file is not None, "a regular file has content"
                    yield name, file.read()
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise UserError(f"{path}: damaged or not a .tar.xz or .tar.gz archive; {UPSTREAM.remedy}") from error


def _unpacked(path: str | Path) -> bytes:
    """Return the whole tar file of an archive."""
    damaged = UserError(f"{path}: damaged or not a .tar.xz or .tar.gz archive; {UPSTREAM.remedy}")
    try:
        packed = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; run the rule fetch_upstream to get it") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); {UPSTREAM.remedy}") from error
    if packed.startswith(b"\xfd7zXZ\0"):
        machine = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY_BYTES)
    elif packed.startswith(b"\x1f\x8b"):
        machine = zlib.decompressobj(zlib.MAX_WBITS | 16)
    else:
        raise damaged
    parts, size = [], 0
    try:
        while not machine.eof and size <= ALL_BYTES:
            part = machine.decompress(packed, ALL_BYTES + 1 - size)
            # What is left waits inside the one machine and beside the other.
            packed = getattr(machine, "unconsumed_tail", b"")
            if not part and not packed and not machine.eof:
                raise damaged
            parts.append(part)
            size += len(part)
    except (lzma.LZMAError, zlib.error, EOFError) as error:
        if "memory" in str(error).lower():
            raise UserError(
                f"{path}: needs more memory to unpack than any of the authors' archives; {UPSTREAM.remedy}"
            ) from error
        raise damaged from error
    if size > ALL_BYTES:
        raise UserError(f"{path}: unpacks to more than {ALL_BYTES} bytes; {UPSTREAM.remedy}")
    if machine.unused_data:
        raise damaged
    return b"".join(parts)


def _check_inside(name: str, label: str | Path, source: Source) -> None:
    for path in (PurePosixPath(name), PureWindowsPath(name)):
        if path.anchor or ".." in path.parts:
            raise UserError(f"{label}: the member {name[:100]!r} is outside the archive's folder; {source.remedy}")


def _check_size(name: str, size: int, label: str | Path, source: Source) -> None:
    if size > MEMBER_BYTES:
        raise UserError(f"{label}: {name} has {size} bytes, more than {MEMBER_BYTES}; {source.remedy}")
