"""Reading archives within limits, in memory: nothing is unpacked to disk, and no archive can fill the memory.

The limits are several times what the authors' archives have. A member whose name leads out of the archive's folder, a
link or a device is refused even though nothing would be written: an archive that has one is not the authors'.
"""

import io
import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath

from scripts.core.errors import UserError

MEMBER_BYTES = 16 << 20
ALL_BYTES = 128 << 20
MEMBERS = 100_000
# What unpacking .xz may take; the highest preset takes a quarter of it.
MEMORY_BYTES = 256 << 20

_REMEDY = "delete it and fetch it again"


def zip_members(archive, names, password=None, label=None):
    """Return the contents of some members of a zip archive.

    Parameters
    ----------
    archive : str, Path or bytes
    names : sequence of str
    password : bytes, optional
    label : str, optional
        What messages call the archive; by default its path.

    Returns
    -------
    list of bytes

    Raises
    ------
    UserError
        If the archive is missing or damaged, lacks one of ``names`` or does not open with the password, if it has too
        many members, one of ``names`` is too large or occurs twice, or if any member is outside the archive's folder.
    """
    label = label or str(archive)
    try:
        with zipfile.ZipFile(io.BytesIO(archive) if isinstance(archive, bytes) else Path(archive)) as file:
            infos = file.infolist()
            if len(infos) > MEMBERS:
                raise UserError(f"{label}: has {len(infos)} members, more than {MEMBERS}; {_REMEDY}")
            for info in infos:
                _check_inside(info.filename, label)
            return [_zip_member(file, infos, name, password, label) for name in names]
    except FileNotFoundError as error:
        raise UserError(f"{label}: no such file; run the rule fetch_upstream to get it") from error
    except NotImplementedError as error:
        raise UserError(f"{label}: damaged or not a zip archive that can be read here; {_REMEDY}") from error
    except RuntimeError as error:
        raise UserError(f"{label}: does not open with the password of the authors' README; {_REMEDY}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        raise UserError(f"{label}: damaged or not a zip archive; {_REMEDY}") from error


def _zip_member(file, infos, name, password, label):
    matches = [info for info in infos if info.filename == name]
    if not matches:
        raise UserError(f"{label}: is not the authors' archive: it lacks {name}; {_REMEDY}")
    if len(matches) > 1:
        raise UserError(f"{label}: {name} occurs twice; {_REMEDY}")
    _check_size(name, max(matches[0].file_size, matches[0].compress_size), label)
    if matches[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotImplementedError
    with file.open(matches[0], pwd=password) as member:
        # Asked for so much, it unpacks no more; the check sum then tells whether that was all.
        return member.read(matches[0].file_size)


def tar_members(path):
    """Yield the names and contents of the files in a .tar.xz or .tar.gz archive.

    Parameters
    ----------
    path : str or Path

    Yields
    ------
    tuple of (str, bytes)

    Raises
    ------
    UserError
        If the archive is missing or damaged, unpacks to too much, needs too much memory to unpack, has too many
        members, or one that is too large, occurs twice, is neither a file nor a folder, or is outside the archive's
        folder.
    """
    content = _unpacked(path)
    seen = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for member in archive:
                name = member.name
                _check_inside(name, path)
                if not member.isfile() and not member.isdir():
                    raise UserError(f"{path}: the member '{name}' is neither a file nor a folder; {_REMEDY}")
                if name in seen:
                    raise UserError(f"{path}: {name} occurs twice; {_REMEDY}")
                seen.add(name)
                if len(seen) > MEMBERS:
                    raise UserError(f"{path}: has more than {MEMBERS} members; {_REMEDY}")
                if member.isfile():
                    _check_size(name, member.size, path)
                    yield name, archive.extractfile(member).read()
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise UserError(f"{path}: damaged or not a .tar.xz or .tar.gz archive; {_REMEDY}") from error


def _unpacked(path):
    """Return the whole tar file of an archive."""
    damaged = UserError(f"{path}: damaged or not a .tar.xz or .tar.gz archive; {_REMEDY}")
    try:
        packed = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; run the rule fetch_upstream to get it") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); {_REMEDY}") from error
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
                f"{path}: needs more memory to unpack than any of the authors' archives; {_REMEDY}"
            ) from error
        raise damaged from error
    if size > ALL_BYTES:
        raise UserError(f"{path}: unpacks to more than {ALL_BYTES} bytes; {_REMEDY}")
    if machine.unused_data:
        raise damaged
    return b"".join(parts)


def _check_inside(name, label):
    for path in (PurePosixPath(name), PureWindowsPath(name)):
        if path.anchor or ".." in path.parts:
            raise UserError(f"{label}: the member {name[:100]!r} is outside the archive's folder; {_REMEDY}")


def _check_size(name, size, label):
    if size > MEMBER_BYTES:
        raise UserError(f"{label}: {name} has {size} bytes, more than {MEMBER_BYTES}; {_REMEDY}")
