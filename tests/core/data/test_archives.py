"""Archives are read within limits: bombs and members outside their folder are refused."""

import bz2
import gzip
import io
import lzma
import tarfile
import time
import tracemalloc
import zipfile

import pytest

from scripts.core.data import archives
from tests.refusals import refused

MEMBER = "data/task.tsv"


@pytest.fixture(autouse=True)
def lower_limits(monkeypatch):
    """A bomb of a few megabytes is made faster than a real one."""
    monkeypatch.setattr(archives, "MEMBER_BYTES", 1 << 20)
    monkeypatch.setattr(archives, "ALL_BYTES", 4 << 20)
    monkeypatch.setattr(archives, "MEMBERS", 100)


def zipped(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members:
            file.writestr(name, content)
    return path


def patched(path, old, new):
    """Change what the headers of a member say about it."""
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))
    return path


def lying_zip(path):
    """A member of 8 MB whose headers say that it has 20 bytes."""
    size = 8_392_773
    zipped(path, [("data/context.tsv", b"x"), (MEMBER, bytes(size))])
    return patched(path, size.to_bytes(4, "little"), (20).to_bytes(4, "little"))


ZIPS = {
    "bomb": (lambda p: zipped(p, [(MEMBER, bytes(9 << 20))]), [MEMBER, "9437184 bytes", "1048576"]),
    "lying": (lying_zip, ["damaged or not a zip archive"]),
    "twice": (lambda p: zipped(p, [(MEMBER, b"a"), (MEMBER, b"b")]), [f"{MEMBER} occurs twice"]),
    "outside": (lambda p: zipped(p, [("../evil", b"x"), (MEMBER, b"a")]), ["'../evil' is outside"]),
    "absolute": (lambda p: zipped(p, [("/tmp/evil", b"x"), (MEMBER, b"a")]), ["'/tmp/evil' is outside"]),
    "windows": (lambda p: zipped(p, [("..\\evil", b"x"), (MEMBER, b"a")]), ["is outside"]),
    "many": (lambda p: zipped(p, [(f"{i}", b"") for i in range(101)]), ["101 members", "100"]),
    "other compression": (lambda p: zipped(p, [(MEMBER, b"x")], zipfile.ZIP_LZMA), ["can be read here"]),
    "nothing of it": (lambda p: zipped(p, [("a", b"x")]), [f"lacks {MEMBER}"]),
    "nothing": (lambda p: (p.write_bytes(b"") and p) or p, ["damaged or not a zip archive"]),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("make", "named"), ZIPS.values(), ids=ZIPS)
def test_zip_archives_are_read_within_limits(tmp_path, make, named):
    path = make(tmp_path / "data.zip")
    tracemalloc.start()
    with refused(f"{path}: ", *named, "fetch it again"):
        archives.zip_members(path, [MEMBER])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 << 20


def test_sound_zip_archives_are_read_and_missing_ones_named(tmp_path):
    path = zipped(tmp_path / "data.zip", [("a", b"x"), (MEMBER, b"yz")])
    assert archives.zip_members(path, [MEMBER, "a"]) == [b"yz", b"x"]
    with refused("none.zip", "no such file", "fetch_upstream"):
        archives.zip_members(tmp_path / "none.zip", ["a"])


def tarred(path, members, pack=lzma.compress):
    """Write a tar archive of (name, content or type and target)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as made:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                made.addfile(info, io.BytesIO(content))
            else:
                info.type, info.linkname = content
                made.addfile(info)
    path.write_bytes(pack(buffer.getvalue()))
    return path


def with_pax(path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as made:
        info = tarfile.TarInfo("folder/a.csv")
        info.pax_headers = {"comment": "x" * (9 << 20)}
        made.addfile(info)
    path.write_bytes(lzma.compress(buffer.getvalue(), preset=0))
    return path


def huge_dictionary(path):
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    content = lzma.compress(bytes(1024), filters=filters)
    path.write_bytes(content)
    return path


def one(*member, pack=lzma.compress):
    """Return a function that writes a tar archive of one member."""
    return lambda path: tarred(path, [member], pack)


FILE, FORM = "folder/a.csv", "damaged or not a .tar.xz or .tar.gz archive"
TARS = {
    "bomb": (one(FILE, bytes(9 << 20)), ["unpacks to more than 4194304 bytes"]),
    "member": (one(FILE, bytes(2 << 20)), [FILE, "2097152 bytes", "1048576"]),
    "parent": (one("../evil.csv", b"x"), ["'../evil.csv' is outside"]),
    "absolute": (one("/tmp/evil.csv", b"x"), ["'/tmp/evil.csv' is outside"]),
    "inner parent": (one("a/../../evil.csv", b"x"), ["is outside"]),
    "symbolic link": (one(FILE, (tarfile.SYMTYPE, "/etc/passwd")), [FILE, "neither a file nor a folder"]),
    "hard link": (one(FILE, (tarfile.LNKTYPE, "/etc/passwd")), [FILE, "neither a file nor a folder"]),
    "device": (one(FILE, (tarfile.CHRTYPE, "")), [FILE, "neither a file nor a folder"]),
    "twice": (lambda p: tarred(p, [(FILE, b"x"), (FILE, b"y")]), [f"{FILE} occurs twice"]),
    "many": (lambda p: tarred(p, [(f"folder/{i}", b"") for i in range(101)]), ["more than 100 members"]),
    "header bomb": (with_pax, ["unpacks to more than 4194304 bytes"]),
    "huge dictionary": (huge_dictionary, ["more memory to unpack"]),
    "truncated": (one(FILE, b"x" * 9999, pack=lambda c: lzma.compress(c)[:-40]), [FORM]),
    "not an archive": (lambda p: p.write_bytes(b"x" * 999) and p, [FORM]),
    "bzip": (one(FILE, b"x", pack=bz2.compress), [FORM]),
    "nothing": (lambda p: p.write_bytes(b"") or p, [FORM]),
    "trailing": (one(FILE, b"x", pack=lambda c: lzma.compress(c) + b"more"), [FORM]),
}


@pytest.mark.parametrize(("make", "named"), TARS.values(), ids=TARS)
def test_tar_archives_are_read_within_limits(tmp_path, make, named):
    path = make(tmp_path / "raw.tar.xz")
    started = time.monotonic()
    with refused(f"{path}: ", *named, "fetch it again"):
        list(archives.tar_members(path))
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("pack", [lzma.compress, gzip.compress])
def test_sound_tar_archives_are_read(tmp_path, pack):
    path = tarred(tmp_path / "a", [("folder", (tarfile.DIRTYPE, "")), ("folder/1_a.txt", b"Text.")], pack)
    assert list(archives.tar_members(path)) == [("folder/1_a.txt", b"Text.")]
